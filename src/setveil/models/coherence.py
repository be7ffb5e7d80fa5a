"""(h, k, p)-coherence (Xu, Wang, Fu, Yu 2008; the model of MM)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from setveil.errors import InputError
from setveil.models.base import MINIMALITY, REPEATED_RELEASES, PrivacyModel, label_tuple, whole_number


@dataclass(frozen=True)
class Coherence(PrivacyModel):
    """Every occurring set of at most ``p`` public items has support at least ``k``, and at most ``h`` percent of the
    records that contain it share any one sensitive item.
    """

    name: ClassVar[str] = "coherence"

    h: float  # percent
    k: int
    p: int
    sensitive: Sequence[str] = ()

    def __post_init__(self) -> None:
        whole_number(self.k, "k")
        whole_number(self.p, "p")
        if isinstance(self.h, bool) or not isinstance(self.h, int | float) or not 0 <= self.h <= 100:
            raise InputError(f"h is a percentage from 0 to 100, not {self.h!r}.")
        object.__setattr__(self, "sensitive", label_tuple(self.sensitive, "sensitive"))

    def guarantee(self) -> str:
        return (
            f"Someone who knows up to {self.p} public items of a person finds at least {self.k} fitting records, and at "
            f"most {self.h:g} % of them share any one sensitive item."
        )

    def not_protected(self) -> list[str]:
        return [
            f"Attackers who know more than {self.p} public items, or a sensitive one.",
            "Negative knowledge: an attacker who knows that an item is missing from a record can tell records apart.",
            REPEATED_RELEASES,
            MINIMALITY,
        ]
