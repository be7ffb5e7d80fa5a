"""A privacy model and its verifier."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from setveil.models import Attacker, PrivacyModel, parameter
from setveil.models.parameters import Whole
from setveil.verify import Verdict


@dataclass(frozen=True, repr=False)
class FrequentItems(PrivacyModel):
    """Every published item is in at least ``least`` records."""

    name: ClassVar[str] = "frequent"
    title: ClassVar[str] = "Publish only frequent items"
    verifier: ClassVar[str] = "toyveil.model:check"
    grid: ClassVar[dict[str, list[Any]]] = {"least": [2, 3]}
    example: ClassVar[dict[str, Any]] = {"least": 2}

    least: int = parameter(Whole(2), "Smallest number of records with an item.", label="Smallest count", slider=(2, 9))

    @property
    def crowd(self) -> int:
        return self.least

    def attacker(self) -> Attacker:
        return Attacker("one item of a person", "to re-identify the record", f"at least {self.least} records, or none")

    def guarantee(self) -> str:
        return f"Anyone who knows one item of a person matches at least {self.least} published records, or none."

    def not_protected(self) -> list[str]:
        return ["Attackers who know more than one item of a person."]


def check(published: Any, model: FrequentItems, progress: Any) -> Verdict:
    """Count every published item."""
    counts = Counter(item for record in published.to_lists() for item in record)
    rare = sorted((item, count) for item, count in counts.items() if count < model.least)
    if not rare:
        return Verdict(True)
    item, count = rare[0]
    return Verdict(False, (item,), count, f"an item is in {count} records, fewer than {model.least}.")
