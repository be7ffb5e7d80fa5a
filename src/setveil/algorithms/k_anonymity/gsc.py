"""GSC: Gray sort clustering.

Wang, Tsai, Kao, Hong: On Anonymizing Transactions with Sensitive Items, Applied Intelligence 2014, as far as Lin, Liu,
Fournier-Viger, Hong: PTA, IEEE Access 2016, describe and compare with it.

Guarantee: every published set of non-sensitive items occurs in at least k records.
Preconditions: at least k records.
Cost: the Gray sort, then one pass.

Records are sorted in Gray order, cut into runs of k, and every record is replaced by the majority of its run.

Departures from the paper
1. All records are anonymized, as in the comparison of 2016; the original leaves records without sensitive items alone
   and may add sensitive items.
2. The remainder of fewer than k records joins the last run.
3. Runs with fewer than l different sensitive items are merged if the model asks for l.
"""

from __future__ import annotations

from dataclasses import dataclass

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.k_anonymity.centres import cut_into_runs, prepare
from setveil.core import Transactions
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from setveil.releases import Replacement


@dataclass(frozen=True)
class GSC(Algorithm):
    """Runs of k in Gray order."""

    bits: str = option("frequency", "the order of items in the Gray code, most significant first", ("frequency", "id"))

    def run(self, data: Transactions, model: KAnonymity, context: Context) -> Replacement:
        """Sort, cut, vote."""
        records = prepare(data, model)
        if not data.n_records:
            return records.unchanged()
        context.step("Gray sort")
        order = gray_order(records.public, self.bits)
        context.step("clustering")
        return records.release(records.diverse(cut_into_runs(order, model.k)), {})
