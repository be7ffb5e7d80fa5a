"""What may go wrong on a real cluster, master and two workers of this machine: the same bytes, or no release."""

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

pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.long]

SLOW = """
import time
from setveil.engines.spark import blocks
quick = blocks.unpack
def unpack(batches, target=None):
    time.sleep(3)
    yield from quick(batches, target)
blocks.unpack = unpack
"""  # every task of this worker takes longer than those of the other

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
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
    }
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, path: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = open(folder / f"{kind}{len(started)}.log", "wb")  # noqa: SIM115
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
        own = environment | {"SPARK_LOCAL_IP": arguments[arguments.index("--host") + 1]}
        own["PYTHONPATH"] = os.pathsep.join(filter(None, (path, os.environ.get("PYTHONPATH"))))
        made = subprocess.Popen(command, env=own, stdout=log, stderr=log, start_new_session=True)
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


@contextmanager
def cluster(folder: Path, slow: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A master and two workers, on two hosts of this machine; the second one's Python looks into ``slow`` first."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    with processes(folder) as start:
        start("master.Master", "", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        usual = ("--webui-port", "0", "--cores", "1", "--memory", "512m")
        workers = [
            start("worker.Worker", path, "--host", host, *usual, "--work-dir", str(folder / host), master)
            for host, path in (("127.0.0.1", ""), ("127.0.0.2", str(slow)))
        ]
        log = folder / "master.Master0.log"
        until(lambda: log.read_bytes().count(b"Registering worker") == 2, workers)
        yield master, workers


def run(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(Path(__file__).with_name("faulty_run.py"))]
    return subprocess.run([*program, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    place = tmp_path / "rows.parquet"
    place.mkdir()
    for part in range(4):
        rows = some_rows(part, n_records=40)
        frame = pl.DataFrame({"items": pl.Series(rows, dtype=pl.List(pl.String))})
        frame.write_parquet(place / f"{part}.parquet")
    return place


def test_tasks_that_run_twice_and_a_killed_worker_change_nothing(tmp_path: Path, source: Path) -> None:
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW)
    with cluster(tmp_path, tmp_path / "slow") as (master, workers):
        found = run(str(source), str(tmp_path / "twice"), master, "speculate")
        assert found.returncode == 0, found.stderr[-2000:]
        assert int(found.stdout.splitlines()[-1]) > 0, "no task was started twice"
        found = run(str(source), str(tmp_path / "killed"), master, "kill", str(workers[1].pid))
        assert found.returncode == 0, found.stderr[-2000:]
        assert workers[1].wait() == -signal.SIGKILL
    check_release(source, tmp_path / "twice")
    check_release(source, tmp_path / "killed")


def test_disks_that_take_nothing_leave_nothing_and_are_told_in_one_line(tmp_path: Path, source: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    found = run(str(source), str(place / "out"), "local[2]", "disk", str(tmp_path / "disk"))
    assert found.returncode == 4, found.stderr[-2000:]
    said = [line for line in found.stderr.splitlines() if line.startswith("setveil: ")]
    assert len(said) == 1
    assert said[0].startswith("setveil: Spark failed (")
    assert "Traceback" not in found.stderr
    assert list(place.iterdir()) == []


@pytest.fixture
def full_of_traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose files have the names of libraries; a worker that starts there and imports one is done for."""
    folder = tmp_path_factory.mktemp("traps")
    for name in ("numpy.py", "polars.py", "pyarrow.py"):
        (folder / name).write_text("raise SystemExit('imported from the current folder')")
    return folder


@pytest.mark.parametrize("stage", ["itemsets of size 2", "writing", "verifying", "reporting"])
def test_a_killed_driver_leaves_no_release(tmp_path: Path, source: Path, full_of_traps: Path, stage: str) -> None:
    out = tmp_path / "out"
    path = os.pathsep.join(str(Path(entry).resolve()) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep))
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("PYTHONPATH", path)  # what is relative belongs to this folder, not to that one
        found = run(str(source), str(out), "local[2]", "die", stage, folder=full_of_traps)
    assert found.returncode == -signal.SIGKILL, found.stderr
    assert not out.exists()
    assert not out.with_name("out.internal").exists()
    here = sv.anonymize(str(source), "km", k=3, m=2, algorithm="aa", hierarchy="fanout:3")
    sv.publish(here, out, to="parquet")  # the next run finds a place that is free
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.internal", "rows.parquet"]


def check_release(source: Path, folder: Path) -> None:
    """The folder is what one machine makes of the same data."""
    here = sv.anonymize(str(source), "km", k=3, m=2, algorithm="aa", hierarchy="fanout:3")
    files, _ = canonical.encode_release(here, Layout("parquet", item_column="items"), in_parts=True)
    for name, pieces in files:
        assert (folder / name).read_bytes() == b"".join(pieces), name
    assert verify_folder(folder).holds
