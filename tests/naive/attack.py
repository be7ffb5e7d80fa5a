"""An attack on one target by looking at every published record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Covers = Sequence[Sequence[frozenset[str]]]  # per published record the sets its items stand for


def candidates(
    published: Covers, known: set[str], labels: str = "all", match: str = "every", without: int | None = None
) -> list[int]:
    """Records that fit what is known, as an attacker sees them; ``without``: one record is not there.

    ``labels="exact"``: only labels that cover one item are used. Items that no such label stands for in any record
    are set aside. ``match="most"``: the records that show most of the known items, whether that is all of them or none.
    ``labels="narrow"`` (best matches only): an item shown by a label that stands for it alone counts double.
    """
    if labels == "narrow":
        scores = {
            number: sum(
                2 if frozenset([item]) in record else any(item in cover for cover in record) for item in sorted(known)
            )
            for number, record in enumerate(published)
            if number != without
        }
        best = max(scores.values(), default=0)
        return [number for number, score in scores.items() if score == best]
    used = [[cover for cover in record if labels == "all" or len(cover) == 1] for record in published]
    usable = known & {item for record in used for cover in record for item in cover}
    shown = {
        number: sum(any(item in cover for cover in record) for item in usable)
        for number, record in enumerate(used)
        if number != without
    }
    least = len(usable) if match == "every" else max(shown.values(), default=0)
    return [number for number, score in shown.items() if score == least]


VIEWS = [*((labels, match) for labels in ("all", "exact") for match in ("every", "most")), ("narrow", "most")]


def strongest(published: Covers, classes: Sequence[object], person: int, items: set[str], known: int) -> Iterator[bool]:
    """Whether a person is singled out, by every attacker: whichever up to ``known`` of the items they know, whichever
    labels they use, and however they match records.

    ``classes``: attackers know the columns, so that only records of the person's class matter.
    """
    mates = [number for number in range(len(published)) if classes[number] == classes[person]]
    for size in range(known + 1):
        for part in combinations(sorted(items), size):
            for view in VIEWS:
                # What labels stand for anywhere is known from the codebook: a class alone does not say it.
                usable = {
                    item
                    for record in published
                    for cover in record
                    if view[0] != "exact" or len(cover) == 1
                    for item in cover
                }
                fitting = candidates([published[number] for number in mates], set(part) & usable, *view)
                yield [mates[place] for place in fitting] == [person]


def likelihood(record: Sequence[frozenset[str]], secret: str) -> Fraction:
    """How likely a record holds the secret: one of those behind the most specific item that covers it."""
    covering = sorted((cover for cover in record if secret in cover), key=len)
    if not covering:
        return Fraction(0)
    return Fraction(1, len(covering[0]))


def posterior(likelihoods: Sequence[Fraction], fitting: Sequence[int], everyone: Sequence[int]) -> Fraction:
    """Average over the candidates, over everyone if there are none."""
    asked = fitting or everyone
    return sum((likelihoods[number] for number in asked), Fraction(0)) / len(asked) if asked else Fraction(0)


def group_likelihoods(
    secrets: Sequence[set[str]], group_of: Sequence[int], secret: str, without: int | None = None
) -> list[Fraction]:
    """Count over size in each record's group, without one person if asked; that person gets 0."""
    members: dict[int, list[int]] = {}
    for record, group in enumerate(group_of):
        if record != without:
            members.setdefault(group, []).append(record)
    share = {g: Fraction(sum(secret in secrets[r] for r in rows), len(rows)) for g, rows in members.items()}
    return [Fraction(0) if record == without else share[group] for record, group in enumerate(group_of)]
