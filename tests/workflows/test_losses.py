"""What a release lost and why: checked against the data, by counting."""

from __future__ import annotations

from collections.abc import Iterable
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
        kind, items, n = loss.cause
        assert kind == "combination"
        assert items
        if all(item in {"milk", "bread", "rum", "gin"} for item in items):  # else it names groups
            assert holding(items) == n
        assert n is not None
        assert n < 3


def test_names_beside_labels_do_not_hide_the_cause(tmp_path: Path) -> None:
    """Causes are looked for by labels, and shown by names."""
    model, names = sv.KmAnonymity(k=3, m=2), {item: f"{item} it is" for item in ("milk", "bread", "rum", "gin")}
    plain = sv.anonymize(RECORDS, model, algorithm="pcta")
    named = sv.anonymize(RECORDS, model, algorithm="pcta", names=names)
    found = []
    for release in (plain, named):
        facts = sv.publish(release, tmp_path / str(len(found))).facts
        found.append(losses_of(facts, release, release.record.data, model))  # type: ignore[arg-type, union-attr]
    assert any(loss.cause.items for loss in found[0])
    for one, other in zip(*found, strict=True):
        assert (one.share, one.cause.kind, one.cause.n) == (other.share, other.cause.kind, other.cause.n)
        assert [f"{item} {names[item]}" if item in names else item for item in one.cause.items] == [*other.cause.items]


def holding(items: Iterable[str]) -> int:
    return sum(set(items) <= record for record in RECORDS)


@pytest.mark.parametrize("algorithm", ["coat", "pcta"])
def test_whole_records_that_somebody_knows_are_told_by_a_smallest_rare_part(algorithm: str, tmp_path: Path) -> None:
    model = sv.KmAnonymity(k=3, m="all")
    release = sv.anonymize(RECORDS, model, algorithm=algorithm)
    facts = sv.publish(release, tmp_path / "out").facts
    found = losses_of(facts, release, release.record.data, model)  # type: ignore[arg-type, union-attr]
    assert found
    for loss in found:
        kind, items, n = loss.cause
        assert (kind, n) == ("combination", holding(items))
        assert holding(items) < 3
        assert all(holding(set(items) - {item}) >= 3 for item in items if len(items) > 1)


def test_records_made_alike_are_told_by_records_too_few_have(tmp_path: Path) -> None:
    model = sv.KAnonymity(k=3)
    release = sv.anonymize(RECORDS, model)
    facts = sv.publish(release, tmp_path / "out").facts
    found = losses_of(facts, release, release.record.data, model)  # type: ignore[arg-type, union-attr]
    told = [loss for loss in found if loss.cause.kind]
    assert told
    for loss in told:
        assert loss.cause.kind == "record"
        assert loss.label in loss.cause.items
        assert RECORDS.count(set(loss.cause.items)) == loss.cause.n
        assert RECORDS.count(set(loss.cause.items)) < 3


def test_links_to_sensitive_items_are_lost_in_groups(tmp_path: Path) -> None:
    model = sv.PrivacyDegree(p=4, sensitive=["rum"])
    release = sv.anonymize(RECORDS, model)
    assert isinstance(release, sv.Grouping)
    facts = sv.publish(release, tmp_path / "out").facts
    found = losses_of(facts, release, release.record.data, model)  # type: ignore[arg-type, union-attr]
    assert found
    for loss in found:
        assert loss.label == "rum"
        assert loss.cause == ("group", (), 4)
    if found[0].what.startswith("its "):
        sizes = [int((release.group_of == group).sum()) for group in release.count_group]
        assert found[0].what == f"its {release.count.sum()} people are hidden among {sum(sizes)}"


def test_entries_left_out_are_losses_too(tmp_path: Path) -> None:
    model = sv.KmAnonymity(k=3, m=2)
    release = sv.anonymize(RECORDS, model, algorithm="trim")
    facts = sv.publish(release, tmp_path / "out").facts
    found = losses_of(facts, release, release.record.data, model)  # type: ignore[arg-type, union-attr]
    published = release.transactions()
    for loss in found:
        n_gone = sum(loss.label in old and loss.label not in new for old, new in zip(RECORDS, published, strict=True))
        assert loss.what == f"suppressed in {n_gone:,} records"
        assert holding(loss.cause.items) == loss.cause.n
    n_entries = [sum(map(len, records)) for records in (RECORDS, published)]
    assert len(found) > 0
    assert n_entries[1] < n_entries[0]
