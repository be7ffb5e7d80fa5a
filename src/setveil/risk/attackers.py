"""The attackers that are tried on every release: what they know, which labels they use, how they match records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from setveil.errors import name_some
from setveil.risk.surface import Match

# Which items of a person are known: any; those that the fewest people have; those that most people have; any, each of
# them false with a probability (one in five unless told otherwise) and then replaced by an item that the person does
# not have, drawn by frequency.
KNOWLEDGE = ("random", "rarest", "frequent", "wrong")
_KNOWS = {
    "random": "knows {items} of a person",
    "rarest": "knows the {rarest} of a person",
    "frequent": "knows the {frequent} of a person",
    "wrong": "believes to know {items} of a person, some of them wrong",
}


class Attacker(NamedTuple):
    """One way to attack."""

    name: str
    knows: str  # one of KNOWLEDGE
    labels: Literal["all", "exact"] = "all"  # all labels that can stand for an item, or only those for it alone
    match: Match = "every"  # records that show every known item, or most of them

    def words(self, known: int, columns: Sequence[str] = ()) -> str:
        """What the attacker does, after "an attacker who"; ``columns``: those that every attacker knows."""
        if not known:
            return f"{_knows(columns)} of a person"
        s = "s" if known > 1 else ""
        number = f"{known} " if known > 1 else ""
        items = {
            "items": f"{known} item{s}",
            "rarest": f"{number}rarest item{s}",
            "frequent": f"{number}most frequent item{s}",
        }
        told = _KNOWS[self.knows].format(**items)
        if self.labels == "exact":
            told += " and uses only labels that stand for one item"
        if self.match == "most":
            told += ", and takes the best match" if self.labels == "exact" else " and takes the best match"
        return f"{_knows(columns)} and {told.removeprefix('knows ')}" if columns else told


def _knows(columns: Sequence[str]) -> str:
    return f"knows the column{'s' if len(columns) > 1 else ''} {name_some(columns)}"


ATTACKERS = {
    attacker.name: attacker
    for attacker in (
        Attacker("random", "random"),
        Attacker("rarest", "rarest"),
        Attacker("frequent", "frequent"),
        Attacker("wrong", "wrong"),
        Attacker("random exact", "random", labels="exact"),
        Attacker("rarest exact", "rarest", labels="exact"),
        Attacker("random best", "random", match="most"),
        Attacker("rarest best", "rarest", match="most"),
        Attacker("wrong best", "wrong", match="most"),
        Attacker("random best exact", "random", labels="exact", match="most"),
        Attacker("rarest best exact", "rarest", labels="exact", match="most"),
    )
}
TRIED = tuple(name for name, attacker in ATTACKERS.items() if attacker.knows in ("random", "rarest"))  # in every run


def base_words(known: int) -> str:
    """The base of a rate: people of whom that many items can be known."""
    if not known:
        return "all people"
    return f"people with at least {known} item{'s' if known > 1 else ''}"


def inference_base(known: int, is_named: bool) -> str:
    """The base of a rate of inference; ``is_named``: sensitive items are named, and only these are inferred."""
    if not known and is_named:
        return "people with a sensitive item"
    return base_words(known) + (" and a sensitive item" if is_named else "")
