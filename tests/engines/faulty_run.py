"""``python faulty_run.py INPUT OUT MASTER FAULT…``: a run on Spark in which something goes wrong.

``kill PID``: a process group is killed in the middle. ``speculate``: Spark starts slow tasks twice; how many is
printed.
``die STAGE``: this process is killed when it comes to a stage. ``disk FOLDER``: the disk of the workers is this
folder, and nothing can be written there any more.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import setveil as sv
from setveil.cli.main import main as command_line
from setveil.engines.spark import frames, open_session, session

POLICY = {
    "schema": 1,
    "model": {"name": "km", "k": 3, "m": 2},
    "algorithm": {"name": "aa"},
    "hierarchy": {"source": "fanout:3"},
}
SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.setveil.gather": "false",  # records stay on the cluster, although they are few
}
TWICE = {
    "spark.speculation": "true",
    "spark.speculation.interval": "10ms",
    "spark.speculation.minTaskRuntime": "0ms",
    "spark.speculation.multiplier": "1.0",
    "spark.speculation.quantile": "0.1",
}


def main(source: str, out: str, master: str, fault: str, *details: str) -> None:
    met: list[str] = []

    def watch(stage: str, share: float | None) -> None:
        if fault == "kill" and stage == "itemsets of size 2" and not met:
            met.append(stage)
            os.killpg(int(details[0]), signal.SIGKILL)
        if fault == "die" and stage == details[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    frames.ROWS_PER_TASK = 40  # several tasks per stage, although the data is small
    session.PATIENCE = 300  # the machine may have other things to do
    own = {"speculate": TWICE, "disk": {"spark.local.dir": details[0] if details else ""}}
    spark = open_session(master, SETTINGS | own.get(fault, {}))
    if fault == "disk":  # then a command, for what it says in the end
        shutil.rmtree(details[0])
        Path(details[0]).touch()
        model = ["--model", "km", "-k", "3", "-m", "2", "--algorithm", "aa", "--hierarchy", "fanout:3"]
        sys.argv = ["setveil", "anonymize", source, "-o", out, *model, "--engine", "spark", "--master", master]
        command_line()
    sv.run(sv.Policy.from_dict(POLICY), source, out, engine="spark", master=master, progress=watch)
    if fault == "kill" and not met:
        raise SystemExit("nothing was killed")
    if fault == "speculate":
        print(n_started_twice(spark))


def n_started_twice(spark: Any) -> int:
    """How many tasks were started a second time, as Spark tells."""
    store = spark.sparkContext._jsc.sc().statusStore()
    total = 0
    for number in range(200):  # not every number is a stage that ran
        with suppress(Exception):
            summary = store.speculationSummary(number, 0)
            total += summary.get().numTasks() if summary.isDefined() else 0
    return total


if __name__ == "__main__":
    main(*sys.argv[1:])
