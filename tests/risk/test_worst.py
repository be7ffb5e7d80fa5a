"""The worst attacker: no attacker who knows as many items does better, whichever items these are."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.releases import Release
from setveil.risk import assess, risk, worst
from setveil.risk.attack import attack
from setveil.risk.worst import most_identifying
from tests.naive.attack import strongest
from tests.naive.databases import random_records
from tests.naive.kkm_cases import random_people
from tests.naive.releases import random_grouping, random_local, random_recoding, random_replacement
from tests.naive.risk import fewest_matches

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def classes_of(data: Transactions) -> list[tuple[str, ...]]:
    known = [column.to_list() for column in data.columns or () if column.role == "known"]
    return list(zip(*known, strict=True)) if known else [()] * data.n_records


def assert_worst(row: Any, fewest: list[int]) -> None:
    assert row.worst_singled_out == pytest.approx(np.mean([n == 1 for n in fewest]))
    assert row.worst_singled_out_interval is None


def test_the_most_identifying_items_are_those_of_enumeration() -> None:
    source = random.Random(1)
    for _ in range(60):
        data = Transactions.from_lists([*random_records(source), *([[]] * source.randint(0, 2))])
        for known in ((1, 2), (1, 2, 3, 4)):  # two ways to count
            for row in risk(data, known=known).rows:
                if row.n_records:
                    assert_worst(row, fewest_matches(data.to_lists(), classes_of(data), row.known))


def test_known_columns_are_known_besides() -> None:
    for seed in range(40):
        data = random_people(np.random.default_rng(seed), 20)
        for row in risk(data, known=(1, 2, 3)).rows:
            if row.n_records:
                assert_worst(row, fewest_matches(data.to_lists(), classes_of(data), row.known))


def test_searching_equals_enumeration() -> None:
    source = random.Random(2)
    n_alone = 0
    for _ in range(80):
        data = Transactions.from_lists(
            [
                [f"{item:02}" for item in range(20) if source.random() < source.choice((0.2, 0.8))]
                for _ in range(source.randint(2, 12))
            ]
        )
        rows = data.to_lists()
        own = data.indptr, data.items
        for size in (1, 2, 3):
            expected = fewest_matches(rows, classes_of(data), size)
            chosen, least = most_identifying(data, own, size)
            assert least.tolist() == expected
            n_alone += sum(n == 1 for n in expected)
            for number, items in enumerate(chosen.tolist()):  # the items chosen have this support
                part = {data.vocabulary[item] for item in items if item >= 0}
                assert sum(part <= set(row) for row in rows) == expected[number]
    assert n_alone > 100


def test_searching_many_records_equals_enumeration() -> None:
    rng = np.random.default_rng(6)
    for _ in range(40):
        holds = rng.random((300, 16)) < rng.choice([0.01, 0.05, 0.3, 0.6], 16)
        data = Transactions.from_lists([[f"{i:02}" for i in np.flatnonzero(row)] for row in holds])
        holds = holds[:, holds.any(axis=0)]
        part = data.select(rng.choice(data.n_records, 8))
        for size in (2, 3, 4):
            chosen, least = most_identifying(data, (part.indptr, part.items), size)
            for number, items in enumerate(chosen):
                own = part.record(number)
                few = combinations(own.tolist(), min(size, len(own)))
                assert least[number] == min(holds[:, some].all(axis=1).sum() for some in few)
                assert least[number] == holds[:, items[items >= 0]].all(axis=1).sum()
                assert np.isin(items[items >= 0], own).all()


def test_a_choice_that_ends_early_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(3)
    data = Transactions.from_lists([[str(i) for i in range(25) if source.random() < 0.7] for _ in range(60)])
    monkeypatch.setattr(worst, "PATIENCE", 40)
    rows = data.to_lists()
    chosen, least = most_identifying(data, (data.indptr, data.items), 4)
    for number, items in enumerate(chosen.tolist()):
        part = {data.vocabulary[item] for item in items if item >= 0}
        assert part <= set(rows[number])
        assert least[number] == sum(part <= set(row) for row in rows)


@pytest.mark.parametrize("patience", [20_000, 30])
@pytest.mark.parametrize("known", [(3, 4), (1, 2, 3, 4), (4,)])
def test_drawn_records_agree_with_all(known: tuple[int, ...], patience: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a search gives up, and where shorter records were not searched."""
    monkeypatch.setattr(assess, "PATIENCE", patience)
    source = random.Random(4)
    data = Transactions.from_lists([[str(i) for i in range(12) if source.random() < 0.3] for _ in range(400)])
    drawn, exact = (risk(data, known=known, budget=budget).rows for budget in (10, None))
    for one, other in zip(drawn, exact, strict=True):
        assert other.exact and one.exact == (one.known < 3)
        low, high = one.worst_singled_out_interval or (one.worst_singled_out, one.worst_singled_out)
        assert low <= other.worst_singled_out <= high


def covers_of(release: Release) -> list[list[frozenset[str]]]:
    book = release.codebook()
    return [[frozenset(book[label]) for label in sorted(record)] for record in release.transactions()]


def random_classes(source: random.Random) -> tuple[Transactions, Release]:
    """A release with columns, local where it has a hierarchy."""
    while True:
        data = random_people(np.random.default_rng(source.randrange(10**6)))
        if data.n_items and any(column.role == "known" for column in data.columns or ()):
            try:
                return data, sv.anonymize(data, "kkm", k=2, m=1, hierarchy=source.choice([None, "fanout:2"]))
            except sv.InfeasibleError:
                continue


@pytest.mark.parametrize(
    ("make", "n_cases"),
    [(random_recoding, 25), (random_local, 25), (random_replacement, 25), (random_grouping, 25), (random_classes, 6)],
)
def test_no_attacker_beats_the_figure(make: Callable[..., Any], n_cases: int) -> None:
    """Every choice of up to three items, all labels or exact ones, every item or the best match."""
    source = random.Random(5)
    for _ in range(n_cases):
        data, release, *_ = make(source)
        if not data.n_records:
            continue
        secret = set(release.sensitive_items)
        rows = {row.known: row for row in risk(release.rows, known=(1, 2, 3)).rows}
        covers, classes = covers_of(release), classes_of(release.rows)
        for known in (1, 2, 3):
            tried = [
                list(strongest(covers, classes, person, set(row) - secret, known))
                for person, row in enumerate(data.to_lists())
            ]
            singled_out = np.mean([any(one) for one in tried])
            row = rows[known]
            while row.worst_singled_out is None and row.known > min(rows):  # no record has as many labels
                row = rows[row.known - 1]
            if row.worst_singled_out is None:  # nobody has a label
                assert not singled_out or data.n_records == 1
                continue
            assert singled_out <= row.worst_singled_out + 1e-9


@pytest.mark.parametrize("make", [random_recoding, random_local, random_replacement, random_grouping, random_classes])
def test_the_attacker_who_knows_the_most_identifying_items_finds_most(make: Callable[..., Any]) -> None:
    """Carried out with items of the original, no other attacker of the same labels singles out more people."""
    source = random.Random(6)
    n_more = 0
    for _ in range(12):
        data, release, *_ = make(source)
        if data.n_records < 2:
            continue
        table = attack(data, release, known=(1, 2, 3), targets=60, guess=False)
        out = {(row.strategy, row.known): row.after.singled_out.value for row in table.rows}
        for (name, known), value in out.items():
            if known and name in ("random", "rarest", "frequent") and make is not random_local:
                assert value <= out["identifying", known]
            if known and name in ("random exact", "rarest exact", "shown exact"):
                assert value <= out["identifying exact", known]
            n_more += known > 0 and value < out["identifying", known]
    assert n_more or make is random_replacement  # in which nobody can be singled out
