"""Blocks: against their twins, and that nothing about a member of a group tells who holds its sensitive item."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from math import log2

import numpy as np
import pytest
from naive import degree as naive

from setveil.algorithms.base import Context
from setveil.algorithms.degree import _blocks as kernels
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.blocks import (
    BlocksOfRecords,
    block_sizes,
    cut_into_blocks,
    entropy_table,
    join_blocks,
    shuffle_equals,
)
from setveil.algorithms.degree.groups import split_records
from setveil.core import Grouping, Transactions
from setveil.errors import InputError
from setveil.models import PrivacyDegree


def groups_of(joined: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(joined == group).tolist()) for group in np.unique(joined)}


def test_blocks_are_joined_as_the_twin_joins_them() -> None:
    rng = random.Random(3)
    n_joined = 0
    for number in range(600):
        p = rng.randint(2, 5)
        sizes = block_sizes(rng.randint(2 * p, 30 * p), p)
        density = rng.choice([0.1, 0.5, 1.0])
        held = [Counter({f"s{i}": c for i in range(2) if (c := int(rng.expovariate(1 / density)))}) for _ in sizes]
        pairs = [(b, int(item[1])) for b, counts in enumerate(held) for item, c in counts.items() for _ in range(c)]
        block, item = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
        fast = join_blocks(sizes, block, item.astype(np.int32), p, np.random.default_rng(number))
        slow = naive.join_blocks(sizes.tolist(), held, p, np.random.default_rng(number))
        assert groups_of(fast) == set(map(frozenset, slow))
        n_joined += any(len(group) > 1 for group in slow)
    assert n_joined > 100


def test_sizes_leave_nobody_out_and_differ_by_one() -> None:
    for p in range(2, 12):
        for n_records in range(p, 40 * p):
            sizes = block_sizes(n_records, p)
            assert sizes.sum() == n_records and sizes.min() >= p and sizes.max() - sizes.min() <= 1


def entropy(blocks: list[list[frozenset[str]]]) -> float:
    total = 0.0
    for block in blocks:
        for item in frozenset().union(*block):
            share = sum(item in record for record in block) / len(block)
            total += len(block) * sum(-part * log2(part) for part in (share, 1 - share) if part)
    return total


def test_an_exchange_saves_what_it_says() -> None:
    rng = random.Random(5)
    total = 0
    for _ in range(60):
        records = [frozenset(rng.sample("abcdefgh", rng.randint(0, 4))) for _ in range(rng.randint(8, 40))]
        data = Transactions.from_lists(sorted(record) for record in records)
        sizes = block_sizes(len(records), 3)
        blocks = cut_into_blocks(sizes)
        rows, (starts, holders) = Rows(data.indptr, data.items), data.inverted()
        desk = kernels.Desk(
            *(np.zeros(data.n_items, dtype=np.int64) for _ in range(3)),
            np.array([rng.getrandbits(60)], dtype=np.uint64),
        )
        table = entropy_table(int(sizes.min()))

        def contents(
            blocks: kernels.Blocks = blocks, records: list[frozenset[str]] = records
        ) -> list[list[frozenset[str]]]:
            bounds = blocks.starts.tolist()
            return [[records[m] for m in blocks.members[a:b]] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]

        before = entropy(contents())
        saved = sum(
            kernels.exchange_records((0, len(records)), rows, Rows(starts, holders), table, blocks, desk)
            for _ in range(3)
        )
        after = entropy(contents())
        assert before - after == pytest.approx(saved / (1 << 20), abs=1e-3)
        assert sorted(blocks.members.tolist()) == list(range(len(records)))
        assert (blocks.members[blocks.place_of] == np.arange(len(records))).all()
        assert not desk.here.any() and not desk.there.any() and not desk.own.any()
        total += saved
    assert total > 0


def test_blocks_do_not_see_sensitive_items() -> None:
    """With sensitive items that never fail, whoever has them, the groups are the same up to equal public parts."""
    rng = random.Random(7)
    public = [[f"q{number}" for number in rng.sample(range(12), rng.randint(1, 5))] + [f"only{n}"] for n in range(80)]
    made = set()
    for _ in range(5):
        holder = rng.randrange(80)
        records = [[*record, "s"] if number == holder else record for number, record in enumerate(public)]
        release = BlocksOfRecords().run(Transactions.from_lists(records), PrivacyDegree(4, ["s"]), Context())
        assert isinstance(release, Grouping)
        made.add(frozenset(groups_of(release.group_of)))
    assert len(made) == 1


def test_every_member_of_a_joined_group_is_equally_likely() -> None:
    """All ways to give two blocks' worth of sensitive items to four blocks, many draws: no place in a group stands
    out.
    """
    sizes = np.full(4, 3)
    placed: Counter[tuple[frozenset[frozenset[int]], frozenset[int], int]] = Counter()
    seen: Counter[tuple[frozenset[frozenset[int]], frozenset[int]]] = Counter()
    for counts in set(permutations((2, 1, 0, 0))):
        block = np.repeat(np.arange(4), counts)
        for seed in range(400):
            joined = join_blocks(sizes, block, np.zeros(3, dtype=np.int32), 3, np.random.default_rng(seed))
            partition = frozenset(groups_of(joined))
            for group in partition:
                if len(group) > 1:
                    seen[partition, group] += 1
                    for member in group:
                        placed[partition, group, member] += counts[member]
    assert len(seen) >= 6
    for (partition, group), times in seen.items():
        total = sum(placed[partition, group, member] for member in group)
        for member in group:  # five standard deviations of a fair share
            assert abs(placed[partition, group, member] - total / len(group)) < 5 * 2 * times**0.5


def test_records_with_equal_public_items_are_drawn_at_random() -> None:
    data = Transactions.from_lists([["a"]] * 50 + [["b"]] * 50)
    order = np.arange(100)
    one, two = (shuffle_equals(data, order, np.random.default_rng(seed)) for seed in (1, 2))
    assert set(one[:50].tolist()) == set(range(50))
    assert (one != two).any()


def test_the_order_of_the_input_does_not_matter() -> None:
    rng = random.Random(9)
    records = [
        sorted(rng.sample("abcdef", rng.randint(1, 3))) + (["s"] if rng.random() < 0.1 else []) for _ in range(120)
    ]
    shuffled = rng.sample(records, len(records))

    def content(rows: list[list[str]]) -> Counter[tuple[tuple[tuple[str, ...], ...], int]]:
        data = Transactions.from_lists(rows)
        release = BlocksOfRecords().run(data, PrivacyDegree(3, ["s"]), Context(seed=4))
        assert isinstance(release, Grouping)
        published = release.published.to_lists()
        count = dict(zip(release.count_group.tolist(), release.count.tolist(), strict=True))
        groups: dict[int, list[tuple[str, ...]]] = {}
        for row, group in zip(published, release.group_of.tolist(), strict=True):
            groups.setdefault(group, []).append(tuple(row))
        return Counter((tuple(sorted(rows)), count.get(group, 0)) for group, rows in groups.items())

    assert content(records) == content(shuffled)


def test_what_public_items_give_away_is_left_out() -> None:
    rng = random.Random(13)
    n_changed = 0
    for _ in range(300):
        sensitive = ["s", "t"]
        records = [
            frozenset(rng.sample("abcd", rng.randint(0, 2)) + [item for item in sensitive if rng.random() < 0.3])
            for _ in range(rng.randint(1, 14))
        ]
        expected = naive.protectable(records, sensitive)
        data = Transactions.from_lists(sorted(record) for record in records)
        split = split_records(data, PrivacyDegree(2, sensitive), suppress_excess=True)
        n_excess = sum(split.suppressed.values())
        found = split.data.to_lists()
        assert len(found) == len(expected) and split.bare == len(records) - len(expected)
        if not n_excess:
            assert found == [sorted(record) for record in expected]
            assert split.implied == sum(map(len, records)) - sum(map(len, expected)) - sum(
                len(record) for record in records if record and record <= set(sensitive)
            )
        n_changed += expected != records
    assert n_changed > 50


def test_no_passes_is_allowed_and_fewer_are_not() -> None:
    data = Transactions.from_lists([["a"], ["b"], ["a", "s"], ["c"]])
    assert BlocksOfRecords(passes=0).run(data, PrivacyDegree(2, ["s"]), Context()).published.n_records == 4
    with pytest.raises(InputError, match="passes"):
        BlocksOfRecords(passes=-1).run(data, PrivacyDegree(2, ["s"]), Context())
