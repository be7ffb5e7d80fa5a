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
WITH_TREE = (
    ("groceries.csv.gz", 2, TREE),
    ("groceries.csv.gz", 3, TREE),
    ("BMS1.dat.gz", 2, "fanout:5"),
    ("BMS1.dat.gz", 2, "auto"),
    ("BMS2.dat.gz", 2, "fanout:5"),
    ("BMS2.dat.gz", 2, "auto"),
)
WAYS: tuple[tuple[str, dict[str, str]], ...] = (
    ("trim", {"raising": "none"}),
    ("trim", {"raising": "counts"}),
    ("trim", {"raising": "loss"}),
    ("aa+refine", {}),
    ("mhghs+refine", {}),
    ("optimal", {}),
    ("pcta+", {}),  # takes no hierarchy, and long where there are many items
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
    print("| data | m | effort | suppressed | bound | times | CPU s |\n|---|---|---|---|---|---|---|")
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
    """What is lost with a hierarchy and without, by LM and by counts."""
    print("\n| data | m | hierarchy | algorithm | LM | exact | single counts off by | pair counts off by | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, m, source in WITH_TREE:
        data = sv.read(folder / name)
        tree = sv.Hierarchy.from_file(folder / TREE) if source == TREE else source
        for algorithm, options in WAYS:
            if algorithm == "pcta+" and source != TREE:
                continue
            started = time.process_time()
            release = sv.anonymize(
                data,
                "km",
                k=5,
                m=m,
                algorithm=algorithm,
                hierarchy=None if algorithm == "pcta+" else tree,
                options=options,
            )
            seconds = time.process_time() - started
            assert sv.verify(release, sv.KmAnonymity(k=5, m=m)).holds
            lost, errors = sv.measure(data, release), query_errors(data, release)
            off = [min(errors[size].values(), key=lambda found: found["mean"]) for size in ("singles", "pairs")]
            told = " | ".join(f"{found['mean']:.1%} (median {found['median']:.1%})" for found in off)
            words = " ".join((algorithm, *(f"{option}={way}" for option, way in options.items())))
            print(
                f"| {name.split('.')[0]} | {m} | {'its own' if source == TREE else source} | {words} | "
                f"{lost['lm']:.4f} | {lost['exact_ratio']:.1%} | {told} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
