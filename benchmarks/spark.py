"""AA on Spark: wall and CPU seconds of a whole run, what is shuffled per stage, memory of the driver.

    python -m benchmarks.spark --records 100000 1000000 --cores 1 2

Every line is a process of its own with a session of its own on ``local[cores]``: Quest baskets (T10I4, 1,000 items,
fan-out 5, k=5) from a folder of eight Parquet files, anonymized, written, verified by Spark SQL and reported. CPU is
that of all processes, Java and Python workers included. ``--stages`` lists the stages of a run with the bytes that each
wrote for the next one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

import setveil as sv

PARTS = 8
HEADER = "     records  cores  m   wall s    CPU s  shuffled MB  driver MB  Java MB  stages"


def make_input(folder: Path, n_records: int) -> Path:
    """Quest baskets as a folder of Parquet files."""
    place = folder / f"rows-{n_records}"
    place.mkdir()
    data = sv.generate("quest", D=n_records, T=10, I=4, N=1000, seed=1)
    labels = pl.Series(list(data.vocabulary))
    for part in range(PARTS):
        first, last = n_records * part // PARTS, n_records * (part + 1) // PARTS
        start, end = data.indptr[first], data.indptr[last]
        owners = data.owners[start:end]
        flat = pl.DataFrame({"record": owners, "items": labels.gather(data.items[start:end])})
        lists = flat.group_by("record", maintain_order=True).agg("items")
        lists.select("items").write_parquet(place / f"{part}.parquet")
    return place


def run_once(source: str, out: str, cores: int, m: int) -> dict[str, Any]:
    """One run in this process, and what Spark says about it."""
    from setveil.engines.spark import open_session

    session = open_session(f"local[{cores}]", {"spark.sql.shuffle.partitions": "8"})
    policy = sv.Policy.from_dict(
        {
            "schema": 1,
            "model": {"name": "km", "k": 5, "m": m},
            "algorithm": {"name": "aa"},
            "hierarchy": {"source": "fanout:5"},
        }
    )
    started = time.perf_counter()
    outcome = sv.run(policy, source, out, engine="spark", force=True)
    wall = time.perf_counter() - started
    store: Any = session.sparkContext._jsc.sc().statusStore()
    stages = []
    for number in range(10_000):
        try:
            stage = store.lastStageAttempt(number)
        except Exception:
            break
        if stage.status().toString() == "COMPLETE":
            stages.append(
                (stage.name().split(" at ")[0], stage.numTasks(), stage.shuffleWriteBytes(), stage.executorRunTime())
            )
    java = Path(f"/proc/{session.sparkContext._gateway.proc.pid}/status").read_text()
    return {
        "wall": wall,
        "cpu": cpu_of(os.getpid()),
        "seconds": dict(outcome.seconds),
        "ncp": outcome.metrics["ncp"],
        "driver_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "java_mb": int(java.partition("VmHWM:")[2].split()[0]) / 1024,
        "stages": stages,
    }


def cpu_of(process: int) -> float:
    """User and system seconds of a process and of all that stand below it; nobody waits for Java and its workers."""
    children: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:  # it is gone
            continue
        number = int(place.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        spent[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    below = [process]
    for number in below:
        below += children.get(number, [])
    return sum(spent.get(number, 0.0) for number in below)


def measure(source: Path, cores: int, m: int, folder: Path) -> dict[str, Any]:
    """What a run in a process of its own tells."""
    command = [sys.executable, "-m", "benchmarks.spark", "--once", str(source), str(folder / "out"), str(cores), str(m)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ.copy())
    told: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return told


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("-m", type=int, default=2)
    parser.add_argument("--stages", action="store_true", help="list what every stage moved")
    parser.add_argument("--once", nargs=4, metavar=("SOURCE", "OUT", "CORES", "M"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        source, out, cores, m = asked.once
        print(json.dumps(run_once(source, out, int(cores), int(m))))
        return
    print(HEADER)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n_records in asked.records:
            source = make_input(folder, n_records)
            for cores in asked.cores:
                found = measure(source, cores, asked.m, folder)
                shuffled = sum(stage[2] for stage in found["stages"]) / 1e6
                print(
                    f"{n_records:>12,}{cores:>7}{asked.m:>3}{found['wall']:>9.1f}{found['cpu']:>9.1f}{shuffled:>13.1f}"
                    f"{found['driver_mb']:>11.0f}{found['java_mb']:>9.0f}  {len(found['stages'])}",
                    flush=True,
                )
                print("    " + ", ".join(f"{stage} {spent:.1f} s" for stage, spent in found["seconds"].items()))
                if asked.stages:
                    for stage, n_tasks, moved, spent in found["stages"]:
                        print(
                            f"    {stage:30}{n_tasks:>4} tasks {moved / 1e6:>10.2f} MB {spent / 1000:>8.1f} s of tasks"
                        )


if __name__ == "__main__":
    main()
