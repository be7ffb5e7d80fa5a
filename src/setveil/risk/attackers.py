"""The attackers that are tried on every release: what they know, which labels they use, how they match records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from setveil.errors import name_some
from setveil.risk.surface import Match

# Which items of a person are known: any; those that the fewest people have; those that most people have; any, each of
# them false with a probability (one in five unless another one is given) and then replaced by an item that the person
# does not have, drawn by frequency; the rarest of those that the person's record shows under a label of their own;
# those whose labels in the person's record fewest records share.
KNOWLEDGE = ("random", "rarest", "frequent", "wrong", "shown", "identifying")
_KNOWS = {
    "random": "knows {items} of a person",
    "rarest": "knows the {rarest} of a person",
    "frequent": "knows the {frequent} of a person",
    "wrong": "knows {items} of a person, but some of them are wrong",
    "shown": "knows the {rarest} of a person among those that are published unchanged",
    "identifying": "knows the {identifying} of a person",
}


class Attacker(NamedTuple):
    """One way to attack."""

    name: str
    knows: str  # one of KNOWLEDGE
    # All labels that can cover an item; only those for it alone; or all, of which those for it alone count double.
    labels: Literal["all", "exact", "narrow"] = "all"
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
            "identifying": f"{number}most identifying item{s}",
        }
        words = _KNOWS[self.knows].format(**items)
        if self.labels == "exact" and self.knows != "shown":  # whose items have such labels
            words += " and uses only labels that cover one item"
        if self.match == "most":
            words += " and takes the best match"
        if self.labels == "narrow":
            words += ", in which labels that cover one item count double"
        return f"{_knows(columns)} and {words.removeprefix('knows ')}" if columns else words


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
        Attacker("random narrow", "random", labels="narrow", match="most"),
        Attacker("rarest narrow", "rarest", labels="narrow", match="most"),
        Attacker("shown exact", "shown", labels="exact"),
        Attacker("identifying", "identifying"),
        Attacker("identifying exact", "identifying", labels="exact"),
    )
}
TRIED = tuple(name for name, attacker in ATTACKERS.items() if attacker.knows not in ("frequent", "wrong"))  # always


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
