"""Class sizes and homogeneity, against enumeration."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.releases import Replacement
from setveil.utility.classes import class_figures, shared_items


def example() -> tuple[Transactions, Replacement]:
    rows = [["a", "x"], ["a", "x"], ["a", "b", "x", "y"], ["c", "y"], ["d"], ["e", "x"]]
    data = Transactions.from_lists(rows)
    centres = Transactions.from_lists([["a"], []])
    centres = centres.recode(data.vocabulary.numbers(centres.vocabulary), data.vocabulary)
    return data, Replacement.from_centres(data, np.array([0, 0, 0, 1, 1, 1]), centres, ["x", "y"])


def test_table() -> None:
    _, release = example()
    shared = shared_items(release)
    assert [column.tolist() for column in shared] == [[3, 3], [2, 2], [3, 1]]
    assert shared.is_homogeneous.tolist() == [True, False]


def test_figures() -> None:
    data, release = example()
    assert class_figures(data, release) == {
        "smallest_class": 3,
        "median_class": 3.0,
        "largest_class": 3,
        "records_in_empty_classes": 3,
        "homogeneous_classes": 1,
        "homogeneous_ratio": 0.5,
        "fewest_sensitive_items": 2,
        "highest_sensitive_share": 1.0,
    }
    assert sv.measure(data, release)["homogeneous_classes"] == 1


def test_without_sensitive_items_or_records() -> None:
    for rows in ([["a"], ["a"]], []):
        data = Transactions.from_lists(rows)
        release = sv.anonymize(data, sv.KAnonymity(2))
        figures = class_figures(data, release)
        assert figures["largest_class"] == len(rows)
        assert "homogeneous_classes" not in figures


@pytest.mark.filterwarnings("ignore:sensitive:setveil.errors.SetveilWarning")  # most entries may be sensitive here
@pytest.mark.parametrize("seed", range(100))
def test_equals_enumeration(seed: int) -> None:
    source = random.Random(seed)
    rows = [[i for i in "abcdxyz" if source.random() < 0.5] for _ in range(source.randint(6, 25))]
    data = Transactions.from_lists(rows)
    model = sv.KAnonymity(3, ["x", "y", "z"])
    release = sv.anonymize(data, model, "gsc")
    classes: dict[frozenset[str], list[set[str]]] = {}
    for row in release.transactions():
        classes.setdefault(frozenset(row - set("xyz")), []).append(row & set("xyz"))
    expected = Counter()
    for secrets in classes.values():
        counts = [sum(item in own for own in secrets) for item in "xyz"]
        expected[(len(secrets), sum(count > 0 for count in counts), max(counts))] += 1
    assert Counter(zip(*(column.tolist() for column in shared_items(release)), strict=True)) == expected
