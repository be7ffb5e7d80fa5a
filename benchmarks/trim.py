"""How much trim leaves out, beside its bound: ``python -m benchmarks.trim --data DIR`` prints the table of
docs/algorithms/km/trim.md.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import setveil as sv

CASES = (("groceries.csv.gz", 2), ("groceries.csv.gz", 3), ("BMS1.dat.gz", 2), ("BMS2.dat.gz", 2))


def main() -> None:
    """Print one line per data set and effort."""
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


if __name__ == "__main__":
    main()
