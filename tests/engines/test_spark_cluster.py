"""A real cluster, master and two workers of this machine, of which one is killed in the middle of a run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import pytest

import setveil as sv
from setveil.core import Layout
from setveil.io.releases import canonical
from setveil.workflows.recheck import verify_folder
from tests.engines.test_spark import some_rows

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.long]

Start = Callable[..., subprocess.Popen[bytes]]


@contextmanager
def processes(folder: Path) -> Iterator[Start]:
    """Starts Spark's own classes, each in a process group of its own; all of them are gone in the end."""
    import pyspark

    from setveil.engines.spark.session import _find_java

    _find_java()
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
    }
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = open(folder / f"{kind}{len(started)}.log", "wb")  # noqa: SIM115
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
        made = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        log.close()
        started.append(made)
        return made

    try:
        yield start
    finally:
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def until(is_so: Callable[[], bool], alive: list[subprocess.Popen[bytes]], seconds: float = 240) -> None:
    """Wait for something that processes bring about, as long as they are there."""
    end = time.monotonic() + seconds
    while not is_so():
        assert all(process.poll() is None for process in alive), "a worker did not start"
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    source = tmp_path / "rows.parquet"
    source.mkdir()
    for part in range(4):
        rows = some_rows(part, n_records=40)
        frame = pl.DataFrame({"items": pl.Series(rows, dtype=pl.List(pl.String))})
        frame.write_parquet(source / f"{part}.parquet")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    with processes(tmp_path) as start:
        start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        usual = ("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "512m")
        workers = [
            start("worker.Worker", *usual, "--work-dir", str(tmp_path / f"work{number}"), master) for number in (1, 2)
        ]
        log = tmp_path / "master.Master0.log"
        until(lambda: log.read_bytes().count(b"Registering worker") == 2, workers)
        program = Path(__file__).with_name("killing_run.py")
        command = [sys.executable, str(program), str(source), str(tmp_path / "there"), master, str(workers[0].pid)]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr[-2000:]
        assert workers[0].wait() == -signal.SIGKILL
    check_release(source, tmp_path / "there")


def check_release(source: Path, folder: Path) -> None:
    """The folder is what one machine makes of the same data."""
    here = sv.anonymize(str(source), "km", k=3, m=2, algorithm="aa", hierarchy="fanout:3")
    files, _ = canonical.encode_release(here, Layout("parquet", item_column="items"), in_parts=True)
    for name, pieces in files:
        assert (folder / name).read_bytes() == b"".join(pieces), name
    assert verify_folder(folder).holds
