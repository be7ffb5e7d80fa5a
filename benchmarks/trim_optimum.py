"""How near trim comes to the optimum: ``python -m benchmarks.trim_optimum FILE --longest 3 5 7`` prints a table of
docs/algorithms/km/trim.md.

Only records of at most so many items are taken, for which every part that a record can show is listed. A linear program
then chooses a mixture of parts for each record and for each itemset a share z from 0 to 1: no record shows the itemset
more than z of the time, and all together show it k z times or more. Every safe release is such a choice with whole
numbers, so the optimum of the program is a lower bound for all of them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import highspy
import numpy as np
from scipy import sparse

import setveil as sv

Record = tuple[str, ...]


def sets_of(record: Record, m: int) -> Iterator[Record]:
    """Its itemsets of at most m items."""
    for size in range(1, m + 1):
        yield from combinations(record, size)


def least_by_linear_program(records: list[Record], k: int, m: int) -> float:
    """A lower bound for the entries that must be suppressed."""
    weights = Counter(records)
    support = Counter[Record]()
    for record, weight in weights.items():
        support.update(dict.fromkeys(sets_of(record, m), weight))
    frequent = {itemset for itemset, count in support.items() if count >= k}
    share = {itemset: number for number, itemset in enumerate(sorted(frequent))}  # the columns of z come first
    cost = [0.0] * len(share)
    entries = [(number, number, -float(k)) for number in range(len(share))]  # rows: itemsets shown k z times
    low, high = [0.0] * len(share), [np.inf] * len(share)
    for record, weight in weights.items():
        whole = len(low)
        low.append(float(weight))
        high.append(float(weight))
        at_most = {}
        for itemset in sets_of(record, m):
            if itemset in share:
                at_most[itemset] = len(low)
                entries.append((len(low), share[itemset], -float(weight)))
                low.append(-np.inf)
                high.append(0.0)
        for size in range(len(record) + 1):
            for part in combinations(record, size):
                shown = list(sets_of(part, m))
                if all(itemset in frequent for itemset in shown):
                    entries.append((whole, len(cost), 1.0))
                    for itemset in shown:
                        entries += [(at_most[itemset], len(cost), 1.0), (share[itemset], len(cost), 1.0)]
                    cost.append(float(len(record) - size))
    rows, columns, values = zip(*entries, strict=True)
    matrix = sparse.csc_matrix((values, (rows, columns)), shape=(len(low), len(cost)))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(cost), len(low)
    program.col_cost_, program.col_lower_ = np.array(cost), np.zeros(len(cost))
    program.col_upper_ = np.append(np.ones(len(share)), np.full(len(cost) - len(share), np.inf))
    program.row_lower_, program.row_upper_ = np.array(low), np.array(high)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("solver", "ipm"), ("run_crossover", "off"), ("threads", 1)):
        solver.setOptionValue(name, value)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SystemExit("the linear program was not solved")
    return float(solver.getInfo().objective_function_value)


def main() -> None:
    """Print one line per length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("-m", type=int, default=2)
    parser.add_argument("--longest", type=int, nargs="*", default=[3, 5, 7])
    arguments = parser.parse_args()
    everything = [tuple(sorted(record)) for record in sv.read(arguments.file).to_lists()]
    print("| records up to | records | suppressed | its own bound | linear program | times |")
    print("|---|---|---|---|---|---|")
    for longest in arguments.longest:
        records = [record for record in everything if 0 < len(record) <= longest]
        n_entries = sum(map(len, records))
        details = sv.anonymize(records, "km", k=arguments.k, m=arguments.m, algorithm="trim").details
        n_gone, least = int(details["entries_left_out"]), least_by_linear_program(records, arguments.k, arguments.m)
        print(
            f"| {longest} items | {len(records):,} | {n_gone / n_entries:.2%} | {details['lower_bound']:.2%} | "
            f"{least / n_entries:.2%} | {n_gone / least:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
