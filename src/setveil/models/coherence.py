"""(h, k, p)-coherence (Xu, Wang, Fu, Yu 2008; the model of MM)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.models.base import (
    MINIMALITY,
    NEGATIVE_KNOWLEDGE,
    REPEATED_RELEASES,
    Attacker,
    PrivacyModel,
)
from setveil.models.parameters import Items, Percentage, Whole, parameter
from setveil.words import terms

if TYPE_CHECKING:
    from setveil.core import Dataset


@dataclass(frozen=True, repr=False)
class Coherence(PrivacyModel):
    """Every occurring set of 1 to ``p`` public items has support at least ``k``, and at most ``h`` percent of the
    records that contain it share any one sensitive item.

    Args:
        h: largest percentage of matching records that share a sensitive item.
        k: smallest number of matching records.
        p: largest number of known public items.
        sensitive: the sensitive items.

    Raises:
        InputError: a number is out of range.

    Examples:
        >>> import setveil as sv
        >>> sv.Coherence(h=50, k=5, p=2, sensitive=["hiv"]).k
        5
    """

    name: ClassVar[str] = "coherence"
    title: ClassVar[str] = "Protect records and sensitive items against attackers who know a few public items"
    verifier: ClassVar[str] = "setveil.verify.coherence:check"
    picture: ClassVar[str] = "both"
    is_about_other_items: ClassVar[bool] = True
    start: ClassVar[Mapping[str, Any]] = {"h": 50, "k": 5, "p": 2}
    alternatives: ClassVar[tuple[str, ...]] = (
        "Model degree, if records may be re-identified and only sensitive items need protection; it keeps public items "
        "unchanged.",
        "k^m-anonymity (model km), if no items are sensitive.",
    )
    glossary: ClassVar[Mapping[str, str]] = terms("(h, k, p)-coherence", "public item", "sensitive item")
    example: ClassVar[Mapping[str, Any]] = {"h": 80, "k": 2, "p": 2, "sensitive": ["9"]}

    h: float = parameter(
        Percentage(), "Largest percentage of matching records that share one sensitive item.", flag="-H",
        label="h: largest percentage with one sensitive item", slider=(1, 99),
    )  # fmt: skip
    k: int = parameter(
        Whole(2), "Smallest number of records that match an attacker's knowledge.", flag="-k",
        label="k: smallest number of matching people", slider=(2, 50),
    )  # fmt: skip
    p: int = parameter(
        Whole(1), "Largest number of public items an attacker knows.", flag="-p",
        label="p: public items an attacker may know", slider=(1, 5),
    )  # fmt: skip
    sensitive: Sequence[str] = parameter(
        Items(), "Sensitive items.", default=(), protects=True, label="The items that must not be linked to a person.",
    )  # fmt: skip

    @property
    def _known(self) -> str:
        return "one public item" if self.p == 1 else f"1 to {self.p} public items"  # with none, all records match

    @property
    def crowd(self) -> int:
        return self.k

    @property
    def known_items(self) -> float | None:
        return float(self.p)

    def doubts(self, data: Dataset) -> Iterator[str]:
        if self.h >= 100 and self.sensitive:
            yield (
                f"h={self.h:g} does not limit anything: all matching records may share a sensitive item, which is then "
                "known. Choose h below 100, as in 80."
            )

    def attacker(self) -> Attacker:
        return Attacker(
            f"{self._known} of a person",
            "to re-identify that person's record or to learn a sensitive item",
            f"at least {self.k} matching records, or none, of which at most {self.h:g} % share any one sensitive item",
        )

    def guarantee(self) -> str:
        return (
            f"Anyone who knows {self._known} of a person matches at least {self.k} published records, or none, and at "
            f"most {self.h:g} % of them share any one sensitive item."
        )

    def not_protected(self) -> list[str]:
        return [
            f"Attackers who know more than {self.p} public items, or a sensitive one.",
            "Attackers who know none of the published items: the share of all records with a sensitive item can be "
            f"counted, even if it is more than {self.h:g} %.",
            NEGATIVE_KNOWLEDGE,
            REPEATED_RELEASES,
            MINIMALITY,
        ]
