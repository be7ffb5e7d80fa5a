"""Tables of counts against attackers who list every original: nobody's items may follow from what is published."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import setveil as sv
from benchmarks import counts_together
from setveil.algorithms.counts import tally
from setveil.algorithms.counts.lengths import length_groups
from setveil.core import Transactions
from setveil.releases import CountTable
from setveil.verify.count_inference import find_revealed
from setveil.verify.count_lengths import reveal_with_lengths
from tests.algorithms.counts.test_tally import as_table, listed, random_records
from tests.naive import counts as naive

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")

Supports = tuple[int, ...]


@pytest.mark.parametrize(
    ("labels", "n", "k", "m", "r", "most_repaired"),
    [
        ("ab", 6, 2, 1, 3, 0.0),
        ("abc", 5, 2, 2, 2, 0.02),
        pytest.param("abc", 6, 2, 3, 2, 0.051, marks=pytest.mark.long),
        pytest.param("abc", 6, 2, 3, 3, 0.051, marks=pytest.mark.long),
        pytest.param("abc", 7, 3, 2, 3, 0.051, marks=pytest.mark.long),
    ],
)
def test_nobodys_items_follow_from_what_is_published(
    labels: str, n: int, k: int, m: int, r: int, most_repaired: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All data of n people over at most m + 1 items is published. An attacker who knows the program lists every
    original with the same counts, lengths and certificate. Unless sets were suppressed, no unlisted itemset of listed
    items has 1 to k - 1 people in all of them, and every listed one has at least k. Where sets were suppressed, that
    they had to be tells something (minimality): of how many originals is limited.
    """
    monkeypatch.setattr(
        tally, "make_records", lambda sets, *_: Transactions.from_lists([[]]).over(sets.vocabulary)
    )  # they follow from the other files
    kinds = [frozenset(some) for size in range(4) for some in combinations(labels, size)]
    parts = [part for part in kinds if part]
    originals: dict[Any, list[Supports]] = defaultdict(list)
    for data in combinations_with_replacement(kinds, n):
        if 0 < sum(map(bool, data)) < k:
            continue  # refused
        release = sv.anonymize([sorted(one) for one in data], sv.Counts(k=k, m=m, r=r))
        assert isinstance(release, CountTable)
        table = frozenset(as_table(release).items())
        published = table, tuple(map(tuple, release.lengths.tolist())), release.repaired
        originals[published].append(tuple(sum(part <= record for record in data) for part in parts))
    n_following, n_all = 0, sum(map(len, originals.values()))
    for (table, _, is_repaired), supports in originals.items():
        counts, least, most = dict(table), np.min(supports, axis=0), np.max(supports, axis=0)
        items = frozenset().union(*counts)
        follows = []
        for part, low, high in zip(parts, least.tolist(), most.tolist(), strict=True):
            if part in counts:
                fewest, largest = naive.interval(counts[part], k, r, n + r)
                assert k <= fewest <= low <= high <= largest
            elif part <= items and low >= 1 and high < k:
                follows.append(part)
        assert is_repaired or not follows, (table, follows)
        n_following += len(supports) if follows else 0
    assert len(originals) > 8 and n_following <= most_repaired * n_all


def test_lengths_and_counts_together_reveal_a_pair() -> None:
    """98 of 998 people have nothing, and of the others everybody has f or m, 448 and 453: one person has both."""
    given = [["f"]] * 447 + [["m"]] * 452 + [["f", "m"]] + [[]] * 98
    groups = length_groups(np.array(list(map(len, given))), 905, 5, 5)
    assert groups[0].tolist() == [0, 0, 100]
    table = {frozenset("f"): 450, frozenset("m"): 455}
    arrays, _ = listed(table, 998)
    model = sv.Counts(k=5, m=2)
    assert find_revealed(arrays, model, lambda *_: None) is None
    found = reveal_with_lengths(arrays, list(map(tuple, groups.tolist())), model, lambda *_: None, False, None)
    assert found is not None and (found.low, found.high) == (1, 4)
    release = sv.anonymize(given, model)
    assert isinstance(release, CountTable) and len(release.lengths) == 1 and sv.verify(release).holds


@pytest.mark.parametrize("seed", range(25))
def test_what_lengths_reveal_is_what_the_linear_program_says(seed: int) -> None:
    """More items than m + 1, so that a person can have others, too."""
    random = np.random.default_rng(seed + 500)
    n, k, m = int(random.choice([14, 30, 60])), int(random.choice([2, 3, 5])), int(random.integers(1, 4))
    r, n_items = k + int(random.choice([0, 0, 2])), int(random.integers(4, 6))
    data = random_records(seed, n, list("abcde")[:n_items])
    table = {one: count for one, count in naive.counts_of(data, k, m, r).items() if len(one) < 3}
    if len({item for one in table for item in one}) < m + 1:
        return
    sizes = np.array([sum(frozenset([item]) in table for item in record) for record in data])
    groups = length_groups(sizes, sum(count for one, count in table.items() if len(one) == 1), k, r)
    lengths = list(map(tuple, groups.tolist()))
    arrays, _ = listed(table, n)
    model = sv.Counts(k=k, m=m, r=r)
    if find_revealed(arrays, model, lambda *_: None) is not None:
        return
    found = reveal_with_lengths(arrays, lengths, model, lambda *_: None, False, None)
    assert (found is None) == (naive.revealed(table, n, k, m, r, None, lengths) is None), (table, lengths)


@pytest.mark.parametrize(("n", "k", "m"), [(5, 2, 2), (6, 2, 3), (7, 3, 2)])
def test_nobodys_items_follow_from_a_table(n: int, k: int, m: int) -> None:
    """All data of n people over three items: whatever table is published, no unlisted itemset has 1 to k - 1 people in
    every original that agrees with it.
    """
    kinds = [frozenset(some) for size in range(4) for some in combinations("abc", size)]
    parts = [part for part in kinds if part]
    originals = [
        tuple(sum(part <= record for record in data) for part in parts)
        for data in combinations_with_replacement(kinds, n)
    ]
    supports = np.array(sorted(set(originals)))
    by_table: dict[tuple[tuple[str, ...], ...], naive.Table] = {}
    random = np.random.default_rng(n)
    for row in supports[random.choice(len(supports), min(len(supports), 60), replace=False)]:
        support = dict(zip(parts, row.tolist(), strict=True))
        data = _data_with(support, n)
        if sum(map(bool, data)) < k and any(data):
            continue
        release = sv.anonymize([sorted(one) for one in data], sv.Counts(k=k, m=m))
        assert isinstance(release, CountTable)
        table = as_table(release)
        by_table.setdefault(tuple(sorted(tuple(sorted(one)) for one in table)), table)
        fits = np.ones(len(supports), dtype=bool)
        for place, part in enumerate(parts):
            if part in table:
                low, high = naive.interval(table[part], k, k, n)
                fits &= (supports[:, place] >= low) & (supports[:, place] <= high)
            elif len(part) <= min(m, 2) and not release.repaired:
                fits &= supports[:, place] < k
        for place, part in enumerate(parts):
            values = supports[fits, place]
            assert part in table or values.min() == 0 or values.max() >= k, (table, part)
    assert len(by_table) > 3


@pytest.mark.parametrize(
    ("n", "start", "every"),
    [
        (6, 2, 20),
        (6, 4, 20),
        pytest.param(8, 2, 1, marks=pytest.mark.long),
        pytest.param(8, 4, 1, marks=pytest.mark.long),
    ],
)
def test_no_count_of_one_follows_from_an_accepted_table_over_four_items(n: int, start: int, every: int) -> None:
    """All data of n people, k=2, triples from ``start`` on: where all originals of a table agree that one person has an
    unlisted itemset, the table is not accepted. Every so-manieth such table is looked at.
    """
    ends = np.array(list(combinations(range(n + 15), 15)))  # all ways to put n people into 16 cells
    cells = np.diff(ends, axis=1, prepend=-1, append=n + 15) - 1
    masks = np.arange(1, 16)
    supports = cells @ ((np.arange(16)[:, None] & masks) == masks)  # [originals, parts]
    tables = np.where(supports >= 2, np.maximum(2, 2 * ((2 * supports + 2) // 4)), 0)
    sizes = np.array([int(mask).bit_count() for mask in masks])
    for at in np.flatnonzero(sizes == 3):
        rarest = np.min([tables[:, (masks[at] ^ 1 << item) - 1] for item in range(4) if masks[at] >> item & 1], axis=0)
        tables[:, at] *= (tables[:, at] >= start) & (tables[:, at] < rarest)
    tables[:, 14] = 0
    is_whole = (tables[:, sizes == 1] > 0).all(axis=1)
    tables, owner = np.unique(tables[is_whole], axis=0, return_inverse=True)
    can_be_harmless = np.zeros(tables.shape, dtype=bool)
    np.logical_or.at(can_be_harmless, owner, supports[is_whole] != 1)
    telling = np.flatnonzero(((tables == 0) & ~can_be_harmless).any(axis=1))
    assert len(telling) > 1000
    for table in tables[telling[::every]]:
        named = {
            frozenset("abcd"[item] for item in range(4) if mask >> item & 1): int(count)
            for mask, count in zip(masks, table, strict=True)
            if count
        }
        arrays, _ = listed(named, n)
        few = naive.largest_below(start, 2, 2)
        assert find_revealed(arrays, sv.Counts(k=2), lambda *_: None, False, few) is not None, named


def _data_with(support: dict[frozenset[str], int], n: int) -> list[frozenset[str]]:
    """Records over a, b, c with these supports, by inclusion and exclusion."""
    records: list[frozenset[str]] = []
    for part in support:
        count = sum((-1) ** (len(other) - len(part)) * people for other, people in support.items() if part <= other)
        records += [part] * count
    return records + [frozenset()] * (n - len(records))


def test_more_than_m_plus_one_items_can_reveal_a_pair_and_the_attacker_finds_it() -> None:
    """The limit that certificate and documentation name: m=2, four items, five people. No three items reveal anything,
    and of all originals with these counts every one has one person with a and d.
    """
    data = [frozenset(one) for one in ("bcd", "bcd", "bd", "acd", "a")]
    model = sv.Counts(k=2, m=2)
    release = sv.anonymize([sorted(one) for one in data], model)
    assert isinstance(release, CountTable) and not release.repaired and sv.verify(release).holds
    kinds = [frozenset(some) for size in range(5) for some in combinations("abcd", size)]
    table = naive.counts_of(data, 2, 2, 2)
    assert as_table(release) == table
    fitting = [one for one in combinations_with_replacement(kinds, 5) if naive.counts_of(one, 2, 2, 2) == table]
    assert {sum({"a", "d"} <= record for record in one) for one in fitting} == {1}
    attacker = counts_together.Table([release], [model])
    assert ((0, 3), 1, 1) in attacker.revealed((0, 1, 2, 3))
    assert not any(attacker.revealed(three) for three in combinations(range(4), 3))


def test_more_than_m_plus_one_items_reveal_something_in_few_tables_even_of_five_people() -> None:
    """Every original of five people over four items: without the check of m + 1 items it would be a third of them."""
    tiny = counts_together.enumerate_originals(4, 5, 2, 2)
    small = tiny.revealed[:, tiny.sizes <= 2].any(axis=1)
    model = sv.Counts(k=2, m=2)
    accepted = [
        number for number in np.flatnonzero(small).tolist()
        if find_revealed(counts_together.as_listed(tiny.tables[number], 4, 5), model, lambda *_: None) is None
    ]  # fmt: skip
    assert tiny.n_originals[small].sum() > 0.3 * tiny.n_originals.sum()
    assert 0 < tiny.n_originals[accepted].sum() < 0.02 * tiny.n_originals.sum()


def test_two_tables_of_the_same_people_are_attacked_together() -> None:
    """What two roundings leave is an intersection, which one table alone does not show."""
    data = [sorted(one) for one in random_records(8, 60, list("abcde"))]
    models = sv.Counts(k=3, m=2), sv.Counts(k=3, m=2, r=5)
    releases = [sv.anonymize(data, model) for model in models]
    assert all(isinstance(one, CountTable) for one in releases)
    tables = [counts_together.Table([one], [model]) for one, model in zip(releases, models, strict=True)]
    both = counts_together.Table(releases, models)
    supports = {one: sum(set(one) <= set(record) for record in data) for one in combinations("abcde", 2)}
    assert any(both.ends[one] not in (tables[0].ends[one], tables[1].ends[one]) for one in both.ends)
    for pair, people in supports.items():
        low, high = both.ends.get(tuple("abcde".index(item) for item in pair), (0, 2))
        assert low <= people <= high
