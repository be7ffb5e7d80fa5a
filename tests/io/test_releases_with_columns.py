"""Releases with columns as files: whatever the labels, they read back the same, and their order tells nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.core import Hierarchy, Layout, Transactions
from setveil.core.columns import Column, Columns
from setveil.io.releases.canonical import check_form
from setveil.io.releases.files import read_release, write_release
from setveil.io.releases.people import SUFFIXES, asked_layout
from setveil.releases import Grouping, LocalRecoding, Recoding, Release
from setveil.releases.columns import publish_columns
from setveil.verify import check_original
from tests.strategies import hostile_labels

EVERY = pytest.mark.parametrize("layout", SUFFIXES)


def people(rng: random.Random, items: list[str], values: list[str], n: int = 12) -> Transactions:
    data = Transactions.from_lists([[item for item in items if rng.random() < 0.4] for _ in range(n)])
    columns = (
        Column.of("items", "known", [rng.choice([*values, None]) for _ in range(n)]),
        Column.of("=a,b", "carry", [rng.choice(values) for _ in range(n)]),
        Column.of("age", "known", [rng.choice(["1", "2", "11"]) for _ in range(n)], ages()),
        Column.of("columns", "sensitive", [rng.choice(values) for _ in range(n)]),
    )
    return replace(data, columns=Columns(columns))


def ages() -> Hierarchy:
    return Hierarchy.from_paths([[str(age), f"{age // 10}0s", "any"] for age in range(20)])


def released(rng: random.Random, data: Transactions, kind: str = "local") -> Release:
    assert data.columns is not None
    nodes = {}
    for column in data.columns.with_role("known"):
        leaves = column.leaves[column.codes].tolist()
        nodes[column.name] = np.array([rng.choice(column.tree.ancestors(leaf)) for leaf in leaves])
    if kind == "grouping":
        made: Release = Grouping.from_groups(data, np.arange(data.n_records) // 4, [data.vocabulary[0]])
    elif kind == "recoding":
        made = Recoding.from_clusters(data, np.arange(data.n_items) % 2)
    else:
        tree = Hierarchy.balanced(data, 2)
        kept = np.array([rng.random() < 0.8 for _ in range(data.n_occurrences)])
        made = LocalRecoding.from_nodes(data, tree, np.where(kept, tree.leaf_of_items(data.vocabulary)[data.items], -1))
    assert made.published.columns is not None
    return replace(made, published=replace(made.published, columns=publish_columns(made.published.columns, nodes)))


def roles(release: Release) -> list[tuple[str, object]]:
    return [(column.name, column.role) for column in release.published.columns or ()]


def told(release: Release) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    cells = [column.to_list() for column in release.published.columns or ()]
    rows = release.published.to_lists()
    return [(tuple(some[place] for some in cells), tuple(rows[place])) for place in range(len(rows))]


@EVERY
@given(
    st.lists(hostile_labels(), min_size=2, max_size=5, unique=True),
    st.lists(hostile_labels(), min_size=1, max_size=4, unique=True),
    st.integers(0, 10**6),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, layout: str, items: list[str], values: list[str], seed: int
) -> None:
    rng = random.Random(seed)
    data = people(rng, items, values)
    kind = rng.choice(["local", "recoding"])
    release = released(rng, data, kind)
    folder = tmp_path_factory.mktemp("out")
    written = write_release(release, folder, Layout(layout))
    again = read_release(folder, release.kind, written.published, written.layout, columns=roles(release))  # type: ignore[arg-type]
    assert sorted(told(again)) == sorted(told(release))
    assert check_form(folder, again, written.layout) == ([], [])
    ordered = again.reordered(np.argsort(written.order))
    known = ordered.with_items(data.vocabulary)
    assert check_original(known, data, in_input_order=True, suppression=kind == "local") == []
    assert check_original(again.with_items(data.vocabulary), data, suppression=kind == "local") == []
    # Another order of the records gives the same bytes.
    other = tmp_path_factory.mktemp("other")
    shuffled = np.array(rng.sample(range(data.n_records), data.n_records))
    write_release(replace(release.reordered(shuffled)), other, Layout(layout))
    for name in written.files:
        assert (folder / name).read_bytes() == (other / name).read_bytes()


@EVERY
def test_a_header_names_the_columns_and_nothing_else_of_the_input(tmp_path: Path, layout: str) -> None:
    data = Transactions.from_lists([["b|c", "a"], [], ["a", "\\"]], ids=["p1", "p2", "p3"])
    data = replace(data, columns=Columns((Column.of("sex", "known", ["m", "f", "f"]),)))
    release = Recoding.from_clusters(data, np.arange(data.n_items))
    published = replace(release.published, columns=publish_columns(data.columns or Columns(()), {}))
    write_release(replace(release, published=published), tmp_path, Layout(layout, id_column="patient_nbr"))
    text = (tmp_path / f"published{SUFFIXES[layout]}").read_bytes()
    assert b"patient" not in text and b"p1" not in text
    expected = {
        "people": b"sex,items\nf,\nf,\\\\|a\nm,a|b\\|c\n",
        "long": b'row,sex,item\n1,f,\n2,f,\\\n2,f,a\n3,m,a\n3,m,"b|c"\n',
        "jsonl": b'{"columns": {"sex": "f"}, "items": []}\n{"columns": {"sex": "f"}, "items": ["\\\\", "a"]}\n'
        b'{"columns": {"sex": "m"}, "items": ["a", "b|c"]}\n',
    }
    if layout in expected:
        assert text == expected[layout]
    assert (tmp_path / "columns.csv").read_text() == "column,published,value\nsex,f,f\nsex,m,m\n"


def test_values_that_only_the_data_shows_are_not_named(tmp_path: Path) -> None:
    """The age 117 is in no published record: that somebody is so old must not be told."""
    data = Transactions.from_lists([["a"]] * 4)
    years = Hierarchy.from_paths([["117", "100+", "*"], ["30", "30-39", "*"], ["31", "30-39", "*"]], True)
    data = replace(data, columns=Columns((Column.of("age", "known", ["117", "30", "31", "31"], years),)))
    assert data.columns is not None
    nodes = [years.root, years.root, years.labels.index("30-39"), years.labels.index("31")]
    release = Recoding.from_clusters(data, np.arange(1))
    release = replace(
        release, published=replace(release.published, columns=publish_columns(data.columns, {"age": np.array(nodes)}))
    )
    inside = tmp_path / "internal"
    inside.mkdir()
    written = write_release(release, tmp_path, Layout("people"), owners_folder=inside)
    assert (tmp_path / "columns.csv").read_text().split() == [
        "column,published,value", "age,*,", "age,*,31", "age,30-39,", "age,30-39,31", "age,31,31",
    ]  # fmt: skip
    assert "117" in (inside / "columns.csv").read_text()
    again = read_release(tmp_path, "recoding", written.published, written.layout, columns=[("age", "known")])
    ordered = again.reordered(np.argsort(written.order))
    assert check_original(ordered, data, in_input_order=True) == []
    flat = replace(data, columns=Columns((Column.of("age", "known", ["117", "30", "31", "31"]),)))
    assert check_original(ordered, flat, in_input_order=True)[0].startswith(
        'column "age": the hierarchy of the original has no value "30-39"'
    )


def test_columns_that_are_not_those_of_the_original_are_found() -> None:
    rng = random.Random(3)
    for number in range(300):
        data = people(rng, ["a", "b"], ["x", "y", "z"], n=8)
        release = released(rng, data)
        columns = release.published.columns
        assert columns is not None
        name = rng.choice(columns.names)
        column = columns[name]
        place = rng.randrange(8)
        codes = column.codes.copy()
        codes[place] = rng.randrange(len(column.values))
        changed = replace(release.published, columns=columns.replaced([replace(column, codes=codes)]))
        value = (data.columns or Columns(()))[name].to_list()[place]
        covered = [column.values[codes[place]]] if column.cover is None else column.cover.to_lists()[codes[place]]
        found = check_original(replace(release, published=changed), data, in_input_order=True, suppression=True)
        assert bool(found) == (value not in covered), number
        if not found:
            assert check_original(replace(release, published=changed), data, suppression=True) == []


def test_groups_with_columns(tmp_path: Path) -> None:
    rng = random.Random(5)
    data = people(rng, ["a", "b", "c"], ["x", "y"])
    release = released(rng, data, "grouping")
    written = write_release(release, tmp_path, Layout("fimi"))
    assert written.published == "published.jsonl" and "columns.csv" in written.files
    sensitive = [data.vocabulary[0]]
    again = read_release(tmp_path, "grouping", written.published, written.layout, sensitive, columns=roles(release))  # type: ignore[arg-type]
    assert sorted(told(again)) == sorted(told(release))
    assert check_form(tmp_path, again, written.layout) == ([], [])


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("published.csv", "sex\nf\n", r"published.csv:1: the header must be sex,items"),
        ("published.csv", "sex,items\nf\n", r"published.csv:2: expected 2 fields, found 1"),
        ("published.csv", "sex,items\n,a\n", r"published.csv:2: a value or an item is empty"),
        ("published.csv", "sex,items\nf,a||b\n", r"published.csv:2: an item has no name"),
        ("published.csv", "sex,items\nf,a\\\n", r"published.csv:2: write a"),
        ("columns.csv", "column,published,value\n", 'does not say what "f" of "sex" covers'),
        ("columns.csv", "column,published,value\nage,f,f\n", '"age" is not a known column'),
        ("columns.csv", "column,published,value\nsex,m,m\n", 'no record has the value "m"'),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, content: str, problem: str) -> None:
    (tmp_path / "published.csv").write_text("sex,items\nf,a\n")
    (tmp_path / "columns.csv").write_text("column,published,value\nsex,f,f\n")
    (tmp_path / "codebook.csv").write_text("published_item,item\na,a\n")
    (tmp_path / name).write_text(content)
    with pytest.raises(sv.InputError, match=problem):
        read_release(tmp_path, "recoding", "published.csv", Layout("people"), columns=[("sex", "known")])


def test_layouts_that_have_no_place_for_columns() -> None:
    assert asked_layout(None, "fimi").name == "people" and asked_layout(None, "jsonl").name == "jsonl"
    with pytest.raises(sv.InputError, match='cannot be written as "fimi"; choose long, jsonl, parquet'):
        asked_layout("fimi", "long")
