"""What a release lost and why: the costliest parts, and what in the original forced them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.models import PrivacyModel
from setveil.releases import Release
from setveil.report.facts import Facts
from setveil.report.words import named

SHOWN = 8
LOOKED_THROUGH = 20_000  # combinations of the original that break the promise
TRIED = 50  # shortest records of an item that are looked at, where whole records are what somebody may know


class Cause(NamedTuple):
    """The reason for a loss: ``combination`` or ``record``, which ``n`` people have, fewer than the guarantee needs;
    ``group``, of which at most one in ``n`` may have the item; ``""`` where nothing is known.
    """

    kind: str = ""
    items: tuple[str, ...] = ()
    n: int | None = None

    def shown(self, show: Callable[[str], str]) -> Cause:
        """With its items as pages show them."""
        return self._replace(items=tuple(map(show, self.items)))


class Loss(NamedTuple):
    """One part of the loss."""

    label: str  # as it is published, or the item that was left out or changed
    what: str  # what became of it
    share: float | None  # of the whole loss
    cause: Cause


def losses_of(facts: Facts, release: Release, data: Transactions, model: PrivacyModel) -> list[Loss]:
    """The biggest losses, the costliest first; what forced them as far as it is known. Labels are as pages show
    them.
    """
    changes = facts.changes
    show = partial(named, names=facts.names)
    label_of = {show(label): label for label in data.vocabulary}

    def broken(shown: Iterable[str]) -> dict[str, Cause]:
        found = _broken(data, model, (label_of.get(label, label) for label in shown))
        return {show(label): cause.shown(show) for label, cause in found.items()}

    rows: Sequence[Mapping[str, Any]] = changes.get("rows") or ()
    if rows:
        moves = {show(label): cause.shown(show) for label, cause in _moves(facts.details.get("moves", ())).items()}
        causes = broken(() if moves else (member for row in rows[:SHOWN] for member in row["members"]))
        return [
            Loss(row["label"], f"category of {row['size']:,} items", row["loss"], _cause(row, moves, causes))
            for row in rows[:SHOWN]
        ]
    if changes.get("supports"):
        losses = [(row["label"], f"{row['before']:,} → {row['after']:,} people") for row in changes["supports"]]
    else:
        gone = changes.get("left_out") or _entries_left_out(release, data, show)
        losses = [(label, f"suppressed in {count:,} records") for label, count in gone]
    causes = broken(label for label, _ in losses[:SHOWN])
    found = [Loss(label, what, None, causes.get(label, Cause())) for label, what in losses[:SHOWN]]
    return found or _unlinked(release, model, show)


def _entries_left_out(release: Release, data: Transactions, show: Callable[[str], str]) -> list[tuple[str, int]]:
    """Items with suppressed entries and the number of these, the most frequent first."""
    n_gone = release.suppressed_entries(data)
    order = np.lexsort((np.arange(data.n_items), -n_gone))[:SHOWN]
    return [(show(data.vocabulary[item]), int(n_gone[item])) for item in order.tolist() if n_gone[item]]


def _unlinked(release: Release, model: PrivacyModel, show: Callable[[str], str]) -> list[Loss]:
    """Sensitive items of a grouping: who has them is no longer published, only how many of a group."""
    hidden = sorted(release.hidden_among(), key=lambda one: one[1] - one[2])[:SHOWN]  # stable: ascending by item
    return [
        Loss(show(label), f"its {n:,} people are hidden among {among:,}", None, Cause("group", (), model.crowd))
        for label, n, among in hidden
        if n
    ]


def _cause(row: Mapping[str, Any], moves: Mapping[str, Cause], broken: Mapping[str, Cause]) -> Cause:
    names = [row["label"], row.get("name") or row["label"]]
    for name in names:
        if name in moves:
            return moves[name]
    return next((broken[member] for member in row["members"] if member in broken), Cause())


def _moves(moves: Sequence[Mapping[str, Any]]) -> dict[str, Cause]:
    """Per category that an algorithm used, the combination that made it necessary; the last one counts."""
    return {
        str(label): Cause("combination", tuple(map(str, move["witness"])), move.get("support"))
        for move in moves
        if move.get("witness")
        for label in move.get("raised", ())
    }


def _broken(data: Transactions, model: PrivacyModel, wanted: Iterable[str]) -> dict[str, Cause]:
    """Per item, a smallest part of the original that does not meet the guarantee, if there is one."""
    from setveil.verify import lists_violations, minimal_violations

    labels = dict.fromkeys(wanted)
    if not labels or not lists_violations(model):
        return {}
    kind = model.violated_by
    if kind == "group":
        return dict.fromkeys(labels, Cause("group", (), model.crowd))
    if kind == "part":
        people = _People(data)
        causes = {label: people.rare_part(label, model.crowd or 1) for label in labels if label in data.vocabulary}
        return {label: cause for label, cause in causes.items() if cause is not None}
    violations = minimal_violations(data, model, LOOKED_THROUGH)
    if kind == "record":  # the shortest records tell most
        violations.sort(key=lambda violation: (len(violation.itemset), violation.support, violation.itemset))
    found: dict[str, Cause] = {}
    for violation in violations:
        for item in violation.itemset:
            found.setdefault(item, Cause(kind, violation.itemset, violation.support))
    return found


class _People:
    """Supports for guarantees about whole records: these have too many rare parts to list all of them."""

    def __init__(self, data: Transactions) -> None:
        self.data = data
        self.indptr, self.records = data.inverted()

    def rare_part(self, label: str, k: int) -> Cause | None:
        """Of a short record with this item, a part that fewer than ``k`` people have and none of whose parts is one;
        where there is one, a part with the item in it.
        """
        item = int(self.data.vocabulary.numbers([label])[0])
        holders = self._holders(item)
        fallback = None
        for record in holders[np.lexsort((holders, self.data.lengths[holders]))][:TRIED].tolist():
            items = self.data.record(record).tolist()
            if self._n_having(items) < k:
                part = self._smallest(item, items, k)
                cause = Cause("combination", tuple(self.data.vocabulary[one] for one in part), self._n_having(part))
                if item in part:
                    return cause
                fallback = fallback or cause
        return fallback

    def _smallest(self, item: int, items: list[int], k: int) -> list[int]:
        """A smallest violating part: frequent items are removed first, the given item last."""
        for one in sorted(items, key=lambda one: (one == item, -int(self.data.supports[one]), one)):
            fewer = [kept for kept in items if kept != one]
            if fewer and self._n_having(fewer) < k:
                items = fewer
        return items

    def _n_having(self, items: Iterable[int]) -> int:
        first, *others = sorted(items, key=lambda one: int(self.data.supports[one]))
        having = self._holders(first)
        for other in others:
            having = np.intersect1d(having, self._holders(other), assume_unique=True)
        return len(having)

    def _holders(self, item: int) -> NDArray[np.int32]:
        return self.records[self.indptr[item] : self.indptr[item + 1]]
