"""ρ-uncertainty (Cao, Karras, Raïssi, Tan, PVLDB 3(1), 2010)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.errors import InputError
from setveil.models.base import (
    MINIMALITY,
    NEGATIVE_KNOWLEDGE,
    REPEATED_RELEASES,
    Advice,
    Attacker,
    PrivacyModel,
)
from setveil.models.parameters import Items, Ratio, Whole, parameter
from setveil.words import terms

if TYPE_CHECKING:
    from setveil.core import Dataset


@dataclass(frozen=True, repr=False)
class Uncertainty(PrivacyModel):
    """Of the records that contain an itemset, at most the share ``rho`` has any one further sensitive item.

    The itemset may be empty and may contain other sensitive items; ``p`` limits its size.

    Args:
        rho: largest share, above 0 and below 1: a fraction such as ``"1/3"``, or a decimal.
        sensitive: the sensitive items.
        p: largest number of known items, or ``"all"``.

    Raises:
        InputError: ``rho`` is not between 0 and 1, or ``p`` is below 1.

    Examples:
        >>> import setveil as sv
        >>> sv.Uncertainty(rho="1/3", sensitive=["hiv"])
        Uncertainty(rho='1/3', sensitive=('hiv',), p='all')
        >>> sv.Uncertainty(rho=0.2, sensitive=["hiv"], p=2).rho
        '1/5'
    """

    name: ClassVar[str] = "uncertainty"
    title: ClassVar[str] = "Limit how confidently any known items reveal a sensitive item"
    verifier: ClassVar[str] = "setveil.verify.uncertainty:check"
    is_about_other_items: ClassVar[bool] = True  # a release without sensitive entries meets it
    picture: ClassVar[str] = "both"
    advice: ClassVar[Advice] = Advice(
        keep_more="A larger rho, or a smaller p, can keep more.",
        protect_more="Choose model km, which protects records",
        weaker="Choose a larger rho, or a smaller p.",
    )
    grid: ClassVar[Mapping[str, list[Any]]] = {"rho": ["1/2", "1/5"], "p": [2]}
    alternatives: ClassVar[tuple[str, ...]] = (
        "Model degree, if public items must stay unchanged and attackers may re-identify records.",
        "k^m-anonymity (model km), if records themselves must not be re-identified.",
    )
    glossary: ClassVar[Mapping[str, str]] = terms("ρ-uncertainty", "sensitive item")
    example: ClassVar[Mapping[str, Any]] = {"rho": "1/2", "sensitive": ["9"]}

    rho: str = parameter(
        Ratio(), "Largest share of matching records with one sensitive item, as 1/3 or 0.2.",
        label="ρ: largest probability of a sensitive item",
    )  # fmt: skip
    sensitive: Sequence[str] = parameter(
        Items(), "Sensitive items.", protects=True, label="The items that must not be linked to a person.",
    )  # fmt: skip
    p: int | Literal["all"] = parameter(
        Whole(1, 1_000, ("all",)), 'Largest number of items an attacker knows, or "all".', default="all", flag="-p",
        label="p: items an attacker may know", slider=(1, 5),
    )  # fmt: skip

    @property
    def share(self) -> Fraction:
        """``rho`` as a number."""
        return Fraction(self.rho)

    @property
    def _known(self) -> str:
        return "any items" if self.p == "all" else f"up to {self.p} items" if self.p > 1 else "one item"

    def doubts(self, data: Dataset) -> Iterator[str]:
        if not self.sensitive:  # of a release: all sensitive entries were suppressed
            raise InputError("the list of sensitive items is empty; name at least one.")
        yield from ()

    def attacker(self) -> Attacker:
        return Attacker(
            f"{self._known} of a person, sensitive ones included",
            "to learn a further sensitive item of that person",
            f"matching records of which at most {self.rho} have any one further sensitive item",
        )

    def guarantee(self) -> str:
        return (
            f"Anyone who knows {self._known} of a person infers any further sensitive item with a probability of at "
            f"most {self.rho}."
        )

    def not_protected(self) -> list[str]:
        more = [] if self.p == "all" else [f"Attackers who know more than {self.p} items of a person."]
        return [
            *more,
            "Singling out: a record may be unique, so its public items can be re-identified.",
            "Public items: known items may reveal further public items with certainty.",
            "Knowledge from other sources about how likely people are to have a sensitive item.",
            NEGATIVE_KNOWLEDGE,
            REPEATED_RELEASES,
            MINIMALITY,
        ]
