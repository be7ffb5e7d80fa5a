"""(k, k^m)-anonymity of columns and items (Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos 2013)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.errors import InputError
from setveil.models.base import MINIMALITY, NEGATIVE_KNOWLEDGE, REPEATED_RELEASES, Advice, Attacker
from setveil.models.crowds import MOST_KNOWN, GradedCrowds, crowds_parameter
from setveil.models.parameters import Items, Whole, parameter
from setveil.words import terms

if TYPE_CHECKING:
    from setveil.core import Dataset


@dataclass(frozen=True, repr=False)
class KKmAnonymity(GradedCrowds):
    """Records with the same published columns form classes. Every class has at least ``k`` people, and within each
    every itemset of at most ``m`` published items that occurs is in at least ``k`` of its records.

    ``m=0``: only the columns; ``m="all"``: whole records. Knowing fewer columns adds up classes, each of which matches
    nobody or at least ``k`` people: that attacker is covered, too.

    Args:
        k: smallest number of matching people.
        m: largest number of known items besides the known columns, or ``"all"``.
        k_known: smallest number of matching people for each number of known items from 0 (the columns alone) to ``m``.
        sensitive: sensitive items, which an attacker does not know.
        l: smallest number of distinct values per class, of each sensitive column and of the sensitive items.

    Raises:
        InputError: ``k`` is below 2, ``m`` below 0 or above 1,000, ``l`` below 1, or ``k_known`` does not fit them.

    Examples:
        >>> import setveil as sv
        >>> print(sv.KKmAnonymity(k=5, m=2).guarantee())
        Anyone who knows all known columns and up to 2 items of a person matches at least 5 published records, or none.
    """

    name: ClassVar[str] = "kkm"
    title: ClassVar[str] = "Protect people against attackers who know columns, such as age and sex, and a few items"
    verifier: ClassVar[str] = "setveil.verify.kkm:check"
    picture: ClassVar[str] = "crowd"
    is_usual: ClassVar[bool] = True
    shapes_hierarchy: ClassVar[bool] = True
    known_columns: ClassVar[Literal["", "public", "class"]] = "class"
    generalizes_columns: ClassVar[bool] = True
    protects_columns: ClassVar[bool] = True
    advice: ClassVar[Advice] = Advice(
        keep_more="To keep more, choose a smaller k or m, or drop a column that nobody needs.",
        protect_more="Increase m",
        weaker="Choose a smaller k or m, or drop a known column.",
    )
    grid: ClassVar[Mapping[str, list[Any]]] = {"k": [3, 5, 10], "m": [1, 2]}
    alternatives: ClassVar[tuple[str, ...]] = (
        "A larger m, if attackers may know more items besides the columns.",
        "k^m-anonymity (model km) without columns, if nobody needs them.",
    )
    glossary: ClassVar[Mapping[str, str]] = terms("(k, k^m)-anonymity", "known column")
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "m": 2}

    k: int = parameter(
        Whole(2), "Smallest number of people who match an attacker's knowledge.", flag="-k",
        label="k: smallest number of matching people", slider=(2, 50),
    )  # fmt: skip
    m: int | Literal["all"] = parameter(
        Whole(0, MOST_KNOWN, ("all",)), 'Largest number of items an attacker knows besides the columns, or "all".',
        flag="-m", label="m: items an attacker may know besides the columns", slider=(0, 5),
    )  # fmt: skip
    k_known: str | None = crowds_parameter()
    sensitive: Sequence[str] = parameter(
        Items(), "Sensitive items: published unchanged, and not known to the attacker.", default=(), protects=True,
        label="Optional: items that are published unchanged and that an attacker does not know.",
    )  # fmt: skip
    l: int = parameter(  # noqa: E741 - the literature's letter
        Whole(1), "Smallest number of distinct values per class, of each sensitive column and of the sensitive items.",
        default=1, flag="-l", label="l: distinct sensitive values among them", slider=(1, 10),
    )  # fmt: skip

    @property
    def reach(self) -> float | None:
        return None if self.sensitive else self.known_items

    def doubts(self, data: Dataset) -> Iterator[str]:
        columns = data.columns.with_role("known") if data.columns else ()
        if not columns:
            yield (
                "no column is known: the guarantee is that of model km for all people together. Name the columns that "
                "an attacker may know with --known-columns."
            )
        if self.l > 1 and not self.sensitive and not (data.columns and data.columns.with_role("sensitive")):
            raise InputError(f"l={self.l} needs sensitive items or sensitive columns; name them, or remove l.")

    def attacker(self) -> Attacker:
        secret = ", and its sensitive values" if self.l > 1 or self.sensitive else ""
        return Attacker(
            f"all known columns of a person{self._known_items(' and ')}",
            f"to re-identify that person's record{secret}, and so learn everything else in it",
            f"at least {self.k} people who match equally well, or none: the probability of the right record is at most "
            f"1 in {self.k}",
        )

    def guarantee(self) -> str:
        knows = f"Anyone who knows all known columns{self._known_items(' and ')} of a person matches"
        diverse = (
            f" People with the same columns have at least {self.l} distinct values of each sensitive column, and at "
            f"least {self.l} distinct sensitive items if any were named."
            if self.l > 1
            else ""
        )
        if self.k_known is not None:
            return f"{knows} published records, or none: {self._matches('the columns alone')}.{diverse}"
        return f"{knows} at least {self.k} published records, or none.{diverse}"

    def not_protected(self) -> list[str]:
        more = [] if self.m == "all" else [f"Attackers who know more than {_items(self.m)} of a person."]
        diverse = (
            f"Sensitive values of fewer people: the {self.l} distinct values are counted among people with the same "
            "columns. Those who also have the same known items may share one value."
            if self.l > 1
            else "Homogeneous records: if all matching people share a sensitive value or another item, it is revealed."
        )
        return [*more, diverse, NEGATIVE_KNOWLEDGE, REPEATED_RELEASES, MINIMALITY]

    def _known_items(self, before: str) -> str:
        kind = "non-sensitive item" if self.sensitive else "item"
        if self.m == "all":
            return f"{before}any number of {kind}s"
        return "" if self.m == 0 else f"{before}one {kind}" if self.m == 1 else f"{before}up to {self.m} {kind}s"


def _items(number: int | Literal["all"]) -> str:
    return "the known columns" if number == 0 else "one item" if number == 1 else f"{number} items"
