"""What a release lost and why: the costliest parts, and what in the original forced them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.errors import InputError
from setveil.models import PrivacyModel
from setveil.releases import Grouping, LocalRecoding, Release
from setveil.report.facts import Facts

SHOWN = 8
LOOKED_THROUGH = 20_000  # combinations of the original that break the promise
TRIED = 50  # shortest records of an item that are looked at, where whole records are what somebody may know


class Cause(NamedTuple):
    """What forced a loss: ``combination`` or ``record``, which ``n`` people have and the promise asks for more;
    ``group``, of which at most one in ``n`` may have the item; ``""`` where nothing is known.
    """

    kind: str = ""
    items: tuple[str, ...] = ()
    n: int | None = None


class Loss(NamedTuple):
    """One part of the loss."""

    label: str  # as it is published, or the item that was left out or changed
    what: str  # what became of it
    share: float | None  # of the whole loss
    cause: Cause


def losses_of(facts: Facts, release: Release, data: Transactions, model: PrivacyModel) -> list[Loss]:
    """The biggest losses, the costliest first; what forced them as far as it is known."""
    changes = facts.changes
    rows: Sequence[Mapping[str, Any]] = changes.get("rows") or ()
    if rows:
        moves = _moves(facts.details.get("moves", ()))
        wanted = () if moves else (member for row in rows[:SHOWN] for member in row["members"])
        broken = _broken(data, model, wanted)
        return [
            Loss(row["label"], f"stands for {row['size']:,} items", row["loss"], _cause(row, moves, broken))
            for row in rows[:SHOWN]
        ]
    if changes.get("supports"):
        told = changes["supports"][:SHOWN]
        broken = _broken(data, model, (row["label"] for row in told))
        return [
            Loss(row["label"], f"{row['before']:,} → {row['after']:,} people", None, broken.get(row["label"], Cause()))
            for row in told
        ]
    left_out = (changes.get("left_out") or _entries_left_out(release, data))[:SHOWN]
    broken = _broken(data, model, (label for label, _ in left_out))
    gone = [
        Loss(label, f"left out of {count:,} records", None, broken.get(label, Cause())) for label, count in left_out
    ]
    return gone or _unlinked(release, model)


def _entries_left_out(release: Release, data: Transactions) -> list[tuple[str, int]]:
    """Items of which single entries were left out, with how many, the most frequent first."""
    if not isinstance(release, LocalRecoding) or release.node_of_occurrence is None:
        return []
    n_gone = np.bincount(data.items[release.node_of_occurrence < 0], minlength=data.n_items)
    order = np.lexsort((np.arange(data.n_items), -n_gone))[:SHOWN]
    return [(data.vocabulary[item], int(n_gone[item])) for item in order.tolist() if n_gone[item]]


def _unlinked(release: Release, model: PrivacyModel) -> list[Loss]:
    """Sensitive items of a grouping: who has them is no longer told, only how many of a group."""
    if not isinstance(release, Grouping):
        return []
    n_items = len(release.sensitive)
    sizes = np.bincount(release.group_of)
    holders = np.bincount(release.count_item, weights=release.count, minlength=n_items).astype(np.int64)
    among = np.bincount(release.count_item, weights=sizes[release.count_group], minlength=n_items).astype(np.int64)
    order = np.lexsort((np.arange(n_items), holders - among))[:SHOWN]
    return [
        Loss(
            release.sensitive[item],
            f"its {holders[item]:,} people are hidden among {among[item]:,}",
            None,
            Cause("group", (), model.crowd),
        )
        for item in order.tolist()
        if holders[item]
    ]


def _cause(row: Mapping[str, Any], moves: Mapping[str, Cause], broken: Mapping[str, Cause]) -> Cause:
    names = [row["label"], row.get("name") or row["label"]]
    for name in names:
        if name in moves:
            return moves[name]
    return next((broken[member] for member in row["members"] if member in broken), Cause())


def _moves(moves: Sequence[Mapping[str, Any]]) -> dict[str, Cause]:
    """Per group that an algorithm raised something to, the combination that made it do so; the last one counts."""
    return {
        str(label): Cause("combination", tuple(map(str, move["witness"])), move.get("support"))
        for move in moves
        if move.get("witness")
        for label in move.get("raised", ())
    }


def _broken(data: Transactions, model: PrivacyModel, wanted: Iterable[str]) -> dict[str, Cause]:
    """Per item, a smallest part of the original that breaks the promise, as far as there is one."""
    from setveil.verify import minimal_violations

    labels = dict.fromkeys(wanted)
    if not labels:
        return {}
    if model.name == "degree":
        return dict.fromkeys(labels, Cause("group", (), model.crowd))
    if model.name == "km" and getattr(model, "m", 1) == "all":
        people = _People(data)
        causes = {label: people.rare_part(label, model.crowd or 1) for label in labels if label in data.vocabulary}
        return {label: cause for label, cause in causes.items() if cause is not None}
    kind = "record" if model.name == "k-anonymity" else "combination"
    try:
        violations = minimal_violations(data, model, LOOKED_THROUGH)
    except InputError:  # a verifier need not list violations: the causes are then not known
        return {}
    if kind == "record":  # the shortest records tell most
        violations.sort(key=lambda violation: (len(violation.itemset), violation.support, violation.itemset))
    found: dict[str, Cause] = {}
    for violation in violations:
        for item in violation.itemset:
            found.setdefault(item, Cause(kind, violation.itemset, violation.support))
    return found


class _People:
    """Who has what, for promises about whole records: these have too many rare parts to list them all."""

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
        """Without what can be left out: frequent items go first, the one that is asked about last."""
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

    def _holders(self, item: int) -> NDArray[np.int64]:
        return self.records[self.indptr[item] : self.indptr[item + 1]]
