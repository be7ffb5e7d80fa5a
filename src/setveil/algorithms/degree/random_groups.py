"""Random groups: the control. Keeps the guarantee and no similarity at all.

Guarantee: in every group each sensitive item belongs to at most one in p of the records.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: linear. A seed takes the p-1 records nearest to it in a random sequence, without looking at their items.

Departures from the paper: none has this control; groups are accepted as in ``cahd``.
"""

from __future__ import annotations

from dataclasses import dataclass

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.degree.cahd import group_in_sequence
from setveil.algorithms.degree.groups import SUPPRESS_EXCESS, secret_draws, split_records
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.releases import Grouping


@dataclass(frozen=True)
class RandomGroups(Algorithm):
    """Groups of records drawn at random."""

    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Shuffle, then form groups as CAHD does."""
        split = split_records(data, model, self.suppress_excess, context.seed)
        order = secret_draws(split, context.seed).permutation(
            split.n_records
        )  # nobody can repeat it without all records
        return split.release(group_in_sequence(split, order, 1, "none", False, context), {})
