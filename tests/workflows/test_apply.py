"""A recoding applied to new people: the same labels, and the promise checked again."""

from __future__ import annotations

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


def test_a_release_read_from_its_files_needs_to_be_told_the_promise(tmp_path: object) -> None:
    opened = sv.open_release(old_release().publish(f"{tmp_path}/out"))
    with pytest.raises(sv.InputError, match="set model"):
        opened.apply(OLD)
    assert opened.apply(OLD, sv.KmAnonymity(k=5, m=2)).transactions() == old_release().transactions()


def test_only_recodings_can_be_applied() -> None:
    grouped = sv.anonymize([["a", "s"], ["a"], ["b"], ["a", "b"]], "degree", p=2, sensitive=["s"])
    with pytest.raises(sv.InputError, match="only a recoding"):
        grouped.apply(OLD)
