"""SuppressControl: suppress items everywhere until no rule reveals a sensitive item.

J. Cao, P. Karras, C. Raïssi, K.-L. Tan: ρ-uncertainty: inference-proof transaction anonymization. PVLDB 3(1), 2010.

Guarantee: in the published data no itemset of at most p items reveals a further sensitive item with more than ρ.

Preconditions: none. Suppressing all sensitive items is always an answer.

Cost: the itemsets of each size in the records with a sensitive item are listed; above 100 million it stops.

What follows the paper, as it is generally described: rules with 0, 1, 2, … known items in turn; of the rules of one
size that reveal a sensitive item with more than ρ, the item that takes part in most of them per entry is suppressed
everywhere, and again, until there is none. Suppressing an item changes no support of itemsets without it.

Departures from the paper (which was not at hand)
1. Scores are compared as exact fractions. Ties: the rarer item, then the first in ascending order.
2. With ``p="all"`` rules of more than 3 known items are looked for among intersections of records, cut down to the
   known items that are needed; the item is chosen among these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.uncertainty.rules import LISTED, Rule, RuleFinder
from setveil.core import Transactions
from setveil.models import Uncertainty
from setveil.releases import Recoding


@dataclass(frozen=True)
class SuppressControl(Algorithm):
    """Suppresses the item in most violated rules per entry, for rules of size 0, 1, 2, … in turn."""

    def run(self, data: Transactions, model: Uncertainty, context: Context) -> Recoding:
        gone = items_to_suppress(data, sensitive_items(data, model), model, context)
        return without_items(data, gone)


def sensitive_items(data: Transactions, model: Uncertainty) -> list[int]:
    """The numbers of the sensitive items that the data have, ascending."""
    return sorted(item for item in data.vocabulary.numbers(model.sensitive).tolist() if item >= 0)


def items_to_suppress(
    data: Transactions,
    sensitive: list[int],
    model: Uncertainty,
    context: Context,
    losses: NDArray[np.int64] | None = None,
) -> list[int]:
    """The items in the order of their suppression; ``losses``: entries per item, if not the records with it."""
    finder = RuleFinder(data, sensitive, model, context)
    losses = data.supports if losses is None else losses
    gone: list[int] = []
    limit = min(LISTED if model.p == "all" else model.p, data.longest)
    for size in range(limit + 1):
        _suppress(finder.of_size(size, set(gone)), losses, gone)
    while model.p == "all" and (rules := finder.any_size(set(gone))):
        _suppress(rules, losses, gone)
    return gone


def _suppress(violated: Iterable[Rule], losses: NDArray[np.int64], gone: list[int]) -> None:
    rules = list(violated)
    while rules:
        counts = Counter(item for rule in rules for item in (*rule.known, rule.item))
        best = min(counts, key=lambda item: (-Fraction(counts[item], int(losses[item])), int(losses[item]), item))
        gone.append(best)
        rules = [rule for rule in rules if best not in rule.known and best != rule.item]


def without_items(data: Transactions, gone: Iterable[int], details: dict[str, object] | None = None) -> Recoding:
    """A release without some items."""
    is_gone = np.zeros(data.n_items, dtype=bool)
    is_gone[list(gone)] = True
    found = {
        "suppressed_items": int(is_gone.sum()),
        "suppressed_occurrences": int(data.supports[is_gone].sum()),
        **(details or {}),
    }
    return Recoding.from_clusters(data, np.where(is_gone, -1, np.arange(data.n_items)), found)
