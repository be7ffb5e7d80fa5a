"""Blocks: against their twins, and that nothing about a member of a group tells who holds its sensitive item."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from naive import degree as naive

from setveil.algorithms.base import Context
from setveil.algorithms.degree import _blocks as kernels
from setveil.algorithms.degree import _gathering as gathering
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.blocks import (
    SCALE,
    BlocksOfRecords,
    all_free,
    room_for,
    seat_nobody,
    shuffle_equals,
    surprise_table,
)
from setveil.algorithms.degree.groups import split_records
from setveil.algorithms.degree.joining import Blocks, join_blocks, n_blocks_together
from setveil.core import Grouping, Transactions
from setveil.errors import InputError
from setveil.models import PrivacyDegree


def groups_of(joined: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(joined == group).tolist()) for group in np.unique(joined)}


def random_blocks(rng: random.Random, p: int) -> Blocks:
    """Blocks of random people, with more or less sensitive items than p allows."""
    n_records = p * rng.randint(1, 20)
    chance = rng.choice([0.02, 0.5 / p, 1 / p, 2 / p])
    hidden = Transactions.from_lists([[s for s in "stu" if rng.random() < chance] for _ in range(n_records)])
    return Blocks(np.array(rng.sample(range(n_records), n_records)).reshape(-1, p), hidden)


def test_joined_groups_have_the_degree_and_leave_nobody_out() -> None:
    rng = random.Random(3)
    kinds: Counter[str] = Counter()
    for number in range(600):
        p = rng.randint(2, 8)
        blocks = random_blocks(rng, p)
        groups = join_blocks(blocks, np.random.default_rng(number))
        supports = blocks.hidden.supports
        if groups is None:
            kinds["one"] += 1
            continue
        assert sorted(np.concatenate(groups).tolist()) == list(range(blocks.hidden.n_records))
        for group in groups:
            counts = blocks.hidden.select(group).supports
            assert len(group) >= p and (counts * p <= len(group)).all()
        kinds["larger" if max(map(len, groups)) > p else "equal"] += 1
        assert supports.sum() == sum(blocks.hidden.select(group).supports.sum() for group in groups)
    assert min(kinds[kind] for kind in ("one", "larger", "equal")) > 50, kinds


def test_blocks_without_repeats_stay_as_they_are() -> None:
    hidden = Transactions.from_lists([["s"] if number % 3 == 0 else [] for number in range(12)])
    members = np.arange(12).reshape(4, 3)
    groups = join_blocks(Blocks(members, hidden), np.random.default_rng(0))
    assert groups is not None and sorted(map(tuple, groups)) == sorted(map(tuple, members))


@pytest.mark.parametrize(
    ("most", "width", "p", "generous", "sparing"),
    [(2, 1, 10, 2, 2), (3, 1, 10, 5, 3), (6, 1, 10, 10, 6), (2, 1, 7, 7, 2), (3, 2, 10, 10, 4), (3, 4, 10, 4, 4)],
)
def test_how_many_blocks_are_taken_together(most: int, width: int, p: int, generous: int, sparing: int) -> None:
    assert n_blocks_together(most, width, p, True) == generous
    assert n_blocks_together(most, width, p, False) == sparing


@pytest.mark.parametrize(("p", "n_blocks", "n_holders"), [(4, 4, 3), (3, 5, 3), (2, 7, 3), (4, 6, 5)])
def test_every_member_of_a_group_is_equally_likely(p: int, n_blocks: int, n_holders: int) -> None:
    """Whatever can be seen of a member and its group, holders are as many as a fair draw in each group would give.

    Seen are the block a member comes from, how many of its block share its group, and the sizes of all groups.
    """
    rng = np.random.default_rng(11)
    members = np.arange(p * n_blocks).reshape(n_blocks, p)
    seen: dict[tuple[object, ...], list[float]] = {}
    for _ in range(700):
        is_holder = np.zeros(p * n_blocks, dtype=bool)
        is_holder[rng.choice(p * n_blocks, n_holders, replace=False)] = True
        hidden = Transactions.from_lists([["s"] if held else [] for held in is_holder])
        groups = join_blocks(Blocks(members, hidden), rng)
        for group in groups or [members.ravel()]:
            from_block = group // p
            n_mates = np.bincount(from_block, minlength=n_blocks)
            fair = is_holder[group].mean()
            if fair:
                for record, block in zip(group, from_block, strict=True):
                    for look in ((block, len(group)), (n_mates[block], len(group), len(groups or [1]))):
                        sums = seen.setdefault(look, [0.0, 0.0])
                        sums[0] += is_holder[record] - fair
                        sums[1] += fair * (1 - fair)
    assert len(seen) > n_blocks
    for look, (excess, variance) in seen.items():
        assert abs(excess) < 5 * max(variance, 1.0) ** 0.5, look


def test_an_exchange_saves_what_it_says() -> None:
    rng = random.Random(5)
    total = 0
    for _ in range(60):
        records = [frozenset(rng.sample("abcdefgh", rng.randint(0, 4))) for _ in range(3 * rng.randint(3, 13))]
        data = Transactions.from_lists(sorted(record) for record in records)
        places = np.arange(len(records))
        seating = kernels.Seating(places.reshape(-1, 3).copy(), places // 3, places % 3)
        rows, (starts, holders) = Rows(data.indptr, data.items), data.inverted()
        zeros = [np.zeros(data.n_items, dtype=np.int64) for _ in range(5)]
        tallies = (kernels.Tally(*zeros[:2]), kernels.Tally(*zeros[2:4]))
        state = np.array([rng.getrandbits(60)], dtype=np.uint64)

        def cost(seating: kernels.Seating = seating, records: list[frozenset[str]] = records) -> float:
            return sum(naive.surprise([records[member] for member in block]) for block in seating.members)

        before = cost()
        span, index = (0, len(records)), Rows(starts, holders)
        saved = sum(
            kernels.exchange_records(span, rows, index, surprise_table(3), seating, tallies, zeros[4], state)
            for _ in range(3)
        )
        assert before - cost() == pytest.approx(saved / SCALE, abs=1e-2)
        assert sorted(seating.members.ravel().tolist()) == list(range(len(records)))
        assert (seating.members[seating.block_of, seating.place_of] == np.arange(len(records))).all()
        assert not any(part.any() for part in zeros)
        total += saved
    assert total > 0


def test_the_longest_records_gather_those_most_like_them() -> None:
    rng = random.Random(17)
    n_alone = 0
    for _ in range(150):
        size, reach = rng.randint(2, 4), rng.randint(1, 3)
        records = [frozenset(rng.sample("abcdefgh", rng.randint(0, 4))) for _ in range(size * rng.randint(1, 9))]
        data = Transactions.from_lists(sorted(record) for record in records)
        starts, holders = data.inverted()
        seating, rows = seat_nobody(len(records), size), Rows(data.indptr, data.items)
        seeds = np.argsort(-data.lengths, kind="stable")
        n_blocks = gathering.gather_blocks(
            seeds, 0, reach, rows, Rows(starts, holders), all_free(data), room_for(data), seating
        )
        expected = naive.gathered(records, size, reach)
        assert seating.members[:n_blocks].tolist() == expected and n_blocks == len(seating.members)
        assert (seating.members[seating.block_of, seating.place_of] == np.arange(len(records))).all()
        n_alone += any(not records[block[0]] & records[block[-1]] for block in expected)
    assert n_alone > 30


def test_the_remainder_is_drawn_from_those_without_sensitive_items() -> None:
    records = [["a", f"u{n}", "s"] if n < 3 else ["a", f"u{n}"] for n in range(23)]
    seen = set()
    for seed in range(30):
        release = BlocksOfRecords().run(Transactions.from_lists(records), PrivacyDegree(5, ["s"]), Context(seed=seed))
        assert isinstance(release, Grouping)
        sizes = np.bincount(release.group_of)
        (small,) = np.flatnonzero(sizes == 3)
        assert small not in release.count_group
        seen |= set(np.flatnonzero(release.group_of == small).tolist())
    assert not seen & {0, 1, 2} and len(seen) > 15


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
    for wrong in ({"passes": -1}, {"reach": 0}):
        with pytest.raises(InputError, match=r"must be at least [01], not"):
            BlocksOfRecords(**wrong).run(data, PrivacyDegree(2, ["s"]), Context())
