"""k^m-anonymity (Terrovitis, Mamoulis, Kalnis 2008), and with m="all" complete k-anonymity (paper 000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from setveil.errors import InputError
from setveil.models.base import MINIMALITY, REPEATED_RELEASES, PrivacyModel, whole_number


@dataclass(frozen=True)
class KmAnonymity(PrivacyModel):
    """Every itemset of at most ``m`` published items that occurs, occurs in at least ``k`` records.

    ``m="all"``: every published record is contained in at least ``k`` published records (itself counted).
    """

    name: ClassVar[str] = "km"

    k: int
    m: int | Literal["all"]

    def __post_init__(self) -> None:
        whole_number(self.k, "k")
        given: object = self.m
        if given != "all":
            if isinstance(given, str):
                raise InputError(f'm must be a whole number or "all", not {given!r}.')
            whole_number(given, "m")

    def guarantee(self) -> str:
        known = "any number of" if self.m == "all" else f"up to {self.m}"
        return f"Someone who knows {known} items of a person finds at least {self.k} published records that fit."

    def not_protected(self) -> list[str]:
        more = [] if self.m == "all" else [f"Attackers who know more than {self.m} items of a person."]
        return [
            *more,
            "Negative knowledge: an attacker who knows that an item is missing from a record can tell records apart.",
            f"Homogeneous records: if all {self.k} or more fitting records share another item, it is revealed.",
            REPEATED_RELEASES,
            MINIMALITY,
        ]
