"""What known items reveal, against enumeration."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from itertools import combinations
from math import comb
from pathlib import Path
from string import ascii_letters

import numpy as np
import pytest

from setveil.arrays.mining import add_bits, are_matches, count_matches, invert_rows, list_matches, pack_postings
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.risk import RiskRow, RiskTable, risk, tallies
from setveil.risk._identifying import find_rare_subsets
from setveil.risk.assess import rarest_first
from setveil.risk.intervals import wilson
from tests.naive.counting import support
from tests.naive.databases import random_records
from tests.naive.risk import exposure

FIGURES = ("singled_out", "mean_inverse_support", "max_inverse_support", "below_k")


def fimi(path: Path) -> Transactions:
    with gzip.open(path, "rt") as lines:
        return Transactions.from_lists(line.split() for line in lines)


def assert_equals_naive(row: RiskRow, records: list[list[str]], k: int) -> None:
    expected = exposure(records, row.known, k)
    assert row.n_records == expected["n_records"]
    for name in FIGURES:
        if expected[name] is None:
            assert getattr(row, name) is None
        else:
            assert getattr(row, name) == pytest.approx(float(expected[name] or 0), abs=1e-12), (
                name,
                row.known,
                records,
            )


def test_exact_figures_equal_enumeration() -> None:
    source = random.Random(1)
    for _ in range(1500):
        records = random_records(source)
        k = source.randint(1, 4)
        table = risk(Transactions.from_lists(records), known=(1, 2, 3, 4, 5), k=k, budget=None)
        assert [row.known for row in table.rows] == [1, 2, 3, 4, 5]
        assert all(row.exact for row in table.rows)
        for row in table.rows:
            assert_equals_naive(row, records, k)


def test_small_by_hand() -> None:
    # a: 3 records, b: 2, c: 1; pairs ab: 2, ac: 1, bc: 1.
    table = risk(Transactions.from_lists([["a"], ["a", "b"], ["a", "b", "c"]]), known=(1, 2), k=2)
    one, two = table.rows
    assert (one.n_records, one.share_of_records) == (3, 1.0)
    assert one.singled_out == pytest.approx((0 + 0 + 1 / 3) / 3)
    assert one.mean_inverse_support == pytest.approx((1 / 3 + 5 / 12 + (1 / 3 + 1 / 2 + 1) / 3) / 3)
    assert one.below_k == pytest.approx(1 / 3)
    assert two.n_records == 2 and two.share_of_records == pytest.approx(2 / 3)
    assert two.singled_out == pytest.approx((0 + 2 / 3) / 2)
    assert two.max_inverse_support == 1.0


def test_two_items_stay_exact_whatever_the_budget() -> None:
    source = random.Random(2)
    for _ in range(200):
        records = random_records(source)
        table = risk(Transactions.from_lists(records), known=(1, 2), k=3, budget=0)
        for row in table.rows:
            assert row.exact
            assert_equals_naive(row, records, 3)


def test_sampled_figures_agree_with_enumeration() -> None:
    source = random.Random(3)
    n_inside = n_figures = 0
    for seed in range(150):
        records = random_records(source, max_records=20)
        expected = exposure(records, 3, 3)
        (row,) = risk(Transactions.from_lists(records), known=(3,), k=3, seed=seed, budget=0, targets=400).rows
        assert row.n_records == expected["n_records"]
        if not row.n_records:
            continue
        assert not row.exact
        assert row.n_targets == 400
        assert "sampled" in row.note
        for name in ("singled_out", "mean_inverse_support", "below_k"):
            low, high = getattr(row, f"{name}_interval")
            assert 0 <= low <= getattr(row, name) <= high <= 1
            n_inside += low <= float(expected[name] or 0) <= high
            n_figures += 1
        assert row.max_inverse_support <= float(expected["max_inverse_support"] or 0)
    assert n_figures > 300
    assert n_inside / n_figures > 0.93  # 95 % intervals


def test_sampling_depends_on_the_seed_only() -> None:
    data = Transactions.from_lists(random_records(random.Random(4), 40, "abcdefghijkl"))
    first, again, other = (risk(data, known=(3,), seed=seed, budget=0, targets=50) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_order_of_records_does_not_matter() -> None:
    records = random_records(random.Random(5), 40, "abcdefghijkl")
    assert risk(Transactions.from_lists(records)) == risk(Transactions.from_lists(records[::-1]))


def test_a_part_of_the_records_settles_what_cannot_be_exact() -> None:
    source = random.Random(8)
    n_settled = 0
    for _ in range(200):
        records = random_records(source, 60, "abcdefgh")
        records = [source.choice(records[:5]) if source.random() < 0.5 else record for record in records]
        data = Transactions.from_lists(records)
        budget = source.choice([1, 10, 100, 1_000])
        distinct = {tuple(sorted(set(record))) for record in records}
        n_triples, n_all = (sum(comb(len(set(row)), 3) for row in rows) for rows in (distinct, records))
        n_settled += n_all > 4 * budget
        assert risk(data, known=[3], budget=budget, targets=5).rows[0].exact == (
            n_triples <= budget or all(len(row) < 3 for row in distinct)
        )
    assert n_settled > 20


def test_rare_subsets_equal_enumeration() -> None:
    source = random.Random(6)
    for _ in range(600):
        records = random_records(source)
        data = Transactions.from_lists(records)
        rows = (data.indptr, data.items, np.ones(data.n_records, dtype=np.int64))
        size, k = source.randint(1, 4), source.randint(1, 4)
        targets = np.flatnonzero(data.lengths >= size)
        postings = add_bits(invert_rows(data.indptr, data.items, data.n_items), data.n_records)
        found = find_rare_subsets(rows, postings, targets, size, k, 10**6)
        for target, verdict in zip(targets.tolist(), found.tolist(), strict=True):
            assert verdict == any(support(records, subset) < k for subset in combinations(records[target], size))
        hasty = find_rare_subsets(rows, postings, targets, size, k, 0)
        assert ((hasty == found) | (hasty == -1)).all()


def test_rare_subsets_in_bits_equal_those_in_lists() -> None:
    """Weights of 1 are counted record by record, no weights 64 records at a time; both give up at the same place."""
    rng = np.random.default_rng(9)
    seen = set()
    for _ in range(60):
        holds = rng.random((rng.integers(100, 500), 14)) < rng.choice([0.01, 0.03, 0.3, 0.6], 14)
        data = Transactions.from_lists([[f"{item:02}" for item in np.flatnonzero(row)] for row in holds])
        indptr, items = rarest_first((data.indptr, data.items), data.supports)
        size, k, patience = int(rng.integers(1, 5)), int(rng.integers(2, 6)), int(rng.choice([50, 500, 10**6]))
        targets = np.flatnonzero(data.lengths >= size)
        with_lists = add_bits(invert_rows(data.indptr, data.items, data.n_items), data.n_records)
        one_by_one, together = (
            find_rare_subsets((indptr, items, weights), postings, targets, size, k, patience)
            for weights, postings in (
                (np.ones(data.n_records, dtype=np.int64), with_lists),
                (np.empty(0, dtype=np.int64), data.postings),
            )
        )
        assert one_by_one.tolist() == together.tolist()
        seen.update(together.tolist())
    assert seen == {-1, 0, 1}


def test_triples_in_a_table_tell_what_a_walk_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    source, tables = random.Random(10), []
    for limit in (tallies.MAX_TRIPLES, 0):
        monkeypatch.setattr(tallies, "MAX_TRIPLES", limit)
        source.seed(10)
        tables.append([risk(Transactions.from_lists(random_records(source, 40)), (1, 2, 3)) for _ in range(200)])
    assert tables[0] == tables[1]
    assert any(row.singled_out not in (0.0, 1.0) for table in tables[0] for row in table.rows[2:])


def test_matches_equal_enumeration() -> None:
    source = random.Random(7)
    n_lists = n_bits = 0
    for _ in range(200):
        records = random_records(source)
        if source.random() < 0.5:  # rare items, kept as lists, beside frequent ones, kept as bits
            skewed = [1 / (rank + 1) ** 2 for rank in range(52)]
            records = [list({*source.choices(ascii_letters, skewed, k=source.randint(0, 9))}) for _ in range(400)]
        distinct, weights, _ = Transactions.from_lists(records).distinct()
        rows = distinct.to_lists()
        lists = invert_rows(distinct.indptr, distinct.items, distinct.n_items)
        postings = add_bits(lists, distinct.n_records)
        queries = [
            sorted(source.sample(range(distinct.n_items), source.randint(0, min(4, distinct.n_items))))
            for _ in range(10)
        ]
        packed = (np.cumsum([0, *map(len, queries)]), np.array([item for query in queries for item in query], np.int32))
        labels = [[distinct.vocabulary[item] for item in query] for query in queries]
        n_lists += int((postings.dense < 0).sum())
        n_bits += int((postings.dense >= 0).sum())
        assert count_matches(postings, weights, packed).tolist() == [support(records, query) for query in labels]
        assert count_matches(postings, weights[:0], packed).tolist() == [support(rows, query) for query in labels]
        again = pack_postings(np.split(lists[1], lists[0][1:-1]), distinct.n_records) if distinct.n_items else postings
        for query, wanted in zip(queries, labels, strict=True):
            expected = [number for number, row in enumerate(rows) if set(wanted) <= set(row)]
            for kind in (postings, again):
                assert list_matches(kind, np.array(query, dtype=np.int32)).tolist() == expected
        if rows:
            asked = np.array([source.randrange(len(rows)) for _ in queries])
            expected_here = [set(wanted) <= set(rows[row]) for wanted, row in zip(labels, asked, strict=True)]
            assert are_matches(postings, packed, asked).tolist() == expected_here
    assert min(n_lists, n_bits) > 500


def test_nothing_to_assess() -> None:
    empty: list[list[list[str]]] = [[], [[]], [[], []]]
    for records in empty:
        (row,) = risk(Transactions.from_lists(records), known=(1,)).rows
        assert (row.n_records, row.share_of_records, row.singled_out) == (0, 0.0, None)


@pytest.mark.parametrize(
    "wrong", [{"known": ()}, {"known": (0,)}, {"known": ("2",)}, {"k": 0}, {"targets": 0}, {"known": (True,)}]
)
def test_wrong_asks_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        risk(Transactions.from_lists([["a"]]), **wrong)  # type: ignore[arg-type]


def test_table_is_plain_json_and_readable() -> None:
    table = risk(Transactions.from_lists([["a", "b", "c"], ["a"]]), known=(2, 9, 1))
    plain = json.loads(json.dumps(table.to_dict()))
    assert [row["known"] for row in plain["rows"]] == [1, 2, 9]
    assert plain["k"] == 5
    assert "100.00 %" in str(table)
    assert "–" in str(table).splitlines()[-1]
    assert isinstance(table, RiskTable)


def test_progress_is_reported_and_can_stop_the_work() -> None:
    data = Transactions.from_lists(random_records(random.Random(8), 30, "abcdefghijkl"))
    seen: list[tuple[str, float | None]] = []
    risk(data, progress=lambda stage, share: seen.append((stage, share)), budget=0, targets=100)
    assert {stage for stage, _ in seen} == {
        "finding distinct records",
        "counting what known items reveal",
        "drawing records",
        "sampling what 3 known items reveal",
        "sampling what 4 known items reveal",
    }
    assert seen[-1][1] == 1

    def stop(stage: str, share: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        risk(data, progress=stop)


def test_interval() -> None:
    low, high = wilson(0.5, 100)
    assert (round(low, 4), round(high, 4)) == (0.4038, 0.5962)  # the textbook value
    assert wilson(0.0, 10)[0] == 0.0
    assert wilson(1.0, 10)[1] == 1.0
    assert wilson(0.0, 0) == (0.0, 1.0)


# Exact figures (up to three items also found by sorting all triples); the published ones agree to a few tenths of a
# percent.
EXPECTED = {
    "BMS1.dat.gz": ((0.0000363, 0.0104673, 0.0578819), (0.0026981, 0.0530701, 0.1579821)),
    "BMS2.dat.gz": ((0.0001608, 0.1015384, 0.3695654, 0.5804358), (0.0083236, 0.2020424, 0.4901342, 0.6752189)),
}
PUBLISHED = {
    "BMS1.dat.gz": ((0.01, 1.1, 5.5), (0.27, 5.4, 15.9)),
    "BMS2.dat.gz": ((0.02, 10.4, 37.2, 58.2), (0.84, 20.3, 49.2, 67.6)),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_real_click_streams(name: str, real_data: Callable[[str], Path]) -> None:
    singled_out, mean_inverse = EXPECTED[name]
    table = risk(fimi(real_data(name)), known=range(1, len(singled_out) + 1), budget=None)
    for row, singled, inverse, *published in zip(table.rows, singled_out, mean_inverse, *PUBLISHED[name], strict=True):
        assert row.exact
        assert row.singled_out == pytest.approx(singled, abs=1e-7)
        assert row.mean_inverse_support == pytest.approx(inverse, abs=1e-7)
        assert 100 * (row.singled_out or 0) == pytest.approx(published[0], abs=0.3)
        assert 100 * (row.mean_inverse_support or 0) == pytest.approx(published[1], abs=0.2)


def test_real_click_streams_sampled(real_data: Callable[[str], Path]) -> None:
    data = fimi(real_data("BMS2.dat.gz"))
    for known, singled_out in ((3, 0.369565), (4, 0.580436)):
        (row,) = risk(data, known=(known,), budget=0, targets=40_000).rows
        assert not row.exact
        assert row.singled_out == pytest.approx(singled_out, abs=0.01)
