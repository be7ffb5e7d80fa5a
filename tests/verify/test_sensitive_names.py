"""A sensitive item is published under its own name, and under no other: from objects and from files alone."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Itemsets, Transactions, Vocabulary
from setveil.releases import LocalRecoding, Recoding
from setveil.report.certificate import seal, write_json

NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"]
MODELS: list[Any] = [
    sv.KAnonymity(k=6, sensitive=["hiv"]),
    sv.Coherence(h=100, k=2, p=1, sensitive=["hiv"]),
    sv.PrivacyDegree(p=2, sensitive=["hiv"]),
]


def local(rows: list[list[str]], means: dict[str, list[str]]) -> LocalRecoding:
    """A local recoding whose codebook says what it likes."""
    published = Transactions.from_lists(rows)
    domain = Vocabulary({item for items in means.values() for item in items})
    sets = [np.sort(domain.numbers(means[label])) for label in published.vocabulary]
    indptr = np.concatenate(([0], np.cumsum([len(items) for items in sets]))).astype(np.int64)
    return LocalRecoding(
        published=published, cover=Itemsets(indptr, np.concatenate(sets).astype(np.int32), domain), hierarchy=None
    )


@pytest.mark.parametrize("model", MODELS)
def test_people_are_not_sensitive_because_a_codebook_says_so(model: Any) -> None:
    release = local([[name] for name in NAMES], {name: ["hiv"] for name in NAMES})
    verdict = sv.verify(release, model)
    assert not verdict.holds
    assert (verdict.witness, verdict.support) == (("Ann",), 1)
    assert 'the sensitive item "hiv" is published as "Ann" in 1 record;' in verdict.reason
    assert [found.itemset for found in sv.minimal_violations(release, model)] == [(name,) for name in NAMES]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("means", "blamed"),
    [
        ({"hiv": ["hiv"], "Ann": ["hiv"], "milk": ["milk"]}, "Ann"),  # its own name, and another one
        ({"hiv": ["hiv", "milk"], "Ann": ["ann"], "milk": ["bread"]}, "hiv"),  # its own name for others, too
        ({"hiv": ["flu"], "Ann": ["hiv"], "milk": ["milk"]}, "Ann"),
        ({"hiv": ["milk"], "Ann": ["Ann", "hiv"], "milk": ["bread"]}, "Ann"),  # a category covers it
    ],
)
def test_one_label_one_meaning(model: Any, means: dict[str, list[str]], blamed: str) -> None:
    release = local([["hiv", "Ann", "milk"]] * 6, means)
    assert sv.verify(release, model).witness == (blamed,)


@pytest.mark.parametrize("model", MODELS)
def test_recodings_alike(model: Any) -> None:
    data = Transactions.from_lists([["hiv", "milk"], ["flu", "milk"]] * 6)
    merged = Recoding.from_clusters(data, np.array([0, 0, 1]))  # flu and hiv as one
    assert not sv.verify(merged, model).holds
    assert len(sv.verify(merged, model).witness or ()) == 1
    single = Recoding.from_clusters(data, np.array([0, 1, 2]))
    assert sv.verify(single, sv.KAnonymity(k=6, sensitive=["hiv", "flu"])).holds
    hidden = Recoding.from_clusters(data, np.array([0, -1, 1]))
    assert sv.verify(hidden, sv.PrivacyDegree(p=2, sensitive=["hiv"])).holds


TREE = "virus:hiv,flu,cold other:milk,bread,beer"


def tree() -> sv.Hierarchy:
    paths = [[item, part.split(":")[0], "all"] for part in TREE.split() for item in part.split(":")[1].split(",")]
    return sv.Hierarchy.from_paths(paths)


ROWS = [["hiv", "milk", "flu"], ["milk", "cold"], ["milk", "flu"], ["hiv", "milk", "cold"], *[["milk"]] * 3] * 2


KEPT = {"jsonl", "long", "basket", "parquet"}  # replacements keep their labels, which numbers cannot carry
OURS: list[tuple[Any, str, set[str]]] = [
    (sv.KAnonymity(k=5, sensitive=["hiv"]), "lg", KEPT | {"fimi", "spmf"}),
    (sv.KAnonymity(k=5, sensitive=["hiv"]), "pta", KEPT),
    (sv.KAnonymity(k=5, sensitive=["hiv"]), "weave", KEPT),
    (sv.Coherence(h=60, k=3, p=1, sensitive=["hiv"]), "mm", KEPT | {"fimi", "spmf"}),
]


@pytest.mark.parametrize(
    ("model", "algorithm", "layout"),
    [(model, algorithm, layout) for model, algorithm, layouts in OURS for layout in sorted(layouts)],
)
def test_our_own_releases_keep_to_it(tmp_path: Path, model: Any, algorithm: str, layout: str) -> None:
    """Also where the hierarchy has a category over sensitive and other items."""
    release = sv.anonymize(ROWS, model, algorithm, tree() if algorithm == "lg" else None)
    if algorithm == "lg":
        book = release.codebook()
        assert book["hiv"] == ["hiv"]
        assert all("hiv" not in items for label, items in book.items() if label != "hiv")
        assert any(len(items) > 1 for items in book.values()), "something is generalized"
    release.publish(tmp_path / "out", to=layout)
    found = sv.verify_folder(tmp_path / "out", ROWS)
    assert found.holds, (found.problems, found.unchecked)


def test_files_that_call_people_sensitive_are_not_verified(tmp_path: Path) -> None:
    release = sv.anonymize(ROWS, sv.KAnonymity(k=3, sensitive=["hiv"]), "lg", tree())
    folder = release.publish(tmp_path / "out", to="jsonl")
    certificate = json.loads((folder / "certificate.json").read_text())
    names = sorted(f"name {number:02}" for number in range(certificate["records"]))
    (folder / "published.jsonl").write_text("".join(f'{{"items": ["{name}"]}}\n' for name in names))
    with open(folder / "codebook.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("published_item", "item"), *((n, "hiv") for n in names)])
    for name in certificate["files"]:
        certificate["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    write_json(seal(certificate), folder / "certificate.json")
    found = sv.verify_folder(folder)
    assert found.holds is False
    assert found.verdict is not None and not found.verdict.holds
    assert 'published as "name 00"' in found.verdict.reason
