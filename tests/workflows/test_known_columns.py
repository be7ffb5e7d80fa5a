"""The risk of attackers who know columns and items, against counting by hand."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import setveil as sv
from setveil.workflows import explore

People = list[tuple[tuple[str, str], frozenset[str]]]


def table(seed: int) -> tuple[sv.Transactions, People]:
    """A few people with two columns, as data and as plain sets."""
    draws = random.Random(seed)
    people: People = [
        (
            (draws.choice("ab"), draws.choice("xyz")),
            frozenset(draws.sample("pqrst", draws.randint(1, 4))),
        )
        for _ in range(draws.randint(2, 12))
    ]
    rows = [
        {"id": f"n{number}", "one": one, "two": two, "item": item}
        for number, ((one, two), items) in enumerate(people)
        for item in sorted(items)
    ]
    data = sv.read(
        {name: [row[name] for row in rows] for name in rows[0]}, person="id", item="item", known_columns=["one", "two"]
    )
    return data, people


def matching(people: People, places: tuple[int, ...], values: tuple[str, ...], items: frozenset[str]) -> int:
    return sum(tuple(own[place] for place in places) == values and items <= has for own, has in people)


@pytest.mark.parametrize("seed", range(40))
def test_risk_with_columns_is_that_of_counting_by_hand(seed: int) -> None:
    data, people = table(seed)
    for names, places in ((["one"], (0,)), (["two", "one"], (0, 1))):
        rows = explore.risk_with_columns(data, names, (1, 2))
        for row, known in zip(rows, (0, 1, 2), strict=True):
            alone, worst, n_people = 0.0, 0, 0
            for own, items in people:
                if len(items) < known:
                    continue
                values = tuple(own[place] for place in places)
                found = [matching(people, places, values, frozenset(some)) for some in combinations(items, known)]
                n_people += 1
                alone += sum(n == 1 for n in found) / len(found)
                worst += min(found) == 1
            if n_people:
                assert row["singled_out"] == pytest.approx(alone / n_people)
                assert row["below_k"] == pytest.approx(worst / n_people)
            else:
                assert row["singled_out"] is None


@pytest.mark.parametrize("seed", range(10))
def test_examples_lead_to_one_person(seed: int) -> None:
    data, people = table(seed)
    for values, items in explore.rare_people(data):
        assert explore.fitting(data, items, values) == 1
        assert matching(people, (0, 1), (values["one"], values["two"]), frozenset(items)) == 1
    one = explore.column_values(data)["one"][0]
    assert explore.fitting(data, [], {"one": one}) == sum(own[0] == one for own, _ in people)
