"""What a check answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from setveil.core.deferred import call
from setveil.errors import name_some, one_line

Item = TypeVar("Item", int, str)
NAMED = 12  # items of an itemset in a message


@dataclass(frozen=True)
class Verdict:
    """Whether a guarantee is met; if not, one itemset (or item of a group) that shows it, and its support.

    Examples:
        >>> import setveil as sv
        >>> verdict = sv.verify([{"a"}, {"a", "b"}], "km", k=2, m=1)
        >>> verdict.holds, verdict.witness, verdict.support
        (False, ('b',), 1)
    """

    holds: bool
    witness: tuple[str, ...] | None = None
    support: int | None = None
    reason: str = ""  # one plain line when the claim does not hold
    group: int | None = None  # groupings: where the witness was found
    unchecked: str = ""  # one plain line on what could not be verified here, though the guarantee is met

    def __bool__(self) -> bool:
        return self.holds

    def _repr_html_(self) -> str:
        tone = "good" if self.holds else "bad"
        return str(
            call("card", "Guarantee verified" if self.holds else "Guarantee not met", note=self.reason, tone=tone)
        )


@dataclass(frozen=True)
class Violation:
    """An itemset that is published too rarely, or shares a sensitive item too often, and its support."""

    itemset: tuple[str, ...]
    support: int


class Found(Generic[Item]):
    """Itemsets found so far, by their first item."""

    def __init__(self) -> None:
        self.by_first: dict[Item, list[frozenset[Item]]] = {}

    def add(self, itemset: tuple[Item, ...]) -> None:
        self.by_first.setdefault(itemset[0], []).append(frozenset(itemset))

    def has_part_of(self, itemset: tuple[Item, ...]) -> bool:
        """Whether one of them is contained in this one."""
        whole = set(itemset)
        return any(part <= whole for item in itemset for part in self.by_first.get(item, ()))


def in_braces(labels: tuple[str, ...]) -> str:
    """``{"a", "b"}``: an itemset in a message, however long it is."""
    shown = ", ".join(f'"{one_line(label)}"' for label in labels[:NAMED])
    return f"{{{shown}}}" if len(labels) <= NAMED else f"{{{shown} and {len(labels) - NAMED:,} more}}"


def naming(what: str, labels: Iterable[str]) -> list[str]:
    """One line that names labels; none where there are none."""
    named = list(labels)
    return [f"{what} {name_some(named)}."] if named else []
