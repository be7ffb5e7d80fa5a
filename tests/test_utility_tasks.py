"""What is left for the work the data is meant for: counting, mining, rules, co-occurrence."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from naive.counting import support
from naive.databases import ITEMS, random_records
from naive.releases import random_grouping, random_local, random_recoding, random_replacement
from naive.utility import frequent, read_supports

from setveil.core import Itemsets, Recoding, Transactions
from setveil.errors import InputError
from setveil.utility.avg_re import avg_re, relative_errors, workload_frequent, workload_i, workload_t
from setveil.utility.itemsets import frequent_itemsets
from setveil.utility.reading import Reading

ALL_ITEMSETS = [frozenset(c) for size in range(1, 5) for c in combinations(ITEMS, size)]


def fimi(path: Path) -> Transactions:
    with gzip.open(path, "rt") as lines:
        return Transactions.from_lists(line.split() for line in lines)


def assert_reads(
    data: Transactions, reading: Reading, published: list[list[frozenset[str]]], source: random.Random
) -> None:
    """Estimated supports of itemsets over the data equal those of the twin."""
    known = [itemset for itemset in ALL_ITEMSETS if all(item in data.vocabulary for item in itemset)]
    asked = source.sample(known, min(len(known), 20))
    itemsets, _ = Itemsets.from_lists(asked, data.vocabulary)
    expand, probability = (reading.supports(itemsets, name) for name in ("expand", "probability"))
    for number, itemset in enumerate(asked):
        expanded, expected = read_supports(published, itemset)
        assert expand[number] == expanded
        assert probability[number] == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


# -- reading ----------------------------------------------------------------------------------------------------------


def test_recodings_are_read_like_their_possible_worlds() -> None:
    source = random.Random(1)
    for _ in range(150):
        data, release, meaning = random_recoding(source)
        published = [
            sorted({meaning[item] for item in record} - {frozenset()}, key=sorted) for record in data.to_lists()
        ]
        assert_reads(data, Reading(release, data.vocabulary), published, source)


def test_local_recodings_are_read_like_their_possible_worlds() -> None:
    source = random.Random(2)
    for _ in range(150):
        data, release, meanings = random_local(source)
        published = [sorted(set(meaning) - {frozenset()}, key=sorted) for meaning in meanings]
        assert_reads(data, Reading(release, data.vocabulary), published, source)


def test_replacements_are_read_as_they_are() -> None:
    source = random.Random(3)
    for _ in range(100):
        data, release, _ = random_replacement(source)
        published = [[frozenset(item) for item in sorted(row)] for row in release.transactions()]
        assert_reads(data, Reading(release, data.vocabulary), published, source)


def test_groupings_are_read_by_their_counts() -> None:
    source = random.Random(4)
    for _ in range(150):
        data, release = random_grouping(source)
        rows = data.to_lists()
        sensitive = set(release.sensitive)
        known = [itemset for itemset in ALL_ITEMSETS if all(item in data.vocabulary for item in itemset)]
        asked = source.sample(known, min(len(known), 15))
        itemsets, _ = Itemsets.from_lists(asked, data.vocabulary)
        reading = Reading(release, data.vocabulary)
        expand, probability = (reading.supports(itemsets, name) for name in ("expand", "probability"))
        for number, itemset in enumerate(asked):
            upper, expected = 0, 0.0
            for group in range(release.n_groups):
                members = [rows[record] for record in np.flatnonzero(release.group_of == group)]
                n_fit = support(members, itemset - sensitive)
                counts = [support(members, {item}) for item in itemset & sensitive]
                upper += n_fit if all(counts) else 0
                expected += n_fit * np.prod([count / len(members) for count in counts])
            assert expand[number] == upper
            assert probability[number] == pytest.approx(expected, abs=1e-9)


def test_expanding_never_underestimates_what_is_not_suppressed() -> None:
    source = random.Random(5)
    for _ in range(100):
        data, release, _ = random_recoding(source)
        itemsets, _ = Itemsets.from_lists([[label] for label in data.vocabulary], data.vocabulary)
        found = Reading(release, data.vocabulary).supports(itemsets)
        kept = ~release.suppressed[release.domain.numbers(data.vocabulary)]
        assert (found[kept] >= data.supports[kept]).all()
        assert (found[~kept] == 0).all()


# -- COUNT queries ----------------------------------------------------------------------------------------------------


def test_avg_re_by_hand() -> None:
    data = Transactions.from_lists([["a"], ["a", "b"], ["b", "c"], ["c"]])
    release = Recoding.from_clusters(data, np.array([0, 0, 2]))  # (a b), c
    # a: 2 of 4 → read as 3; ab: 1 → 3; bc: 1 → 1.
    assert avg_re(data, release, [["a"], ["a", "b"], ["b", "c"]]) == pytest.approx((1 / 2 + 2 + 0) / 3)
    # One of a, b, ab: a with probability 2/3, ab with 1/3; 3 records.
    errors = relative_errors(data, release, [["a"], ["a", "b"], ["b", "c"]], "probability")
    assert errors.tolist() == pytest.approx([0, 0, 1 / 3])


def test_a_query_that_nothing_fits_counts_absolutely() -> None:
    data = Transactions.from_lists([["a"], ["b"]])
    release = Recoding.from_clusters(data, np.array([0, 0]))
    assert avg_re(data, release, [["a", "b"]]) == 2.0


def test_an_intact_release_answers_exactly() -> None:
    source = random.Random(6)
    for _ in range(30):
        data = Transactions.from_lists([*random_records(source), list(ITEMS)])
        release = Recoding.from_clusters(data, np.arange(data.n_items))
        for estimator in ("expand", "probability"):
            for workload in (workload_t(data, 50, 3), workload_i(data, 50, 3)):
                assert avg_re(data, release, workload, estimator) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("draw", [workload_t, workload_i])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_drawn_queries_have_their_size_and_occur(draw: Callable[..., Itemsets], size: int) -> None:
    records = [*random_records(random.Random(7), 30), list(ITEMS)]
    data = Transactions.from_lists(records)
    workload = draw(data, 200, size, seed=3)
    assert len(workload) == 200
    for query in workload.to_lists():
        assert len(set(query)) == size
        assert support(records, query) >= 1
    again, other = draw(data, 200, size, seed=3), draw(data, 200, size, seed=4)
    assert workload.items.tolist() == again.items.tolist()
    assert workload.items.tolist() != other.items.tolist()


def test_workload_i_draws_items_uniformly() -> None:
    data = Transactions.from_lists([["a", "b"]] * 98 + [["c", "d"], ["e", "f"]])
    drawn = workload_i(data, 6000, 1)
    counts = np.bincount(drawn.items, minlength=6)
    assert (abs(counts - 1000) < 150).all()
    by_record = np.bincount(workload_t(data, 6000, 1).items, minlength=6)
    assert by_record[:2].sum() > 5500


def test_workload_of_frequent_itemsets() -> None:
    records = [["a", "b"]] * 5 + [["c"]] * 5
    drawn = workload_frequent(Transactions.from_lists(records), 0.5, n=300)
    assert {frozenset(query) for query in drawn.to_lists()} == {frozenset(q) for q in ("a", "b", "ab", "c")}
    with pytest.raises(InputError, match="lower the threshold"):
        workload_frequent(Transactions.from_lists(records), 0.6)


def test_wrong_workloads_are_refused() -> None:
    data = Transactions.from_lists([["a"], ["b"]])
    release = Recoding.from_clusters(data, np.array([0, 0]))
    with pytest.raises(InputError, match='"x"'):
        avg_re(data, release, [["a"], ["x"]])
    with pytest.raises(InputError, match="no queries"):
        avg_re(data, release, [])
    with pytest.raises(InputError, match="estimator"):
        avg_re(data, release, [["a"]], "best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no record has 5 items"):
        workload_t(data)
    with pytest.raises(InputError, match="whole number"):
        workload_i(data, size=0.5)  # type: ignore[arg-type]


# -- frequent itemsets ------------------------------------------------------------------------------------------------


def test_frequent_itemsets_equal_enumeration() -> None:
    source = random.Random(8)
    for _ in range(400):
        records = random_records(source, max_records=source.choice((12, 150)))
        min_support, max_size = source.randint(1, 5), source.choice((1, 2, 3, 99))
        found = frequent_itemsets(Transactions.from_lists(records), min_support, max_size)
        assert found.to_dict() == frequent(records, min_support, max_size)
        assert len(found) == len(found.to_dict())


def test_thresholds_are_shares_or_numbers() -> None:
    data = Transactions.from_lists([["a"]] * 3 + [["b"]] * 7)
    assert frequent_itemsets(data, 0.3).min_support == 3
    assert frequent_itemsets(data, 0.31).min_support == 4
    assert len(frequent_itemsets(data, 3)) == 2
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(InputError):
            frequent_itemsets(data, wrong)


def test_too_many_itemsets_are_an_error() -> None:
    data = Transactions.from_lists([list(ITEMS)] * 2)
    assert len(frequent_itemsets(data, 2, limit=255)) == 255
    for limit in (254, 100, 3):
        with pytest.raises(InputError, match=f"more than {limit}"):
            frequent_itemsets(data, 2, limit=limit)


@pytest.mark.parametrize(
    ("name", "threshold", "count"),
    [("chess.dat.gz", 0.8, 8_227), ("chess.dat.gz", 0.7, 48_731), ("BMS1.dat.gz", 0.001, 3_991)],
)
def test_frequent_itemsets_of_real_data(
    name: str, threshold: float, count: int, real_data: Callable[[str], Path]
) -> None:
    """The numbers other miners find, too."""
    assert len(frequent_itemsets(fimi(real_data(name)), threshold)) == count
