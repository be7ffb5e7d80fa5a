"""Prune: suppress single entries until every rule is met, and publish all others unchanged.

An own method; the model is that of G. Loukides, A. Gkoulalas-Divanis, J. Shao (DEXA 2010; Knowledge and Information
Systems 36, 2013).

Guarantee: for every rule, 0 or at least k published records match its left side, and at most the share c of them has
its right side.

1. *Left sides.* A left side that fewer than k records match must match none. In each of these records the public item
   of most such left sides is suppressed, again and again; of equals the most frequent one, which loses the smallest
   share of its count. Other left sides lose records by that, so this is repeated until none is too rare. An item that
   is in no record any more limits nobody: an attacker who knows that it is suppressed matches by the other items.
2. *Give back.* An entry is shown again if all left sides that it completes are matched by at least k records.
3. *Right sides.* Where a right side is too frequent, entries of sensitive items are suppressed, as few as ``pluck``
   finds. Sensitive items are on no left side, so that the supports stay. Among equal choices the seed decides.

Bound. Where no left side is too rare, the optimum of the program of step 3 over rules with one sensitive item, or a
bound below it, is the least that any release suppresses which suppresses entries of sensitive items only.

Preconditions: at least k records with public items. Nothing is generalized.

Cost: all rules are counted once per round of step 1; the rounds end, for each suppresses an entry.

Departures: there is no paper to depart from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.bounds import OPTIMUM, describe_entries
from setveil.algorithms.rules._rule_counts import give_back, hit_sides, list_matches
from setveil.algorithms.rules.clustering import Clustering, release_of
from setveil.algorithms.rules.plucking import fewest_entries, pluck_entries
from setveil.core import Transactions
from setveil.core.row_order import bounds_of
from setveil.models import RuleAnonymity
from setveil.releases import LocalRecoding


@dataclass(frozen=True)
class Prune(Algorithm):
    """Suppresses public entries where a left side is too rare, sensitive ones where a right side is too frequent."""

    def run(self, data: Transactions, model: RuleAnonymity, context: Context) -> LocalRecoding:
        order = data.lexicographic_order()  # so that the order of the input does not matter
        state = Clustering(data.select(order), model, context)
        state.require_enough_records()
        has_vanished = hide_rare_sides(state)
        show_again(state)
        public = suppressed_entries(state, has_vanished)
        _, surplus = state.count(np.arange(len(state.rules)))
        bound = 0 if len(public) else fewest_entries(state, np.flatnonzero(surplus > 0), surplus, context)
        sensitive = pluck_entries(state, context)
        details = _details(state, len(public), len(sensitive), bound)
        return release_of(data, order, state, np.concatenate((public, sensitive)), details)


def hide_rare_sides(state: Clustering) -> NDArray[np.bool_]:
    """Step 1: suppress public entries until no left side is too rare; whether each item is in no record any more."""
    rank = np.argsort(np.lexsort((np.arange(len(state.support)), -state.support)))
    strictest = _one_rule_per_left_side(state)
    while True:
        alone, _ = state.count(strictest)
        is_rare = (alone > 0) & (alone < state.limits[strictest, 1])
        if not is_rare.any():
            return rank < 0
        rare, matches = strictest[is_rare], alone[is_rare]
        bounds = bounds_of(matches)
        records = np.empty(bounds[-1], dtype=np.int64)
        list_matches(state.bits, state.starts, state.known, rare, bounds, records)
        sides = np.repeat(rare, matches)[np.argsort(records, kind="stable")]  # [matches] record by record
        where, numbers = np.unique(records, return_counts=True)
        slots, taken = np.empty(len(sides), dtype=np.int64), np.zeros(len(where), dtype=np.int64)
        hit_sides(bounds_of(numbers), sides, state.starts, state.known, rank, slots, taken)
        owners = np.repeat(where, taken)
        np.bitwise_and.at(state.bits, (slots[: len(owners)], owners >> 6), ~_bit(owners))
        gone = np.flatnonzero(~state.bits.any(axis=1))
        state.bits[gone] = ~np.uint64(0)  # limits nobody; nothing is counted beyond the last record
        state.bits[gone, -1] >>= np.uint64(-state.data.n_records % 64)
        rank[gone] = -1


def _one_rule_per_left_side(state: Clustering) -> NDArray[np.int64]:
    """The rule that asks most records of each left side."""
    strictest: dict[tuple[str, ...], int] = {}
    for rule, k in enumerate(state.limits[:, 1].tolist()):
        known = state.rules[rule].known
        if state.limits[strictest.setdefault(known, rule), 1] < k:
            strictest[known] = rule
    return np.sort(np.array(list(strictest.values()), dtype=np.int64))


def show_again(state: Clustering) -> None:
    """Step 2, until nothing changes."""
    alone, _ = state.count(np.arange(len(state.rules)))
    _, slots, owners, is_shown = _public_entries(state)
    by_slot = np.lexsort((owners, slots))
    hidden = by_slot[~is_shown[by_slot]]
    entries = np.stack((slots[hidden], owners[hidden]), axis=1)  # [entries, 2]
    while give_back(
        state.bits, state.starts, state.known, state.rules_by_slot, state.slot_starts, alone, state.limits, entries
    ):
        state.context.step("entries to show")


def suppressed_entries(state: Clustering, has_vanished: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The public entries that are not shown, as places in the items of the data."""
    places, slots, _, is_shown = _public_entries(state)
    hidden: NDArray[np.int64] = places[~is_shown | has_vanished[slots]]
    return hidden


def _public_entries(
    state: Clustering,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Places in the items of the data, slots, owners, and whether their bits are set."""
    data = state.data
    slot_of = np.full(data.n_items, -1, dtype=np.int64)
    slot_of[state.slot_items] = np.arange(len(state.slot_items))
    places = np.flatnonzero(slot_of[data.items] >= 0)
    slots, owners = slot_of[data.items[places]], data.owners[places]
    return places, slots, owners, (state.bits[slots, owners >> 6] & _bit(owners)) != 0


def _details(state: Clustering, n_public: int, n_sensitive: int, bound: int) -> dict[str, object]:
    """For the record of the run."""
    sensitive = state.data.vocabulary.numbers(state.model.sensitive)
    total = int(state.data.supports[sensitive[sensitive >= 0]].sum())
    proven = {} if n_public else {OPTIMUM: describe_entries(n_sensitive, total, bound)}
    return {
        **proven,
        "rules": len(state.rules),
        "entries_suppressed": n_public + n_sensitive,
        "sensitive_entries_suppressed": n_sensitive,
    }


def _bit(owners: NDArray[np.int64]) -> NDArray[np.uint64]:
    return np.left_shift(np.uint64(1), (owners & 63).astype(np.uint64))
