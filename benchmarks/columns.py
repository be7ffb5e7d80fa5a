"""Columns beside items: what ``classes`` and the paper's algorithms lose at the same bound on the loss of columns.

``python -m benchmarks.columns [-n PEOPLE] [-k K] [--delta D]``: invented patients with age, sex and region, m = 2,
along the hierarchy of codes. Seconds are CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import setveil as sv
from setveil.core.columns import Columns
from setveil.generate import patients_hierarchy
from setveil.io.hierarchies.values import hierarchy_of_values


def people(n: int) -> sv.Transactions:
    """Patients with three known columns."""
    data = sv.generate("patients", n=n, columns=True, seed=1)
    assert data.columns is not None
    age = data.columns["age"]
    age = replace(age, hierarchy=hierarchy_of_values("bands:5,10,20", age, "age"))
    return replace(data, columns=Columns((age, data.columns["sex"], data.columns["region"])))


def main() -> None:
    """Print a line per algorithm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10_000)
    parser.add_argument("-k", type=int, default=8)
    parser.add_argument("--delta", type=float, default=0.2)
    asked = parser.parse_args()
    data = people(asked.n)
    for name in ("classes", "rmerge", "tmerge", "rtmerge"):
        started = time.process_time()
        release = sv.anonymize(data, "kkm", name, patients_hierarchy(), {"delta": asked.delta}, k=asked.k, m=2)
        told = release.details
        print(
            f"{name:8} columns {told['loss_of_columns']:.3f}  items {told['loss_of_items']:.3f}  "
            f"classes {told['classes']:,}  {time.process_time() - started:.1f} s"
        )


if __name__ == "__main__":
    main()
