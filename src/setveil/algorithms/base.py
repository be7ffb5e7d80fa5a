"""What an algorithm is, and what it is given to work with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from setveil.core import Hierarchy, Release, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.engines import Engine, LocalEngine
from setveil.errors import CancelledError, InfeasibleError, InputError
from setveil.models import PrivacyModel


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Context:
    """Everything around the data: hierarchy, engine, seed, progress and cancellation."""

    hierarchy: Hierarchy | None = None
    engine: Engine = field(default_factory=LocalEngine)
    seed: int = 0
    progress: Progress = no_progress
    cancelled: Callable[[], bool] = _never

    def step(self, stage: str, share: float | None = None) -> None:
        """Say how far a stage is, and stop here if the user asked to. Call at least every half second of work."""
        if self.cancelled():
            raise CancelledError("stopped on request; nothing was written.")
        self.progress(stage, share)

    def need_hierarchy(self, algorithm: str) -> Hierarchy:
        """The hierarchy, for algorithms that cannot do without."""
        if self.hierarchy is None:
            raise InputError(
                f'algorithm "{algorithm}" needs a hierarchy; give --hierarchy FILE, fanout:5, prefix:… or auto.'
            )
        return self.hierarchy


@dataclass(frozen=True)
class Algorithm(ABC):
    """A frozen dataclass of options with one method."""

    @abstractmethod
    def run(self, data: Transactions, model: Any, context: Context) -> Release:
        """Make a release of ``data`` that keeps ``model``, or raise InfeasibleError."""


@dataclass(frozen=True)
class Option:
    """One documented option of an algorithm."""

    name: str
    default: Any
    text: str
    choices: tuple[str, ...] = ()


def option(default: Any, text: str, choices: tuple[str, ...] = ()) -> Any:
    """A dataclass field with its documentation: ``order: str = option("dynamic", "queue order", ("dynamic", "static"))``."""
    return field(default=default, metadata={"text": text, "choices": choices})


def options_of(algorithm: type[Algorithm]) -> list[Option]:
    """The documented options, in order."""
    return [
        Option(
            f.name,
            None if f.default is MISSING else f.default,
            f.metadata.get("text", ""),
            f.metadata.get("choices", ()),
        )
        for f in fields(algorithm)
    ]


def make_algorithm(kind: type[Algorithm], name: str, options: Mapping[str, Any]) -> Algorithm:
    """An algorithm with options as given in a policy (typed) or on the command line (text)."""
    known = {entry.name: entry for entry in options_of(kind)}
    values = {}
    for key, value in options.items():
        if key not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InputError(f'algorithm "{name}" has no option "{key}"; {has}.')
        values[key] = _convert(known[key], value)
    return kind(**values)


def _convert(entry: Option, value: Any) -> Any:
    """Text to the type of the default; a ``None`` default takes a number if the text is one."""
    if isinstance(value, str):
        try:
            if isinstance(entry.default, bool):
                value = {"true": True, "false": False}[value.lower()]
            elif isinstance(entry.default, int):
                value = int(value)
            elif isinstance(entry.default, float):
                value = float(value)
            elif entry.default is None:
                value = _number_or_text(value)
        except (KeyError, ValueError):
            kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(entry.default)]
            raise InputError(f'option "{entry.name}" must be {kind}, not "{value}".') from None
    elif isinstance(entry.default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    elif entry.default is not None and type(value) is not type(entry.default):
        raise InputError(f'option "{entry.name}" must be of the same kind as {entry.default!r}, not {value!r}.')
    if entry.choices and value not in entry.choices:
        raise InputError(f'option "{entry.name}" must be one of {", ".join(entry.choices)}, not "{value}".')
    return value


def _number_or_text(value: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def require_k_records(data: Transactions, k: int) -> None:
    """Fewer than k non-empty records: whatever is published of them, nobody can hide among k."""
    n_filled = data.n_records - data.n_empty
    if 0 < n_filled < k:
        raise InfeasibleError(
            f"only {n_filled:,} of {data.n_records:,} records have items, fewer than k={k}; lower k or add records.",
            items=data.vocabulary.labels,
        )


__all__ = [
    "Algorithm",
    "Context",
    "Option",
    "PrivacyModel",
    "make_algorithm",
    "option",
    "options_of",
    "require_k_records",
]
