"""Privacy degree p (Ghinita, Kalnis, Tao 2011; paper 003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from setveil.errors import InputError
from setveil.models.base import REPEATED_RELEASES, Attacker, PrivacyModel, label_tuple, whole_number


@dataclass(frozen=True, repr=False)
class PrivacyDegree(PrivacyModel):
    """In every group, each sensitive item belongs to at most one in ``p`` of its records.

    Args:
        p: one in so many.
        sensitive: the items worth hiding.

    Raises:
        InputError: ``p`` is below 2, or no item is named.

    Examples:
        >>> import setveil as sv
        >>> sv.PrivacyDegree(p=10, sensitive=["hiv"])
        PrivacyDegree(p=10, sensitive=('hiv',))
    """

    name: ClassVar[str] = "degree"
    alternatives: ClassVar[tuple[str, ...]] = (
        "k^m-anonymity (model km), if records themselves must not be recognized.",
        "Coherence, if records must not be recognized and sensitive items must be hidden as well.",
    )
    example: ClassVar[Mapping[str, Any]] = {"p": 2, "sensitive": ["9"]}

    p: int
    sensitive: Sequence[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.p, "p", least=2)
        object.__setattr__(self, "sensitive", label_tuple(self.sensitive, "sensitive"))
        if not self.sensitive:
            raise InputError("the list of sensitive items is empty; name at least one.")

    @property
    def crowd(self) -> int:
        return self.p

    def attacker(self) -> Attacker:
        return Attacker(
            "which published record is the person's, because public items are exact",
            "to learn whether that person has a sensitive item",
            f"a group in which each sensitive item belongs to at most one in {self.p} records, without saying to which",
        )

    def guarantee(self) -> str:
        return (
            "Someone who recognizes a person's record links it to any one sensitive item with a probability of at most "
            f"1/{self.p}, if every record of its group looks equally likely to hold it."
        )

    def not_protected(self) -> list[str]:
        return [
            "Record-level singling out: public items are exact, so a record can be recognized by them.",
            "Links between public and sensitive items that the attacker knows or infers, such as a public item that "
            "never occurs without a sensitive one.",
            "Entries that are not counted: where the owner allowed to count fewer (suppress_excess), people may have a "
            "sensitive item beyond the published counts.",
            "Negative knowledge: whoever knows that group members lack a sensitive item raises the odds for "
            "the others.",
            REPEATED_RELEASES,
        ]
