"""(h, k, p)-coherence (Xu, Wang, Fu, Yu 2008; the model of MM)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from setveil.errors import InputError
from setveil.models.base import (
    MINIMALITY,
    NEGATIVE_KNOWLEDGE,
    REPEATED_RELEASES,
    SENSITIVE_ITEM,
    Attacker,
    PrivacyModel,
    label_tuple,
    whole_number,
)


@dataclass(frozen=True, repr=False)
class Coherence(PrivacyModel):
    """Every occurring set of 1 to ``p`` public items has support at least ``k``, and at most ``h`` percent of the
    records that contain it share any one sensitive item.

    Args:
        h: at most so many percent share a sensitive item.
        k: at least so many records fit.
        p: so many known public items.
        sensitive: the items worth hiding.

    Raises:
        InputError: a number is out of range.

    Examples:
        >>> import setveil as sv
        >>> sv.Coherence(h=50, k=5, p=2, sensitive=["hiv"]).k
        5
    """

    name: ClassVar[str] = "coherence"
    alternatives: ClassVar[tuple[str, ...]] = (
        "Model degree, if records may be recognized and only sensitive items have to be hidden; it leaves public items "
        "exact.",
        "k^m-anonymity (model km), if no items are sensitive.",
    )
    glossary: ClassVar[Mapping[str, str]] = {
        "coherence": "(h, k, p)-coherence: every p public items fit at least k records, at most h % of which share a "
        "sensitive item",
        "sensitive item": SENSITIVE_ITEM,
    }
    example: ClassVar[Mapping[str, Any]] = {"h": 80, "k": 2, "p": 2, "sensitive": ["9"]}

    h: float  # percent
    k: int
    p: int
    sensitive: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.k, "k", least=2)
        whole_number(self.p, "p")
        if isinstance(self.h, bool) or not isinstance(self.h, int | float) or not 0 <= self.h <= 100:
            raise InputError(f"h is a percentage from 0 to 100, not {self.h!r}.")
        object.__setattr__(self, "sensitive", label_tuple(self.sensitive, "sensitive"))

    @property
    def _known(self) -> str:
        return "one public item" if self.p == 1 else f"1 to {self.p} public items"  # with none, all records fit

    @property
    def crowd(self) -> int:
        return self.k

    @property
    def known_items(self) -> float | None:
        return float(self.p)

    def attacker(self) -> Attacker:
        return Attacker(
            f"{self._known} of a person",
            "to find that person's record or to learn a sensitive item",
            f"at least {self.k} records that fit, or none, of which at most {self.h:g} % share any one sensitive item",
        )

    def guarantee(self) -> str:
        return (
            f"Someone who knows {self._known} of a person finds at least {self.k} fitting records, or none, and at "
            f"most {self.h:g} % of them share any one sensitive item."
        )

    def not_protected(self) -> list[str]:
        return [
            f"Attackers who know more than {self.p} public items, or a sensitive one.",
            "Attackers who know none of the published items: how many of all records have a sensitive item can be "
            f"counted, whether or not that is more than {self.h:g} %.",
            NEGATIVE_KNOWLEDGE,
            REPEATED_RELEASES,
            MINIMALITY,
        ]
