"""regroup: the worked example, and brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from math import log2

import pytest

import setveil as sv
from tests.naive import rules as naive
from tests.naive.rules_cases import EXAMPLE, MODEL, parts_of, plain, random_ask, run

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def test_the_worked_example() -> None:
    rules = plain(MODEL)
    violated = [rule[:2] for rule in rules if not naive.is_met(EXAMPLE, rule)]
    assert violated == [(("b", "c"), ("T",)), (("c",), ("S",))]
    assert naive.counts(EXAMPLE, rules[3]) == (3, 2)
    assert naive.counts(EXAMPLE, rules[2])[0] == 1
    valid = [parts for parts in naive.partitions("abcd") if naive.all_met(EXAMPLE, parts, rules)]
    assert len(valid) == 6
    release = run(EXAMPLE, MODEL, "regroup")
    assert parts_of(release, "abcd") == [["a"], ["b"], ["c", "d"]]
    assert naive.utility_loss(EXAMPLE, parts_of(release, "abcd")) == Fraction(29, 120)
    assert min(naive.utility_loss(EXAMPLE, parts) for parts in valid) == Fraction(29, 120)
    assert release.details["ul_log2"] == release.details["ul_bound_log2"] == pytest.approx(log2(29 / 120))
    assert release.details["entries_suppressed"] == 0
    assert "proven to be the least" in release.details["optimum"]


def test_regroup_on_a_thousand_random_databases() -> None:
    chance = random.Random(2)
    n_best = n_partitions = 0
    for number in range(1000):
        records, model = random_ask(chance, 4)
        public, rules = sorted(set().union(*records) - set(model.sensitive)), plain(model)
        try:
            release = run(records, model, "regroup")
        except sv.InfeasibleError:
            assert sum(not record.isdisjoint(public) for record in records) < max(rule[2] for rule in rules)
            continue
        cover = {label: items for label, items in release.codebook().items() if label}
        published = [frozenset(row) for row in release.published.to_lists()]
        assert all(naive.is_met(published, rule, cover) for rule in rules if set().union(*records) >= set(rule[0]))
        assert sv.verify(release, model)
        parts = parts_of(release, "".join(public))
        whole, _ = naive.clustered(records, parts)
        name = {tuple(items): label for label, items in cover.items()}
        suppressed = 0
        for before, after in zip(whole, published, strict=True):
            named = {label if label in model.sensitive else name[tuple(label.split("+"))] for label in before}
            assert after <= named
            assert named - after <= set(model.sensitive)
            suppressed += len(named - after)
        assert release.details["entries_suppressed"] == suppressed >= release.details["lower_bound"]
        loss = naive.utility_loss(records, parts)
        assert 2 ** release.details["ul_log2"] == pytest.approx(float(loss))
        best = naive.best_partition(records, public, rules)
        if not suppressed:
            assert best is not None
            assert 2 ** release.details["ul_bound_log2"] <= float(best) + 1e-12
            assert ("proven to be the least" in release.details["optimum"]) <= (best == loss)
            n_partitions += 1
            n_best += best == loss
        if number % 10 == 0 and sum(len(record & set(model.sensitive)) for record in records) <= 6:
            assert release.details["lower_bound"] <= naive.least_suppressed(records, public, rules) <= suppressed
    assert n_partitions > 300
    assert n_best > 0.95 * n_partitions


def test_entries_are_suppressed_only_where_merging_does_not_help() -> None:
    records = [frozenset("aS"), frozenset("bS"), frozenset("abS"), frozenset("a")]
    release = run(records, sv.RuleAnonymity(2, "1/2", ["a => S", "b => S"]), "regroup")
    assert release.details["entries_suppressed"] == 1
    with pytest.raises(sv.InfeasibleError, match="regroup"):
        run(records, sv.RuleAnonymity(2, "1/2", ["a => S"]), "rbat")
