"""Columns through the whole flow: published, read back, checked against the original, and never a comfort."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.core.columns import Column, Columns, Role


def data_with(role: Role) -> Transactions:
    rows = [["a", "b"], ["a"], ["b", "c"], ["a", "c"], []] * 8
    data = Transactions.from_lists(rows)
    wards = ["x", "y", "=z", "x"] * 10
    return replace(data, columns=Columns((Column.of("ward", role, wards),)))


@pytest.mark.parametrize(("to", "safe_csv"), [(None, False), ("long", True), ("jsonl", False), ("parquet", True)])
def test_a_carried_column(tmp_path: Path, to: str | None, safe_csv: bool) -> None:
    data = data_with("carry")
    release = sv.anonymize(data, "km", k=5, m=1)
    outcome = sv.publish(release, tmp_path / "out", to=to, safe_csv=safe_csv)
    assert sv.verify_folder(outcome.path, data).holds
    assert any(sentence.startswith('Carried columns ("ward")') for sentence in outcome.certificate["not_protected"])
    assert outcome.certificate["release"]["columns"] == [{"name": "ward", "role": "carry"}]
    assert outcome.lights[1].answer in ("moderate", "high")
    assert 'do not use the carried columns "ward"' in outcome.lights[1].sentence
    sv.publish(release, tmp_path / "out", to=to, safe_csv=safe_csv, force=True)  # all files are its own
    again = sv.open_release(outcome.path)
    assert again.published.columns is not None and data.columns is not None
    assert again.published.columns["ward"].to_list() == data.columns["ward"].to_list()
    # A value that was changed afterwards is seen, also by whoever has only the original.
    changed = replace(data, columns=Columns((Column.of("ward", "carry", ["x"] * 40),)))
    found = sv.verify_folder(outcome.path, changed)
    assert not found.holds and any('column "ward"' in problem for problem in found.problems)


def test_known_columns_are_public_under_a_privacy_degree(tmp_path: Path) -> None:
    data = data_with("known")
    release = sv.anonymize(data, "degree", p=2, sensitive=["c"])
    outcome = sv.publish(release, tmp_path / "out")
    assert sv.verify_folder(outcome.path, data).holds
    assert any(sentence.startswith('Known columns ("ward")') for sentence in outcome.certificate["not_protected"])


def test_a_known_column_is_not_published_outside_a_guarantee(tmp_path: Path) -> None:
    with pytest.raises(sv.InputError, match="does not protect known columns"):
        sv.anonymize(data_with("known"), "km", k=2, m=1)
    release = sv.anonymize(replace(data_with("known"), columns=None), "km", k=5, m=1)
    smuggled = replace(release, published=replace(release.rows, columns=data_with("known").columns))
    with pytest.raises(sv.InputError, match="does not protect known columns"):
        sv.publish(smuggled, tmp_path / "out")
    assert not (tmp_path / "out").exists()
