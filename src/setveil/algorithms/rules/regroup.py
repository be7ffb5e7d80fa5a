"""Regroup: items merged until every rule is met, clusters split again where that loses less, few entries suppressed.

An own method; the model is that of G. Loukides, A. Gkoulalas-Divanis, J. Shao (DEXA 2010; Knowledge and Information
Systems 36, 2013), the merges are those of PCTA (Gkoulalas-Divanis, Loukides 2012).

Guarantee: for every rule, 0 or at least k published records match its left side, and at most the share c of them has
its right side.

1. *Merge.* Rules are taken by the number of matching records, largest first. While a rule is violated, the cheapest
   merge of one of its clusters with any other is made. Merging helps a left side that is too rare. It may increase or
   lower a share, so all rules are counted again until none is violated. If merging does not lower the share of a rule
   enough, its merges are undone, and the rule is left to step 3.
2. *Regroup.* A second starting point is what RBAT finds. From both, clusters are taken apart again: items become
   clusters of their own, move to another cluster, or two clusters are merged and split anew from the top down,
   wherever the utility loss falls and all rules stay met. No rule that was left to step 3 may get a larger surplus.
   The result that suppresses fewer entries, then loses less, is taken.
3. *Suppress.* For what is still too frequent, entries of sensitive items are suppressed, as few as ``pluck`` finds.
   Public items keep their supports, so that this violates nothing. Among equal choices the seed decides.

Bounds. *Entries*: supports only grow by merging. A rule whose two sides are together in more records than the share of
all records with public items allows needs the surplus suppressed in every clustering; the optima over such rows with
one sensitive item, or bounds below them, add up. *Utility loss*: if a violated rule must be met by merging, one of its
items is in a cluster of several. Let d(x) be the smallest loss that a merge of x with one other item adds. A cluster C
of n ≥ 2 items adds (2^n − 1)·sup(C) − Σ sup(x), which is at least Σ d(x)/2 over its items, because 2^n − 1 ≥ 3n/2.
So items that hit all these left sides pay d(x)/2 each, and disjoint left sides add up. Rules that are violated by
their share only count where nothing is suppressed.

Preconditions: at least k records with public items. Sensitive items are never generalized.

Cost: the merges of PCTA with all rules counted after each round; the second step is bounded by ``effort``.

Departures: there is no paper to depart from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.bounds import OPTIMUM, describe_entries, describe_loss
from setveil.algorithms.rules.clustering import Clustering, binary_logarithm, mass, release_of
from setveil.algorithms.rules.plucking import fewest_entries, pluck_entries
from setveil.algorithms.rules.rbat import merge_everything, split, split_top_down
from setveil.core import Transactions
from setveil.models import RuleAnonymity
from setveil.releases import LocalRecoding

MERGES = 16  # for a rule whose share is too large even where all public items are one category
PARTNERS = 8  # clusters that an item, or a cluster, is tried with: those with which it loses least
WORDS = 1_000_000_000  # of 64 records that step 2 reads per unit of effort
ANY = 2**62


@dataclass(frozen=True)
class Regroup(Algorithm):
    """Merges items as PCTA does, regroups them where that loses less, and suppresses few entries."""

    effort: int = option(5, "how much the second step may search, in steps of about a second; 0: not at all", least=0)

    def run(self, data: Transactions, model: RuleAnonymity, context: Context) -> LocalRecoding:
        order = data.lexicographic_order()  # so that the order of the input does not matter
        start = Clustering(data.select(order), model, context)
        start.require_enough_records()
        unmerged = _Unmerged(start)
        tried = []
        for state in starting_points(start):
            regroup(state, self.effort * WORDS)
            tried.append((state, pluck_entries(state, context)))
        state, plucked = min(tried, key=lambda one: (len(one[1]), one[0].loss))
        return release_of(data, order, state, plucked, _details(state, unmerged, len(plucked), context))


def starting_points(start: Clustering) -> Iterator[Clustering]:
    """Items merged from below; and as RBAT splits them, where all public items as one category meet all rules."""
    merged, whole = start.copy(), start.copy()
    merge(merged)
    yield merged
    merge_everything(whole)
    if merged.loss > start.loss and whole.all_met(np.arange(len(whole.rules))):
        split_top_down(whole)
        yield whole


def merge(state: Clustering) -> None:
    """Step 1: merge until no rule is violated; those left to step 3 may have any surplus."""
    every = np.arange(len(state.rules))
    top = _surplus_of_everything(state)
    while True:
        alone, surplus = state.count(every)
        violated = np.flatnonzero(~state.is_met(every, alone, surplus))
        if not len(violated):
            break
        for rule in violated[np.lexsort((violated, -alone[violated]))].tolist():
            _protect(state, rule, int(top[rule]))
    alone, surplus = state.count(every)
    state.limits[:, 4] = np.maximum(surplus, 0)  # step 2 must not need more entries suppressed


def _protect(state: Clustering, rule: int, surplus_of_everything: int) -> None:
    one, before, n_merges = np.array([rule]), state.cluster_of.copy(), 0
    known = state.known[state.starts[rule] : state.starts[rule + 1]]
    while not state.all_met(one):
        alone, _ = state.count(one)
        is_rare = bool(0 < alone[0] < state.limits[rule, 1])
        names = state.names
        if not is_rare and (len(names) == 1 or (surplus_of_everything > 0 and n_merges == MERGES)):
            _restore(state, before)
            state.limits[rule, 4] = ANY
            before, n_merges = state.cluster_of.copy(), 0
            continue
        state.arrange([_cheapest_merge(state, known, names)])
        n_merges += 1


def _cheapest_merge(state: Clustering, known: NDArray[np.int64], names: NDArray[np.int64]) -> list[int]:
    """The members of the merged cluster that loses least; ties: the smallest clusters."""
    best: tuple[int, int, int] | None = None
    for cluster in np.unique(state.cluster_of[known]).tolist():
        others = names[names != cluster]
        unions = state.union_supports(cluster, others)
        sizes = state.size[others] + state.size[cluster]
        for size in np.unique(sizes).tolist():  # of equal size the smallest support loses least
            of_size = np.flatnonzero(sizes == size)
            place = of_size[np.argmin(unions[of_size])]
            cost = (mass(size, int(unions[place])), cluster, int(others[place]))
            best = cost if best is None or cost < best else best
    assert best is not None, "two clusters are left"
    return sorted(state.members(best[1]) + state.members(best[2]))


def _restore(state: Clustering, before: NDArray[np.int64]) -> None:
    for cluster in np.unique(state.cluster_of[state.cluster_of != before]).tolist():
        members = np.array(state.members(cluster))
        names = before[members]
        state.arrange([members[names == name].tolist() for name in np.unique(names).tolist()])


def _surplus_of_everything(state: Clustering) -> NDArray[np.int64]:
    """By how many records each right side is too frequent where all public items are one category."""
    n_public = int(np.bitwise_count(state.everything).sum())
    both = np.bitwise_count(state.sides & state.everything).sum(axis=1).astype(np.int64)
    limits = state.limits
    surplus: NDArray[np.int64] = both[limits[:, 0]] - n_public * limits[:, 2] // limits[:, 3]
    return surplus


# -- step 2 -----------------------------------------------------------------------------------------------------------


def regroup(state: Clustering, budget: int) -> None:
    """Step 2: take clusters apart, move items and merge and split pairs of clusters while the loss falls."""
    state.n_words_read = 0
    is_changed = True
    while is_changed and state.n_words_read < budget:
        is_changed = False
        for step in (_take_apart, _move_items, _merge_and_split):
            by_loss = sorted(state.names.tolist(), key=lambda cluster: (-state.loss_of(cluster), cluster))
            for cluster in by_loss:
                if state.n_words_read >= budget:
                    return
                if state.cluster_of[cluster] == cluster and state.size[cluster] > 1:
                    is_changed |= step(state, cluster)


def _take_apart(state: Clustering, cluster: int) -> bool:
    """Each item alone, or the cluster split in two."""
    whole = state.members(cluster)
    singles = [[slot] for slot in whole]
    return _try(state, whole, singles) or (len(whole) > 2 and _try(state, whole, split(state, whole)))


def _move_items(state: Clustering, cluster: int) -> bool:
    """An item alone, or in another cluster."""
    is_changed = False
    for slot in state.members(cluster):
        home = state.members(int(state.cluster_of[slot]))
        if len(home) == 1:
            break
        rest = [other for other in home if other != slot]
        if _try(state, home, [rest, [slot]]):
            is_changed = True
            continue
        for other in _partners(state, slot, int(state.cluster_of[slot])):
            there = state.members(other)
            if _try(state, home + there, [rest, sorted([*there, slot])]):
                is_changed = True
                break
    return is_changed


def _merge_and_split(state: Clustering, cluster: int) -> bool:
    """The cluster merged with another one, and both split anew as far as all rules are met."""
    for other in _partners(state, cluster, cluster):
        whole = sorted(state.members(cluster) + state.members(other))
        if _try(state, whole, _top_down(state, whole)):
            return True
    return False


def _partners(state: Clustering, row: int, home: int) -> list[int]:
    """The clusters with which an item or a cluster loses least."""
    others = state.names[state.names != home]
    unions = state.union_supports(row, others) if row == home else _unions_of_item(state, row, others)
    order = np.lexsort((others, unions, state.size[others]))
    found: list[int] = others[order[:PARTNERS]].tolist()
    return found


def _unions_of_item(state: Clustering, slot: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
    state.n_words_read += len(others) * state.bits.shape[1]
    supports: NDArray[np.int64] = np.bitwise_count(state.bits[others] | state.own[slot]).sum(axis=1).astype(np.int64)
    return supports


def _top_down(state: Clustering, whole: list[int]) -> list[list[int]]:
    """Parts of a merged cluster, split while the rules stay met; the clusters are as before afterwards."""
    before = state.cluster_of.copy()
    which = state.rules_of(whole)
    state.arrange([whole])
    done, waiting = [], [whole] if state.all_met(which) else []
    while waiting:
        part = waiting.pop(0)
        parts = split(state, part) if len(part) > 1 else [part]
        if len(parts) > 1:
            state.arrange(parts)
            if state.all_met(which):
                waiting.extend(parts)
                continue
            state.arrange([part])
        done.append(part)
    names = before[whole]
    state.arrange([np.array(whole)[names == name].tolist() for name in np.unique(names).tolist()])
    return done or [whole]


def _try(state: Clustering, slots: list[int], parts: list[list[int]]) -> bool:
    """Make these parts of some whole clusters; undo it unless the loss falls and all rules stay met."""
    names = state.cluster_of[slots]
    earlier = [np.array(slots)[names == name].tolist() for name in np.unique(names).tolist()]
    loss = sum(state.loss_of(int(name)) for name in np.unique(names))
    state.arrange(parts)
    if sum(state.loss_of(min(part)) for part in parts) < loss and state.all_met(state.rules_of(slots)):
        return True
    state.arrange(earlier)
    return False


# -- bounds and the release -------------------------------------------------------------------------------------------


class _Unmerged:
    """What the rules say before anything is merged."""

    def __init__(self, state: Clustering) -> None:
        self.state = state
        every = np.arange(len(state.rules))
        self.alone, self.surplus = state.count(every)
        self.loss = state.loss
        n_public = int(np.bitwise_count(state.everything).sum())
        limits = state.limits
        both = self.surplus + self.alone * limits[:, 2] // limits[:, 3]
        self.demand = both - n_public * limits[:, 2] // limits[:, 3]  # of every clustering

    def fewest(self, context: Context) -> int:
        """Entries that must be suppressed whatever is merged."""
        return fewest_entries(self.state, np.flatnonzero(self.demand > 0), self.demand, context)

    def least_loss(self, is_unsuppressed: bool) -> int:
        """A utility loss that no clustering stays below; ``is_unsuppressed``: without suppressing an entry."""
        state = self.state
        is_hit = (self.alone > 0) & (self.alone < state.limits[:, 1])
        if is_unsuppressed:
            is_hit |= self.surplus > 0
        added = self._least_added(np.unique(_known_of(state, np.flatnonzero(is_hit))))
        taken: set[int] = set()
        halves = largest = 0
        sides = [_known_of(state, np.array([rule])).tolist() for rule in np.flatnonzero(is_hit).tolist()]
        for side in sorted(sides, key=lambda side: (-min(added[slot] for slot in side), side)):
            least = min(added[slot] for slot in side)
            largest = max(largest, least)
            if taken.isdisjoint(side):
                taken.update(side)
                halves += least
        return self.loss + max(largest, -(-halves // 2))

    def _least_added(self, slots: NDArray[np.int64]) -> dict[int, int]:
        """The smallest loss that a merge of each item with another one adds; 0 where there is no other."""
        state, others = self.state, np.arange(len(self.state.own))
        supports = np.bitwise_count(state.own).sum(axis=1).astype(np.int64)
        added = {}
        for slot in slots.tolist():
            state.context.step("a bound on the loss")
            unions = np.bitwise_count(state.own | state.own[slot]).sum(axis=1).astype(np.int64)
            losses = (3 * unions - supports - supports[slot])[others != slot]
            added[slot] = int(losses.min(initial=np.iinfo(np.int64).max)) if len(losses) else 0
        return added


def _details(state: Clustering, unmerged: _Unmerged, n_plucked: int, context: Context) -> dict[str, object]:
    """For the record of the run, with what is proven about the optimum."""
    bound, least = unmerged.fewest(context), state.utility_loss(unmerged.least_loss(n_plucked == 0))
    sensitive = state.data.vocabulary.numbers(state.model.sensitive)
    total = int(state.data.supports[sensitive[sensitive >= 0]].sum())
    entries = describe_entries(n_plucked, total, bound, "such entries and generalizes public items")
    return {
        OPTIMUM: entries if n_plucked else describe_loss(state.utility_loss(), least),
        **state.details(),
        "entries_suppressed": n_plucked,
        "lower_bound": bound,
        "ul_bound_log2": binary_logarithm(least),
    }


def _known_of(state: Clustering, rules: NDArray[np.int64]) -> NDArray[np.int64]:
    """The items on the left sides of some rules."""
    parts = [state.known[state.starts[rule] : state.starts[rule + 1]] for rule in rules.tolist()]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
