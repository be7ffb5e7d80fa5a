"""Privacy constraints (PCTA, UPCTA, COAT; paper 000)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from setveil.errors import InputError
from setveil.models.base import (
    MINIMALITY,
    NEGATIVE_KNOWLEDGE,
    REPEATED_RELEASES,
    Attacker,
    PrivacyModel,
    label_tuple,
    whole_number,
)


@dataclass(frozen=True, repr=False)
class ConstraintAnonymity(PrivacyModel):
    """The published image of each constraint has support 0 or at least ``k``.

    ``utility``: groups of items; items of different groups are never published as one. ``max_suppressed``: at most this
    percentage of the items is suppressed.

    Args:
        k: at least so many records, or none.
        constraints: the combinations that can be known.
        utility: groups of items that may be merged.
        max_suppressed: percentage of the items.

    Raises:
        InputError: ``k`` is below 2, or a list is empty.

    Examples:
        >>> import setveil as sv
        >>> sv.ConstraintAnonymity(k=5, constraints=[["a", "b"], ["c"]])
        ConstraintAnonymity(k=5, constraints=<2>, utility=None, max_suppressed=0.0)
    """

    name: ClassVar[str] = "constraints"
    is_about_original: ClassVar[tuple[str, ...]] = ("constraints", "utility")
    only_in_policies: ClassVar[Mapping[str, Any]] = {"utility_rest": Literal["keep", "free"]}
    alternatives: ClassVar[tuple[str, ...]] = (
        "k^m-anonymity (model km), if no combination of up to m items may be left out.",
        "Wider utility groups or a higher bound on suppression, if too much was merged.",
    )
    glossary: ClassVar[Mapping[str, str]] = {
        "privacy constraint": "a combination of items that an attacker may know",
        "utility constraint": "a group of items that must not be mixed with others",
    }
    already_met: ClassVar[str] = (
        "Every privacy constraint occurs in no record or in at least k records already. Combinations of items that no "
        "constraint names are not protected: name those that an attacker may know."
    )
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "constraints": [["1", "2"]]}

    k: int
    constraints: Sequence[Sequence[str]]
    utility: Sequence[Sequence[str]] | None = None
    max_suppressed: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.k, "k", least=2)
        object.__setattr__(self, "constraints", _groups(self.constraints, "constraints"))
        if self.utility is not None:
            object.__setattr__(self, "utility", _groups(self.utility, "utility"))
            _check_disjoint(self.utility)
        share = self.max_suppressed
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 100:
            raise InputError(f"max_suppressed is a percentage from 0 to 100, not {share!r}.")

    @property
    def crowd(self) -> int:
        return self.k

    def attacker(self) -> Attacker:
        return Attacker(
            "one of the combinations of items that the owner has listed as privacy constraints",
            "to find the record of a person who has them",
            f"no record, or at least {self.k} that fit equally well: a chance of at most 1 in {self.k} to pick "
            "the right one",
        )

    def guarantee(self) -> str:
        return (
            "Someone who knows a person to have the items of one of the owner's privacy constraints "
            f"finds either no or at least {self.k} published records that fit."
        )

    def not_protected(self) -> list[str]:
        return [
            "Combinations of items that no privacy constraint names (or is a superset of).",
            NEGATIVE_KNOWLEDGE,
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
