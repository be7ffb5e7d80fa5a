"""tdcontrol: the example, and brute force."""

from __future__ import annotations

import pytest

import setveil as sv
from tests.naive.uncertainty_cases import MODEL, TREE, example, is_met, random_cases, released


def test_tdcontrol_ends_at_other_flu_cough() -> None:
    release = sv.anonymize(example(), MODEL, "tdcontrol", sv.Hierarchy.from_paths(TREE))
    assert release.details["loss"] == 5
    book = release.codebook()
    assert book["other"] == ["gout", "rash"]
    assert book[""] == ["dep"]
    assert sorted(book) == ["", "cough", "flu", "hiv", "other"]


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
def test_random_databases() -> None:
    tree = sv.Hierarchy.from_paths(
        [("a", "ab", "any"), ("b", "ab", "any"), ("c", "cd", "any"), ("d", "cd", "any"), ("s", "any"), ("t", "any")]
    )
    for records, model in random_cases(32, 200):
        assert is_met(released(records, model, "tdcontrol", hierarchy=tree), model)
