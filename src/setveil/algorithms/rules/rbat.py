"""RBAT: public items as one category, split from the top down while every rule is met.

G. Loukides, A. Gkoulalas-Divanis, J. Shao: Anonymizing transaction data to eliminate sensitive inferences. DEXA 2010.
The same: Efficient and flexible anonymization of transaction data. Knowledge and Information Systems 36, 2013.

Guarantee: for every rule, 0 or at least k published records match its left side, and at most the share c of them has
its right side.

Preconditions: at least k records with public items, and all rules met where all public items are one category. Nothing
is suppressed. Sensitive items are published as they are.

Cost: the pairs of items of each category that is split, and every rule with an item of it.

What follows the papers, as their abstracts describe it: start from everything merged. Take a category. The two of its
items that lose most if they stay together become the first items of two parts; each other item joins the part with
which it loses less. Keep the split if all rules are met, and go on with both parts.

Departures from the papers (which were not at hand)
1. The utility loss is that of PCTA, (2^size − 1) · support, compared as whole numbers. Items are placed in ascending
   order. Ties: the first pair, and the first part.
2. Categories are split in the order in which they were made. One whose split is refused is tried again after another
   split was made: confidence may rise or fall, so that nothing can be concluded from the first try.
3. A rule with the same left side, part of the right side and limits that are not weaker makes another rule needless;
   no other rule is left away.
4. Rules may have limits of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.rules.clustering import Clustering, mass
from setveil.core import Transactions
from setveil.errors import InfeasibleError, name_some
from setveil.models import RuleAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class RBAT(Algorithm):
    """Splits a category at the pair of items that lose most together, while all rules are met."""

    def run(self, data: Transactions, model: RuleAnonymity, context: Context) -> Recoding:
        state = Clustering(data, model, context)
        state.require_enough_records()
        merge_everything(state)
        _require_met(state)
        split_top_down(state)
        return Recoding.from_clusters(data, state.cluster_of_items(), state.details())


def merge_everything(state: Clustering) -> None:
    """All public items as one category."""
    if len(state.slot_items):
        state.arrange([list(range(len(state.slot_items)))])


def split_top_down(state: Clustering) -> None:
    """Split clusters while all rules are met; one that could not be split is tried again after another split."""
    is_changed = True
    while is_changed:
        is_changed = False
        waiting = [state.members(cluster) for cluster in state.names.tolist()]
        while waiting:
            whole = waiting.pop(0)
            if len(whole) == 1:
                continue
            parts = split(state, whole)
            state.arrange(parts)
            if state.all_met(state.rules_of(whole)):
                waiting.extend(parts)
                is_changed = True
            else:
                state.arrange([whole])


def split(state: Clustering, whole: list[int]) -> list[list[int]]:
    """Two parts around the pair of items that lose most together."""
    slots = np.array(whole, dtype=np.int64)
    best = (-1, 0, 0)
    for place in range(len(whole) - 1):
        unions = state.union_supports(whole[place], slots[place + 1 :], state.own)
        other = int(np.argmax(unions))
        if unions[other] > best[0]:
            best = (int(unions[other]), whole[place], whole[place + 1 + other])
    parts = [[best[1]], [best[2]]]
    bits = [state.own[best[1]].copy(), state.own[best[2]].copy()]
    for slot in whole:
        if slot not in best[1:]:
            joined = [part_bits | state.own[slot] for part_bits in bits]
            losses = [mass(len(parts[side]) + 1, int(np.bitwise_count(joined[side]).sum())) for side in (0, 1)]
            side = int(losses[1] < losses[0])
            parts[side].append(slot)
            bits[side] = joined[side]
    return [sorted(part) for part in parts]


def _require_met(state: Clustering) -> None:
    which = np.arange(len(state.rules))
    alone, surplus = state.count(which)
    violated = np.flatnonzero(~state.is_met(which, alone, surplus))
    if len(violated):
        rule = state.rules[int(violated[0])]
        raise InfeasibleError(
            f"even with all public items as one category, {name_some(rule.sensitive)} is too frequent for the rule "
            f'"{rule}"{_and_more(len(violated) - 1)}; choose the algorithm regroup, which suppresses single entries, '
            "or a larger --confidence.",
            items=rule.items,
        )


def _and_more(count: int) -> str:
    return f" and {count:,} more" if count else ""
