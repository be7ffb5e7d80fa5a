"""What is left for the work the data is meant for: counting, mining, rules, co-occurrence."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.core import Hierarchy, Itemsets, Transactions
from setveil.errors import InputError
from setveil.releases import Recoding, Release
from setveil.utility.avg_re import (
    avg_re,
    least_error,
    query_errors,
    relative_errors,
    workload_i,
    workload_t,
)
from setveil.utility.cooccurrence import compare_cooccurrence
from setveil.utility.estimates import COVERS, SupportEstimates
from setveil.utility.itemsets import frequent_itemsets
from setveil.utility.patterns import compare_patterns
from setveil.utility.tasks import measure_tasks
from tests.naive.counting import support
from tests.naive.databases import ITEMS, random_paths, random_records
from tests.naive.releases import random_grouping, random_local, random_recoding, random_replacement
from tests.naive.utility import compared, frequent, mining_losses, raise_to, read_supports, rules, shared_support

ALL_ITEMSETS = [frozenset(c) for size in range(1, 5) for c in combinations(ITEMS, size)]


def fimi(path: Path) -> Transactions:
    with gzip.open(path, "rt") as lines:
        return Transactions.from_lists(line.split() for line in lines)


def assert_reads(
    data: Transactions, estimates: SupportEstimates, published: list[list[frozenset[str]]], source: random.Random
) -> None:
    """Estimated supports of itemsets over the data equal those of the twin."""
    known = [itemset for itemset in ALL_ITEMSETS if all(item in data.vocabulary for item in itemset)]
    asked = source.sample(known, min(len(known), 20))
    itemsets, _ = Itemsets.from_lists(asked, data.vocabulary)
    expand, probability, share, exact = (estimates.supports(itemsets, name) for name in COVERS)
    for number, itemset in enumerate(asked):
        expanded, expected = read_supports(published, itemset)
        assert expand[number] == expanded
        assert probability[number] == pytest.approx(float(expected), rel=1e-12, abs=1e-12)
        assert share[number] == pytest.approx(float(shared_support(published, itemset)), rel=1e-12, abs=1e-12)
        assert exact[number] == sum(all(frozenset([item]) in record for item in itemset) for record in published)


# -- estimates --------------------------------------------------------------------------------------------------------


def test_recodings_are_read_like_their_possible_worlds() -> None:
    source = random.Random(1)
    for _ in range(150):
        data, release, meaning = random_recoding(source)
        published = [
            sorted({meaning[item] for item in record} - {frozenset()}, key=sorted) for record in data.to_lists()
        ]
        assert_reads(data, SupportEstimates.of(release, data.vocabulary), published, source)


def test_local_recodings_are_read_like_their_possible_worlds() -> None:
    source = random.Random(2)
    for _ in range(150):
        data, release, meanings = random_local(source)
        published = [sorted(set(meaning) - {frozenset()}, key=sorted) for meaning in meanings]
        assert_reads(data, SupportEstimates.of(release, data.vocabulary), published, source)


def test_replacements_are_read_as_they_are() -> None:
    source = random.Random(3)
    for _ in range(100):
        data, release, _ = random_replacement(source)
        published = [[frozenset(item) for item in sorted(row)] for row in release.transactions()]
        assert_reads(data, SupportEstimates.of(release, data.vocabulary), published, source)


def test_groupings_are_read_by_their_counts() -> None:
    source = random.Random(4)
    for _ in range(150):
        data, release = random_grouping(source)
        rows = data.to_lists()
        sensitive = set(release.sensitive)
        known = [itemset for itemset in ALL_ITEMSETS if all(item in data.vocabulary for item in itemset)]
        asked = source.sample(known, min(len(known), 15))
        itemsets, _ = Itemsets.from_lists(asked, data.vocabulary)
        estimates = SupportEstimates.of(release, data.vocabulary)
        expand, probability = (estimates.supports(itemsets, name) for name in ("expand", "probability"))
        for number, itemset in enumerate(asked):
            upper, expected = 0, 0.0
            for group in range(release.n_groups):
                members = [rows[record] for record in np.flatnonzero(release.group_of == group)]
                n_fit = support(members, itemset - sensitive)
                counts = [support(members, {item}) for item in itemset & sensitive]
                upper += n_fit if all(counts) else 0
                expected += float(n_fit * np.prod([count / len(members) for count in counts]))
            assert expand[number] == upper
            assert probability[number] == pytest.approx(expected, abs=1e-9)


def test_expanding_never_underestimates_what_is_not_suppressed() -> None:
    source = random.Random(5)
    for _ in range(100):
        data, release, _ = random_recoding(source)
        itemsets, _ = Itemsets.from_lists([[label] for label in data.vocabulary], data.vocabulary)
        found = SupportEstimates.of(release, data.vocabulary).supports(itemsets)
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


# -- patterns ---------------------------------------------------------------------------------------------------------


def paths_of(hierarchy: Hierarchy) -> list[list[str]]:
    return [[str(node) for node in hierarchy.ancestors(leaf)] for leaf in range(hierarchy.n_items)]


def naive_views(
    data: Transactions, release: Release, hierarchy: Hierarchy
) -> dict[str, tuple[list[list[str]], list[list[str]]]]:
    """Original and published records in the views that compare like with like."""
    book = release.codebook()
    views = {}
    node = {label: str(number) for number, label in enumerate(hierarchy.vocabulary)}
    for level in range(1, hierarchy.height):
        up = raise_to(level, paths_of(hierarchy))
        before = [sorted({up[node[item]] for item in record}) for record in data.to_lists()]
        after = []
        for record in release.transactions():
            raised = [{up[node[item]] for item in book[label]} for label in record]
            after.append(sorted({next(iter(nodes)) for nodes in raised if len(nodes) == 1}))
        views[f"level {level}"] = (before, after)
    intact = [[book[label][0] for label in record if len(book[label]) == 1] for record in release.transactions()]
    views["items"] = (data.to_lists(), [sorted(set(record)) for record in intact])
    return views


def assert_patterns(data: Transactions, release: Release, hierarchy: Hierarchy, source: random.Random) -> None:
    min_support, max_size = source.randint(1, 4), source.choice((2, 3, None))
    confidence = source.choice((0.3, 0.5, 1.0))
    table = compare_patterns(data, release, (min_support,), confidence, max_size, hierarchy)
    itemsets = {row.view: row for row in table.itemsets}
    rule_rows = {row.view: row for row in table.rules}
    views = naive_views(data, release, hierarchy)
    assert set(itemsets) == {"published", "expand", "probability", *views}
    for view, (before, after) in views.items():
        ours, theirs = (frequent(records, min_support, max_size or 99) for records in (before, after))
        row = itemsets[view]
        assert (row.n_original, row.n_release) == (len(ours), len(theirs)), view
        assert (row.precision, row.recall, row.support_error) == pytest.approx(compared(ours, theirs))
        old, new = (rules(side, Fraction(str(confidence))) for side in (ours, theirs))
        found = rule_rows[view]
        assert (found.n_original, found.kept) == (len(old), len(old & new))
        assert (found.lost, found.new) == (len(old - new), len(new - old))

    book = release.codebook()
    told = frequent([sorted(row) for row in release.transactions()], min_support, max_size or 99)
    true = {
        itemset: sum(all(set(book[label]) & set(record) for label in itemset) for record in data.to_lists())
        for itemset in told
    }
    row = itemsets["published"]
    assert row.n_release == len(told)
    if told:
        assert row.precision == pytest.approx(sum(true[s] >= min_support for s in told) / len(told))
        assert row.support_error == pytest.approx(
            sum(abs(told[s] - true[s]) / max(true[s], 1) for s in told) / len(told)
        )
    stated = rules(told, Fraction(str(confidence)))
    n_true = sum(
        true[left | {item}] >= min_support and true[left | {item}] >= Fraction(str(confidence)) * true[left]
        for left, item in stated
    )
    assert (rule_rows["published"].kept, rule_rows["published"].new) == (n_true, len(stated) - n_true)


def test_patterns_of_recodings_equal_enumeration() -> None:
    source = random.Random(9)
    for _ in range(60):
        data, release, meaning = random_recoding(source)
        hierarchy = Hierarchy.from_paths(random_paths(source))
        assert_patterns(data, release, release.hierarchy or hierarchy, source)
        published = [
            sorted({meaning[item] for item in record} - {frozenset()}, key=sorted) for record in data.to_lists()
        ]
        min_support, max_size = source.randint(1, 4), source.choice((2, 3, None))
        table = compare_patterns(data, release, (min_support,), max_size=max_size)
        truth = frequent(data.to_lists(), min_support, max_size or 99)
        every = [frozenset(c) for size in range(1, (max_size or 8) + 1) for c in combinations(ITEMS, size)]
        estimates = {itemset: read_supports(published, itemset) for itemset in every}
        for which, view in enumerate(("expand", "probability")):
            (row,) = (row for row in table.itemsets if row.view == view)
            told = {itemset for itemset, both in estimates.items() if both[which] >= min_support}
            assert (row.n_original, row.n_release) == (len(truth), len(told))
            if told:
                assert row.precision == pytest.approx(len(told & truth.keys()) / len(told))
            if truth:
                assert row.recall == pytest.approx(len(told & truth.keys()) / len(truth))
                errors = [abs(float(estimates[s][which]) - truth[s]) / truth[s] for s in truth]
                assert row.support_error == pytest.approx(sum(errors) / len(errors))


def test_patterns_of_other_releases_equal_enumeration() -> None:
    source = random.Random(10)
    for _ in range(40):
        data, local, _ = random_local(source)
        assert_patterns(data, local, local.hierarchy, source)
        hierarchy = Hierarchy.from_paths(random_paths(source))
        for data, release in (random_replacement(source)[:2], random_grouping(source)):
            assert_patterns(data, release, hierarchy, source)


def test_mining_losses_of_the_six_baskets() -> None:
    """Worked out by hand: levels drinks, food; alcohol, bread, dairy; the items."""
    records = ["beer bread milk", "bread milk wine", "cheese wine", "bread cheese", "beer milk", "bread milk"]
    data = Transactions.from_lists(record.split() for record in records)
    paths = ["beer alcohol drinks all", "wine alcohol drinks all", "bread food all"]
    tree = Hierarchy.from_paths([path.split() for path in (*paths, "milk dairy food all", "cheese dairy food all")])
    release = sv.anonymize(data, "km", k=2, m=2, algorithm="aa", hierarchy=tree)
    two, three = compare_patterns(data, release, (2, 3)).mining_loss
    assert (two.n_lost, two.n_itemsets, two.n_differential_lost, two.n_differential) == (6, 17, 6, 9)
    assert (three.n_lost, three.n_itemsets, three.n_differential_lost, three.n_differential) == (2, 11, 2, 5)
    assert (two.ml2, two.dml2, three.ml2, three.dml2) == (6 / 17, 6 / 9, 2 / 11, 2 / 5)


def assert_mining_losses(data: Transactions, release: Release, hierarchy: Hierarchy, source: random.Random) -> None:
    min_support = source.randint(1, 4)
    (row,) = compare_patterns(data, release, (min_support,), max_size=None, hierarchy=hierarchy).mining_loss
    views, paths = naive_views(data, release, hierarchy), paths_of(hierarchy)
    name = {str(number): label for number, label in enumerate(hierarchy.vocabulary)}
    levels = [raise_to(level, paths) for level in range(1, hierarchy.height)]
    levels.append({leaf: name[leaf] for leaf in name})  # the last level has the items' own names
    up = [
        {finer[leaf]: coarser[leaf] for leaf in finer} for coarser, finer in zip(levels[:-1], levels[1:], strict=True)
    ]
    before, after = ([side[which] for side in views.values()] for which in (0, 1))
    expected = mining_losses(before, after, up, min_support)
    assert (row.n_itemsets, row.n_lost, row.n_differential, row.n_differential_lost) == expected


def test_mining_losses_equal_enumeration() -> None:
    source = random.Random(12)
    for _ in range(150):
        data, release, _ = random_recoding(source)
        hierarchy = release.hierarchy or Hierarchy.from_paths(random_paths(source))
        assert_mining_losses(data, release, hierarchy, source)
        data, local, _ = random_local(source)
        assert_mining_losses(data, local, local.hierarchy, source)


def test_a_recoding_states_only_truths() -> None:
    source = random.Random(11)
    for _ in range(50):
        data, release, _ = random_recoding(source)
        table = compare_patterns(data, release, (1, 2), 0.5)
        for row in table.itemsets:
            if row.view in ("published", "items") and row.n_release:
                assert row.precision == 1
                assert row.support_error == 0
        assert all(row.new == 0 for row in table.rules if row.view in ("published", "items"))


# -- co-occurrence ----------------------------------------------------------------------------------------------------


def naive_top(supports: dict[tuple[str, ...], float], n: int) -> set[tuple[str, ...]]:
    ordered = sorted(supports, key=lambda itemset: (-round(supports[itemset], 9), itemset))
    return set(ordered[:n])


def test_cooccurrence_equals_enumeration() -> None:
    source = random.Random(12)
    for _ in range(60):
        data, release, meaning = random_recoding(source)
        records = data.to_lists()
        published = [sorted({meaning[item] for item in record} - {frozenset()}, key=sorted) for record in records]
        frequent_first = sorted(data.vocabulary, key=lambda item: (-support(records, {item}), item))
        pairs = list(combinations(sorted(frequent_first[:5]), 2))
        for which, row in enumerate(compare_cooccurrence(data, release, n_items=5, n_top=(2, 4)).rows):
            true = {pair: support(records, pair) for pair in pairs}
            read = {pair: float(read_supports(published, frozenset(pair))[which]) for pair in pairs}
            if sum(true.values()):
                error = sum(abs(read[pair] - true[pair]) for pair in pairs)
                assert row.l1 == pytest.approx(error / sum(true.values()))
                square = sum((read[pair] - true[pair]) ** 2 for pair in pairs)
                assert row.frobenius == pytest.approx((square / sum(t**2 for t in true.values())) ** 0.5)
            else:
                assert (row.l1, row.frobenius) == (None, None)
            items = [(item,) for item in data.vocabulary]
            true_items = {item: float(support(records, item)) for item in items}
            read_items = {item: float(read_supports(published, frozenset(item))[which]) for item in items}
            for n, overlap in row.top_items.items():
                size = min(n, len(items))
                assert overlap == pytest.approx(len(naive_top(true_items, n) & naive_top(read_items, n)) / size)
            for n, overlap in row.top_pairs.items():
                size = min(n, len(pairs))
                assert overlap == pytest.approx(len(naive_top(true, n) & naive_top(read, n)) / size)


def test_an_intact_release_keeps_all_cooccurrence() -> None:
    data = Transactions.from_lists([["a", "b"], ["a", "b", "c"], ["c"]])
    for row in compare_cooccurrence(data, Recoding.from_clusters(data, np.arange(3))).rows:
        assert row.l1 == pytest.approx(0, abs=1e-12)
        assert set(row.top_items.values()) == set(row.top_pairs.values()) == {1.0}


# -- all tasks --------------------------------------------------------------------------------------------------------


def test_all_tasks_of_every_kind_of_release() -> None:
    source = random.Random(13)
    for _ in range(10):
        for make in (random_recoding, random_local, random_replacement, random_grouping):
            data, release, *_ = make(source)
            found = json.loads(json.dumps(measure_tasks(data, release, n_queries=20)))
            assert set(found) == {"count_queries", "itemsets", "rules", "mining_loss", "cooccurrence", "notes"}
            assert {row["workload"] for row in found["count_queries"]} <= {"T", "I"}
            assert len(found["cooccurrence"]) == 2


def test_what_cannot_be_measured_is_noted() -> None:
    data = Transactions.from_lists([["a"], ["b"]])
    found = measure_tasks(data, Recoding.from_clusters(data, np.array([0, 1])), query_sizes=(2, 1))
    assert [row["size"] for row in found["count_queries"]] == [1] * 4
    assert found["notes"] == ["COUNT queries of 2 items: no record has 2 items to ask for; choose smaller queries."]


def test_the_least_error_is_that_of_the_best_reading_of_pairs() -> None:
    """One count is right if vague entries are read as nothing, and off by far if they stand for everything."""
    data = Transactions.from_lists([["a", "b"]] * 4 + [["a", "c"], ["a", "d"], ["a", "e"], ["b", "c"]])
    release = sv.anonymize(data, "km", k=2, m=2, algorithm="aa", hierarchy="fanout:5")
    by_reading = query_errors(data, release)["pairs"]
    assert len({found["mean"] for found in by_reading.values()}) > 1
    assert least_error(data, release) == min(found["mean"] for found in by_reading.values())
    singles = Transactions.from_lists([["a"], ["a"], ["b"], ["b"]])
    made = sv.anonymize(singles, "km", k=2, m=1, algorithm="aa", hierarchy="fanout:2")
    assert least_error(singles, made) == 0.0
    assert least_error(Transactions.from_lists([[], []]), made) is None
