"""What every privacy model offers. A model says what must hold; algorithms make it hold; ``verify`` checks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from setveil.errors import InputError


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """Parameters and the definition in words."""

    name: ClassVar[str]
    is_about_original: ClassVar[tuple[str, ...]] = ()  # options that stay internal: they tell about the original

    def options(self) -> dict[str, Any]:
        """Parameters as plain values, for the policy and the certificate."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    @property
    def crowd(self) -> int:
        """Among how many records everybody hides: the number that risk tables compare with."""
        return int(getattr(self, "k", None) or getattr(self, "p", None) or 5)

    @abstractmethod
    def guarantee(self) -> str:
        """The promise in one plain sentence, with the attacker it assumes."""

    @abstractmethod
    def not_protected(self) -> list[str]:
        """What this promise leaves open, in plain sentences."""


def _plain(value: Any) -> Any:
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def whole_number(value: object, name: str, least: int = 1) -> int:
    """A parameter that must be an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} must be a whole number, not {value!r}.")
    if value < least:
        raise InputError(f"{name} must be at least {least}, not {value}.")
    return value


def label_tuple(labels: Iterable[str], name: str) -> tuple[str, ...]:
    """Distinct labels, sorted, from any iterable."""
    if isinstance(labels, str):
        raise InputError(f"{name} must be a list of item labels, not one string; write [{labels!r}].")
    return tuple(sorted({str(label) for label in labels}))


# Sentences that hold for every model.
REPEATED_RELEASES = "Repeated releases: two releases of overlapping data can be intersected; publish once, or together."
MINIMALITY = (
    "Minimality attacks: the algorithm is public and deterministic, so that something was generalized tells that "
    "it had to be."
)
