"""Privacy degree p (Ghinita, Kalnis, Tao 2011; paper 003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from setveil.errors import InputError
from setveil.models.base import REPEATED_RELEASES, PrivacyModel, label_tuple, whole_number


@dataclass(frozen=True)
class PrivacyDegree(PrivacyModel):
    """In every group, each sensitive item belongs to at most one in ``p`` of its records."""

    name: ClassVar[str] = "degree"

    p: int
    sensitive: Sequence[str]

    def __post_init__(self) -> None:
        whole_number(self.p, "p")
        object.__setattr__(self, "sensitive", label_tuple(self.sensitive, "sensitive"))
        if not self.sensitive:
            raise InputError("the list of sensitive items is empty; name at least one.")

    def guarantee(self) -> str:
        return (
            "Someone who recognizes a person's record links it to any one sensitive item with a probability of at most "
            f"1/{self.p}, if every record of its group looks equally likely to hold it."
        )

    def not_protected(self) -> list[str]:
        return [
            "Record-level singling out: public items are exact, so a record can be recognized by them.",
            "Links between sensitive items and public ones that the attacker knows from elsewhere.",
            "Knowledge of how groups are formed: partners are chosen to suit the record with the sensitive item, so that "
            "within a group the longest or the most typical record is more often the one than 1 in p.",
            "Negative knowledge: whoever knows that group members lack a sensitive item raises the odds for the others.",
            REPEATED_RELEASES,
        ]
