"""k^m-anonymity (Terrovitis, Mamoulis, Kalnis 2008), and with m="all" complete k-anonymity (paper 000)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar, Literal

from setveil.errors import InputError, one_line
from setveil.models.base import MINIMALITY, NEGATIVE_KNOWLEDGE, REPEATED_RELEASES, Attacker, PrivacyModel, whole_number

MOST_KNOWN = 1_000  # items: whoever knows more knows whole records, and every size is counted on its own


@dataclass(frozen=True, repr=False)
class KmAnonymity(PrivacyModel):
    """Every itemset of at most ``m`` published items that occurs, occurs in at least ``k`` records.

    ``m="all"``: every published record is contained in at least ``k`` published records (itself counted).

    Args:
        k: at least so many records fit.
        m: so many known items, or ``"all"``.

    Raises:
        InputError: ``k`` is below 2, or ``m`` below 1 or above 1,000.

    Examples:
        >>> import setveil as sv
        >>> print(sv.KmAnonymity(k=5, m=2).guarantee())
        Someone who knows up to 2 items of a person finds at least 5 published records that fit, or none.
    """

    name: ClassVar[str] = "km"
    alternatives: ClassVar[tuple[str, ...]] = (
        "A larger m for attackers who know more; the curve above shows what is left for them to find.",
        "Model degree, if only a few items are sensitive and the rest may be published exactly.",
        "Privacy constraints, if it is known which combinations an attacker can know.",
    )
    glossary: ClassVar[Mapping[str, str]] = {
        "k^m-anonymity": "whichever m items of a person someone knows, at least k records fit, or none",
    }
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "m": 2}

    k: int
    m: int | Literal["all"]

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.k, "k", least=2)
        given: object = self.m
        if given != "all":
            if isinstance(given, str):
                raise InputError(f'm must be a whole number or "all", not "{one_line(given)}".')
            if whole_number(given, "m") > MOST_KNOWN:
                raise InputError(f'm must be at most {MOST_KNOWN:,}; write "all" for whoever knows whole records.')

    @property
    def crowd(self) -> int:
        return self.k

    @property
    def reach(self) -> float | None:
        return inf if self.m == "all" else float(self.m)

    def attacker(self) -> Attacker:
        return Attacker(
            "any number of items of a person, up to the whole record"
            if self.m == "all"
            else f"up to {self.m} items of a person, whichever tell most",
            "to find that person's record, and so everything else in it",
            f"at least {self.k} records that fit equally well, or none: a chance of at most 1 in {self.k} to pick "
            "the right one",
        )

    def guarantee(self) -> str:
        # "or none": what someone knows may have been left out, or never have been there.
        known = "any number of items" if self.m == "all" else "an item" if self.m == 1 else f"up to {self.m} items"
        return f"Someone who knows {known} of a person finds at least {self.k} published records that fit, or none."

    def not_protected(self) -> list[str]:
        more = [] if self.m == "all" else [f"Attackers who know more than {self.m} items of a person."]
        return [
            *more,
            NEGATIVE_KNOWLEDGE,
            f"Homogeneous records: if all {self.k} or more fitting records share another item, it is revealed.",
            REPEATED_RELEASES,
            MINIMALITY,
        ]
