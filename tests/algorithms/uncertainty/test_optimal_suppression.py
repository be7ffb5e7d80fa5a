"""The optimum of suppressing items: the example, and every choice of items."""

from __future__ import annotations

from itertools import combinations

import pytest

import setveil as sv
from tests.naive.uncertainty_cases import MODEL, example, is_met, random_cases, released


def test_one_item_is_enough_in_the_example() -> None:
    release = sv.anonymize(example(), MODEL, "optimal-suppression")
    assert release.codebook()[""] == ["hiv"]
    assert release.details["suppressed_occurrences"] == 3


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
def test_no_choice_of_items_keeps_more() -> None:
    for records, model in random_cases(31, 500):
        kept = released(records, model, "optimal-suppression")
        assert is_met(kept, model)
        labels = sorted(set().union(*records))
        best = max(
            sum(map(len, left))
            for n_gone in range(len(labels) + 1)
            for gone in combinations(labels, n_gone)
            if is_met(left := [record - set(gone) for record in records], model)
        )
        assert sum(map(len, kept)) == best >= sum(map(len, released(records, model, "suppresscontrol")))
