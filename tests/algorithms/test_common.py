"""What every registered algorithm must do, for every model it enforces."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms import ENTRIES, Algorithm, Entry, options_of
from setveil.algorithms.base import Context
from setveil.core import Hierarchy, Transactions
from setveil.models import MODELS, PrivacyModel, make_model
from setveil.releases import Grouping, Recoding, Release
from tests.naive.kkm_cases import with_columns

CASES = [pytest.param(entry, model, id=f"{entry.name}-{model}") for entry in ENTRIES for model in entry.models]
LABELS = [f"i{number:02d}" for number in range(12)]
SENSITIVE = ("i10", "i11")

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def some_records(seed: int, n_records: int = 40) -> list[list[str]]:
    """Skewed baskets; sensitive items are rare, so that a degree of 2 is feasible."""
    random = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, 11)
    rows = []
    for _ in range(n_records):
        chosen = random.choice(10, size=random.integers(0, 5), replace=False, p=weights / weights.sum())
        rows.append(
            [LABELS[item] for item in chosen] + ([SENSITIVE[random.integers(2)]] if random.random() < 0.15 else [])
        )
    return rows


def make(model: str, k: int = 3) -> PrivacyModel:
    options: dict[str, dict[str, object]] = {
        "km": {"k": k, "m": 2},
        "k-anonymity": {"k": k, "sensitive": SENSITIVE},
        "constraints": {
            "k": k,
            "constraints": [["i00", "i01"], ["i02", "i05"], ["i03"], ["i01", "i04", "i06"]],
            "max_suppressed": 100,
        },
        "degree": {"p": min(k, 2), "sensitive": SENSITIVE},
        "coherence": {"h": 80, "k": k, "p": 2, "sensitive": SENSITIVE},
        "uncertainty": {"rho": f"1/{k}", "sensitive": SENSITIVE},
        "kkm": {"k": k, "m": 2},
        "rules": {"k": k, "c": "1/2", "rules": ["i00,i01 => i10", "i02,i05 => i11", "i03 => i10", "i00 => i10,i11"]},
    }
    example = dict(MODELS[model].example)  # of a model that asks for nothing special here
    return make_model(model, options.get(model, example | ({"sensitive": SENSITIVE} if "sensitive" in example else {})))


def run(entry: Entry, data: Transactions, model: PrivacyModel, seed: int = 0) -> Release:
    if model.generalizes_columns:
        data = with_columns(data)
    return sv.anonymize(data, model, entry.name, "fanout:3" if entry.hierarchy == "required" else None, seed=seed)


def content(release: Release) -> list[object]:
    """What is published, in input order."""
    rows: list[object] = [tuple(row) for row in release.published.to_lists()]
    rows += [column.to_list() for column in release.published.columns or ()]
    if isinstance(release, Grouping):
        rows = [(row, int(group)) for row, group in zip(rows, release.group_of, strict=True)]
        rows += [release.count_group.tolist(), release.count_item.tolist(), release.count.tolist()]
    return rows


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_the_release_keeps_its_promise(entry: Entry, model: str) -> None:
    for seed in range(12):
        data = Transactions.from_lists(some_records(seed))
        promise = make(model)
        try:
            release = run(entry, data, promise, seed)
        except sv.InfeasibleError as problem:
            assert problem.items or model == "k-anonymity", "an infeasible ask names the items in the way"
            continue
        assert release.kind == entry.release
        left_out = release.details.get("left_out_records", 0)  # records without public items
        assert release.published.n_records == data.n_records - left_out
        verdict = sv.verify(release, promise)
        assert verdict.holds, verdict.reason
        sv.measure(data, release)


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_at_least_one_ask_is_feasible(entry: Entry, model: str) -> None:
    data = Transactions.from_lists(some_records(0) * 3)
    assert sv.verify(run(entry, data, make(model, k=2)), make(model, k=2)).holds


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_the_same_input_and_seed_give_the_same_release(entry: Entry, model: str) -> None:
    data = Transactions.from_lists(some_records(3) * 2)
    assert content(run(entry, data, make(model, k=2), 5)) == content(run(entry, data, make(model, k=2), 5))


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_the_input_is_not_modified(entry: Entry, model: str) -> None:
    data = Transactions.from_lists(some_records(4) * 2)
    before = (data.indptr.copy(), data.items.copy())
    run(entry, data, make(model, k=2))
    assert np.array_equal(before[0], data.indptr)
    assert np.array_equal(before[1], data.items)


def meaning(data: Transactions, release: Release) -> Counter[object]:
    """What a release says whatever order its records are in.

    What each record became; of a grouping the groups, each with its records, and with how often it has each sensitive
    item.
    """
    given = [tuple(row) for row in data.to_lists()]
    published = [tuple(row) for row in release.published.to_lists()]
    if not release.has_own_records:
        return Counter(published)
    if not isinstance(release, Grouping):
        return Counter(zip(given, published, strict=True))
    groups = []
    for group in range(release.n_groups):
        mine = release.count_group == group
        counts = zip(release.count_item[mine].tolist(), release.count[mine].tolist(), strict=True)
        members = sorted(published[number] for number in np.flatnonzero(release.group_of == group))
        groups.append((tuple(members), tuple(counts)))
    return Counter(groups)


def depends_on_record_order(algorithm: Algorithm, model: PrivacyModel, rows: list[list[str]], seed: int) -> bool:
    """Whether shuffling the records changes what a release says, in any of four shuffles."""

    def release_of(given: list[list[str]]) -> Counter[object] | str:
        data = Transactions.from_lists(given)
        hierarchy = Hierarchy.balanced(data.vocabulary, 3)
        try:
            return meaning(data, algorithm.run(data, model, Context(hierarchy, seed=seed)))
        except sv.InfeasibleError as problem:
            return str(problem)

    rng = np.random.default_rng(seed)
    shuffles = [[rows[number] for number in rng.permutation(len(rows))] for _ in range(4)]
    expected = release_of(rows)
    return any(release_of(shuffled) != expected for shuffled in shuffles)


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_record_order_does_not_matter(entry: Entry, model: str) -> None:
    kind = entry.load()
    algorithms = [kind()]
    if "suppress_excess" in {option.name for option in options_of(kind)}:
        algorithms.append(kind(suppress_excess=True))  # type: ignore[call-arg]
    for algorithm in algorithms:
        for seed in range(10):
            rows = some_records(seed, 40) + some_records(seed + 100, 10) * 2
            assert not depends_on_record_order(algorithm, make(model, k=2 + seed % 2), rows, seed), seed


@dataclass(frozen=True)
class GroupsAsGiven(Algorithm):
    """Order-dependent on purpose: the first half of the records as given is one group."""

    def run(self, data: Transactions, model: PrivacyModel, context: Context) -> Grouping:
        halves = np.arange(data.n_records) * 2 // data.n_records
        return Grouping.from_groups(data, halves, SENSITIVE)


@dataclass(frozen=True)
class FirstItemsGo(Algorithm):
    """Order-dependent on purpose: suppresses the items of the first records."""

    def run(self, data: Transactions, model: PrivacyModel, context: Context) -> Recoding:
        clusters = np.arange(data.n_items)
        clusters[data.items[:3]] = -1
        return Recoding.from_clusters(data, clusters)


@pytest.mark.parametrize("algorithm", [GroupsAsGiven(), FirstItemsGo()])
def test_an_algorithm_that_depends_on_record_order_is_caught(algorithm: Algorithm) -> None:
    for seed in range(10):
        rows = some_records(seed, 40) + some_records(seed + 100, 10) * 2
        assert depends_on_record_order(algorithm, make("degree"), rows, seed), seed


@pytest.mark.parametrize(("entry", "model"), CASES)
def test_odd_inputs_get_a_release_or_a_clear_no(entry: Entry, model: str) -> None:
    odd = {
        "one record": [["i00", "i01"]],
        "all empty": [[], [], []],
        "all equal": [["i00", "i01", "i02"]] * 6,
        "one item": [["i00"]] * 5,
        "one long record": [LABELS[:10]] + [["i00"]] * 8,
        "only sensitive": [["i10"]] + [["i00"], ["i01"], ["i00"], []] * 3,
        "no records": [],
    }
    for name, rows in odd.items():
        data = Transactions.from_lists(rows)
        if not data.n_items and entry.hierarchy == "required":
            continue  # no hierarchy can be built over no items
        try:
            release = run(entry, data, make(model))
        except (sv.InfeasibleError, sv.InputError) as problem:
            assert "\n" not in str(problem), name
            continue
        assert sv.verify(release, make(model)).holds, name


@pytest.mark.parametrize(("entry", "model"), [case for case in CASES if case.values[1] in ("km", "k-anonymity", "kkm")])
def test_more_than_all_records_is_infeasible(entry: Entry, model: str) -> None:
    with pytest.raises(sv.InfeasibleError):
        run(entry, Transactions.from_lists([["i00", "i10"], ["i01", "i11"], ["i00", "i01"]]), make(model, k=4))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_algorithm_is_documented(entry: Entry) -> None:
    kind = entry.load()
    assert issubclass(kind, Algorithm)
    text = inspect.getdoc(inspect.getmodule(kind)) or ""
    assert "Guarantee" in text
    assert "Departures" in text
    for option in options_of(kind):
        assert option.text, f"option {option.name} of {entry.name} needs a sentence"
    assert re.fullmatch(r"[a-z0-9+-]+", entry.name)
