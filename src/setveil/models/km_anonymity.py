"""k^m-anonymity (Terrovitis, Mamoulis, Kalnis 2008), and with m="all" complete k-anonymity (paper 000)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.errors import InfeasibleError
from setveil.models.base import MINIMALITY, NEGATIVE_KNOWLEDGE, REPEATED_RELEASES, Advice, Attacker
from setveil.models.crowds import MOST_KNOWN, GradedCrowds, crowds_parameter
from setveil.models.parameters import Items, Whole, parameter
from setveil.words import terms

if TYPE_CHECKING:
    from setveil.core import Dataset


@dataclass(frozen=True, repr=False)
class KmAnonymity(GradedCrowds):
    """Every itemset of at most ``m`` published items that occurs, occurs in at least ``k`` records.

    ``m="all"``: every published record is contained in at least ``k`` published records (itself counted).

    Args:
        k: smallest number of matching records.
        m: largest number of known items, or ``"all"``.
        k_known: smallest number of matching records for each number of known items from 0 to ``m``.
        observable: the only items that an attacker can know. The guarantee covers these; all others are published
            unchanged.

    Raises:
        InputError: ``k`` is below 2, ``m`` below 1 or above 1,000, or ``k_known`` does not fit them.

    Examples:
        >>> import setveil as sv
        >>> print(sv.KmAnonymity(k=5, m=2).guarantee())
        Anyone who knows up to 2 items of a person matches at least 5 published records, or none.
    """

    name: ClassVar[str] = "km"
    title: ClassVar[str] = "Protect every record against attackers who know a few items"
    verifier: ClassVar[str] = "setveil.verify.km:check"
    picture: ClassVar[str] = "crowd"
    is_usual: ClassVar[bool] = True
    shapes_hierarchy: ClassVar[bool] = True
    advice: ClassVar[Advice] = Advice(
        keep_more="To keep more, suppress a few rare entries instead (--algorithm trim), use a hierarchy that keeps "
        "frequent items apart, or choose a smaller m.",
        protect_more="Increase m",
        weaker="Choose a smaller k or m.",
        instead="Suppress a few rare entries instead of generalizing everything (--algorithm trim), or choose a "
        "smaller k or m.",
    )
    grid: ClassVar[Mapping[str, list[Any]]] = {"k": [3, 5, 10], "m": [1, 2]}
    alternatives: ClassVar[tuple[str, ...]] = (
        "A larger m, if attackers may know more items; the curve above shows their success.",
        "Model degree, if only a few items are sensitive and all other items may be published unchanged.",
        "Privacy constraints, if the owner knows which combinations an attacker can know.",
    )
    glossary: ClassVar[Mapping[str, str]] = terms("k^m-anonymity")
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "m": 2}

    k: int = parameter(
        Whole(2), "Smallest number of records that match an attacker's knowledge.", flag="-k",
        label="k: smallest number of matching people", slider=(2, 50),
    )  # fmt: skip
    m: int | Literal["all"] = parameter(
        Whole(1, MOST_KNOWN, ("all",)), 'Largest number of items an attacker knows, or "all".', flag="-m",
        label="m: items an attacker may know", slider=(1, 5),
    )  # fmt: skip
    k_known: str | None = crowds_parameter()
    observable: tuple[str, ...] | None = parameter(
        Items(may_miss=True), "The only items that an attacker can know; all others are published unchanged.",
        default=None, label="Items that an attacker can know; all items if the list is empty", protects=True,
    )  # fmt: skip

    @property
    def strictest(self) -> KmAnonymity:
        is_plain = self.k_known is None and self.observable is None
        return self if is_plain else KmAnonymity(self.k_for(1), self.m)

    @property
    def observable_items(self) -> frozenset[str] | None:
        return None if self.observable is None else frozenset(self.observable)

    @property
    def _item(self) -> str:
        return "item" if self.observable is None else "observable item"

    def doubts(self, data: Dataset) -> Iterator[str]:
        if self.k_known is None:
            return
        if data.n_records < self.k_for(0):
            raise InfeasibleError(
                f"k_known asks for {self.k_for(0):,} people who match an attacker without known items, and the data "
                f"has {data.n_records:,} records; lower it."
            )
        if self.k_for(1) > self.k:
            yield (
                f"k_known: the algorithms for km take one k. They use {self.k_for(1)} for every number of known items, "
                "which protects more and loses more than requested."
            )

    @property
    def reach(self) -> float | None:
        return self.known_items

    @property
    def item_counts(self) -> tuple[int, float] | None:
        return max(self.k, self.k_for(1)), self.known_items

    def attacker(self) -> Attacker:
        return Attacker(
            f"any number of {self._item}s of a person, up to {'the whole record' if self.observable is None else 'all'}"
            if self.m == "all"
            else f"any {self.m} {self._item}s of a person, or fewer",
            "to re-identify that person's record, and so learn everything else in it",
            f"at least {self.k} records that match equally well, or none: the probability of the right record is at "
            f"most 1 in {self.k}",
        )

    def guarantee(self) -> str:
        # "or none": a known item may have been suppressed, or may never have occurred.
        if self.k_known is not None:
            return (
                f"Anyone who knows up to {self.m} {self._item}s of a person matches published records, or none: "
                f"{self._matches('no known item')}."
            )
        some = f"one {self._item}" if self.m == 1 else f"up to {self.m} {self._item}s"
        known = f"any number of {self._item}s" if self.m == "all" else some
        return f"Anyone who knows {known} of a person matches at least {self.k} published records, or none."

    def not_protected(self) -> list[str]:
        more = [] if self.m == "all" else [f"Attackers who know more than {self.m} {self._item}s of a person."]
        if self.observable is not None:
            more.append(UNOBSERVABLE)
        return [
            *more,
            NEGATIVE_KNOWLEDGE,
            f"Homogeneous records: if all {self.k} or more matching records share another item, it is revealed.",
            REPEATED_RELEASES,
            MINIMALITY,
        ]


UNOBSERVABLE = (
    "Items that are not on the list of observable items: they are published unchanged. An attacker who knows one of "
    "them can re-identify a record by it."
)
