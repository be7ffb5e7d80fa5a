"""What an algorithm is, and what it is given to work with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Literal

from setveil.core import Dataset, Hierarchy, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.engines import Engine, LocalEngine
from setveil.engines.distributed import DistributedDataset
from setveil.errors import CancelledError, InfeasibleError, InputError
from setveil.models.parameters import checked_seed, plain_number
from setveil.releases import Release


def never() -> bool:
    """Nobody stops the run."""
    return False


@dataclass(frozen=True)
class Context:
    """Everything around the data: hierarchy, engine, seed, progress and cancellation."""

    hierarchy: Hierarchy | None = None
    engine: Engine = field(default_factory=LocalEngine)
    seed: int = 0
    progress: Progress = no_progress
    cancelled: Callable[[], bool] = never
    hierarchy_source: str = ""  # where the hierarchy comes from, for the record of the run
    defers_moves: bool = False  # ``moves`` in the details may be a function that finds them, for the release taken

    def __post_init__(self) -> None:
        checked_seed(self.seed)

    def step(self, stage: str, share: float | None = None) -> None:
        """Report progress and raise CancelledError if the run was cancelled. Call it at least every half second."""
        if self.cancelled():
            raise CancelledError("the run was cancelled; nothing was written.")
        self.progress(stage, share)

    def need_hierarchy(self, algorithm: str) -> Hierarchy:
        """The hierarchy, for algorithms that need one."""
        if self.hierarchy is None:
            raise InputError(
                f'algorithm "{algorithm}" needs a hierarchy; set --hierarchy to a file, fanout:5, prefix:… or auto.'
            )
        return self.hierarchy


@dataclass(frozen=True)
class Algorithm(ABC):
    """Base class of algorithms: a frozen dataclass of options with the method ``run``.

    An algorithm of another package declares here what setveil's own algorithms have in the registry.

    Examples:
        >>> import numpy as np
        >>> import setveil as sv
        >>> class Frequent(sv.Algorithm):
        ...     "Suppress items that are in fewer than k records."
        ...     def run(self, data, model, context):
        ...         kept = np.where(data.supports >= model.k, np.arange(data.n_items), -1)
        ...         return sv.Recoding.from_clusters(data, kept)
        >>> release = sv.anonymize([["a", "b"], ["a"], ["a", "c"], ["b"]], "km", k=2, m=1, algorithm=Frequent)
        >>> release.transactions()[2]
        {'a'}
    """

    name: ClassVar[str] = ""  # its name for users; by default the name of the class in small letters
    models: ClassVar[tuple[str, ...]] = ()  # the models it can meet; (): any, the verifier decides
    paper: ClassVar[str] = ""
    scales: ClassVar[Literal["counts", "shards", "local"]] = "local"
    hierarchy: ClassVar[Literal["required", "optional", "none"]] = "optional"
    release: ClassVar[str] = ""  # the kind of release it makes, where that is always the same
    summary: ClassVar[str] = ""  # one line; by default the first line of the docstring

    def __post_init__(self) -> None:
        for entry in options_of(type(self)):
            entry.check(getattr(self, entry.name))

    @abstractmethod
    def run(self, data: Transactions, model: Any, context: Context) -> Release:
        """Make a release of ``data`` that meets the guarantee of ``model``, or raise InfeasibleError."""

    def apply(
        self, earlier: Release, data: Transactions, model: Any, context: Context, unknown_items: str
    ) -> tuple[Release, list[str]]:
        """Other people, published as an earlier release of this algorithm publishes its own; and notes for the owner.

        ``unknown_items``: what happens to items that the earlier release does not know, ``error`` or ``suppress``.
        """
        return earlier.recoded(data, unknown_items), []

    def run_distributed(self, data: DistributedDataset, model: Any, context: Context) -> Release:
        """The same for data on a cluster: algorithms whose ``scales`` is ``counts`` or ``shards`` can."""
        return self.run(data.rows, model, context)


LARGEST = 10**9  # whole numbers in options, where no other bound is declared


@dataclass(frozen=True)
class Option:
    """One documented option of an algorithm. The bounds of numbers: ``least`` and ``most`` are allowed, ``above`` and
    ``below`` are not.
    """

    name: str
    default: Any
    text: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds that are set, in words: ``{"at least": 1}``."""
        given = {"at least": self.least, "above": self.above, "at most": self.most, "below": self.below}
        return {words: bound for words, bound in given.items() if bound is not None}

    @property
    def allowed(self) -> str:
        """The choices or the range, for people."""
        return ", ".join(self.choices) or " and ".join(f"{words} {bound:g}" for words, bound in self.bounds.items())

    def check(self, value: Any) -> None:
        """Refuse a value that is none of the choices or out of range."""
        if self.choices and value not in self.choices:
            raise InputError(f'option "{self.name}" must be one of {self.allowed}, not "{value}".')
        if not self.bounds or (value is None and self.default is None):
            return
        samples = [self.default] if self.default is not None else list(self.bounds.values())
        is_whole = all(isinstance(sample, int) for sample in samples)
        if isinstance(value, bool) or not isinstance(value, int if is_whole else int | float):
            raise InputError(f'option "{self.name}" must be a {"whole " if is_whole else ""}number, not {value!r}.')
        if is_whole and value > LARGEST:
            raise InputError(f'option "{self.name}" must be at most {LARGEST:,}.')
        fits = (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )
        if not fits:
            raise InputError(f'option "{self.name}" must be {self.allowed}, not {value}.')


def option(
    default: Any,
    text: str,
    choices: tuple[str, ...] = (),
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Any:
    """A dataclass field with its documentation and what it may be: ``reach: int = option(128, "records …",
    least=1)``.
    """
    bounds = {"least": least, "most": most, "above": above, "below": below}
    return field(default=default, metadata={"text": text, "choices": choices, **bounds})


def options_of(algorithm: type[Algorithm]) -> list[Option]:
    """The documented options, in order."""
    return [Option(f.name, None if f.default is MISSING else f.default, **f.metadata) for f in fields(algorithm)]


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
    """Text to the type of the default; a ``None`` default takes a number if the text is one. Numbers of other
    libraries, such as NumPy's, become plain ones.
    """
    value = plain_number(value)
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
        raise InputError(f'option "{entry.name}" must be of the same type as {entry.default!r}, not {value!r}.')
    return value


def _number_or_text(value: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def require_k_records(data: Dataset, k: int) -> None:
    """Raise InfeasibleError if fewer than k records have items: then no release can meet the guarantee."""
    n_filled = data.n_records - data.n_empty
    if 0 < n_filled < k:
        have = "record has" if n_filled == 1 else "records have"
        empty = f" ({data.n_empty:,} more {'is' if data.n_empty == 1 else 'are'} empty)" if data.n_empty else ""
        raise InfeasibleError(
            f"{n_filled:,} {have} items{empty}, fewer than k={k}; lower k or add records.",
            items=data.vocabulary.labels,
        )
