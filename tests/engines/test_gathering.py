"""Data of Spark that fits into this process gives the folder of one machine, byte by byte, whatever the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.workflows import cluster
from setveil.workflows.forecast import Forecast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")
COLUMNS = {
    "person": {"role": "person"},
    "code": {"role": "item"},
    "age": {"role": "known", "hierarchy": "bands:10,20"},
    "sex": {"role": "known"},
}
ASKED: dict[str, dict[str, Any]] = {
    "km": {"model": {"name": "km", "k": 3, "m": 2}},
    "degree": {"model": {"name": "degree", "p": 3, "sensitive": ["c9"]}},
    "counts": {"model": {"name": "counts", "k": 20}},
    "kkm": {"model": {"name": "kkm", "k": 3, "m": 2}, "columns": COLUMNS},
}


@pytest.fixture
def gathering(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set("spark.setveil.gather", "true")
    yield spark
    spark.conf.set("spark.setveil.gather", "false")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    random = np.random.default_rng(5)
    rows = [
        (person, f"c{item}", int(age), str(sex))
        for person, (age, sex) in enumerate(zip(random.integers(20, 60, 200), random.choice(["f", "m"], 200)))  # noqa: B905
        for item in sorted({int(draw) for draw in random.random(random.integers(1, 5)) ** 2 * 10})
    ]
    frame = pl.DataFrame(rows, schema=["person", "code", "age", "sex"], orient="row")
    frame.write_parquet(tmp_path / "people.parquet")
    frame.select("person", "code").write_csv(tmp_path / "pairs.csv")
    return tmp_path


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        pytest.param("km", "pairs.csv", marks=pytest.mark.long, id="km"),
        pytest.param("kkm", "people.parquet", id="kkm"),
        pytest.param("degree", "pairs.csv", marks=pytest.mark.long, id="degree"),
        pytest.param("counts", "pairs.csv", marks=pytest.mark.long, id="counts"),
    ],
)
def test_the_defaults_and_columns_give_the_same_folder(
    gathering: SparkSession, people: Path, name: str, source: str
) -> None:
    policy = sv.Policy.from_dict({"schema": 1, **ASKED[name]})
    sv.run(policy, people / source, people / "here")
    there = sv.run(policy, people / source, people / "there", engine="spark")
    assert files_of(people / "here") == files_of(people / "there")
    assert "on Spark, brought into this process" in there.release.record.data.summary()  # type: ignore[union-attr]
    reading = there.release.record.data.reading  # type: ignore[union-attr]
    assert reading is not None and reading.second is not None and not reading.second.not_compared
    assert sv.verify_folder(people / "there", people / source, engine="spark", **policy.reading()).holds
    assert sv.verify_folder(people / "there", engine="spark").holds


def test_tables_of_the_catalog_in_and_out(
    gathering: SparkSession, people: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(people)
    frame = gathering.createDataFrame(pl.read_csv(people / "pairs.csv").rows(), "person int, code string")
    frame.createOrReplaceTempView("visits")
    command = [
        "--model",
        "km",
        "-k",
        "3",
        "-m",
        "2",
        "--algorithm",
        "aa",
        "--hierarchy",
        "fanout:3",
        "--engine",
        "spark",
    ]
    for words in (["--table", "no name"], ["--keep-order"], ["--table", "published", "-o", "memory://a/b"]):
        assert _run(["anonymize", "visits", "-o", "out", *command, *words]) == 2
    try:
        assert _run(["anonymize", "visits", "-o", "out", *command, "--table", "published"]) == 0
        saved = gathering.table("published")
        assert saved.count() == pl.read_parquet(people / "out" / "published.parquet").height
        (certified,) = [row for row in gathering.sql("SHOW TBLPROPERTIES published").collect() if "setveil" in row[0]]
        assert certified[1] in (people / "out" / "certificate.json").read_text()
        assert _run(["anonymize", "visits", "-o", "again", *command, "--table", "published"]) == 2
        assert "exists already" in capsys.readouterr().err
    finally:
        gathering.sql("DROP TABLE IF EXISTS published")
        gathering.catalog.dropTempView("visits")
    assert _run(["anonymize", "pairs.csv", "-o", "other", *command[:-2], "--table", "published"]) == 2


def test_a_release_is_written_through_the_file_systems_of_hadoop(
    gathering: SparkSession, people: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = people / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    lake = people / "lake" / "out"
    place = f"file://{lake}"
    asked = ["--model", "km", "-k", "3", "-m", "2", "--algorithm", "aa", "--hierarchy", "fanout:3"]
    command = ["anonymize", str(people / "pairs.csv"), *asked]
    is_spark = ["--engine", "spark"]
    there = [*command, "-o", place, *is_spark]
    assert _run(there) == 0
    assert [path.name for path in work.iterdir()] == ["out.internal"]
    assert _run([*command, "-o", "here"]) == 0
    assert files_of(lake) == files_of(work / "here")
    assert _run(["verify", place, *is_spark]) == 0
    assert _run(there) == 6
    assert _run([*there, "--to", "jsonl", "--force"]) == 0
    assert "published.jsonl" in files_of(lake) and "published.csv" not in files_of(lake)
    capsys.readouterr()
    assert _run([*command, "-o", "nosuch://lake/out", *is_spark]) == 2
    assert "Spark has no file system for it" in capsys.readouterr().err


def test_what_does_not_fit_stays_on_the_cluster(
    gathering: SparkSession, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "for_gathering", lambda n_cells, n_bytes: Forecast(2e9, 3e9))
    frame = gathering.read.parquet(str(people / "people.parquet"))
    assert sv.read(frame, person="person", item="code", drop=["age", "sex"]).written_in_parts
    with pytest.raises(InputError, match=r"known_columns needs all records .*needs about 2\.0 GB; 3\.0 GB are"):
        sv.anonymize(frame, "kkm", k=3, m=2, person="person", item="code", known=["age", "sex"])
