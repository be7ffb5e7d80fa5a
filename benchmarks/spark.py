"""AA on Spark: wall and CPU seconds of a whole run, what every step moves, memory, and what follows for 10⁹ records.

    python -m benchmarks.spark --records 100000 1000000 10000000 --cores 1 2 --stages
    python -m benchmarks.spark --records 10000000 --executor-memory 480
    python -m benchmarks.spark --records 1000000 --cores 0 2 --driver

Every line is a process of its own with a session of its own: Quest baskets (T10I4, 1,000 items, fan-out 5, k=5) from a
folder of eight Parquet files, anonymized, written, verified by Spark SQL and reported. CPU is that of all processes,
Java and Python workers included. Memory is the largest sum that was seen, a look every half second, shared pages
counted once; ``workers`` are all processes but the Python driver: on ``local[cores]`` Java is driver and worker in one.
``--stages`` lists what every step moved. ``--executor-memory MB`` instead starts one executor per core, each with so
much Java memory, on a cluster of this machine; ``workers`` are then the executors and their Python.

Records stay on the cluster; with ``--driver`` they are brought into the driver. ``--cores 0`` is a run without Spark,
on all cores of this machine.

From the two largest inputs with the same number of cores a line through the task seconds of each step gives what 10⁹
records would take on 100 cores, if tasks spread evenly over them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import setveil as sv

PARTS = 8
HEADER = "     records  cores  m   wall s    CPU s  shuffled MB  driver MB  workers MB  jobs  stages"
LOOK = 0.5  # seconds between two looks at the memory
FAR, MANY_CORES = 1_000_000_000, 100
SMALL = {  # of an executor that has little memory
    # Java: one collector thread, a small young generation, and what is free goes back to the system; the same for
    # its buffers, which are kept in pieces of 1 MB.
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k -Xmn48m "
    "-XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=20 -XX:MaxMetaspaceSize=160m -XX:ReservedCodeCacheSize=40m "
    "-XX:MaxDirectMemorySize=160m -Dio.netty.allocator.numDirectArenas=1 -Dio.netty.allocator.numHeapArenas=1 "
    "-Dio.netty.allocator.maxOrder=7",
    "spark.memory.fraction": "0.4",
    "spark.network.io.preferDirectBufs": "false",
    "spark.shuffle.io.preferDirectBufs": "false",
    "spark.network.maxRemoteBlockSizeFetchToMem": "16m",
    "spark.sql.shuffle.partitions": "32",
    # What goes to Python at once.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(4 << 20),
    # Python, NumPy, Arrow and Polars give back what they do not need any more.
    "spark.executorEnv.MALLOC_ARENA_MAX": "1",
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(128 << 10),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(128 << 10),
    "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
    "spark.executorEnv._RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0,background_thread:false",
}


class Step(NamedTuple):
    """What Spark did for one step of a run."""

    name: str
    n_stages: int
    n_tasks: int
    moved: int  # bytes that stages wrote for the next ones
    seconds: float  # of all tasks


def make_input(folder: Path, n_records: int) -> Path:
    """Quest baskets as a folder of Parquet files."""
    place = folder / f"rows-{n_records}"
    if place.exists():
        return place
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


def run_once(source: str, out: str, cores: int, m: int, executor_memory: int, driver: int) -> dict[str, Any]:
    """One run in this process, and what Spark says about it."""
    if not cores:
        started = time.perf_counter()
        outcome = sv.run(policy_of(m), source, out, force=True)
        wall = time.perf_counter() - started
        return {
            "wall": wall, "cpu": cpu_of(os.getpid()), "seconds": dict(outcome.seconds), "jobs": 0, "steps": [],
        }  # fmt: skip
    from setveil.engines.spark import open_session, session

    session.PATIENCE = 300  # the machine may have other things to do
    if executor_memory:
        memory = {"spark.executor.memory": f"{executor_memory}m"}
        spark = open_session(f"local-cluster[{cores},1,{executor_memory}]", SMALL | memory)
    else:
        spark = open_session(f"local[{cores}]", {"spark.sql.shuffle.partitions": str(PARTS)})
    spark.conf.set("spark.setveil.gather", "true" if driver else "false")

    def watch(stage: str, share: float | None) -> None:
        spark.sparkContext.setJobDescription(stage)

    started = time.perf_counter()
    outcome = sv.run(policy_of(m), source, out, engine="spark", force=True, progress=watch)
    if outcome.release.published.written_in_parts == bool(driver):
        raise SystemExit("the records were not worked on where they should have been.")
    wall = time.perf_counter() - started
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    return {
        "wall": wall,
        "cpu": cpu_of(os.getpid()),
        "seconds": dict(outcome.seconds),
        "ncp": outcome.metrics["ncp"],
        "application": spark.sparkContext.applicationId,
        "jobs": store.jobsList(None).size(),
        "steps": steps_of(store),
    }


def policy_of(m: int) -> sv.Policy:
    """AA, k=5."""
    return sv.Policy.from_dict(
        {
            "schema": 1,
            "model": {"name": "km", "k": 5, "m": m},
            "algorithm": {"name": "aa"},
            "hierarchy": {"source": "fanout:5"},
        }
    )


def steps_of(store: Any) -> list[Step]:
    """The stages that ran, by the step for which they did."""
    steps: dict[str, Step] = {}
    for number in range(10_000):
        try:
            stage = store.lastStageAttempt(number)
        except Exception:
            break
        if stage.status().toString() == "COMPLETE":
            told = stage.description()
            name = told.get() if told.isDefined() else "start"
            before = steps.get(name, Step(name, 0, 0, 0, 0.0))
            moved, seconds = before.moved + stage.shuffleWriteBytes(), before.seconds + stage.executorRunTime() / 1000
            steps[name] = Step(name, before.n_stages + 1, before.n_tasks + stage.numTasks(), moved, seconds)
    return list(steps.values())


# -- processes --------------------------------------------------------------------------------------------------------


def below(process: int) -> dict[int, list[str]]:
    """A process and all that stand below it, with the fields of their ``stat``."""
    children: dict[int, list[int]] = {}
    stats: dict[int, list[str]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:  # it is gone
            continue
        number = int(place.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        stats[number] = fields
    family = [process]
    for number in family:
        family += children.get(number, [])
    return {number: stats[number] for number in family if number in stats}


def cpu_of(process: int) -> float:
    """User and system seconds of a process and of all that stand below it; nobody waits for Java and its workers."""
    spent = sum(sum(map(int, fields[11:15])) for fields in below(process).values())
    return spent / os.sysconf("SC_CLK_TCK")


def memory_of(processes: Iterable[int]) -> float:
    """Megabytes that some processes take together; what they share counts once."""
    total = 0
    for number in processes:
        try:
            text = Path(f"/proc/{number}/smaps_rollup").read_text()
        except OSError:  # it is gone
            continue
        total += int(text.partition("\nPss:")[2].split()[0])
    return total / 1024


def look_at_memory(driver: int, peaks: dict[str, float], has_executors: bool) -> None:
    """Raise the peaks to what is seen now: of the Python driver, and of the workers."""
    family = list(below(driver))
    workers = [number for number in family if number != driver]
    if has_executors:
        executors = [number for number in workers if is_executor(number)]
        workers = [number for executor in executors for number in below(executor)]
    for name, numbers in (("driver_mb", [driver]), ("workers_mb", workers)):
        peaks[name] = max(peaks.get(name, 0.0), memory_of(numbers))


def is_executor(process: int) -> bool:
    """Whether a process is a Java that runs tasks."""
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def measure(source: Path, cores: int, m: int, executor_memory: int, driver: bool, folder: Path) -> dict[str, Any]:
    """What a run in a process of its own tells."""
    once = [str(source), str(folder / "out"), str(cores), str(m), str(executor_memory), str(int(driver))]
    peaks: dict[str, float] = {}
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.spark", "--once", *once], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        while run.poll() is None:
            look_at_memory(run.pid, peaks, executor_memory > 0)
            time.sleep(LOOK)
        said = run.stdout.read()
    if run.returncode:
        raise SystemExit(f"the run failed with exit code {run.returncode}.")
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    logs = find_spec("pyspark")  # executors of a cluster on this machine leave them there
    if executor_memory and logs is not None and logs.origin is not None:
        shutil.rmtree(Path(logs.origin).parent / "work" / told["application"], ignore_errors=True)
    return {**told, "steps": [Step(*step) for step in told["steps"]], **peaks}


# -- tables -----------------------------------------------------------------------------------------------------------


def print_steps(steps: list[Step]) -> None:
    """What each step moved."""
    for step in steps:
        print(
            f"    {step.name:42}{step.n_stages:>4} stages{step.n_tasks:>6} tasks{step.moved / 1e6:>11.2f} MB"
            f"{step.seconds:>9.1f} s of tasks"
        )


def print_reckoning(cores: int, small: tuple[int, list[Step]], large: tuple[int, list[Step]]) -> None:
    """From two inputs to 10⁹ records on 100 cores: a line through the task seconds and the bytes of every step."""
    (n_small, before), (n_large, after) = small, large
    known = {step.name: step for step in before}
    far = []
    for step in after:
        old = known.get(step.name, step._replace(moved=0, seconds=0.0))
        per_record = max(step.seconds - old.seconds, 0.0) / (n_large - n_small)
        bytes_each = max(step.moved - old.moved, 0) / (n_large - n_small)
        seconds = step.seconds + per_record * (FAR - n_large)
        far.append((seconds, step.moved + bytes_each * (FAR - n_large), step.name, per_record))
    far.sort(reverse=True)
    hours = sum(seconds for seconds, *_ in far) / MANY_CORES / 3600
    moved = sum(bytes for _, bytes, *_ in far) / 1e9
    print(f"\nFrom {n_small:,} and {n_large:,} records with cores={cores} to {FAR:,} on {MANY_CORES} cores:")
    print(f"{hours:.1f} hours if tasks spread evenly, {moved:,.0f} GB moved; the most expensive steps:")
    for seconds, bytes, name, per_record in far[:6]:
        print(
            f"    {name:42}{seconds / MANY_CORES / 60:>9.1f} min{bytes / 1e9:>9.1f} GB"
            f"{per_record * 1e6:>9.1f} µs of a task per record"
        )
    print(f"What dominates: {far[0][2]}, {far[0][0] / sum(seconds for seconds, *_ in far):.0%} of the task seconds.")


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("-m", type=int, default=2)
    parser.add_argument("--stages", action="store_true", help="list what every step moved")
    parser.add_argument("--executor-memory", type=int, default=0, help="MB of each executor; one per core")
    parser.add_argument("--driver", action="store_true", help="bring the records into the driver")
    parser.add_argument("--inputs", type=Path, help="a folder in which the baskets are kept for other runs")
    once = ("SOURCE", "OUT", "CORES", "M", "MEMORY", "DRIVER")
    parser.add_argument("--once", nargs=6, metavar=once, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.once:
        source, out, *numbers = asked.once
        print(json.dumps(run_once(source, out, *map(int, numbers))))
        return
    print(HEADER)
    steps: dict[int, dict[int, list[Step]]] = {}  # by cores, by records
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = asked.inputs or folder
        for n_records in asked.records:
            source = make_input(inputs, n_records)
            for cores in asked.cores:
                found = measure(source, cores, asked.m, asked.executor_memory, asked.driver, folder)
                steps.setdefault(cores, {})[n_records] = found["steps"]
                shuffled = sum(step.moved for step in found["steps"]) / 1e6
                n_stages = sum(step.n_stages for step in found["steps"])
                print(
                    f"{n_records:>12,}{cores:>7}{asked.m:>3}{found['wall']:>9.1f}{found['cpu']:>9.1f}{shuffled:>13.1f}"
                    f"{found['driver_mb']:>11.0f}{found.get('workers_mb', 0):>12.0f}{found['jobs']:>6}{n_stages:>8}",
                    flush=True,
                )
                print("    " + ", ".join(f"{stage} {spent:.1f} s" for stage, spent in found["seconds"].items()))
                if asked.stages:
                    print_steps(found["steps"])
    for cores, by_records in steps.items():
        if cores and len(by_records) > 1:
            small, large = sorted(by_records)[-2:]
            print_reckoning(cores, (small, by_records[small]), (large, by_records[large]))


if __name__ == "__main__":
    main()
