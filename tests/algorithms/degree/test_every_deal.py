"""Every way to deal the sensitive items and every draw, exactly: no member of a group is likelier to hold an item.

Two ways: through ``join_parts`` alone, where larger cases can be enumerated, and through the whole algorithm, from the
records as they are given to the release. What somebody who knows every public item can conclude is a fraction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.degree import blocks
from setveil.algorithms.degree.blocks import BlocksOfRecords
from setveil.algorithms.degree.joining import Parts, join_parts
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.releases import Grouping


class EveryDraw:
    """Stands in for a random generator and goes through all it could draw, one run after the other."""

    def __init__(self) -> None:
        self.choices: list[tuple[int, int]] = []  # of this run: which, of how many
        self.n_made = 0

    def again(self) -> bool:
        """Go to the next run; whether there is one."""
        while self.choices and self.choices[-1][0] + 1 == self.choices[-1][1]:
            self.choices.pop()
        if self.choices:
            which, among = self.choices[-1]
            self.choices[-1] = (which + 1, among)
        self.n_made = 0
        return bool(self.choices)

    @property
    def chance(self) -> Fraction:
        return Fraction(1, math.prod(among for _, among in self.choices))

    def _pick(self, options: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        if self.n_made == len(self.choices):
            self.choices.append((0, len(options)))
        self.n_made += 1
        return options[self.choices[self.n_made - 1][0]]

    def permutation(self, values: np.ndarray) -> np.ndarray:
        return np.array(self._pick(_orders(tuple(values.tolist()))), dtype=np.int64)

    def choice(self, values: np.ndarray, size: int, replace: bool) -> np.ndarray:
        """So many of the values; in which order does not matter to whoever asks."""
        assert not replace
        return np.array(self._pick(list(combinations(values.tolist(), size))), dtype=np.int64)

    def random(self, n_values: int) -> np.ndarray:
        """Numbers of which only the order counts."""
        return np.array(self._pick(_orders(tuple(range(n_values)))), dtype=np.float64)


@lru_cache
def _orders(values: tuple[int, ...]) -> list[tuple[int, ...]]:
    return sorted(set(permutations(values)))


@pytest.mark.parametrize(
    ("p", "n_blocks", "width", "holders"),
    [
        (2, 4, 1, (2,)), (2, 4, 1, (2, 1)), (2, 4, 2, (2, 1)), (2, 4, 2, (3,)), (3, 3, 1, (3,)),
        (4, 2, 2, (2,)),
        pytest.param(2, 6, 2, (3,), marks=pytest.mark.long),
        pytest.param(2, 4, 2, (2, 2), marks=pytest.mark.long), pytest.param(2, 4, 2, (3, 1), marks=pytest.mark.long),
        pytest.param(4, 2, 2, (2, 2), marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_no_member_is_likelier_over_every_deal_and_every_draw(
    p: int, n_blocks: int, width: int, holders: tuple[int, ...]
) -> None:
    """Exact: all ways to deal the items, all draws, and what whoever sees groups and counts can conclude."""
    n_records = p * n_blocks
    members = np.arange(n_records).reshape(n_blocks, p)
    parts = members.reshape(-1, p * width)
    weight: Counter[Any] = Counter()  # of each sight: groups and counts
    held: Counter[Any] = Counter()  # the part in which a record holds an item
    for deal in product(*(combinations(range(n_records), number) for number in holders)):
        hidden = Transactions.from_lists(
            [[f"s{i}" for i, who in enumerate(deal) if n in who] for n in range(n_records)]
        )
        draws = EveryDraw()
        while True:
            joined = join_parts(Parts(parts, hidden, p), draws)  # type: ignore[arg-type]
            groups = [frozenset(group.tolist()) for group in joined or [members.ravel()]]
            sight: Any = frozenset((group, tuple(len(group & set(who)) for who in deal)) for group in groups)
            weight[sight] += draws.chance  # type: ignore[assignment]
            for item, who in enumerate(deal):
                for record in who:
                    held[sight, item, record] += draws.chance  # type: ignore[assignment]
            if not draws.again():
                break
    n_joined = 0
    for sight, total in weight.items():
        for group, counts in sight:
            n_joined += len(group) > p or not any(group == frozenset(block) for block in members.tolist())
            for item, count in enumerate(counts):
                assert {held[sight, item, record] / total for record in group} == {Fraction(count, len(group))}
    assert n_joined > 5 or n_blocks == 2


class EveryDrawOfDistinct(EveryDraw):
    """The same where all records differ in their public items, so that numbers that order equal ones decide nothing."""

    def random(self, n_values: int) -> np.ndarray:
        return np.zeros(n_values)


SHARED = "ab bc cd de ef fg gh ha"  # every item is in two records
STAR = "ab ac ad ae af ag ah ai"  # one item in all, the others in one each
TWINS = "ab ab cd cd"  # equal records
PARTLY = "ab bc cd da abc bcd"


@pytest.mark.parametrize(
    ("records", "p", "holders", "fewest"),
    [
        (SHARED, 2, (2,), 40), (STAR, 2, (2,), 40), (SHARED, 4, (2,), 40), (SHARED, 2, (2, 1), 1),
        (PARTLY, 2, (3,), 40),
        (PARTLY + " e", 3, (2,), 40), (PARTLY + " e", 2, (2,), 1), (TWINS, 2, (2,), 40), (TWINS, 2, (1, 1), 40),
        (PARTLY + " -", 2, (2,), 40),
        pytest.param(SHARED, 2, (3,), 40, marks=pytest.mark.long),
        pytest.param(SHARED, 2, (3,), 1, marks=pytest.mark.long),
        pytest.param(SHARED + " hi", 2, (3,), 1, marks=pytest.mark.long),
        pytest.param(SHARED + " ij jk kl li", 2, (3,), 1, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_no_member_is_likelier_through_the_whole_algorithm(
    records: str, p: int, holders: tuple[int, ...], fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ways to deal the items to the records, all draws: the release is all that is seen, with its group numbers.

    Of the records of a group with the same public items, the expected number of holders, counted or not, is their share
    of the count. A record "-" has no public items.
    """
    public = [[] if word == "-" else sorted(word) for word in records.split()]
    sensitive = [f"s{item}" for item in range(len(holders))]
    draws: EveryDraw
    remember_blocks(monkeypatch)
    monkeypatch.setattr(blocks, "FEWEST", fewest)
    monkeypatch.setattr(blocks, "secret_draws", lambda split, seed: draws)
    weight: Counter[Any] = Counter()  # of each sight
    held: Counter[Any] = Counter()  # expected holders in each sight, of an item, in a group, with some public items
    for deal in product(*(combinations(range(len(public)), number) for number in holders)):
        rows = [
            [*row, *(item for item, who in zip(sensitive, deal, strict=True) if n in who)]
            for n, row in enumerate(public)
        ]
        data, model = Transactions.from_lists(rows), PrivacyDegree(p, sensitive)
        kept = Grouping.publishable(data, sensitive).tolist()
        if any(p * sum(n in kept for n in who) > len(kept) for who in deal):
            continue  # infeasible
        draws = EveryDraw() if len(set(records.split())) < len(public) else EveryDrawOfDistinct()
        while True:
            release = BlocksOfRecords().run(data, model, Context())
            assert isinstance(release, Grouping)
            groups, sight = release.group_of.tolist(), what_is_seen(release)
            weight[sight] += draws.chance  # type: ignore[assignment]
            for item, who in zip(sensitive, deal, strict=True):
                for row, number in enumerate(kept):
                    if number in who:
                        held[sight, item, groups[row], tuple(public[number])] += draws.chance  # type: ignore[assignment]
            if not draws.again():
                break
    assert len(weight) > 1
    for sight, total in weight.items():
        rows, counts = sight
        size, counted = Counter(group for group, _ in rows), {(group, item): count for group, item, count in counts}
        for (group, content), n_alike in Counter(rows).items():
            for item in sensitive:
                fair = Fraction(counted.get((group, item), 0) * n_alike, size[group])
                assert held[sight, item, group, content] / total == fair, (sight, item, group, content)


def what_is_seen(release: Grouping) -> object:
    """The group and the public items of each record, in an order that says nothing more; and the counts."""
    rows = sorted(zip(release.group_of.tolist(), map(tuple, release.published.to_lists()), strict=True))
    items = [release.sensitive[int(item)] for item in release.count_item]
    return tuple(rows), tuple(zip(release.count_group.tolist(), items, release.count.tolist(), strict=True))


def remember_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Form the blocks of the same rows once only."""
    known: dict[object, np.ndarray] = {}
    form, pair = BlocksOfRecords._form_blocks, blocks.pair_blocks  # type: ignore[attr-defined]

    def formed(self: BlocksOfRecords, rows: Transactions, size: int, context: Context) -> np.ndarray:
        key = (size, tuple(map(tuple, rows.to_lists())))
        if key not in known:
            known[key] = form(self, rows, size, context)
        return known[key]

    def paired(rows: Transactions, members: np.ndarray, reach: int, context: Context) -> np.ndarray:
        key = (members.tobytes(), tuple(map(tuple, rows.to_lists())))
        if key not in known:
            known[key] = pair(rows, members, reach, context)
        return known[key]

    monkeypatch.setattr(BlocksOfRecords, "_form_blocks", formed)
    monkeypatch.setattr(blocks, "pair_blocks", paired)
