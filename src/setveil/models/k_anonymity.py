"""k-anonymity of whole records (the model of PTA, paper 004), with distinct l-diversity on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from setveil.errors import InputError
from setveil.models.base import MINIMALITY, REPEATED_RELEASES, Attacker, PrivacyModel
from setveil.models.parameters import Items, Whole, parameter
from setveil.words import terms

if TYPE_CHECKING:
    from setveil.core import Dataset

MOST_SENSITIVE = 0.9  # share of entries above which k-anonymity would leave nearly everything unprotected
MUCH_SENSITIVE = 0.5  # and above which the owner is warned


@dataclass(frozen=True, repr=False)
class KAnonymity(PrivacyModel):
    """Every published set of non-sensitive items occurs in at least ``k`` records; the empty set is one of them.

    With ``l`` above 1 each such class also holds at least ``l`` distinct sensitive items.

    Args:
        k: smallest number of identical records.
        sensitive: items that are not compared.
        l: smallest number of distinct sensitive items per class.

    Raises:
        InputError: ``k`` is below 2, or ``l`` below 1.

    Examples:
        >>> import setveil as sv
        >>> sv.KAnonymity(k=5, sensitive=["hiv"], l=2)
        KAnonymity(k=5, sensitive=('hiv',), l=2)
    """

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "Publish every record at least k times, against attackers who know whole records"
    verifier: ClassVar[str] = "setveil.verify.k_anonymity:check"
    picture: ClassVar[str] = "records"
    suggested_if_dense: ClassVar[bool] = True
    known_columns: ClassVar[Literal["", "public", "class"]] = "class"
    grid: ClassVar[Mapping[str, list[Any]]] = {"k": [3, 5]}
    alternatives: ClassVar[tuple[str, ...]] = (
        "k^m-anonymity (model km), if attackers know only a few items of a person; it keeps far more of sparse data.",
        "Model degree, if only the sensitive items need protection.",
    )
    glossary: ClassVar[Mapping[str, str]] = terms("k-anonymity")
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    k: int = parameter(
        Whole(2), "Smallest number of identical published records.", flag="-k",
        label="k: people with the same published record", slider=(2, 50),
    )  # fmt: skip
    sensitive: Sequence[str] = parameter(
        Items(), "Sensitive items: published unchanged, and not compared.", default=(), protects=True,
        label="Optional: items that are published unchanged and that an attacker does not know.",
    )  # fmt: skip
    l: int = parameter(  # noqa: E741 - the literature's letter
        Whole(1), "Smallest number of distinct sensitive items per class.", default=1, flag="-l",
        label="l: distinct sensitive items among them", slider=(1, 10),
    )  # fmt: skip

    @property
    def crowd(self) -> int:
        return self.k

    @property
    def reach(self) -> float | None:
        return None if self.sensitive else inf

    @property
    def violated_by(self) -> Literal["combination", "record", "part", "group"]:
        return "record"

    def doubts(self, data: Dataset) -> Iterator[str]:
        number = data.vocabulary.numbers(self.sensitive)
        n_sensitive = int(data.supports[number[number >= 0]].sum())
        share = n_sensitive / data.n_occurrences if data.n_occurrences else 0.0
        words = (
            f"sensitive: {100 * share:.1f} % of all entries are sensitive, which this model publishes unchanged and "
            "does not compare"
        )
        mend = "Name fewer items, or use model degree or km."
        if share > MOST_SENSITIVE:
            raise InputError(
                f"{words}: more than {100 * MOST_SENSITIVE:.0f} %, so that almost nothing is protected. {mend}"
            )
        if share > MUCH_SENSITIVE:
            yield f"{words}: an attacker who knows some of them can still single out people. {mend}"

    def attacker(self) -> Attacker:
        also = f", with at least {self.l} distinct sensitive items among them" if self.l > 1 else ""
        return Attacker(
            "all items of a person except the sensitive ones" if self.sensitive else "all items of a person",
            "to re-identify that person's record" + (", and learn its sensitive items" if self.sensitive else ""),
            f"at least {self.k} identical published records{also}: the probability of the right record is at most "
            f"1 in {self.k}",
        )

    def guarantee(self) -> str:
        what = "all non-sensitive items" if self.sensitive else "the whole record"
        diverse = f", with at least {self.l} distinct sensitive items among them" if self.l > 1 else ""
        return f"Anyone who knows {what} of a person matches at least {self.k} identical published records{diverse}."

    def not_protected(self) -> list[str]:
        homogeneous = (
            f"Skewed sensitive values: the {self.l} or more distinct sensitive items of a class may occur very "
            "unequally often."
            if self.l > 1
            else "Homogeneous sensitive values: if all records of a class share a sensitive item, it is revealed."
        )
        return [homogeneous, REPEATED_RELEASES, MINIMALITY]
