"""Groupings on Spark: the same files and certificate as on one machine, and a verifier that counts by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from setveil.core import Layout, Vocabulary
from setveil.errors import InputError
from setveil.io.releases import canonical
from setveil.releases import Grouping
from setveil.report.record import guessing_words
from setveil.verify import judge
from setveil.workflows import cluster, recheck
from setveil.workflows.folder import measure_folder
from setveil.workflows.recheck import verify_folder
from tests.algorithms.degree.test_shards import some_rows
from tests.engines.test_spark import as_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

SENSITIVE = ["s0", "s1", "s2"]
CAHD = {"model": "degree", "p": 3, "sensitive": SENSITIVE, "algorithm": "cahd", "options": {"shard_size": 60}}
GROUPED = {"cahd": CAHD}


@pytest.fixture(scope="module")
def folders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same release made on one machine (``here``) and on Spark (``there``), with the facts about them."""
    place = tmp_path_factory.mktemp("groups")
    rows = some_rows(11, 1300)  # from 1,000 records on a certificate says how often guessers are right
    with pytest.MonkeyPatch.context() as patch:
        for module in (canonical, recheck):
            patch.setattr(module, "PART_SIZE", 300)
        here = sv.anonymize(rows, **CAHD)
        outcome = sv.publish(here, place / "here", accept_guessable=True)
        files, _ = canonical.encode_release(here, Layout("parquet"), in_parts=True)
        for name, pieces in files:
            (place / "expected" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "expected" / name).write_bytes(b"".join(pieces))
        there = sv.publish(sv.anonymize(as_frame(spark, rows, 3), **CAHD), place / "there", accept_guessable=True)
        assert verify_folder(place / "there").holds
        assert not verify_folder(place / "there", rows).problems
        assert verify_folder(place / "there", engine="spark").holds
    for name, made in (("here", outcome), ("there", there)):
        assert made.facts is not None
        told = {"guesses": made.facts.guesses, "details": dict(made.release.details), "metrics": dict(made.metrics)}
        (place / f"{name}.json").write_text(json.dumps(told))
    return place


def told_of(place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    one, other = (json.loads((place / f"{name}.json").read_text()) for name in ("here", "there"))
    return one, other


@pytest.mark.long
def test_same_files_and_certificate(folders: Path) -> None:
    expected = sorted(path.relative_to(folders / "expected") for path in (folders / "expected").rglob("*.*"))
    assert len(expected) == 7  # five parts, the codebook, the counts
    for name in expected:
        assert (folders / "there" / name).read_bytes() == (folders / "expected" / name).read_bytes(), name
    here, there = (json.loads((folders / name / "certificate.json").read_text()) for name in ("here", "there"))
    assert set(there["files"]) == {*map(str, expected), "report.html"}
    for certificate in (here, there):
        del certificate["files"], certificate["digest"], certificate["release"]["published"]
        del certificate["release"]["layout"]["name"]
        del certificate["not_protected"][0]  # how often guessers are right: the next test
    assert here == there


@pytest.mark.long
def test_the_same_guesses_but_those_by_place_in_a_file(folders: Path) -> None:
    here, there = told_of(folders)
    for part in ("random", "real"):
        guessers = here["guesses"][part]["guessers"]
        assert guessers.pop("first in file") and guessers.pop("last in file")
    assert here["guesses"] == there["guesses"]
    certificate = json.loads((folders / "there" / "certificate.json").read_text())
    assert certificate["not_protected"][0] == guessing_words(here["guesses"], certificate["records"])
    assert "Measured" in certificate["not_protected"][0]
    assert here["details"] == there["details"]
    known = {name: value for name, value in here["metrics"].items() if not name.startswith("kl_")}
    assert there["metrics"] == known


@pytest.mark.long
def test_any_number_of_partitions(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.engines.spark import groups, ordering

    for seed, n_partitions, per_task in ((1, 1, 1), (2, 5, 50), (3, 2, 1 << 16)):
        monkeypatch.setattr(groups, "PER_TASK", per_task)
        monkeypatch.setattr(ordering, "PER_RANGE", 40)
        rows = some_rows(seed, 200)
        asked = {**CAHD, "options": {"shard_size": 15, "absorb": seed == 2}}
        here, there = sv.anonymize(rows, **asked), sv.anonymize(as_frame(spark, rows, n_partitions), **asked)
        assert here.details == there.details
        files, _ = canonical.encode_release(here, Layout("parquet"), in_parts=True)
        expected = {name: b"".join(pieces) for name, pieces in files}
        files, _ = canonical.encode_release(there, Layout("parquet"))
        assert {name: b"".join(pieces) for name, pieces in files} == expected


@pytest.mark.long
def test_changed_files_are_found(spark: SparkSession, folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (canonical, recheck):
        monkeypatch.setattr(module, "PART_SIZE", 300)
    release = sv.open_release(folders / "there")
    assert isinstance(release, Grouping)
    counts = folders / "there" / "sensitive.csv"
    text = counts.read_text()
    lines = text.splitlines(keepends=True)
    try:
        for changed, words in (
            ([lines[0], lines[2], lines[1], *lines[3:]], "sensitive.csv: not in canonical form from line 2 on"),
            ([*lines, lines[-1]], "a group counts the same item twice"),
            ([*lines, "100000,s0,1\n"], "names no group"),
        ):
            counts.write_text("".join(changed))
            seal_again(folders / "there", counts)
            assert words in " ".join(verify_folder(folders / "there", engine="spark").problems)
    finally:
        counts.write_text(text)
        seal_again(folders / "there", counts)
    assert verify_folder(folders / "there", engine="spark").holds
    with pytest.raises(InputError, match="needs them in one place"):
        measure_folder(as_frame(spark, some_rows(11, 1300), 2), folders / "there")


def seal_again(folder: Path, changed: Path) -> None:
    from setveil.report.certificate import hash_file, seal, write_json

    certificate = json.loads((folder / "certificate.json").read_text())
    certificate["files"][changed.name] = hash_file(changed)
    write_json(seal(certificate), folder / "certificate.json")


@pytest.mark.long
def test_the_verifier_counts_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    n_broken = n_open = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        n_records, numeric = 40, bool(seed % 2)
        group_of = np.sort(random.integers(0, 4, n_records))
        group_of = np.unique(group_of, return_inverse=True)[1]
        names = ["7", "12", "100"] if numeric else ["a", "b, c", 'd"']
        rows = [[name for name in names if random.random() < 0.4] for _ in range(n_records)]
        secret = ["5", "33"] if numeric else ["x\ny", "z"]
        if seed == 3:
            rows[7] = [*rows[7], secret[0]]
        counts = [(group, item) for group in range(4) for item in secret if random.random() < 0.7 and group in group_of]
        count = random.integers(1, 4, len(counts))
        sensitive = Vocabulary(secret)
        grouping = Grouping(
            published=sv.Transactions.from_lists(rows),
            group_of=group_of,
            sensitive=sensitive,
            count_group=np.array([group for group, _ in counts], dtype=np.int64),
            count_item=sensitive.numbers(item for _, item in counts),
            count=count.astype(np.int64),
        )
        place = tmp_path / str(seed)
        (place / "published").mkdir(parents=True)
        items = pl.Series(rows, dtype=pl.List(pl.String))
        pl.DataFrame({"group": group_of + 1, "items": items}).write_parquet(place / "published" / "part-00000.parquet")
        table = [(group + 1, item, n) for (group, item), n in zip(counts, count.tolist(), strict=True)]
        pl.DataFrame(table, schema=["group", "item", "count"], orient="row").write_csv(place / "sensitive.csv")
        for p in (2, 3, 6):
            model = sv.PrivacyDegree(p=p, sensitive=tuple(secret))
            expected = judge(grouping, model)
            assert cluster.judge_parts(place, model, lambda stage, share: None) == expected
            n_broken += not expected[0].holds
            n_open += "published unchanged" in expected[0].reason
    assert n_open == 3 and 3 < n_broken < 24
