"""(k, k^m)-anonymity: the verifier against a brute-force checker, on thousands of small tables."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.core.columns import Column, Columns
from setveil.models import KAnonymity, KKmAnonymity, KmAnonymity
from setveil.verify import achieved, judge, minimal_violations, verify
from tests.naive.kkm import kkm, people_of
from tests.naive.verify import km as naive_km

N_TABLES = 4_000
VALUES = (["f", "m"], ["0-9", "10-19", "*"], ["9", "10", "007", "missing"], ["x"], ["a=b", "|", "a,b"])
ITEMS = (["a", "b", "c", "d"], ["2", "10", "9", "007", "7"], ["E11", "I10", "=1", "x|y"])


def make_table(rng: random.Random) -> Transactions:
    """A few people; classes and records repeat often."""
    items, n = rng.choice(ITEMS), rng.choice([0, 1, 2, 4, 6, 8, 12])
    rows = [[item for item in items if rng.random() < 0.5] for _ in range(rng.randint(1, 4))]
    columns = []
    for number in range(rng.randint(0, 3)):
        values = rng.choice(VALUES)
        cells = [None if rng.random() < 0.05 else rng.choice(values) for _ in range(n)]
        columns.append(Column.of(f"c{number}", rng.choice(["known", "known", "sensitive", "carry"]), cells))
    data = Transactions.from_lists([rng.choice(rows) for _ in range(n)])
    return replace(data, columns=Columns(tuple(columns)) if columns or rng.random() < 0.5 else None)


def grades(rng: random.Random, m: int) -> str:
    return ",".join(f"{size}:{k}" for size, k in enumerate(sorted(rng.randint(2, 6) for _ in range(m + 1))[::-1]))


def make_model(rng: random.Random, data: Transactions) -> KKmAnonymity:
    sensitive = [label for label in [*data.vocabulary, "stranger"] if rng.random() < 0.2]
    has_secrets = bool(sensitive) or any(column.role == "sensitive" for column in data.columns or ())
    rest: dict[str, Any] = {"sensitive": sensitive, "l": rng.randint(1, 3) if has_secrets else 1}
    if rng.random() < 0.4:
        m = rng.randint(0, 3)
        text = grades(rng, m)
        return KKmAnonymity(k=int(text.rpartition(":")[2]), m=m, k_known=text, **rest)
    return KKmAnonymity(k=rng.choice([2, 2, 3, 5]), m=rng.choice([0, 1, 2, 3, "all"]), **rest)


def test_every_answer_agrees_with_brute_force() -> None:
    rng = random.Random(7)
    outcomes = []
    for _ in range(N_TABLES):
        data = make_table(rng)
        model = make_model(rng, data)
        names = [column.name for column in data.columns or () if column.role == "known"]
        bad, expected = kkm(people_of(data), names, model, set(model.sensitive))
        found = minimal_violations(data, model)
        assert {(one.itemset, one.support) for one in found} == bad
        verdict, exact = judge(data, model)
        assert verdict.holds == verify(data, model).holds == (not bad)
        assert achieved(data, model) == expected
        if bad:
            assert (verdict.witness, verdict.support) in bad
            assert not exact
        else:
            assert exact == expected
        outcomes.append(verdict.holds)
    assert 0.1 < sum(outcomes) / N_TABLES < 0.9


def test_numbers_of_people_that_depend_on_known_items_without_columns() -> None:
    rng = random.Random(8)
    outcomes = []
    for _ in range(1_500):
        items = rng.choice(ITEMS)
        rows = [[item for item in items if rng.random() < 0.6] for _ in range(rng.randint(1, 4))]
        data = Transactions.from_lists([rng.choice(rows) for _ in range(rng.randint(0, 14))])
        text = grades(rng, m := rng.randint(1, 3))
        model = KmAnonymity(k=int(text.rpartition(":")[2]), m=m, k_known=text)
        records = [frozenset(row) for row in data.to_lists()]
        bad = set()
        for size in range(1, m + 1):
            rare, _ = naive_km(records, KmAnonymity(k=model.k_for(size), m=size))
            bad |= {found for found in rare if len(found[0]) == size}
        bad = {one for one in bad if not any(set(other[0]) < set(one[0]) for other in bad)}
        if 0 < len(records) < model.k_for(0):
            bad = {((), len(records))}
        assert {(one.itemset, one.support) for one in minimal_violations(data, model)} == bad
        assert verify(data, model).holds == (not bad)
        outcomes.append(not bad)
    assert 0.1 < sum(outcomes) / len(outcomes) < 0.9


def test_the_reason_names_columns_and_items() -> None:
    data = Transactions.from_lists([["E11"], ["E11"], ["I10", "E11"], []])
    sex = Column.of("sex", "known", ["f", "f", "f", "m"])
    data = replace(data, columns=Columns((sex,)))
    verdict = verify(data, KKmAnonymity(k=2, m=1))
    assert (verdict.witness, verdict.support) == (("sex=m",), 1)
    assert verdict.reason == '{"sex=m"} matches 1 record, fewer than k=2.'
    verdict = verify(data.select(np.arange(3)), KKmAnonymity(k=2, m=1))
    assert verdict.witness == ("sex=f", "I10")
    assert verify(data.select(np.arange(2)), KKmAnonymity(k=2, m="all"))


def test_distinct_values_need_something_sensitive() -> None:
    with pytest.raises(sv.InputError, match="l=2 needs sensitive items or sensitive columns"):
        verify(Transactions.from_lists([["a"], ["a"]]), KKmAnonymity(k=2, m=1, l=2))


def test_damaged_columns_are_refused() -> None:
    data = Transactions.from_lists([["a"], ["a"]])
    column = Column.of("sex", "known", ["f", "f"])
    for broken in (replace(column, codes=column.codes[:1]), replace(column, codes=column.codes + 1)):
        with pytest.raises(sv.InputError, match='column "sex" is damaged'):
            verify(replace(data, columns=Columns((broken,))), KKmAnonymity(k=2, m=1))


def test_a_hundred_thousand_classes() -> None:
    """Memory grows with the entries, not with classes times items."""
    n = 100_000
    rows = Transactions.from_pairs(
        np.repeat(np.arange(2 * n), 2),
        np.tile([0, 1], 2 * n),
        2 * n,
        sv.Transactions.from_lists([["a", "b"]]).vocabulary,
    )
    labels = [str(number // 2) for number in range(2 * n)]
    data = replace(rows, columns=Columns((Column.of("place", "known", labels),)))
    verdict, found = judge(data, KKmAnonymity(k=2, m=2))
    assert verdict.holds and found["smallest_class"] == found["smallest_support"] == 2
    assert not verify(data.select(np.arange(1, 2 * n)), KKmAnonymity(k=2, m=2))


def test_columns_belong_to_the_class_of_k_anonymity() -> None:
    rng = random.Random(9)
    outcomes = []
    for _ in range(800):
        data = make_table(rng)
        if any(column.role == "sensitive" for column in data.columns or ()):
            continue
        model = KAnonymity(k=2, sensitive=["a"] if rng.random() < 0.3 else ())
        classes = Counter((known, items - set(model.sensitive)) for known, _, items in people_of(data))
        assert verify(data, model).holds == all(count >= 2 for count in classes.values())
        outcomes.append(verify(data, model).holds)
    assert 0.05 < sum(outcomes) / len(outcomes) < 0.95


@pytest.mark.parametrize("model", [KmAnonymity(k=2, m=1), sv.Coherence(h=50, k=2, p=1, sensitive=["a"])])
def test_models_about_items_refuse_known_columns(model: sv.PrivacyModel) -> None:
    data = Transactions.from_lists([["a", "b"], ["a", "b"]])
    data = replace(data, columns=Columns((Column.of("sex", "known", ["f", "f"]),)))
    with pytest.raises(sv.InputError, match='does not protect known columns \\("sex"\\)'):
        verify(data, model)
    with pytest.raises(sv.InputError, match='does not protect known columns \\("sex"\\)'):
        sv.anonymize(data, model)
    secret = replace(data, columns=Columns((Column.of("sex", "sensitive", ["f", "f"]),)))
    with pytest.raises(sv.InputError, match='does not protect sensitive columns \\("sex"\\)'):
        verify(secret, model)
    carried = replace(data, columns=Columns((Column.of("sex", "carry", ["f", "f"]),)))
    assert verify(carried, model).holds is not None
    told = model.column_sentences([("sex", "carry")])
    assert told[0].startswith('Carried columns ("sex"): they are published unchanged, outside the guarantee.')


def test_algorithms_that_do_not_generalize_columns_are_not_given_any() -> None:
    data = Transactions.from_lists([["a", "b"], ["a", "b"]])
    data = replace(data, columns=Columns((Column.of("sex", "known", ["f", "f"]),)))
    with pytest.raises(sv.InputError, match="do not generalize known columns; use model kkm with m=all"):
        sv.anonymize(data, "k-anonymity", k=2)
    degree = sv.PrivacyDegree(p=2, sensitive=["a"])
    assert degree.column_sentences([("sex", "known")])[0].startswith(
        'Known columns ("sex"): they are published unchanged'
    )
