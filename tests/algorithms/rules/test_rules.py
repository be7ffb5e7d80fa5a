"""rbat and regroup against brute force, and the worked example."""

from __future__ import annotations

import random
from fractions import Fraction
from math import log2

import pytest

import setveil as sv
from setveil.algorithms.rules.clustering import largest_below, needed_rules
from tests.naive import rules as naive

EXAMPLE = [frozenset(row) for row in ("abd", "acST", "bd", "abT", "abT", "ad", "acd", "bcdST")]
MODEL = sv.RuleAnonymity(2, "1/2", ["a,b => S", "c => S", "a,d => T", "b,c => T"])

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def plain(model: sv.RuleAnonymity) -> list[naive.Rule]:
    return [(rule.known, rule.sensitive, *model.limits(rule)) for rule in model.rules]


def parts_of(release: sv.Release, public: str) -> naive.Parts:
    return sorted(items for items in release.codebook().values() if set(items) & set(public))


def run(records: list[frozenset[str]], model: sv.RuleAnonymity, algorithm: str, **options: int) -> sv.Release:
    return sv.anonymize([sorted(record) for record in records], model, algorithm, options=options)


def random_ask(chance: random.Random, most: int = 5) -> tuple[list[frozenset[str]], sv.RuleAnonymity]:
    public = "abcde"[: chance.randint(2, most)]
    share = chance.choice((0.3, 0.5, 0.7))
    items = public + "ST"[: chance.randint(1, 2)]
    records = [frozenset(item for item in items if chance.random() < share) for _ in range(chance.randint(3, 9))]
    rules = []
    for _ in range(chance.randint(1, 5)):
        known = chance.sample(public, chance.randint(1, min(3, len(public))))
        own = chance.choice(("", "", "", " [k=3]", " [c=1/5]", " [k=2, c=2/3]"))
        rules.append(f"{','.join(known)} => {chance.choice(('S', 'S', 'T', 'S,T'))}{own}")
    return [*records, frozenset(public), frozenset(items)], sv.RuleAnonymity(
        chance.choice((2, 2, 3)), chance.choice(("1/2", "1/3", "0.4")), rules
    )


def test_the_worked_example() -> None:
    rules = plain(MODEL)
    violated = [rule[:2] for rule in rules if not naive.is_met(EXAMPLE, rule)]
    assert violated == [(("b", "c"), ("T",)), (("c",), ("S",))]
    assert naive.counts(EXAMPLE, rules[3]) == (3, 2)
    assert naive.counts(EXAMPLE, rules[2])[0] == 1
    valid = [parts for parts in naive.partitions("abcd") if naive.all_met(EXAMPLE, parts, rules)]
    assert len(valid) == 6
    top_down, ours = (run(EXAMPLE, MODEL, name) for name in ("rbat", "regroup"))
    assert parts_of(top_down, "abcd") == [["a", "c"], ["b", "d"]]
    assert naive.utility_loss(EXAMPLE, parts_of(top_down, "abcd")) == Fraction(7, 20)
    assert parts_of(ours, "abcd") == [["a"], ["b"], ["c", "d"]]
    assert naive.utility_loss(EXAMPLE, parts_of(ours, "abcd")) == Fraction(29, 120)
    assert min(naive.utility_loss(EXAMPLE, parts) for parts in valid) == Fraction(29, 120)
    assert top_down.details["ul_log2"] == pytest.approx(log2(7 / 20))
    assert ours.details["ul_log2"] == ours.details["ul_bound_log2"] == pytest.approx(log2(29 / 120))
    assert ours.details["entries_suppressed"] == 0
    assert "proven to be the least" in ours.details["optimum"]


def test_rbat_on_a_thousand_random_databases() -> None:
    chance = random.Random(1)
    n_released = 0
    for _ in range(1000):
        records, model = random_ask(chance)
        public = sorted(set().union(*records) - set(model.sensitive))
        expected = naive.rbat(records, public, plain(model))
        try:
            release = run(records, model, "rbat")
        except sv.InfeasibleError:
            assert expected is None
            continue
        assert parts_of(release, "".join(public)) == expected
        assert sv.verify(release, model)
        n_released += 1
    assert n_released > 300


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


def test_what_another_rule_implies_is_left_away_and_nothing_else() -> None:
    model = sv.RuleAnonymity(
        5, "1/2", ["a => S", "a => S,T", "a,b => S", "a => S [k=9]", "b => S,T [k=2]", "b => S [c=2/3]", "b => T"]
    )
    kept = {str(rule) for rule in needed_rules(model)}
    assert kept == {"a => S [k=9, c=1/2]", "a,b => S", "b => S [k=5, c=2/3]", "b => T"}


def test_a_large_denominator_is_replaced_by_one_that_allows_the_same() -> None:
    chance = random.Random(3)
    for _ in range(500):
        below, most = chance.randint(2, 10**18), chance.randint(1, 40)
        share = Fraction(chance.randint(1, below - 1), below)
        found = largest_below(share, most)
        assert [int(found * count) for count in range(most + 1)] == [int(share * count) for count in range(most + 1)]
        assert found.denominator <= most or found == share
