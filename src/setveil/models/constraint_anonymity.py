"""Privacy constraints (PCTA, UPCTA, COAT; paper 000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from setveil.errors import InputError
from setveil.models.base import MINIMALITY, REPEATED_RELEASES, PrivacyModel, label_tuple, whole_number


@dataclass(frozen=True)
class ConstraintAnonymity(PrivacyModel):
    """The published image of each constraint has support 0 or at least ``k``.

    ``utility``: groups of items; items of different groups are never published as one. ``max_suppressed``: at most this
    percentage of the items is suppressed.
    """

    name: ClassVar[str] = "constraints"
    is_about_original: ClassVar[tuple[str, ...]] = ("constraints", "utility")

    k: int
    constraints: Sequence[Sequence[str]]
    utility: Sequence[Sequence[str]] | None = None
    max_suppressed: float = 0.0

    def __post_init__(self) -> None:
        whole_number(self.k, "k")
        object.__setattr__(self, "constraints", _groups(self.constraints, "constraints"))
        if self.utility is not None:
            object.__setattr__(self, "utility", _groups(self.utility, "utility"))
            _check_disjoint(self.utility)
        if not 0 <= self.max_suppressed <= 100:
            raise InputError(f"max_suppressed is a percentage from 0 to 100, not {self.max_suppressed}.")

    def guarantee(self) -> str:
        return (
            f"Someone who knows a person to have the items of one of the {len(self.constraints):,} privacy constraints "
            f"finds either no or at least {self.k} published records that fit."
        )

    def not_protected(self) -> list[str]:
        return [
            "Combinations of items that no privacy constraint names (or is a superset of).",
            "Negative knowledge: an attacker who knows that an item is missing from a record can tell records apart.",
            "Clusters derived from the data: which items were merged tells something about their supports.",
            REPEATED_RELEASES,
            MINIMALITY,
        ]


def _groups(groups: Sequence[Sequence[str]], name: str) -> tuple[tuple[str, ...], ...]:
    if isinstance(groups, str):
        raise InputError(f"{name} must be a list of lists of item labels, not one string.")
    return tuple(label_tuple(group, name) for group in groups)


def _check_disjoint(utility: Sequence[Sequence[str]]) -> None:
    owner: dict[str, int] = {}
    for number, group in enumerate(utility, start=1):
        for item in group:
            if item in owner:
                raise InputError(f'item "{item}" is in utility groups {owner[item]} and {number}; keep one.')
            owner[item] = number
