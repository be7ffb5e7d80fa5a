"""Privacy constraints (PCTA, UPCTA, COAT; paper 000)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from setveil.models.base import MINIMALITY, NEGATIVE_KNOWLEDGE, REPEATED_RELEASES, Advice, Attacker, PrivacyModel
from setveil.models.parameters import Itemsets, Parameter, Percentage, Whole, Word, named, parameter
from setveil.words import terms


@dataclass(frozen=True, repr=False)
class ConstraintAnonymity(PrivacyModel):
    """The published image of each constraint has support 0 or at least ``k``.

    ``utility``: groups of items; items of different groups are never published as one. ``max_suppressed``: at most this
    percentage of the items is suppressed.

    Args:
        k: smallest number of matching records, unless there are none.
        constraints: the combinations that an attacker can know.
        utility: groups of items that may be generalized together.
        max_suppressed: percentage of the items.

    Raises:
        InputError: ``k`` is below 2, or a list is empty.

    Examples:
        >>> import setveil as sv
        >>> sv.ConstraintAnonymity(k=5, constraints=[["a", "b"], ["c"]])
        ConstraintAnonymity(k=5, constraints=<2>, max_suppressed=0.0)
    """

    name: ClassVar[str] = "constraints"
    title: ClassVar[str] = "Protect only the combinations of items that I list"
    verifier: ClassVar[str] = "setveil.verify.constraints:check"
    picture: ClassVar[str] = "pair"
    advice: ClassVar[Advice] = Advice(
        keep_more="Counts of utility groups are exact, counts of single items are not. To keep more, use fewer or "
        "smaller constraints, or a larger --max-suppressed."
    )
    start: ClassVar[Mapping[str, Any]] = {"k": 5, "utility_rest": "free"}
    private: ClassVar[tuple[str, ...]] = ("constraints", "utility")
    private_name: ClassVar[str] = "privacy constraints"
    depends_on_suppressed: ClassVar[bool] = True
    asked_with: ClassVar[Mapping[str, Parameter]] = {
        "utility_rest": named(
            "utility_rest",
            Word(("keep", "free")),
            "Items in no utility group: keep (each stays unchanged) or free (they form one more group).",
            label="Items in no group",
            default=None,
        )
    }
    alternatives: ClassVar[tuple[str, ...]] = (
        "k^m-anonymity (model km), if every combination of up to m items needs protection.",
        "Wider utility groups or more suppression, if too many items were generalized.",
    )
    glossary: ClassVar[Mapping[str, str]] = terms("privacy constraint", "utility constraint")
    already_met: ClassVar[str] = (
        "Every privacy constraint occurs in no record or in at least k records already. Combinations of items that no "
        "constraint names are not protected: name those that an attacker may know."
    )
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "constraints": [["1", "2"]]}

    k: int = parameter(
        Whole(2), "Smallest number of records that match a privacy constraint, unless none does.", flag="-k",
        label="k: smallest number of matching people", slider=(2, 50),
    )  # fmt: skip
    constraints: Sequence[Sequence[str]] = parameter(
        Itemsets(), "Privacy constraints: a file with one itemset per line.", protects=True,
        label="Combinations of items that an attacker may know. Each one matches at least k people, or nobody.",
    )  # fmt: skip
    utility: Sequence[Sequence[str]] | None = parameter(
        Itemsets(are_groups=True), "Utility constraints: a file with one group of items per line.", default=None,
        label="Optional: items of one group may be generalized together. Items of different groups are never mixed.",
    )  # fmt: skip
    max_suppressed: float = parameter(
        Percentage(), "Largest percentage of the items that may be suppressed.", default=0.0,
        label="Largest percentage of the items that may be suppressed", slider=(0, 100),
    )  # fmt: skip

    @property
    def crowd(self) -> int:
        return self.k

    @property
    def listed_items(self) -> set[str]:
        return {item for constraint in self.constraints for item in constraint}

    def lists_within(self, occurring: Collection[str]) -> dict[str, Any]:
        known = frozenset(occurring)
        lists: dict[str, Any] = {"constraints": _listed(one for one in self.constraints if known.issuperset(one))}
        if self.utility is not None:
            groups = ([item for item in group if item in known] for group in self.utility)
            lists["utility"] = _listed(group for group in groups if group)
        return lists

    def unbounded(self) -> Self:
        return replace(self, max_suppressed=100)

    @property
    def utility_groups(self) -> Sequence[Sequence[str]]:
        return self.utility or ()

    def attacker(self) -> Attacker:
        return Attacker(
            "one of the combinations of items that the owner has listed as privacy constraints",
            "to re-identify the record of a person who has them",
            f"no record, or at least {self.k} records that match equally well: the probability of the right record is "
            f"at most 1 in {self.k}",
        )

    def guarantee(self) -> str:
        return (
            "Anyone who knows that a person has the items of one of the owner's privacy constraints matches at least "
            f"{self.k} published records, or none."
        )

    def not_protected(self) -> list[str]:
        return [
            "Combinations of items that contain no privacy constraint and are not one.",
            NEGATIVE_KNOWLEDGE,
            "Categories derived from the data: which items were generalized together tells something about their "
            "counts.",
            REPEATED_RELEASES,
            MINIMALITY,
        ]


def _listed(lists: Iterable[Sequence[str]]) -> list[list[str]]:
    """Lists in an order of their own, none twice: they may have been made of the records, in the order of these."""
    return [list(one) for one in sorted({tuple(one) for one in lists})]
