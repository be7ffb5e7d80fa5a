"""What a release cost, against looking at every occurrence."""

from __future__ import annotations

import random
from fractions import Fraction
from math import log2

import numpy as np
import pytest

from setveil.core import Hierarchy, Itemsets, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.releases import Grouping, LocalRecoding, Recoding
from setveil.utility import histograms, measure
from setveil.utility.histograms import bin_starts
from setveil.utility.loss import utility_loss
from tests.naive.databases import ITEMS
from tests.naive.releases import random_local, random_recoding, random_replacement
from tests.naive.utility import edits, lm_cost, ncp, ul


def test_recodings_equal_enumeration() -> None:
    source = random.Random(1)
    for _ in range(1000):
        data, release, meaning = random_recoding(source)
        records = data.to_lists()
        found = measure(data, release)
        assert found["ncp"] == pytest.approx(float(ncp(records, meaning, len(ITEMS))), abs=1e-12)
        assert found["lm_cost"] == pytest.approx(float(lm_cost(records, meaning, len(ITEMS))), abs=1e-9)
        loss = ul(records, meaning, len(ITEMS))
        assert utility_loss(release) == loss
        assert found["ul_log2"] == (pytest.approx(log2(loss), abs=1e-9) if loss else None)
        occurrences = [item for record in records for item in record]
        assert found["suppressed_occurrences"] == sum(not meaning[item] for item in occurrences)
        assert found["suppressed_items"] == len({item for item in occurrences if not meaning[item]})
        assert found["generalized_items"] == len({item for item in occurrences if len(meaning[item]) > 1})
        assert found["n_published_items"] == len({meaning[item] for item in occurrences} - {frozenset()})
        assert found["empty_records"] == sum(not any(meaning[item] for item in record) for record in records)


def test_recodings_read_back_cost_the_same() -> None:
    """Files carry the codebook but no hierarchy; absent items without a published item look like suppressed ones."""
    source = random.Random(2)
    for _ in range(300):
        data, release, _ = random_recoding(source)
        again = Recoding(
            published=release.published, domain=release.domain, target=release.target, suppressed=release.target < 0
        )
        assert measure(data, again) == measure(data, release)


# Fig. 1 of Liu and Wang 2010, with the taxonomy its costs imply.
LIU_WANG = [list(record) for record in ("bcd", "afg", "dfyz", "cdfx", "abcfg", "ei", "e", "i")]
TAXONOMY = {"P": "abcd", "Q": "fgxyz", "H": "ab", "K": "cd", "J": "fg", "M": "xyz", "T": "abcdfgxyzei"}
PATHS = [
    ["a", "H", "P"], ["b", "H", "P"], ["c", "K", "P"], ["d", "K", "P"], ["f", "J", "Q"], ["g", "J", "Q"],
    ["x", "M", "Q"], ["y", "M", "Q"], ["z", "M", "Q"], ["e"], ["i"],
]  # fmt: skip


@pytest.mark.parametrize(
    ("cut", "suppressed", "cost"),
    [("T", "", 23), ("PQei", "i", 8.6), ("HKQei", "Hi", 10.2), ("PJMei", "i", 6.2), ("PfgMei", "i", 5.6)],
)
def test_costs_of_liu_and_wang(cut: str, suppressed: str, cost: float) -> None:
    data = Transactions.from_lists(LIU_WANG)
    hierarchy = Hierarchy.from_paths([[*path, "T"] for path in PATHS])
    number = {label: node for node, label in enumerate(hierarchy.labels)}
    node_of_leaf = np.full(hierarchy.n_items, -1)
    for node in cut:
        for leaf in TAXONOMY.get(node, node):
            if node not in suppressed:
                node_of_leaf[number[leaf]] = number[node]
    metrics = measure(data, Recoding.from_cut(data, hierarchy, node_of_leaf))
    assert metrics["lm_cost"] == pytest.approx(cost, abs=1e-12)
    assert metrics["lm"] == pytest.approx(cost / 23, abs=1e-12)


def test_utility_loss_of_example_3() -> None:
    """(a, b) in 5 of 6 records over 7 items: 3/127 · 5/6, about 0.02; the other items are intact."""
    data = Transactions.from_lists([list(record) for record in ("ab", "abcde", "abdef", "ace", "bcg", "ceg")])
    release = Recoding.from_clusters(data, np.array([0, 0, 2, 3, 4, 5, 6]))
    intact = sum(Fraction(1, 127) * Fraction(support, 6) for support in (4, 2, 4, 1, 2))
    assert utility_loss(release) - intact == Fraction(3, 127) * Fraction(5, 6)
    doubled = utility_loss(release, weights={"a or b": 2})
    assert doubled - utility_loss(release) == Fraction(3, 127) * Fraction(5, 6)


def test_unary_nodes_lose_nothing() -> None:
    data = Transactions.from_lists([["a"], ["b"]])
    hierarchy = Hierarchy.from_paths([["a", "A", "top"], ["b", "B", "top"]])
    number = {label: node for node, label in enumerate(hierarchy.labels)}
    metrics = measure(data, Recoding.from_cut(data, hierarchy, np.array([number["A"], number["B"]])))
    assert (metrics["ncp"], metrics["lm"], metrics["generalized_items"]) == (0, 0, 0)


def test_leaves_that_do_not_occur_count_in_the_domain() -> None:
    data = Transactions.from_lists([["a"], ["a", "b"]])
    hierarchy = Hierarchy.from_paths([["a", "X"], ["b", "X"], ["c", "X"], ["d", "Y"]])
    number = {label: node for node, label in enumerate(hierarchy.labels)}
    cut = np.array([number["X"]] * 3 + [number["d"]])
    release = Recoding.from_cut(data, hierarchy, cut)
    assert measure(data, release)["ncp"] == pytest.approx(3 / 4)
    assert measure(data, release)["suppressed_items"] == 0


def test_local_recodings_equal_enumeration() -> None:
    source = random.Random(3)
    for _ in range(300):
        data, release, meanings = random_local(source)
        # Give each occurrence a name of its own, so that the twin for recodings applies.
        named = [[f"{row}.{place}" for place in range(len(meaning))] for row, meaning in enumerate(meanings)]
        of_name = {f"{row}.{place}": m for row, meaning in enumerate(meanings) for place, m in enumerate(meaning)}
        found = measure(data, release)
        assert found["ncp"] == pytest.approx(float(ncp(named, of_name, len(ITEMS))), abs=1e-12)
        assert found["lm_cost"] == pytest.approx(float(lm_cost(named, of_name, len(ITEMS))), abs=1e-9)
        assert found["suppressed_occurrences"] == sum(not m for m in of_name.values())
        # A cut per record has no nested nodes, so what was read back can be resolved without loss.
        again = LocalRecoding(published=release.published, cover=release.cover)
        assert again.entry_sizes(data)[0].tolist() == release.entry_sizes(data)[0].tolist()
        assert measure(data, again) == found
        assert "ncp" not in measure(data, again, aligned=False)


def test_most_specific_published_item_is_taken() -> None:
    data = Transactions.from_lists([["a", "b"], ["b"]])
    domain = Vocabulary("abc")
    published = Transactions.from_lists([["a", "all"], ["all"]])
    cover, _ = Itemsets.from_lists([["a"], ["a", "b", "c"]], domain)
    assert LocalRecoding(published=published, cover=cover).entry_sizes(data)[0].tolist() == [1, 3, 3]


def test_replacements_equal_enumeration() -> None:
    source = random.Random(4)
    for _ in range(500):
        data, release, centres = random_replacement(source)
        class_of = release.class_of
        found = measure(data, release)
        added, removed = edits(data.to_lists(), [sorted(row) for row in release.transactions()])
        assert found["il"] == added + removed
        if data.n_occurrences:
            assert found["added_ratio"] == pytest.approx(added / data.n_occurrences)
            assert found["removed_ratio"] == pytest.approx(removed / data.n_occurrences)
            assert found["il_ratio"] == pytest.approx((added + removed) / data.n_occurrences)
        assert found["n_classes"] == len(set(class_of.tolist()))
        assert found["empty_classes"] == len({c for c in class_of.tolist() if not centres[c]})
        assert "il" not in measure(data, release, aligned=False)


def test_groupings_have_counts() -> None:
    data = Transactions.from_lists([["a", "s"], ["b"], ["a"], ["s"]])
    release = Grouping.from_groups(data, np.array([0, 0, 1, 1]), ["s"])
    found = measure(data, release)
    assert (found["n_records"], found["n_published_items"], found["empty_records"]) == (4, 2, 1)
    assert "ncp" not in found


def test_another_original_is_refused() -> None:
    data = Transactions.from_lists([["a"], ["b"]])
    release = Recoding.from_clusters(data, np.array([0, 0]))
    with pytest.raises(InputError, match="2 records and the original 1"):
        measure(Transactions.from_lists([["a"]]), release)
    with pytest.raises(InputError, match='"x"'):
        measure(Transactions.from_lists([["a"], ["x"]]), release)


def test_nothing_was_lost_of_nothing() -> None:
    data = Transactions.from_lists([[], []])
    metrics = measure(data, Recoding.from_clusters(data, np.array([], dtype=np.int64)))
    assert (metrics["ncp"], metrics["lm"], metrics["suppression_ratio"], metrics["ul_log2"]) == (0, 0, 0, None)


def test_histograms_count_everything_once() -> None:
    source = random.Random(5)
    for _ in range(100):
        data, release, _ = random_recoding(source)
        found = histograms(data, release)
        assert sum(found["sizes"]["before"]) == sum(found["sizes"]["after"]) == data.n_records
        assert sum(found["supports"]["before"]) == data.n_items
        assert sum(found["supports"]["after"]) == release.published.n_items
        for part in found.values():
            for low, high, count in zip(part["from"], part["to"], part["before"], strict=True):
                values = data.lengths if part is found["sizes"] else data.supports
                assert count == sum(low <= value <= high for value in values)


def test_bins_are_whole_numbers_without_gaps() -> None:
    assert bin_starts(0) == [0]
    assert bin_starts(20) == [0, 1, 2, 3, 4, 5, 6, 8, 11, 16]
