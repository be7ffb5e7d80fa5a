"""What a release lost and why: the costliest parts, and the combinations of the original that forced them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from setveil.core import LocalRecoding, Release, Transactions
from setveil.models import PrivacyModel
from setveil.report.facts import Facts

SHOWN = 8
LOOKED_THROUGH = 20_000  # combinations of the original that break the promise


class Loss(NamedTuple):
    """One part of the loss."""

    label: str  # as it is published, or the item that was left out or changed
    what: str  # what became of it
    share: float | None  # of the whole loss
    forced_by: tuple[str, ...]  # a combination too few people have; empty where none is known
    support: int | None  # how many have it


def losses_of(facts: Facts, release: Release, data: Transactions, model: PrivacyModel) -> list[Loss]:
    """The biggest losses, the costliest first; what forced them as far as it is known."""
    changes = facts.changes
    rows: Sequence[Mapping[str, Any]] = changes.get("rows") or ()
    if rows:
        moves = _moves(facts.details.get("moves", ()))
        broken = _broken(data, model) if not moves else {}
        return [
            Loss(
                row["label"],
                f"stands for {row['size']:,} items",
                row["loss"],
                *_cause(row, moves, broken),
            )
            for row in rows[:SHOWN]
        ]
    if changes.get("supports"):
        told = changes["supports"][:SHOWN]
        return [Loss(row["label"], f"{row['before']:,} → {row['after']:,} people", None, (), None) for row in told]
    left_out = changes.get("left_out") or _entries_left_out(release, data)
    broken = _broken(data, model) if left_out else {}
    return [
        Loss(label, f"left out of {count:,} records", None, *broken.get(label, ((), None)))
        for label, count in left_out[:SHOWN]
    ]


def _entries_left_out(release: Release, data: Transactions) -> list[tuple[str, int]]:
    """Items of which single entries were left out, with how many, the most frequent first."""
    if not isinstance(release, LocalRecoding) or release.node_of_occurrence is None:
        return []
    n_gone = np.bincount(data.items[release.node_of_occurrence < 0], minlength=data.n_items)
    order = np.lexsort((np.arange(data.n_items), -n_gone))[:SHOWN]
    return [(data.vocabulary[item], int(n_gone[item])) for item in order.tolist() if n_gone[item]]


Cause = tuple[tuple[str, ...], int | None]


def _cause(row: Mapping[str, Any], moves: Mapping[str, Cause], broken: Mapping[str, Cause]) -> Cause:
    names = [row["label"], row.get("name") or row["label"]]
    for name in names:
        if name in moves:
            return moves[name]
    return next((broken[member] for member in row["members"] if member in broken), ((), None))


def _moves(moves: Sequence[Mapping[str, Any]]) -> dict[str, Cause]:
    """Per group that an algorithm raised something to, the combination that made it do so; the last one counts."""
    return {
        str(label): (tuple(map(str, move.get("witness", ()))), move.get("support"))
        for move in moves
        for label in move.get("raised", ())
    }


def _broken(data: Transactions, model: PrivacyModel) -> dict[str, Cause]:
    """Per item, a smallest combination of the original that breaks the promise."""
    from setveil.verify import minimal_violations

    if model.name not in ("km", "coherence", "constraints") or getattr(model, "m", 1) == "all":
        return {}
    found: dict[str, Cause] = {}
    for violation in minimal_violations(data, model, LOOKED_THROUGH):
        for item in violation.itemset:
            found.setdefault(item, (violation.itemset, violation.support))
    return found
