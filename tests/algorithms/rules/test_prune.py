"""prune: its twin with sets, the guarantee by brute force, and how few entries are suppressed."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import setveil as sv
from tests.naive import rules as naive
from tests.naive.rules_cases import EXAMPLE, MODEL, plain, random_ask, run

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def shown_by(release: sv.Release) -> list[frozenset[str]]:
    return [frozenset(row) for row in release.transactions()]


def test_the_worked_example() -> None:
    release = run(EXAMPLE, MODEL, "prune")
    assert sv.verify(release, MODEL)
    lost = {
        number: before - after for number, (before, after) in enumerate(zip(EXAMPLE, shown_by(release), strict=True))
    }
    # b and c are together in one record: c is rarer than b, so b goes. Then S is in two of three records with c.
    assert lost[7] >= {"b"}
    assert sum(map(len, lost.values())) == release.details["entries_suppressed"] == 2
    assert release.details["sensitive_entries_suppressed"] == 1


def test_prune_on_a_thousand_random_databases() -> None:
    chance = random.Random(5)
    n_public = n_proven = 0
    for _ in range(1000):
        records, model = random_ask(chance)
        records = sorted(records, key=sorted)
        sensitive, rules = set(model.sensitive), plain(model)
        try:
            release = run(records, model, "prune")
        except sv.InfeasibleError:
            assert sum(not record <= sensitive for record in records) < max(rule[2] for rule in rules)
            continue
        assert sv.verify(release, model)
        published = shown_by(release)
        assert all(after <= before for before, after in zip(records, published, strict=True))
        cover = {label: items for label, items in release.codebook().items() if label}
        occurring = set().union(*records)
        assert all(naive.is_met(published, rule, cover) for rule in rules if occurring >= set(rule[0]))
        twin = naive.prune_left_sides(records, rules)
        assert [row - sensitive for row in published] == [row - sensitive for row in twin]
        n_lost = sum(len(before - after) for before, after in zip(records, published, strict=True))
        assert release.details["entries_suppressed"] == n_lost
        n_public += n_lost > release.details["sensitive_entries_suppressed"]
        if "proven" in release.details.get("optimum", "") and n_lost <= 4:
            n_proven += 1
            assert n_lost == fewest_sensitive(records, rules)
    assert n_public > 120
    assert n_proven > 100


def fewest_sensitive(records: list[frozenset[str]], rules: list[naive.Rule]) -> int:
    """The fewest entries of sensitive items without which all rules are met."""
    sensitive = {item for rule in rules for item in rule[1]}
    entries = [(number, item) for number, record in enumerate(records) for item in sorted(record & sensitive)]
    occurring = set().union(*records)
    asked = [rule for rule in rules if occurring >= set(rule[0])]
    for size in range(len(entries) + 1):
        for gone in combinations(entries, size):
            left = [record - {item for row, item in gone if row == number} for number, record in enumerate(records)]
            if all(naive.is_met(left, rule) for rule in asked):
                return size
    raise AssertionError


def test_an_item_that_is_suppressed_everywhere_limits_nobody() -> None:
    # With x suppressed, whoever knows x and a matches by a alone; S is then in two of three records with a.
    records = [frozenset(row) for row in ("axS", "aS", "a", "b", "b")]
    model = sv.RuleAnonymity(2, "1/2", ["x => S", "a,x => S"])
    release = run(records, model, "prune")
    assert sv.verify(release, model)
    assert all("x" not in row for row in shown_by(release))
    assert sum("S" in row for row in shown_by(release)) == 1


def test_neither_the_order_of_records_nor_hash_order_matters() -> None:
    chance = random.Random(6)
    for _ in range(50):
        records, model = random_ask(chance)
        shuffled = chance.sample(records, len(records))
        try:
            one, other = run(records, model, "prune"), run(shuffled, model, "prune")
        except sv.InfeasibleError:
            continue
        assert sorted(map(sorted, shown_by(one))) == sorted(map(sorted, shown_by(other)))
