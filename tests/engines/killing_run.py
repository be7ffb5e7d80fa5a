"""``python killing_run.py INPUT OUT MASTER PID``: a run on a cluster that kills a process group half-way."""

from __future__ import annotations

import os
import signal
import sys

import setveil as sv
from setveil.engines.spark import open_session, session

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
}


def main(source: str, out: str, master: str, victim: int) -> None:
    killed: list[str] = []

    def kill(stage: str, share: float | None) -> None:
        if stage == "itemsets of size 2" and not killed:
            os.killpg(victim, signal.SIGKILL)
            killed.append(stage)

    session.PATIENCE = 300  # the machine may have other things to do
    open_session(master, SETTINGS)
    sv.run(sv.Policy.from_dict(POLICY), source, out, engine="spark", master=master, progress=kill)
    if not killed:
        raise SystemExit("nothing was killed")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
