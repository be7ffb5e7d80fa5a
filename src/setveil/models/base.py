"""What every privacy model offers. A model says what must hold; algorithms make it hold; ``verify`` checks it.

Everything that is known about a model without its data stands on its class, so that a new one touches one file here,
one file in ``verify/`` and its algorithms: the policy takes its parameters from its fields, reports take its words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

from setveil.errors import InputError


class Attacker(NamedTuple):
    """Whom the guarantee is about, in plain words."""

    knows: str
    wants: str
    gets: str


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """Parameters and the definition in words."""

    name: ClassVar[str]
    is_about_original: ClassVar[tuple[str, ...]] = ()  # options that stay internal: they tell about the original
    only_in_policies: ClassVar[Mapping[str, Any]] = {}  # what a policy may say besides the fields, and its type
    alternatives: ClassVar[tuple[str, ...]] = ()  # what else an owner could promise, and when
    glossary: ClassVar[Mapping[str, str]] = {}  # the words its reports use
    example: ClassVar[
        Mapping[str, Any]
    ]  # parameters that fit a handful of records over the items 1 … 9; 9 is sensitive

    def __post_init__(self) -> None:
        """Numbers of other libraries, such as NumPy's, as the plain ones they are: a certificate knows no others."""
        for field in fields(self):
            object.__setattr__(self, field.name, _plain_number(getattr(self, field.name)))

    def __repr__(self) -> str:
        """As it is made, without lists of combinations: they may be records."""
        told = (f"{field.name}={_shown(getattr(self, field.name))}" for field in fields(self))
        return f"{type(self).__name__}({', '.join(told)})"

    def options(self) -> dict[str, Any]:
        """Parameters as plain values, for the policy and the certificate."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    @property
    @abstractmethod
    def crowd(self) -> int:
        """Among how many records everybody hides: the number that risk tables compare with."""

    @property
    def reach(self) -> float | None:
        """Up to how many known items the promise speaks; None where it is not about all items alike."""
        return None

    @property
    def known_items(self) -> float | None:
        """How many items of a person the attacker of the guarantee may know; None where no number limits them."""
        return self.reach

    @abstractmethod
    def attacker(self) -> Attacker:
        """The attacker the promise is about."""

    @abstractmethod
    def guarantee(self) -> str:
        """The promise in one plain sentence, with the attacker it assumes."""

    @abstractmethod
    def not_protected(self) -> list[str]:
        """What this promise leaves open, in plain sentences."""


def _plain_number(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    return int(value) if isinstance(value, Integral) else float(value) if isinstance(value, Real) else value


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and (len(value) > 5 or any(isinstance(part, tuple) for part in value)):
        return f"<{len(value):,}>"
    return repr(value)


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


# Sentences that hold for several models.
NEGATIVE_KNOWLEDGE = (
    "Negative knowledge: an attacker who knows that an item is missing from a record can tell records apart."
)
SENSITIVE_ITEM = "an item that the owner has named as worth hiding"
REPEATED_RELEASES = "Repeated releases: two releases of overlapping data can be intersected; publish once, or together."
MINIMALITY = (
    "Minimality attacks: the algorithm is public and deterministic, so that something was generalized tells that "
    "it had to be."
)
