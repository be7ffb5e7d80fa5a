"""How much trim leaves out, beside its bound, and what a hierarchy changes: ``python -m benchmarks.trim --data DIR``
prints the tables of docs/algorithms/km/trim.md.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import setveil as sv
from setveil.utility.avg_re import query_errors

CASES = (("groceries.csv.gz", 2), ("groceries.csv.gz", 3), ("BMS1.dat.gz", 2), ("BMS2.dat.gz", 2))
TREE = "groceries_taxonomy.csv"
WITH_TREE = (  # data, m, algorithm, whether it gets the tree
    ("groceries.csv.gz", 2, "trim", False),
    ("groceries.csv.gz", 2, "trim", True),
    ("groceries.csv.gz", 2, "aa+refine", True),
    ("groceries.csv.gz", 2, "optimal", True),
    ("groceries.csv.gz", 2, "pcta+", False),
    ("groceries.csv.gz", 3, "trim", False),
    ("groceries.csv.gz", 3, "trim", True),
    ("groceries.csv.gz", 3, "aa+refine", True),
    ("groceries.csv.gz", 3, "pcta+", False),
    *(
        (name, 2, algorithm, has_tree)
        for name in ("BMS1.dat.gz", "BMS2.dat.gz")
        for algorithm, has_tree in (
            ("trim", False),
            ("trim", True),
            ("aa+refine", True),
            ("mhghs+refine", True),
            ("optimal", True),
        )
    ),
)


def main() -> None:
    """Print one line per data set and effort, and one per way of using a hierarchy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SETVEIL_DATA"), help="folder of the data sets")
    parser.add_argument("--effort", nargs="*", default=["fast", "normal"])
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("give --data DIR or set SETVEIL_DATA")
    sv.anonymize([["a", "b"]] * 5, sv.KmAnonymity(k=2, m=2), algorithm="trim")  # compile
    print("| data | m | effort | left out | bound | times | CPU s |\n|---|---|---|---|---|---|---|")
    for name, m in CASES:
        data = sv.read(arguments.data / name)
        for effort in arguments.effort:
            started = time.process_time()
            model = sv.KmAnonymity(k=5, m=m)
            release = sv.anonymize(data, model, algorithm="trim", options={"effort": effort})
            seconds = time.process_time() - started
            assert sv.verify(release, model).holds
            figures = release.details
            print(
                f"| {name.split('.')[0]} | {m} | {effort} | {figures['share_left_out']:.1%} | "
                f"{figures['lower_bound']:.1%} | {figures['times_the_bound']:.2f} | {seconds:.1f} |",
                flush=True,
            )
    compare_with_tree(arguments.data)


def compare_with_tree(folder: Path) -> None:
    """What is lost with a hierarchy and without, by LM and by counts: groceries with the store's, the others with
    ``fanout:5``.
    """
    print("\n| data | m | algorithm | hierarchy | LM | exact | single counts off by | pair counts off by |")
    print("|---|---|---|---|---|---|---|---|")
    for name, m, algorithm, has_tree in WITH_TREE:
        data = sv.read(folder / name)
        tree = str(folder / TREE) if name.startswith("groceries") else "fanout:5"
        release = sv.anonymize(data, "km", k=5, m=m, algorithm=algorithm, hierarchy=tree if has_tree else None)
        lost, errors = sv.measure(data, release), query_errors(data, release)
        off = [min(errors[size].values(), key=lambda found: found["mean"]) for size in ("singles", "pairs")]
        told = " | ".join(f"{found['mean']:.1%} (median {found['typical']:.1%})" for found in off)
        print(
            f"| {name.split('.')[0]} | {m} | {algorithm} | {'yes' if has_tree else 'no'} | {lost['lm']:.4f} | "
            f"{lost['exact_ratio']:.1%} | {told} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
