"""The fewest entries that suppressing whole items can lose, by integer programming.

An exact answer to the problem that SuppressControl solves greedily (J. Cao, P. Karras, C. Raïssi, K.-L. Tan:
ρ-uncertainty: inference-proof transaction anonymization. PVLDB 3(1), 2010).

Guarantee: in the published data no itemset of at most p items reveals a further sensitive item with more than ρ. No
other set of items whose suppression ensures that has fewer entries.

Preconditions: none. Suppressing all sensitive items is always an answer.

Cost: no bound that is worth stating (the problem is NP-hard); each round lists violated rules as SuppressControl does.

The program. Suppressing an item everywhere changes no support of itemsets without it. So a rule stays violated unless
one of its items is suppressed, and the problem is a hitting set: of the items of every violated rule at least one is
suppressed. Rows are added where they are needed: solve, look for violated rules among what is left, add them, solve
again. When there are none, no cheaper answer exists.

Departures: this is no algorithm of the paper. Among answers of equal loss the solver's is taken, which is the same in
every run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.km.covering import CoveringProgram
from setveil.algorithms.uncertainty.rules import RuleFinder
from setveil.algorithms.uncertainty.suppresscontrol import sensitive_items, without_items
from setveil.core import Transactions
from setveil.models import Uncertainty
from setveil.releases import Recoding


@dataclass(frozen=True)
class OptimalSuppression(Algorithm):
    """The items with the fewest entries whose suppression meets the model, as a hitting set with lazy rows."""

    def run(self, data: Transactions, model: Uncertainty, context: Context) -> Recoding:
        finder = RuleFinder(data, sensitive_items(data, model), model, context)
        none = np.empty((0, 2), dtype=np.int32)
        program = CoveringProgram(data.supports, none, np.empty((0, 3), dtype=np.int32), none, 0.0)
        gone: set[int] = set()
        rounds = 0
        while rules := finder.any_size(gone):
            rounds += 1
            program.require(list(dict.fromkeys(tuple(sorted((*rule.known, rule.item))) for rule in rules)))
            solution = program.solve(True, lambda: context.step("fewest entries to suppress"))
            assert solution.values is not None
            gone = set(np.flatnonzero(solution.values > 0.5).tolist())
        return without_items(data, gone, {"proven": True, "rounds": rounds, "constraints": program.n_rows})
