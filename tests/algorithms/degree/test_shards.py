"""CAHD in shards: each is grouped alone, with the same result wherever that happens."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.degree.cahd import CAHD
from setveil.algorithms.degree.shards import bounds_of_shards, join_shards
from setveil.core import Dataset, Transactions
from setveil.engines.distributed_groups import DistributedGrouping
from setveil.errors import InfeasibleError, InputError
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order
from setveil.releases import Grouping
from setveil.report.changes import shape_of
from setveil.risk.guesses import Guesses, deal_anew, guess_both, guess_holders
from setveil.utility import measure
from setveil.workflows.recheck import verify_folder
from tests.naive import degree as naive
from tests.naive.scattered import Scattered, ScatteredGroups

Rows = list[list[str]]
SENSITIVE = ("s0", "s1", "s2", "nowhere")


def some_rows(seed: int, n_records: int = 150) -> Rows:
    """Records of few items, many equal, some of sensitive items alone, some whose sensitive items are given away."""
    chance = random.Random(seed)
    rows: Rows = []
    for _ in range(n_records):
        row = [f"q{item}" for item in range(7) if chance.random() < 0.35]
        row += [item for item in SENSITIVE[:3] if chance.random() < 0.06]
        row += ["q7", "s0"] if chance.random() < 0.03 else []  # q7 never occurs without s0
        rows.append(list(dict.fromkeys(row)))
    return rows


def contents(groups: list[list[list[str]]]) -> list[list[list[str]]]:
    return sorted(sorted(sorted(row) for row in group) for group in groups)


def groups_in(release: Grouping, rows: Rows) -> list[list[list[str]]]:
    """The original records of each group."""
    return [[rows[record] for record in np.flatnonzero(release.group_of == group)] for group in range(release.n_groups)]


def run(rows: Rows, p: int, **options: object) -> Grouping:
    return CAHD(**options).run(Transactions.from_lists(rows), PrivacyDegree(p, SENSITIVE), Context())  # type: ignore[arg-type]


def test_shards_are_joined_until_the_degree_can_hold() -> None:
    chance = np.random.default_rng(1)
    n_joined = n_backwards = 0
    for _ in range(500):
        p, n_shards, n_items = int(chance.integers(2, 5)), int(chance.integers(1, 8)), int(chance.integers(1, 4))
        sizes = chance.integers(p, 3 * p, n_shards)
        counts = chance.binomial(sizes[:, None], 0.25, (n_shards, n_items))
        if (counts.sum(axis=0) * p > sizes.sum()).any():
            continue
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        found = join_shards(bounds, counts, p)
        assert found[0] == 0 and found[-1] == bounds[-1] and np.isin(found, bounds).all()
        parts = np.split(np.arange(n_shards), np.searchsorted(bounds, found)[1:-1])
        for number, part in enumerate(parts):
            assert (counts[part].sum(axis=0) * p <= sizes[part].sum()).all()
            if number < len(parts) - 1:  # none is larger than it has to be
                for end in range(1, len(part)):
                    assert (counts[part[:end]].sum(axis=0) * p > sizes[part[:end]].sum()).any()
        n_joined += len(found) < len(bounds)
        last = parts[-1]
        prefixes = [counts[last[:end]].sum(axis=0) * p <= sizes[last[:end]].sum() for end in range(1, len(last))]
        n_backwards += any(fits.all() for fits in prefixes)
    assert n_joined > 50 and n_backwards > 5


@pytest.mark.parametrize("absorb", [False, True])
def test_every_shard_is_grouped_like_its_twin(absorb: bool) -> None:
    n_shards = n_joined = 0
    for seed in range(25):
        rows, p = some_rows(seed, 90), 3 + seed % 4
        size = (8, 20, 200)[seed % 3]
        release = run(rows, p, shard_size=size, absorb=absorb)
        records = naive.publishable([frozenset(row) for row in rows], SENSITIVE)
        canonical = [records[number] for number in naive.canonical_order(records, SENSITIVE)]
        public = Transactions.from_lists(sorted(record - set(SENSITIVE)) for record in canonical)
        sequence = [canonical[number] for number in gray_order(public)]
        expected = []
        shards = naive.shards(sequence, SENSITIVE, p, size)
        for shard in shards:
            groups = naive.cahd(shard, SENSITIVE, p, range(len(shard)), absorb=absorb)
            expected += [[sorted(shard[number]) for number in group] for group in groups]
        kept = [sorted(record) for record in records]
        assert contents(groups_in(release, kept)) == contents(expected)
        assert release.details["shards"] == len(shards)
        assert sv.verify(release, "degree", p=p, sensitive=SENSITIVE)
        n_shards += len(shards)
        n_joined += len(shards) < len(bounds_of_shards(len(records), size, p)) - 1
    assert n_shards > 60 and n_joined > 2


def test_one_shard_of_everything_is_the_usual_algorithm() -> None:
    rows = some_rows(3)
    whole, one = run(rows, 3), run(rows, 3, shard_size=len(rows))
    kept = [row for row in rows if set(row) - set(SENSITIVE)]
    assert contents(groups_in(whole, kept)) == contents(groups_in(one, kept))
    assert {**whole.details, "shards": 1} == one.details
    assert run(rows, 3, shard_size=30).n_groups != whole.n_groups


@pytest.mark.parametrize("options", [{"shard_size": 20}, {"shard_size": 45, "absorb": True, "distance": "jaccard"}])
def test_the_same_release_where_the_records_are_elsewhere(options: dict[str, object]) -> None:
    n_suppressed = 0
    for seed in range(8):
        rows, model = some_rows(seed), PrivacyDegree(2 + seed % 3, SENSITIVE)
        data, algorithm = Transactions.from_lists(rows), CAHD(**options)  # type: ignore[arg-type]
        here = algorithm.run(data, model, Context())
        there = algorithm.run_distributed(Scattered(data, 1 + seed % 3), model, Context())
        assert isinstance(there, DistributedGrouping) and isinstance(there.groups, ScatteredGroups)
        assert there.details == here.details
        n_suppressed += there.details.get("left_out_records", 0)
        kept = [row for row in rows if set(row) - set(SENSITIVE)]
        assert contents(there.groups.original) == contents(groups_in(here, kept))
        assert (there.n_groups, there.sensitive) == (here.n_groups, here.sensitive)
        totals = np.zeros(len(here.sensitive), dtype=np.int64)
        np.add.at(totals, here.count_item, here.count)
        assert there.count.tolist() == totals[there.count_item].tolist() and totals.sum() == there.count.sum()
        labels = list(here.published.vocabulary)
        assert shape_of(there, labels) == shape_of(here, labels)
        original = Grouping.without_bare(data, SENSITIVE)
        told = measure(original, here)
        known = {name: told[name] for name in told if not name.startswith("kl_")}
        assert measure(Scattered(original, 2), there) == known
    assert n_suppressed > 5


def test_the_same_guesses_where_the_records_are_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    from setveil.risk import guesses

    monkeypatch.setattr(guesses, "LARGEST", 12)
    monkeypatch.setattr(guesses, "MOST", 15)
    for seed in range(4):
        data, model = Transactions.from_lists(some_rows(seed, 400)), PrivacyDegree(3, SENSITIVE)
        algorithm = CAHD(shard_size=60)

        def remake(other: Dataset, algorithm: CAHD = algorithm, model: PrivacyDegree = model) -> Grouping:
            if isinstance(other, Scattered):
                return algorithm.run_distributed(other, model, Context())
            return algorithm.run(other.rows, model, Context())

        original = Grouping.without_bare(data, SENSITIVE)
        here = guess_both(original, remake(original), 1 / 3, remake, seed, replay=False)
        there_data = Scattered(original, 3)
        there = guess_both(there_data, remake(there_data), 1 / 3, remake, seed, replay=False)
        for one, other in ((here.real, there.real), (here.random, there.random)):
            assert one is not None and one.n_cases > 10
            by_looks = tuple(guesser for guesser in one.guessers if not guesser.name.endswith("in file"))
            assert other == Guesses(one.n_cases, one.at_random, by_looks)
        assert here.real != here.random


def test_dealing_does_not_depend_on_the_order_of_records() -> None:
    rows = some_rows(5)
    data = Transactions.from_lists(rows)
    is_sensitive = np.array([label in SENSITIVE for label in data.vocabulary])
    dealt = deal_anew(data, is_sensitive, 3)
    assert sorted(dealt.to_lists()) != sorted(data.to_lists())
    other = deal_anew(Transactions.from_lists(rows[::-1]), is_sensitive, 3)
    assert sorted(other.to_lists()) == sorted(dealt.to_lists())
    elsewhere = deal_anew(Scattered(data, 2), is_sensitive, 3)
    assert isinstance(elsewhere, Scattered)
    assert sorted(elsewhere.whole.to_lists()) == sorted(dealt.to_lists())
    assert sorted(deal_anew(data, is_sensitive, 4).to_lists()) != sorted(dealt.to_lists())


def test_the_order_of_the_file_tells_nothing() -> None:
    """Equal records would else be taken from the end on, so that who holds something stands first in the file."""
    right = []
    for seed in range(12):
        data = Transactions.from_lists(some_rows(seed, 600))
        release = CAHD(shard_size=100).run(data, PrivacyDegree(4, SENSITIVE), Context(seed=seed))
        guess = guess_holders(Grouping.without_bare(data, SENSITIVE), release)
        assert guess is not None
        right.append([guess.rate(name).value - guess.at_random for name in ("first in file", "last in file")])
    assert np.abs(np.mean(right, axis=0)).max() < 0.05  # four standard deviations


def test_labels_of_which_only_numbers_are_left(tmp_path: Path) -> None:
    """Numbers go by value once no other label is published, in the release as in its files."""
    chance = random.Random(1)
    rows = [
        [str(item) for item in (1, 9, 10, 100) if chance.random() < 0.5] + ["s0"] * (chance.random() < 0.1)
        for _ in range(80)
    ]
    data, model, algorithm = Transactions.from_lists(rows), PrivacyDegree(3, ("s0",)), CAHD(shard_size=20)
    here = algorithm.run(data, model, Context())
    there = algorithm.run_distributed(Scattered(data, 2), model, Context())
    assert list(here.published.vocabulary) == list(there.published.vocabulary) == ["1", "9", "10", "100"]
    assert isinstance(there, DistributedGrouping) and isinstance(there.groups, ScatteredGroups)
    kept = [row for row in rows if set(row) - {"s0"}]
    assert contents(there.groups.original) == contents(groups_in(here, kept))
    release = sv.anonymize(rows, model, algorithm="cahd", options={"shard_size": 20})
    release.publish(tmp_path / "out", accept_guessable=True)
    assert verify_folder(tmp_path / "out").holds


def test_what_shards_cannot_do() -> None:
    data, model = Transactions.from_lists(some_rows(1)), PrivacyDegree(3, SENSITIVE)
    for algorithm, words in (
        (CAHD(), "set its option shard_size"),
        (CAHD(shard_size=20, suppress_excess=True), "remove it on Spark"),
        (CAHD(shard_size=20, ordering="rcm"), "remove the option ordering or shard_size"),
    ):
        with pytest.raises(InputError, match=words) as refused:
            algorithm.run_distributed(Scattered(data, 2), model, Context())
        assert "\n" not in str(refused.value)
    with pytest.raises(InfeasibleError, match="p=100 allows"):
        CAHD(shard_size=20).run_distributed(Scattered(data, 2), PrivacyDegree(100, SENSITIVE), Context())
    with pytest.raises(InputError, match="at least 1"):
        CAHD(shard_size=0)
