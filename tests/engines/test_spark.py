"""The same answers on Spark as on one machine, for any number of partitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from setveil.cli import main
from setveil.core import Itemsets, Layout, Transactions
from setveil.engines import LocalEngine
from setveil.errors import InputError
from setveil.io.releases import canonical
from setveil.verify import judge
from setveil.workflows import cluster, recheck
from setveil.workflows.folder import measure_folder, patterns_of_folder
from setveil.workflows.recheck import verify_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.xdist_group("spark")

Rows = list[list[str]]


def some_rows(seed: int, n_records: int = 60, n_items: int = 9) -> Rows:
    """Records of few items, some empty, some equal, items of very different support."""
    random = np.random.default_rng(seed)
    weights = random.random(n_items) ** 3 + 0.01
    sizes = random.integers(0, min(5, n_items), n_records)
    return [
        [f"item {item}" for item in random.choice(n_items, size, replace=False, p=weights / weights.sum())]
        for size in sizes
    ]


def as_frame(spark: SparkSession, rows: Rows, n_partitions: int) -> DataFrame:
    frame = spark.createDataFrame([(row,) for row in rows], "items array<string>")
    return frame.repartition(n_partitions)


def figures(release: sv.Release) -> dict[str, Any]:
    """All that the driver decides."""
    details = {name: value for name, value in release.details.items() if name != "count_tree_nodes"}
    supports = dict(zip(release.published.vocabulary, release.published.supports.tolist(), strict=True))
    counts = release.published.n_records, release.published.n_empty, release.published.longest
    return {"codebook": dict(release.codebook()), "details": details, "supports": supports, "counts": counts}


@pytest.mark.parametrize(
    ("algorithm", "seed", "m", "n_partitions"),
    [
        ("aa", 1, 2, 3),
        pytest.param("aa", 8, 3, 5, marks=pytest.mark.long),
        pytest.param("aa+refine", 1, 2, 1, marks=pytest.mark.long),
        pytest.param("optimal", 8, 2, 2, marks=pytest.mark.long),
    ],
)
def test_same_cut_for_any_number_of_partitions(
    spark: SparkSession, algorithm: str, seed: int, m: int, n_partitions: int
) -> None:
    rows, asked = some_rows(seed), {"k": 2 + seed % 4, "m": m, "algorithm": algorithm, "hierarchy": "fanout:3"}
    on_spark = sv.anonymize(as_frame(spark, rows, n_partitions), "km", **asked)
    here = sv.anonymize(rows, "km", **asked)
    assert figures(on_spark) == figures(here)
    assert here.details["moves"], "a case in which nothing is done says nothing"
    published = [sorted(row["items"]) for row in on_spark.published.to_spark().collect()]
    assert sorted(published) == sorted(sorted(row) for row in here.to_lists())


AA = {"model": "km", "k": 3, "m": 2, "algorithm": "aa", "hierarchy": "fanout:3"}
PTA = {"model": "k-anonymity", "k": 3, "algorithm": "pta", "options": {"segment_size": 25}}
WEAVE = {"model": "k-anonymity", "k": 3, "algorithm": "weave", "options": {"shard_size": 25, "passes": 2}}
COMPARED = {"aa": AA, "aa+refine": {**AA, "algorithm": "aa+refine"}, "optimal": {**AA, "algorithm": "optimal"}} | {
    "pta": PTA,
    "weave": WEAVE,
}


@pytest.mark.long
@pytest.mark.parametrize("asked", COMPARED.values(), ids=COMPARED)
def test_same_files_and_certificate(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    for module in (canonical, recheck):
        monkeypatch.setattr(module, "PART_SIZE", 16)
    rows = some_rows(7)
    here = sv.anonymize(rows, **asked)
    sv.publish(here, tmp_path / "here", to="parquet")
    sv.publish(sv.anonymize(as_frame(spark, rows, 3), **asked), tmp_path / "there")
    folder = tmp_path / "there"
    counts = ["item_counts.csv"] if here.item_counts else []
    assert sorted(path.name for path in folder.iterdir()) == [
        "certificate.json", "codebook.csv", *counts, "published", "report.html"
    ]  # fmt: skip
    files, _ = canonical.encode_release(here, Layout("parquet", item_column="items"), in_parts=True)
    expected = {name: b"".join(pieces) for name, pieces in files}
    assert len(expected) == 5 + len(counts)  # four parts of 16 and fewer records
    assert {name: (folder / name).read_bytes() for name in expected} == expected
    one, other = (json.loads((tmp_path / name / "certificate.json").read_text()) for name in ("here", "there"))
    assert set(other["files"]) == {*expected, "report.html"}
    for certificate in (one, other):
        del certificate["files"], certificate["digest"], certificate["release"]["published"]
    assert one == other
    assert verify_folder(folder).holds
    assert verify_folder(folder, engine="spark").holds


@pytest.mark.long
def test_a_release_in_parts_is_measured_and_checked(spark: SparkSession, tmp_path: Path) -> None:
    rows, folder = some_rows(7), tmp_path / "there"
    sv.publish(sv.anonymize(rows, **AA), tmp_path / "here", to="parquet")
    sv.publish(sv.anonymize(as_frame(spark, rows, 3), **AA), folder)
    assert not verify_folder(folder, rows).problems
    measured = measure_folder(rows, folder)
    for original, out in ((as_frame(spark, rows, 2), folder), (sv.read(as_frame(spark, rows, 2)), tmp_path / "here")):
        assert measure_folder(original, out) == measured
    with pytest.raises(InputError, match="the records stay on the cluster"):
        patterns_of_folder(as_frame(spark, rows, 2), folder, (0.1,))
    check_against_originals(spark, rows, folder)
    assert sum(pl.read_parquet(part).height for part in (folder / "published").iterdir()) == len(rows)
    (folder / "published" / "more").write_text("x")
    assert verify_folder(folder).problems == ("published/more: an extra file; the certificate does not list it.",)
    assert verify_folder(folder, engine="spark").holds is False


def check_against_originals(spark: SparkSession, rows: Rows, folder: Path) -> None:
    """Both engines find the same wrong with other originals, and nothing with the right one."""
    first = next(number for number, row in enumerate(rows) if row)
    others = {
        "in another order, items twice": [[*row, *row] for row in reversed(rows)],
        "one fewer": rows[1:],
        "an empty one for a full one": [*rows[:first], [], *rows[first + 1 :]],
    }
    n_faulty = 0
    internal, aside = folder.with_name(f"{folder.name}.internal"), folder.with_name("aside")
    for name, original in others.items():
        there = verify_folder(folder, as_frame(spark, original, 3), engine="spark")
        internal.rename(aside)  # without the order of the records one machine compares them as a whole, too
        here = verify_folder(folder, original)
        aside.rename(internal)
        assert there.problems == here.problems, name
        n_faulty += bool(there.problems)
    assert n_faulty == 2


@pytest.mark.long
def test_a_replacement_is_held_against_its_original(spark: SparkSession, tmp_path: Path) -> None:
    rows, folder = some_rows(7), tmp_path / "there"
    sv.publish(sv.anonymize(as_frame(spark, rows, 3), **PTA), folder)
    assert not verify_folder(folder, as_frame(spark, rows, 2), engine="spark").problems
    (problem,) = verify_folder(folder, as_frame(spark, rows[1:], 2), engine="spark").problems
    assert problem == "the release has 60 records, the original 59 records."
    renamed = [[f"other {item}" for item in row] for row in rows]
    (problem,) = verify_folder(folder, as_frame(spark, renamed, 2), engine="spark").problems
    assert problem.startswith("published items that are not in the original: ")
    with pytest.raises(InputError, match="by one engine"):
        verify_folder(folder, as_frame(spark, rows, 2))
    assert not verify_folder(folder, rows, engine="spark").problems  # records that are here are compared here


def test_labels_whose_hashes_are_equal_are_counted_as_they_are() -> None:
    from setveil.verify.spark_sql import judge_table

    asked: list[str] = []

    def ask(query: str) -> list[tuple[int, ...]]:
        asked.append(query)
        return [(7, 6)] if "count(DISTINCT xxhash64" in query else [(5,)]

    assert judge_table(ask, "rows", sv.KmAnonymity(k=5, m=2), lambda stage, share: None)[0].holds
    assert len(asked) == 3
    assert not any("xxhash64" in query for query in asked[1:])


@pytest.mark.long
def test_the_verifier_counts_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    n_broken = 0
    for seed, numeric in ((1, True), (2, False), (3, True)):
        rows = some_rows(seed, n_records=120, n_items=5)
        rows = [[label[-1] * 2 if numeric else label for label in row] for row in rows]
        place = tmp_path / f"rows{seed}"
        (place / "published").mkdir(parents=True)
        frame = pl.DataFrame({"items": pl.Series(rows, dtype=pl.List(pl.String))})
        frame.write_parquet(place / "published" / "part-00000.parquet")
        models = [sv.KmAnonymity(k=k, m=m) for k, m in ((2, 2), (4, 3), (9, 1))]
        for model in (*models, sv.KAnonymity(k=2), sv.KAnonymity(k=3)):
            expected = judge(Transactions.from_lists(rows), model)
            assert cluster.judge_parts(place, model, lambda stage, share: None) == expected
            n_broken += not expected[0].holds
    assert 0 < n_broken < 15


def test_supports_and_shards(spark: SparkSession) -> None:
    from setveil.engines.spark import SparkEngine

    rows = some_rows(3)
    data = Transactions.from_lists(rows)
    remote = sv.read(as_frame(spark, rows, 3))
    assert remote.vocabulary == data.vocabulary
    indptr = np.array([0, 0, 1, 3, 6])
    itemsets = Itemsets(indptr, np.array([2, 0, 1, 0, 1, 2], dtype=np.int32), data.vocabulary)
    engine = SparkEngine(spark)
    assert engine.supports(remote, itemsets).tolist() == LocalEngine().supports(data, itemsets).tolist()
    assert engine.map_shards(len, ["abc", "", "de"]) == [3, 0, 2]
    assert engine.map_shards(len, []) == []
    with pytest.raises(InputError, match="stay on the cluster"):
        engine.distinct(remote)


def test_what_spark_reads(spark: SparkSession, tmp_path: Path) -> None:
    rows = [["b", "a"], [], ["a"], ["c", "a", "b"], ["b"]] * 5
    expected = sorted(sorted(row) for row in rows)
    pairs = [(number, item) for number, row in enumerate(rows) for item in (row or [""])]
    text = "".join(f"{number},{item}\n" for number, item in pairs)
    (tmp_path / "long.csv").write_text("person,item\n" + text)
    pl.DataFrame(pairs, schema=["person", "item"], orient="row").write_parquet(tmp_path / "long.parquet")
    lists = pl.DataFrame({"items": pl.Series([[*row, *row] for row in rows], dtype=pl.List(pl.String))})
    lists.write_parquet(tmp_path / "lists.parquet")
    for name in ("long.csv", "long.parquet", "lists.parquet"):
        data = cluster.read_path(tmp_path / name, None, {})
        assert sorted(row["items"] for row in data.to_spark().collect()) == expected, name  # type: ignore[attr-defined]
        here = sv.read(str(tmp_path / name))
        assert (data.n_records, data.n_occurrences, data.n_empty) == (25, here.n_occurrences, here.n_empty)
        assert data.supports.tolist() == here.supports.tolist()
        assert data.summary().startswith(f"Read {name} as ")


@pytest.mark.long
def test_the_same_risk(spark: SparkSession) -> None:
    rows, frame = some_rows(5), as_frame(spark, some_rows(5), 3)
    for options in ({"known": (1, 2, 3), "k": 4}, {"known": (2, 3), "k": 2, "budget": 1, "targets": 40}):
        there = sv.risk(frame, **options)
        assert there == sv.risk(rows, inference=False, **options)
        assert there.inference == ()  # it looks at single records


def test_small_data_is_few_tasks_and_the_algorithm_is_named(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "200")
    try:
        pairs = [(number, item) for number in range(40) for item in ("a", f"b{number % 3}")]
        data = sv.read(spark.createDataFrame(pairs, "patient int, code string"))
        assert data.blocks.rdd.getNumPartitions() == 1  # type: ignore[attr-defined]
        visits = spark.createDataFrame([(7, ["a"]), (7, ["b"]), (8, ["a"])], "patient int, codes array<string>")
        assert sv.read(visits).n_records == 2
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before or "4")
    with pytest.warns(sv.SetveilWarning, match=r'on Spark, algorithm "aa\+refine" is used'):
        assert sv.anonymize(data, "km", k=2, m=2, hierarchy="fanout:2").algorithm == "aa+refine"


def test_bad_input_is_one_line(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = as_frame(spark, some_rows(1), 2)
    with pytest.raises(
        InputError,
        match=r'"pcta" does not run on Spark; there is aa, aa\+refine, optimal for km; cahd for degree; weave',
    ):
        sv.anonymize(frame, "km", k=2, m=2, algorithm="pcta")
    with pytest.raises(
        InputError, match=r"no default algorithm on Spark; choose cahd with its option shard_size and a"
    ):
        sv.anonymize(frame, "degree", p=2, sensitive=["item 1"])
    with pytest.raises(InputError, match=r"on Spark set its option shard_size"):
        sv.anonymize(frame, "degree", p=2, sensitive=["item 1"], algorithm="cahd")
    with pytest.raises(InputError, match=r"Spark cannot read it .*check the path"):
        cluster.read_path(tmp_path / "nothing.parquet", None, {})
    with pytest.raises(InputError, match="no column"):
        sv.anonymize(frame, "km", k=2, m=2, hierarchy="fanout:3", read_options={"item_column": "drugs"})
    with pytest.raises(InputError, match="holds null"):
        sv.read(spark.createDataFrame([(["a"],), (None,)], "items array<string>"))
    with pytest.raises(InputError, match="is empty"):
        sv.read(spark.createDataFrame([(["a", ""],)], "items array<string>"))
    with pytest.raises(InputError, match="stay on the cluster"):
        sv.read(frame).to_lists()
    asked = ["--model", "km", "-k", "2", "-m", "2", "--hierarchy", "fanout:3", "--engine", "spark"]
    pl.DataFrame({"items": [["a"], ["b"]]}).write_parquet(tmp_path / "rows.parquet")
    for source, more, words in (
        ("nothing.parquet", [], "Spark cannot read it"),
        ("rows.parquet", ["--item-column", "drugs"], "no column"),
        ("rows.parquet", ["--algorithm", "da"], "does not run on Spark"),
    ):
        arguments = ["anonymize", str(tmp_path / source), "-o", str(tmp_path / "out"), *asked, *more]
        assert main._run(arguments) == 2
        said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(("Read ", "First run"))]
        assert len(said) == 1
        assert words in said[0]
    (tmp_path / "torn.csv").write_text("person,item\n1,a\n2\n3,b,c\n")
    with pytest.raises(InputError, match=r"Spark cannot read it .*a row has more or fewer fields than the header"):
        cluster.read_path(tmp_path / "torn.csv", None, {})


def test_text_in_another_encoding_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads é and è of Latin 1 as the same mark: two drugs would be one, and so would two people."""
    for name, rows in {"items.csv": "1,a\n1,é\n2,è\n3,a\n", "ids.csv": "é,a\nè,b\nx,a\n"}.items():
        (tmp_path / name).write_text("person,item\n" + rows, encoding="latin-1")
        with pytest.raises(InputError, match="holds bytes that are not UTF-8; name the encoding"):
            cluster.read_path(tmp_path / name, None, {})
        assert cluster.read_path(tmp_path / name, None, {"encoding": "latin-1"}).n_records == 3
    with pytest.raises(InputError, match=r"cp1252. is not read on Spark; there is ISO-8859-1, "):
        cluster.read_path(tmp_path / "items.csv", None, {"encoding": "cp1252"})
