"""Privacy degree p (Ghinita, Kalnis, Tao 2011; paper 003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from setveil.models.base import REPEATED_RELEASES, Attacker, PrivacyModel
from setveil.models.parameters import Items, Whole, parameter


@dataclass(frozen=True, repr=False)
class PrivacyDegree(PrivacyModel):
    """In every group, each sensitive item belongs to at most one in ``p`` of its records.

    Args:
        p: the largest share of a group with one sensitive item is 1/p.
        sensitive: the sensitive items.

    Raises:
        InputError: ``p`` is below 2, or no item is named.

    Examples:
        >>> import setveil as sv
        >>> sv.PrivacyDegree(p=10, sensitive=["hiv"])
        PrivacyDegree(p=10, sensitive=('hiv',))
    """

    name: ClassVar[str] = "degree"
    title: ClassVar[str] = "Hide who has a sensitive item, and keep every other item unchanged"
    verifier: ClassVar[str] = "setveil.verify.degree:check"
    picture: ClassVar[str] = "group"
    is_about_groups: ClassVar[bool] = True
    known_columns: ClassVar[Literal["", "public", "class"]] = "public"
    grid: ClassVar[Mapping[str, list[Any]]] = {"p": [3, 5, 10]}
    alternatives: ClassVar[tuple[str, ...]] = (
        "k^m-anonymity (model km), if records themselves must not be re-identified.",
        "Coherence, if records must not be re-identified and sensitive items must be protected as well.",
    )
    example: ClassVar[Mapping[str, Any]] = {"p": 2, "sensitive": ["9"]}

    p: int = parameter(
        Whole(2), "At most one in P records of a group has a given sensitive item.", flag="-p",
        label="p: at most one in p people of a group has a sensitive item", slider=(2, 50),
    )  # fmt: skip
    sensitive: Sequence[str] = parameter(
        Items(needed=True), "Sensitive items: published as counts per group.", protects=True,
        label="The items that must not be linked to a person.",
    )  # fmt: skip

    @property
    def crowd(self) -> int:
        return self.p

    @property
    def violated_by(self) -> Literal["combination", "record", "part", "group"]:
        return "group"

    def attacker(self) -> Attacker:
        return Attacker(
            "which published record belongs to a person, because public items are unchanged",
            "to learn whether that person has a sensitive item",
            f"a group in which at most one in {self.p} records has the sensitive item, without saying which",
        )

    def guarantee(self) -> str:
        return (
            "Anyone who re-identifies a person's record links it to a given sensitive item with a probability of at "
            f"most 1/{self.p}, if every record of its group is equally likely to have the item."
        )

    def not_protected(self) -> list[str]:
        return [
            "Singling out: public items are unchanged, so a record can be re-identified by them.",
            "Links between public and sensitive items that the attacker knows or infers, such as a public item that "
            "never occurs without a sensitive one.",
            "Entries that are not counted: if the owner allowed lower counts (suppress_excess), people may have a "
            "sensitive item beyond the published counts.",
            "Negative knowledge: if an attacker knows that members of a group do not have a sensitive item, the "
            "probability rises for the other members.",
            REPEATED_RELEASES,
        ]
