"""k-anonymity of whole records (the model of PTA, paper 004), with distinct l-diversity on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from setveil.models.base import MINIMALITY, REPEATED_RELEASES, PrivacyModel, label_tuple, whole_number


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every published set of non-sensitive items occurs in at least ``k`` records; the empty set is one of them.

    With ``l`` above 1 each such class also holds at least ``l`` distinct sensitive items.
    """

    name: ClassVar[str] = "k-anonymity"

    k: int
    sensitive: Sequence[str] = ()
    l: int = 1  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        whole_number(self.k, "k")
        whole_number(self.l, "l")
        object.__setattr__(self, "sensitive", label_tuple(self.sensitive, "sensitive"))

    def guarantee(self) -> str:
        what = "all non-sensitive items" if self.sensitive else "the whole record"
        diverse = f" and the records show at least {self.l} different sensitive items" if self.l > 1 else ""
        return f"Someone who knows {what} of a person finds at least {self.k} identical published records{diverse}."

    def not_protected(self) -> list[str]:
        homogeneous = (
            f"Skewed sensitive values: {self.l} different sensitive items per class may still be very unequally frequent."
            if self.l > 1
            else "Homogeneous sensitive values: if all records of a class share a sensitive item, it is revealed."
        )
        return [homogeneous, REPEATED_RELEASES, MINIMALITY]
