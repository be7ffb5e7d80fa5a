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
    with pytest.raises(sv.InputError, match="only a recoding"):
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
