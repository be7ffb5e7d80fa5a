"""What a release lost and why: checked against the data, by counting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.workflows.losses import losses_of

RECORDS = [{"milk", "bread"}] * 6 + [{"milk", "rum"}, {"bread", "gin"}, {"rum"}, {"gin"}] + [{"bread"}] * 5
TREE = "milk,food,all\nbread,food,all\nrum,drinks,all\ngin,drinks,all\n"


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [("aa", sv.KmAnonymity(k=3, m=2)), ("pcta", sv.ConstraintAnonymity(k=3, constraints=[["rum"], ["gin", "bread"]]))],
)
def test_each_loss_names_a_combination_that_too_few_have(algorithm: str, model: Any, tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text(TREE)
    tree = str(tmp_path / "tree.csv") if algorithm == "aa" else None
    release = sv.anonymize(RECORDS, model, algorithm=algorithm, hierarchy=tree)
    facts = sv.publish(release, tmp_path / "out").facts
    found = losses_of(facts, release, release.record.data, model)  # type: ignore[arg-type, union-attr]
    assert found
    assert abs(sum(loss.share or 0 for loss in found) - 1) < 1e-9
    for loss in found:
        assert loss.forced_by
        if all(item in {"milk", "bread", "rum", "gin"} for item in loss.forced_by):  # else it names groups
            assert sum(set(loss.forced_by) <= record for record in RECORDS) == loss.support
        assert loss.support < 3  # type: ignore[operator]


def test_entries_left_out_are_losses_too(tmp_path: Path) -> None:
    model = sv.KmAnonymity(k=3, m=2)
    release = sv.anonymize(RECORDS, model, algorithm="trim")
    facts = sv.publish(release, tmp_path / "out").facts
    found = losses_of(facts, release, release.record.data, model)  # type: ignore[arg-type, union-attr]
    published = release.transactions()
    for loss in found:
        n_gone = sum(loss.label in old and loss.label not in new for old, new in zip(RECORDS, published, strict=True))
        assert loss.what == f"left out of {n_gone:,} records"
        assert sum(set(loss.forced_by) <= record for record in RECORDS) == loss.support
    n_entries = [sum(map(len, records)) for records in (RECORDS, published)]
    assert len(found) > 0
    assert n_entries[1] < n_entries[0]
