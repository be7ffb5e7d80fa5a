"""Public items in clusters, and what the rules say about them.

Records are bits: a cluster is the records with any of its items. Supports grow when clusters are merged. Confidence may
grow or fall, so every rule that touches a changed cluster is counted anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from fractions import Fraction
from math import log2

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.rules._rule_counts import count_rules, count_union, fill_bits
from setveil.core import Hierarchy, Transactions
from setveil.core.naming import fresh_name, is_shown, name_of_set
from setveil.core.row_order import bounds_of, entries_of
from setveil.errors import InfeasibleError
from setveil.models import Rule, RuleAnonymity
from setveil.releases import LocalRecoding

WORDS_PER_CALL = 100_000_000  # words per compiled call


class Clustering:
    """The clusters of public items; each is named after its smallest item, and items are numbered as slots."""

    def __init__(self, data: Transactions, model: RuleAnonymity, context: Context) -> None:
        self.data, self.model, self.context = data, model, context
        self.n_words_read = 0
        is_sensitive = np.zeros(data.n_items + 1, dtype=bool)
        is_sensitive[data.vocabulary.numbers(model.sensitive)] = True
        is_public = ~is_sensitive[:-1] & (data.supports > 0)
        self.slot_items = np.flatnonzero(is_public)  # [slots] the item of each
        slot_of = np.full(data.n_items, -1, dtype=np.int64)
        slot_of[self.slot_items] = np.arange(len(self.slot_items))
        n_words = -(-data.n_records // 64)
        self.own = np.zeros((len(self.slot_items), n_words), dtype=np.uint64)  # [slots] records with the item
        fill_bits(data.owners, slot_of[data.items], self.own)
        self.bits = self.own.copy()  # [slots] records with the cluster of that name
        self.cluster_of = np.arange(len(self.slot_items), dtype=np.int64)
        self.size = np.ones(len(self.slot_items), dtype=np.int64)
        self.support = data.supports[self.slot_items].astype(np.int64)
        self._number_rules(slot_of)
        self.everything = np.bitwise_or.reduce(self.own, axis=0) if len(self.own) else np.zeros(n_words, np.uint64)

    def copy(self) -> Clustering:
        """The same clusters, to be changed separately."""
        other = copy(self)
        for name in ("bits", "cluster_of", "size", "support", "limits"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def _number_rules(self, slot_of: NDArray[np.int64]) -> None:
        data, model = self.data, self.model
        number = {label: item for item, label in enumerate(data.vocabulary)}
        occurs = [bool(support) for support in data.supports.tolist()]
        kept = [
            rule for rule in needed_rules(model) if all(item in number and occurs[number[item]] for item in rule.known)
        ]
        sides: dict[tuple[str, ...], int] = {}
        for rule in kept:
            sides.setdefault(rule.sensitive, len(sides))
        self.rules = kept
        self.starts = bounds_of([len(rule.known) for rule in kept])
        flat = [slot_of[number[item]] for rule in kept for item in rule.known]
        self.known = np.array(flat, dtype=np.int64)
        self.limits = np.zeros((len(kept), 5), dtype=np.int64)
        most = max(data.n_records, 1)
        for place, rule in enumerate(kept):
            k, share = model.limits(rule)
            share = largest_below(share, most)
            self.limits[place] = (sides[rule.sensitive], k, share.numerator, share.denominator, 0)
        items = sorted({item for side in sides for item in side if item in number})
        of_item = {item: row for row, item in enumerate(items)}
        rows = np.full(data.n_items, -1, dtype=np.int64)
        for item, row in of_item.items():
            rows[number[item]] = row
        one_by_one = np.zeros((len(items) + 1, self.own.shape[1]), dtype=np.uint64)  # the last row: nobody has it
        fill_bits(data.owners, rows[data.items], one_by_one)
        self.sides = np.zeros((len(sides) or 1, self.own.shape[1]), dtype=np.uint64)
        for side, place in sides.items():
            self.sides[place] = np.bitwise_and.reduce([one_by_one[of_item.get(item, -1)] for item in side], axis=0)
        by_slot = np.argsort(self.known, kind="stable")
        self.rules_by_slot = np.repeat(np.arange(len(kept)), np.diff(self.starts))[by_slot]
        counts = np.bincount(self.known, minlength=len(self.slot_items)) if len(flat) else np.zeros(0, np.int64)
        self.slot_starts = bounds_of(counts)

    # -- rules ----------------------------------------------------------------------------------------------------

    def count(self, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Records that match the left side of each rule, and by how many the right side is too frequent."""
        alone, surplus = np.zeros((2, len(which)), dtype=np.int64)
        for low, high in self._slices(len(which)):
            self._count(which[low:high], alone[low:high], surplus[low:high], False)
        return alone, surplus

    def all_met(self, which: NDArray[np.int64]) -> bool:
        """Whether some rules are met, a rule that may have a surplus included."""
        for low, high in self._slices(len(which)):
            alone, surplus = np.zeros((2, high - low), dtype=np.int64)
            if self._count(which[low:high], alone, surplus, True) < high - low:
                return False
        return True

    def is_met(
        self, which: NDArray[np.int64], alone: NDArray[np.int64], surplus: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether rules with these counts are met."""
        limits = self.limits[which]
        met: NDArray[np.bool_] = ((alone == 0) | (alone >= limits[:, 1])) & (surplus <= limits[:, 4])
        return met

    def rules_of(self, slots: Iterable[int]) -> NDArray[np.int64]:
        """The rules with any of some items on the left side."""
        parts = [self.rules_by_slot[self.slot_starts[slot] : self.slot_starts[slot + 1]] for slot in slots]
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)

    def _count(
        self, which: NDArray[np.int64], alone: NDArray[np.int64], surplus: NDArray[np.int64], stops: bool
    ) -> int:
        self.context.step("what known items reveal")
        found: int = count_rules(
            self.bits, self.cluster_of, self.starts, self.known, self.sides, self.limits, which, alone, surplus, stops
        )
        n_counted = min(found + 1, len(which)) if stops else len(which)
        self.n_words_read += 2 * n_counted * self.bits.shape[1]
        return found

    def _slices(self, n_rules: int) -> Iterable[tuple[int, int]]:
        step = max(WORDS_PER_CALL // (4 * max(self.bits.shape[1], 1)), 1)
        return [(low, min(low + step, n_rules)) for low in range(0, n_rules, step)]

    # -- clusters -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> NDArray[np.int64]:
        """The clusters, ascending."""
        return np.flatnonzero(self.cluster_of == np.arange(len(self.cluster_of)))

    def members(self, cluster: int) -> list[int]:
        """The slots of a cluster, ascending."""
        found: list[int] = np.flatnonzero(self.cluster_of == cluster).tolist()
        return found

    def loss_of(self, cluster: int) -> int:
        """Its utility loss, (2^size − 1) · support: UL without what is the same for all clusters."""
        return mass(int(self.size[cluster]), int(self.support[cluster]))

    @property
    def loss(self) -> int:
        """The utility loss of all clusters."""
        return sum(map(self.loss_of, self.names.tolist()))

    def union_supports(
        self, row: int, others: NDArray[np.int64], bits: NDArray[np.uint64] | None = None
    ) -> NDArray[np.int64]:
        """Records with a cluster or another one, for each other one; of ``own`` items if these bits are given."""
        bits = self.bits if bits is None else bits
        counts = np.zeros(len(others), dtype=np.int64)
        step = max(WORDS_PER_CALL // max(self.bits.shape[1], 1), 1)
        for low in range(0, len(others), step):
            self.context.step("merging items")
            count_union(bits, row, others[low : low + step], counts[low : low + step])
        self.n_words_read += len(others) * self.bits.shape[1]
        return counts

    def arrange(self, parts: Sequence[Sequence[int]]) -> None:
        """Make clusters of these slots; between them they are whole clusters."""
        for part in parts:
            name = min(part)
            self.cluster_of[list(part)] = name
            self.bits[name] = np.bitwise_or.reduce(self.own[list(part)], axis=0)
            self.size[name] = len(part)
            self.support[name] = int(np.bitwise_count(self.bits[name]).sum())

    def require_enough_records(self) -> None:
        """An InfeasibleError if generalizing all public items to one category leaves a left side too rare."""
        n_public = int(np.bitwise_count(self.everything).sum())
        if len(self.rules) and n_public < (k := int(self.limits[:, 1].max())):
            raise InfeasibleError(
                f"{n_public:,} records have public items, fewer than k={k}; lower k or add records.",
                items=[self.data.vocabulary[int(item)] for item in self.slot_items],
            )

    # -- what is published ----------------------------------------------------------------------------------------

    def utility_loss(self, loss: int | None = None) -> Fraction:
        """UL over the public items, as PCTA defines it."""
        n_slots, n_records = len(self.slot_items), self.data.n_records
        if not n_slots or not n_records:
            return Fraction(0)
        return Fraction(self.loss if loss is None else loss, ((1 << n_slots) - 1) * n_records)

    def cluster_of_items(self) -> NDArray[np.int64]:
        """A number per item of the data; items in no cluster stay alone."""
        given = np.arange(self.data.n_items, dtype=np.int64)
        given[self.slot_items] = self.slot_items[self.cluster_of]
        return given

    def names_of_items(self) -> list[str | None]:
        """Per item of the data the name of its category; None for an item that is published as it is."""
        labels = self.data.vocabulary
        shown: list[str | None] = [None] * self.data.n_items
        taken, n_numbered = set(labels), 0
        for cluster in self.names.tolist():
            members = self.slot_items[self.members(cluster)].tolist()
            if len(members) > 1:
                called = [labels[item] for item in members]
                n_numbered += not is_shown(called)
                name = fresh_name(name_of_set(called, len(called), n_numbered), taken)
                taken.add(name)
                for item in members:
                    shown[item] = name
        return shown

    def details(self) -> dict[str, object]:
        """For the record of the run."""
        sizes = self.size[self.names]
        return {
            "rules": len(self.rules),
            "clusters": len(sizes),
            "largest_cluster": int(sizes.max(initial=0)),
            "ul_log2": binary_logarithm(self.utility_loss()),
        }


def release_of(
    data: Transactions,
    order: NDArray[np.int64],
    state: Clustering,
    suppressed: NDArray[np.int64],
    details: dict[str, object],
) -> LocalRecoding:
    """Categories as nodes of a hierarchy; ``suppressed``: entries of the ordered records."""
    names = state.names_of_items()
    labels = list(data.vocabulary)
    root = "all items"
    while root in labels or root in names:
        root += " "
    paths = [(label, root) if name is None else (label, name, root) for label, name in zip(labels, names, strict=True)]
    hierarchy = Hierarchy.from_paths(paths)
    number = {label: node for node, label in enumerate(hierarchy.labels) if node >= hierarchy.n_items}
    leaf = hierarchy.leaf_of_items(data.vocabulary)
    node_of_item = np.array([leaf[i] if name is None else number[name] for i, name in enumerate(names)], dtype=np.int32)
    nodes = node_of_item[data.items] if data.n_items else np.empty(0, dtype=np.int32)
    nodes[entries_of(data.indptr, order)[1][suppressed]] = -1
    return LocalRecoding.from_nodes(data, hierarchy, nodes, details)


def mass(size: int, support: int) -> int:
    """(2^size − 1) · support."""
    return ((1 << size) - 1) * support


def binary_logarithm(value: Fraction) -> float | None:
    """Of a fraction that may be too small for a float; None for 0."""
    return log2(value.numerator) - log2(value.denominator) if value else None


def needed_rules(model: RuleAnonymity) -> list[Rule]:
    """The rules without those that another one implies: the same left side, part of the right side, stricter limits.

    Nothing else may be dropped: a smaller left side says nothing about a larger one.
    """
    by_left: dict[tuple[str, ...], list[Rule]] = {}
    for rule in sorted(model.rules, key=lambda rule: (len(rule.sensitive), -model.limits(rule)[0], rule)):
        kept = by_left.setdefault(rule.known, [])
        k, share = model.limits(rule)
        if not any(
            set(other.sensitive) <= set(rule.sensitive)
            and model.limits(other)[0] >= k
            and model.limits(other)[1] <= share
            for other in kept
        ):
            kept.append(rule)
    return sorted(rule for kept in by_left.values() for rule in kept)


def largest_below(share: Fraction, most: int) -> Fraction:
    """The largest fraction of at most ``most`` below the line that is not above ``share``.

    For counts up to ``most`` it allows the same as ``share``, and its products fit in 64 bits.
    """
    low, high = (0, 1), (1, 1)  # low ≤ share < high
    while share.denominator > most:
        above, below = share.numerator, share.denominator
        steps = (above * low[1] - below * low[0]) // (below * high[0] - above * high[1])
        steps = min(steps, (most - low[1]) // high[1])
        low = (low[0] + steps * high[0], low[1] + steps * high[1])
        gap = above * low[1] - below * low[0]
        if gap == 0 or low[1] + high[1] > most:
            return Fraction(*low)
        down = (below * high[0] - above * high[1] - 1) // gap
        down = min(down, (most - high[1]) // low[1])
        high = (high[0] + down * low[0], high[1] + down * low[1])
        if low[1] + high[1] > most:
            return Fraction(*low)
    return share
