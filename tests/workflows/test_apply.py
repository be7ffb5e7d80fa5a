"""A recoding applied to new people: the same labels, and the promise checked again."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.workflows.apply import apply_folder
from setveil.workflows.folder import owners_reading
from setveil.workflows.policies import make_policy
from tests.naive.kkm import check_people, people_of
from tests.naive.kkm_cases import random_model, random_people

OLD = [["beer", "milk"], ["wine", "milk"], ["beer", "bread"], ["wine", "bread"]] * 2
TREE = sv.Hierarchy.from_paths(
    [
        ["beer", "drinks", "ALL"],
        ["wine", "drinks", "ALL"],
        ["milk", "food", "ALL"],
        ["bread", "food", "ALL"],
        ["rum", "drinks", "ALL"],
    ]
)
records = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1, max_size=4), min_size=4, max_size=12)


def old_release(k: int = 5) -> sv.Release:
    return sv.anonymize(OLD, "km", k=k, m=2, algorithm="aa", hierarchy=TREE)


@settings(max_examples=30)
@given(records, records)
def test_new_records_get_the_labels_of_the_codebook(old: list[set[str]], new: list[set[str]]) -> None:
    data = sv.read([sorted(row) for row in old], labels_as_they_are=True)
    release = sv.Recoding.from_clusters(data, np.arange(data.n_items) // 2)
    book = release.codebook()
    model = sv.KmAnonymity(k=2, m=1)
    new = [row & set(data.vocabulary) for row in new]
    expected = [{book.published(item) for item in row} for row in new]
    try:
        applied = release.apply([sorted(row) for row in new], model)
    except sv.GuaranteeError:
        assert not sv.verify(expected, model)
    else:
        assert applied.transactions() == expected
        assert sv.verify(expected, model)


def test_what_did_not_occur_before_has_a_place_in_the_tree() -> None:
    release = old_release()
    published = release.codebook().published("beer")
    applied = release.apply([["rum"], ["beer"], ["wine"]] * 2)
    assert applied.transactions() == [{published}] * 6
    assert applied.record is not None and applied.record.model == sv.KmAnonymity(k=5, m=2)
    assert sv.verify(applied, "km", k=5, m=2)


def test_an_applied_recoding_can_be_published(tmp_path: object) -> None:
    out = old_release().apply(OLD[:4] * 3).publish(f"{tmp_path}/out")
    assert sv.verify_folder(out).holds


def test_new_records_that_break_the_promise_are_refused() -> None:
    release = old_release()
    with pytest.raises(sv.GuaranteeError, match="does not meet the guarantee"):
        release.apply([["beer"], ["bread"], ["bread"], ["bread"]])


def test_items_the_recoding_does_not_know_are_refused_or_left_out() -> None:
    release = old_release()
    with pytest.raises(sv.InputError, match='"sugar"'):
        release.apply([["sugar", "beer"]] * 5)
    with pytest.warns(sv.SetveilWarning, match='1 item that the earlier release does not know: "sugar"'):
        applied = release.apply([["sugar", "beer"]] * 5, unknown_items="suppress")
    assert applied.codebook().published("sugar") == ""
    assert applied.transactions() == [{release.codebook().published("beer")}] * 5
    with pytest.raises(sv.InputError, match="error or suppress"):
        release.apply(OLD, unknown_items="keep")


def test_a_release_read_from_its_files_knows_its_model_and_algorithm(tmp_path: object) -> None:
    release = old_release()
    opened = sv.open_release(release.publish(f"{tmp_path}/out"))
    assert (opened.model, opened.algorithm) == (sv.KmAnonymity(k=5, m=2), "aa")
    assert opened.verify().holds and not opened.verify("km", k=50, m=1).holds
    assert opened.risk(known=(2,)).rows == release.risk(known=(2,)).rows
    assert opened.measure(OLD)["ncp"] == release.measure()["ncp"]
    assert opened.attack(OLD, targets=20).to_dict() == release.attack(targets=20).to_dict()
    with pytest.raises(sv.InputError, match="opened without its original"):
        opened.measure()
    applied = opened.apply(OLD)
    assert applied.transactions() == release.transactions()
    assert sv.verify_folder(applied.publish(f"{tmp_path}/again"), OLD).holds


def test_an_opened_release_with_its_original_is_like_the_one_that_was_made(tmp_path: object) -> None:
    folder = old_release().publish(f"{tmp_path}/out")
    opened = sv.open_release(folder, original=OLD)
    measured = opened.measure()
    made = old_release().measure()
    assert set(made) - set(measured) == {"category_purity", "mixed_ratio"}  # files do not hold the hierarchy
    assert measured == {name: made[name] for name in measured}
    again = opened.publish(f"{tmp_path}/again")
    for name in ("published.jsonl", "codebook.csv"):
        assert (again / name).read_bytes() == (folder / name).read_bytes()
    with pytest.raises(sv.InputError, match="was not made from this data"):
        sv.open_release(folder, original=[*OLD[1:], ["beer"]])


def test_hidden_constraints_are_not_taken_for_none(tmp_path: object) -> None:
    """Without its list any release would meet the guarantee."""
    release = sv.anonymize(OLD, "constraints", k=5, constraints=[["beer"]])
    folder = release.publish(f"{tmp_path}/out")
    opened = sv.open_release(folder)
    assert opened.model is None
    with pytest.raises(sv.InputError, match="do not name a privacy model"):
        opened.verify()
    assert sv.open_release(folder, original=OLD).model == release.model


@pytest.mark.parametrize(
    ("model", "parameters"),
    [("km", {"k": 3, "m": 2}), ("k-anonymity", {"k": 3}), ("degree", {"p": 2, "sensitive": ["wine"]})],
)
def test_a_pickle_holds_nothing_of_the_original(model: str, parameters: dict[str, object]) -> None:
    data = [*OLD, ["beer", "a label of the original that is suppressed"]]
    release = sv.anonymize(data, model, **parameters)
    stored = pickle.dumps(release)
    assert pickle.loads(stored).transactions() == release.transactions()
    assert pickle.loads(stored).model == release.model
    copy = pickle.loads(stored)
    assert copy.record is None and copy.details == {}
    if model != "km" or not release.codebook().get(""):
        return
    assert getattr(copy, "node_of_occurrence", None) is None


def test_only_recodings_can_be_applied() -> None:
    grouped = sv.anonymize([["a", "s"], ["a"], ["b"], ["a", "b"]], "degree", p=2, sensitive=["s"])
    with pytest.raises(sv.InputError, match="a grouping is made for its own records"):
        grouped.apply(OLD)


def test_a_saved_policy_tells_that_grown_data_changes_the_categories(tmp_path: Path) -> None:
    tree, records = tmp_path / "tree.csv", tmp_path / "old.jsonl"
    TREE.to_file(str(tree))
    records.write_text("\n".join(map(json.dumps, OLD)))
    policy = sv.Policy.from_dict(
        {
            "schema": 1,
            "model": {"name": "km", "k": 5, "m": 2},
            "algorithm": {"name": "aa"},
            "hierarchy": {"source": str(tree)},
        }
    )
    sv.run(policy, records, tmp_path / "old")
    saved = tmp_path / "old.internal" / "policy.toml"
    grown = tmp_path / "grown.jsonl"
    grown.write_text("\n".join(map(json.dumps, [*OLD * 5, *[["rum", "milk"]] * 9])))
    with pytest.warns(sv.SetveilWarning, match="the categories differ from those of old.*`setveil apply old INPUT"):
        sv.run(saved, grown, tmp_path / "new")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sv.run(saved, records, tmp_path / "again")  # the same people: the same categories


@pytest.mark.filterwarnings("ignore:.*the earlier release does not know")
def test_new_people_get_the_classes_of_an_earlier_release() -> None:
    """Random tables, in memory and read from files: safe by brute force, and every value and item is covered."""
    n_applied = n_old_classes = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        people = random_people(random, 80)
        is_old = random.random(people.n_records) < 0.5
        old, new = people.select(np.flatnonzero(is_old)), people.select(np.flatnonzero(~is_old))
        if not any(column.role == "known" for column in people.columns or ()):
            continue
        model = random_model(random, old)
        tree = sv.Hierarchy.balanced(old, 2) if old.n_items and random.random() < 0.5 else None
        try:
            earlier = sv.anonymize(old, model, hierarchy=tree, algorithm="classes")
            applied = earlier.apply(new, unknown_items="suppress")
        except (sv.InfeasibleError, sv.InputError):
            continue
        n_applied += 1
        check_people(new, applied, model)
        ours, theirs = ({columns for columns, _, _ in people_of(one.rows)} for one in (applied, earlier))
        n_old_classes += len(ours & theirs)
    assert n_applied > 15 and n_old_classes > n_applied


def patients(n_people: int, seed: int, extra: str = "") -> list[dict[str, str]]:
    random = np.random.default_rng(seed)
    return [
        {"id": f"p{person}", "age": str(age), "sex": "fm"[person % 2], "code": code}
        for person, age in enumerate(random.integers(20, 60, n_people).tolist())
        for code in {*random.choice(list("abcde"), 2).tolist(), *([extra] if extra and person == 0 else [])}
    ]


ROLES = {"person": "id", "item": "code", "known_columns": ["age", "sex"], "column_hierarchy": {"age": "bands:10,20"}}


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n")
    return path


def test_a_folder_with_columns_is_applied_with_the_roles_of_its_policy(tmp_path: Path) -> None:
    old, new = write_csv(tmp_path / "old.csv", patients(200, 0)), write_csv(tmp_path / "new.csv", patients(150, 1, "z"))
    policy = make_policy({"model": {"name": "kkm", "k": 4, "m": 2}, "input": ROLES})
    sv.run(policy, old, tmp_path / "one")
    with pytest.raises(sv.InputError, match='does not know "z"'):
        apply_folder(tmp_path / "one", new, tmp_path / "two")
    outcome = apply_folder(tmp_path / "one", new, tmp_path / "two", unknown_items="suppress")
    assert outcome.release.record is not None
    assert any(line.startswith("1 item that the earlier release") for line in outcome.release.record.warnings)
    assert sv.verify_folder(outcome.path, new, **owners_reading(outcome.path)).holds
    shown = [sv.open_release(tmp_path / name).codebook() for name in ("one", "two")]
    assert set(shown[1]) <= set(shown[0]) | {""}
    with pytest.raises(sv.InputError, match=r"the new data has none; read it with the same roles"):
        sv.open_release(tmp_path / "one").apply([["a"]] * 9)
    with pytest.raises(sv.InfeasibleError, match="fewer than k=4"):
        sv.open_release(tmp_path / "one").apply(patients(3, 2), **ROLES)


def test_values_that_the_earlier_release_does_not_cover_are_named(tmp_path: Path) -> None:
    earlier = sv.anonymize(patients(200, 0), "kkm", k=4, m=1, **ROLES)
    older = [{**row, "age": "7" + row["age"][1:]} for row in patients(60, 3)]
    applied = earlier.apply(older, **ROLES)
    assert applied.record is not None
    named = [line for line in applied.record.warnings if line.startswith('column "age"')]
    assert len(named) == 1 and '"70"' in named[0]
    assert applied.verify().holds
