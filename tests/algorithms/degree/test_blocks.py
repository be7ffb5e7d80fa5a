"""Blocks: against their twins, and that nothing about a member of a group tells who holds its sensitive item."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.degree import _blocks as kernels
from setveil.algorithms.degree import _gathering as gathering
from setveil.algorithms.degree import joining
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree._mixing import cut_parts
from setveil.algorithms.degree.blocks import SCALE, BlocksOfRecords, plan, shuffle_equals, surprise_table
from setveil.algorithms.degree.gathering import all_free, empty_assignment, holders_of, pair_blocks, room_for
from setveil.algorithms.degree.groups import split_records
from setveil.algorithms.degree.joining import Parts, choose_sets, join_parts, mix
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.models import PrivacyDegree
from setveil.releases import Grouping
from tests.naive import degree as naive


def groups_of(joined: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(joined == group).tolist()) for group in np.unique(joined)}


def random_parts(rng: random.Random, p: int) -> Parts:
    """Parts of random people, with more or less sensitive items than p allows."""
    size = p * rng.randint(1, 2)
    n_records = size * rng.randint(1, 12)
    chance = rng.choice([0.02, 0.5 / p, 1 / p, 2 / p])
    hidden = Transactions.from_lists([[s for s in "stu" if rng.random() < chance] for _ in range(n_records)])
    return Parts(np.array(rng.sample(range(n_records), n_records)).reshape(-1, size), hidden, p)


def test_joined_groups_have_the_degree_and_leave_nobody_out() -> None:
    rng = random.Random(3)
    kinds: Counter[str] = Counter()
    for number in range(600):
        p = rng.randint(2, 8)
        parts = random_parts(rng, p)
        groups = join_parts(parts, np.random.default_rng(number))
        supports = parts.hidden.supports
        if groups is None:
            kinds["one"] += 1
            continue
        assert sorted(np.concatenate(groups).tolist()) == list(range(parts.hidden.n_records))
        for group in groups:
            counts = parts.hidden.select(group).supports
            assert len(group) >= p and (counts * p <= len(group)).all()
        kinds["larger" if max(map(len, groups)) > p else "equal"] += 1
        assert supports.sum() == sum(parts.hidden.select(group).supports.sum() for group in groups)
    assert min(kinds[kind] for kind in ("one", "larger", "equal")) > 50, kinds


def test_blocks_without_repeats_stay_as_they_are() -> None:
    hidden = Transactions.from_lists([["s"] if number % 6 == 0 else [] for number in range(12)])
    members = np.arange(12).reshape(4, 3)
    groups = join_parts(Parts(members.reshape(2, 6), hidden, 3), np.random.default_rng(0))
    assert groups is not None and sorted(map(tuple, groups)) == sorted(map(tuple, members))


@pytest.mark.parametrize(
    ("p", "n_blocks", "n_holders", "width"),
    [(4, 4, 3, 1), (3, 5, 3, 1), (2, 7, 3, 1), (4, 6, 5, 1), (4, 8, 4, 2), (3, 6, 3, 2), (5, 8, 6, 2)],
)
def test_every_member_of_a_group_is_equally_likely(p: int, n_blocks: int, n_holders: int, width: int) -> None:
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
        groups = join_parts(Parts(members.reshape(-1, p * width), hidden, p), rng)
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
    for view, (excess, variance) in seen.items():
        assert abs(excess) < 5 * max(variance, 1.0) ** 0.5, view


def test_partners_are_chosen_as_by_the_twin() -> None:
    """What a set takes, by what units hold alone; and every set has the degree."""
    rng = random.Random(31)
    kinds: Counter[str] = Counter()
    for number in range(1500):
        n_items, capacity = rng.randint(1, 4), rng.randint(1, 3)
        many = rng.choice([0.1, 0.4, 1.0])
        held = [tuple(int(rng.expovariate(1 / many)) for _ in range(n_items)) for _ in range(rng.randint(1, 14))]
        is_bad = [max(unit) > capacity or rng.random() < 0.2 for unit in held]
        drawn = np.random.default_rng(number).permutation(len(held)).tolist()
        found = choose_sets(np.array(held), np.array(is_bad), capacity, np.random.default_rng(number))
        assert found == naive.chosen_sets(held, is_bad, capacity, drawn)
        if found is not None:
            assert {unit for unit in range(len(held)) if is_bad[unit]} <= {unit for some in found for unit in some}
            for some in found:
                assert max(sum(held[unit][item] for unit in some) for item in range(n_items)) <= capacity * len(some)
        kinds["none" if found is None else str(min(max(map(len, found), default=0), 3))] += 1
    assert min(kinds[kind] for kind in ("none", "0", "1", "2", "3")) > 20, kinds


def test_few_kinds_are_looked_at_and_others_when_these_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight units that need one other each, and eleven others, each of a kind of its own."""
    monkeypatch.setattr(joining, "MOST_KINDS", 3)
    held = np.zeros((19, 12), dtype=np.int64)
    held[:8, 0] = 3
    held[np.arange(8, 19), np.arange(1, 12)] = 1
    found = choose_sets(held, np.arange(19) < 8, 2, np.random.default_rng(0))
    assert found is not None and sorted(first for first, _ in found) == list(range(8))
    assert len({other for _, other in found}) == 8


def test_who_is_chosen_depends_on_what_units_hold_and_on_the_draw() -> None:
    """Other units with the same holdings are chosen by the same draws: nothing else about a unit is looked at."""
    rng = random.Random(37)
    for number in range(200):
        held = np.array([[rng.choice([0, 0, 1, 3]) for _ in range(3)] for _ in range(10)])
        is_bad, moved = held.max(axis=1) > 1, np.array(rng.sample(range(10), 10))

        class Moved:
            def permutation(self, values: np.ndarray, moved: np.ndarray = moved, number: int = number) -> np.ndarray:
                order: np.ndarray = np.argsort(moved)
                return order[np.random.default_rng(number).permutation(values)]

        before = choose_sets(held, is_bad, 2, np.random.default_rng(number))
        after = choose_sets(held[moved], is_bad[moved], 2, Moved())  # type: ignore[arg-type]
        assert before == (after and [[int(moved[unit]) for unit in some] for some in after])


def test_every_piece_of_a_part_is_as_large_as_that_of_every_other_part() -> None:
    rng = random.Random(41)
    for number in range(200):
        p = rng.randint(2, 6)
        parts = random_parts(rng, p)
        for group in mix(parts, np.random.default_rng(number)):
            pieces = np.isin(parts.members, group).sum(axis=1)
            assert (pieces == pieces[0]).all()


def test_a_cut_is_as_fine_as_any_that_has_the_degree() -> None:
    """Against all there are; the search gives up at the first cut that no single exchange makes better."""
    rng = random.Random(43)
    n_same = Counter[str]()
    for _ in range(120):
        n_parts, p = rng.choice([(1, 2), (1, 3), (2, 2), (2, 3), (3, 2)])
        chance = rng.choice([0.1, 0.2, 0.35])
        held = [[frozenset(s for s in "stu" if rng.random() < chance) for _ in range(2 * p)] for _ in range(n_parts)]
        rows = Transactions.from_lists([sorted(record) for part in held for record in part])
        sensitive = Rows(rows.indptr, rows.items)
        group_of = cut_parts(sensitive, np.arange(rows.n_records), rows.n_items, 2 * p, p).reshape(n_parts, 2 * p)
        n_groups = int(group_of.max()) + 1
        for group in range(n_groups):
            assert len({tuple(part == group).count(True) for part in group_of}) == 1
            inside = [held[part][place] for part, place in zip(*np.nonzero(group_of == group), strict=True)]
            if n_groups > 1:
                assert all(p * sum(s in record for record in inside) <= len(inside) for s in "stu")
        best = naive.most_groups(held, p)
        assert n_groups <= best
        n_same["all" if n_groups == best else "fewer"] += 1
        n_same["cut"] += best > 1
    assert n_same["all"] >= 114 and n_same["cut"] > 30, n_same


def test_records_that_hold_the_same_are_dealt_by_the_draw() -> None:
    """One part of four with one holder: whom it stands with, and nothing else, is drawn."""
    hidden = Transactions.from_lists([[], ["s"], [], []])
    parts = Parts(np.arange(4)[None], hidden, 2)
    mates = Counter(
        frozenset(group.tolist()) - {1}
        for seed in range(300)
        for group in mix(parts, np.random.default_rng(seed))
        if 1 in group
    )
    assert set(mates) == {frozenset({0}), frozenset({2}), frozenset({3})}
    assert min(mates.values()) > 60


def test_pairs_are_of_similar_blocks_and_keep_everybody() -> None:
    """Blocks of one item each, two of every item in random order: each finds its like."""
    rng = random.Random(23)
    letters = rng.sample([letter for letter in "abcdefgh" for _ in range(2)], 16)
    data = Transactions.from_lists([[letter] for letter in letters for _ in range(3)])
    paired = pair_blocks(data, np.arange(48).reshape(16, 3), 4, Context())
    assert sorted(map(tuple, paired)) == sorted(map(tuple, np.arange(48).reshape(16, 3)))
    for one, two in paired.reshape(-1, 2, 3):
        assert letters[one[0] // 3] == letters[two[0] // 3]


@pytest.mark.parametrize(
    ("n_records", "n_holders", "expected"),
    [
        (87, 3, (2, 42, 3)),
        (79, 3, (1, 39, 1)),
        (83, 82, (1, 41, 1)),
        (83, 80, (2, 40, 3)),
        (3, 3, (1, 0, 0)),
        (1, 0, (1, 0, 0)),
    ],
)
def test_what_is_left_over_is_silent(n_records: int, n_holders: int, expected: tuple[int, int, int]) -> None:
    records = [["a", f"u{n}", "b"] + (["s"] if n < n_holders else ["c"]) for n in range(n_records)]
    split = split_records(Transactions.from_lists(records), PrivacyDegree(2, ["s"]), suppress_excess=True)
    object.__setattr__(
        split, "hidden", Transactions.from_lists([["s"] if n < n_holders else [] for n in range(n_records)])
    )
    assert plan(split) == expected


def test_an_exchange_saves_what_it_says() -> None:
    rng = random.Random(5)
    total = 0
    for _ in range(60):
        records = [frozenset(rng.sample("abcdefgh", rng.randint(0, 4))) for _ in range(3 * rng.randint(3, 13))]
        data = Transactions.from_lists(sorted(record) for record in records)
        places = np.arange(len(records), dtype=np.int32)
        assignment = kernels.BlockAssignment(places.reshape(-1, 3).copy(), places // 3, places % 3)
        rows, index = Rows(data.indptr, data.items), holders_of(data)
        state = np.array([rng.getrandbits(60)], dtype=np.uint64)

        def cost(assignment: kernels.BlockAssignment = assignment, records: list[frozenset[str]] = records) -> float:
            return sum(naive.surprise([records[member] for member in block]) for block in assignment.members)

        before = cost()
        leavers = np.arange(len(records), dtype=np.int32)
        saved = sum(
            kernels.exchange_records(leavers, rows, index, surprise_table(3), assignment, state) for _ in range(3)
        )
        assert before - cost() == pytest.approx(saved / SCALE, abs=1e-2)
        assert sorted(assignment.members.ravel().tolist()) == list(range(len(records)))
        assert (assignment.members[assignment.block_of, assignment.place_of] == np.arange(len(records))).all()
        total += saved
    assert total > 0


def test_the_longest_records_gather_those_most_like_them() -> None:
    rng = random.Random(17)
    n_alone = 0
    for _ in range(150):
        size, reach = rng.randint(2, 4), rng.randint(1, 3)
        records = [frozenset(rng.sample("abcdefgh", rng.randint(0, 4))) for _ in range(size * rng.randint(1, 9))]
        data = Transactions.from_lists(sorted(record) for record in records)
        assignment, rows = empty_assignment(len(records), size), Rows(data.indptr, data.items)
        seeds = np.argsort(-data.lengths, kind="stable")
        n_blocks = gathering.gather_blocks(
            seeds, 0, reach, rows, holders_of(data), all_free(data), room_for(data), assignment
        )
        expected = naive.gathered(records, size, reach)
        assert assignment.members[:n_blocks].tolist() == expected and n_blocks == len(assignment.members)
        assert (assignment.members[assignment.block_of, assignment.place_of] == np.arange(len(records))).all()
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


def test_records_with_a_public_item_are_published_with_all_their_items() -> None:
    rng = random.Random(13)
    n_changed = 0
    for _ in range(300):
        sensitive = ["s", "t"]
        records = [
            frozenset(rng.sample("abcd", rng.randint(0, 2)) + [item for item in sensitive if rng.random() < 0.3])
            for _ in range(rng.randint(1, 14))
        ]
        expected = naive.publishable(records, sensitive)
        data = Transactions.from_lists(sorted(record) for record in records)
        split = split_records(data, PrivacyDegree(2, sensitive), suppress_excess=True)
        found = split.data.to_lists()
        assert len(found) == len(expected) and split.bare == len(records) - len(expected)
        if not split.suppressed:
            assert found == [sorted(record) for record in expected]
            n_changed += expected != records
    assert n_changed > 20


def test_no_passes_is_allowed_and_fewer_are_not() -> None:
    data = Transactions.from_lists([["a"], ["b"], ["a", "s"], ["c"]])
    assert BlocksOfRecords(passes=0).run(data, PrivacyDegree(2, ["s"]), Context()).published.n_records == 4
    wrongs: list[dict[str, Any]] = [{"passes": -1}, {"reach": 0}]
    for wrong in wrongs:
        with pytest.raises(InputError, match=r"must be at least [01], not"):
            BlocksOfRecords(**wrong).run(data, PrivacyDegree(2, ["s"]), Context())
