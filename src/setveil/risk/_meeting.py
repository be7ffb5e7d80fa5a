"""What records have in common with some targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown


class Targets(NamedTuple):
    """Some records, and which of their items lead to them."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]  # ascending in each target
    positions: NDArray[np.int32]  # where each item stands in the search
    lead_indptr: NDArray[np.int64]  # [items + 1] item i leads to the targets leads[lead_indptr[i]:lead_indptr[i + 1]]
    leads: NDArray[np.int32]


@compiled
def find_common(
    indptr: NDArray[np.int64], items: NDArray[np.int32], targets: Targets
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """For each row and each target that one of its items leads to: the target, and the positions of what both have.

    Gives targets [n] and positions as CSR.
    """
    met = np.empty(1024, dtype=np.int32)
    ends = np.zeros(1025, dtype=np.int64)
    positions = np.empty(4096, dtype=np.int32)
    n_met, n_positions = 0, 0
    seen_in = np.full(len(targets.indptr) - 1, -1, dtype=np.int64)
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            for lead in range(targets.lead_indptr[items[at]], targets.lead_indptr[items[at] + 1]):
                target = targets.leads[lead]
                if seen_in[target] == row:
                    continue
                seen_in[target] = row
                one, one_end = indptr[row], indptr[row + 1]
                other, other_end = targets.indptr[target], targets.indptr[target + 1]
                if n_met == len(met):
                    met, ends = grown(met, 2 * n_met), grown(ends, 2 * n_met + 1)
                if n_positions + other_end - other > len(positions):
                    positions = grown(positions, 2 * len(positions) + other_end - other)
                while one < one_end and other < other_end:
                    if items[one] == targets.items[other]:
                        positions[n_positions] = targets.positions[other]
                        n_positions += 1
                    step = items[one] <= targets.items[other]
                    if items[one] >= targets.items[other]:
                        other += 1
                    if step:
                        one += 1
                met[n_met] = target
                n_met += 1
                ends[n_met] = n_positions
    return met[:n_met].copy(), ends[: n_met + 1].copy(), positions[:n_positions].copy()
