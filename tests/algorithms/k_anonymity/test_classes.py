"""What all algorithms for k-anonymity share: feasibility, diversity, figures."""

from __future__ import annotations

import random

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.k_anonymity.centres import prepare
from setveil.algorithms.k_anonymity.gray_tsp import GrayTSP
from setveil.algorithms.k_anonymity.gsc import GSC
from setveil.algorithms.k_anonymity.pta import PTA
from setveil.algorithms.k_anonymity.weave import Weave
from setveil.core import Transactions
from setveil.errors import InfeasibleError
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from tests.naive import k_anonymity as naive
from tests.naive.k_anonymity_cases import random_rows

EVERY = [PTA(), GSC(), GrayTSP(generations=50), Weave(passes=2, tries=5)]


@pytest.mark.parametrize("algorithm", EVERY, ids=lambda a: type(a).__name__)
class TestEvery:
    def test_promise_figures_and_sensitive_items(self, algorithm: Algorithm) -> None:
        source = random.Random(3)
        n_feasible = 0
        for _ in range(250):
            rows = random_rows(source)
            items = sorted({item for row in rows for item in row})
            sensitive = source.sample(items, source.randint(0, len(items)))
            model = KAnonymity(source.randint(2, 5), sensitive, source.choice((1, 2, 3)) if sensitive else 1)
            try:
                release = algorithm.run(Transactions.from_lists(rows), model, Context())
            except InfeasibleError:
                occurring = {item for row in rows for item in row} & set(sensitive)
                assert sum(map(bool, rows)) < model.k or len(occurring) < model.l
                continue
            n_feasible += 1
            verdict = sv.verify(release, model)
            assert verdict.holds, verdict.reason
            published = release.transactions()
            pairs = [(set(before), after) for before, after in zip(rows, published, strict=True)]
            assert all(before & set(sensitive) == after & set(sensitive) for before, after in pairs)
            figures = release.details
            assert figures["added"] == sum(len(after - before) for before, after in pairs)
            assert figures["removed"] == sum(len(before - after) for before, after in pairs)
            assert figures["loss"] == figures["added"] + figures["removed"]
            assert figures["loss_ratio"] == figures["loss"] / max(sum(map(len, rows)), 1)
            classes: dict[frozenset[str], list[set[str]]] = {}
            for after in published:
                classes.setdefault(frozenset(after - set(sensitive)), []).append(after & set(sensitive))
            assert figures["classes"] == len(classes) == len(set(release.class_of.tolist()))
            assert figures["smallest_class"] == min(map(len, classes.values()))
            assert figures["largest_class"] == max(map(len, classes.values()))
            assert (figures["empty_centres"] > 0) == (frozenset() in classes)
            assert figures["records_with_empty_centre"] == len(classes.get(frozenset(), []))
            assert figures["homogeneous_classes"] == sum(bool(set.intersection(*own)) for own in classes.values())
        assert n_feasible > 100

    def test_no_records(self, algorithm: Algorithm) -> None:
        assert algorithm.run(Transactions.from_lists([]), KAnonymity(3), Context()).transactions() == []

    def test_fewer_records_than_k(self, algorithm: Algorithm) -> None:
        with pytest.raises(InfeasibleError, match="2 records, fewer than k=3"):
            algorithm.run(Transactions.from_lists([["a"], ["b"]]), KAnonymity(3), Context())

    def test_too_few_sensitive_items_are_named(self, algorithm: Algorithm) -> None:
        data = Transactions.from_lists([["a", "x"], ["b", "y"]] * 4)
        with pytest.raises(InfeasibleError, match='only 2 occur: "x", "y"') as caught:
            algorithm.run(data, KAnonymity(2, ["x", "y", "z"], 3), Context())
        assert caught.value.items == ("x", "y")

    def test_input_order_does_not_matter(self, algorithm: Algorithm) -> None:
        source = random.Random(8)
        for _ in range(40):
            rows = random_rows(source)
            if sum(map(bool, rows)) < 3:
                continue
            shuffled = source.sample(rows, len(rows))
            model = KAnonymity(3, ["b", "d"])
            published = [algorithm.run(Transactions.from_lists(r), model, Context()) for r in (rows, shuffled)]
            assert len({tuple(sorted(map(tuple, map(sorted, r.transactions())))) for r in published}) == 1


def test_classes_are_merged_along_the_gray_order_of_their_centres() -> None:
    source = random.Random(9)
    for _ in range(300):
        n = source.randint(4, 24)
        rows = [
            [i for i in "abc" if source.random() < 0.5] + source.choices("xyz", k=source.randint(0, 2))
            for _ in range(n)
        ]
        l = source.randint(2, 3)  # noqa: E741
        if len({item for row in rows for item in row} & set("xyz")) < l:
            continue
        records = prepare(Transactions.from_lists(rows), KAnonymity(2, list("xyz"), l))
        class_of = np.array([source.randrange(5) for _ in range(n)])
        class_of = np.unique(class_of, return_inverse=True)[1]
        tour = gray_order(records.vote(class_of)).tolist()
        marks = [frozenset(row) for row in records.hidden.to_lists()]
        expected = naive.merge_until_diverse([np.flatnonzero(class_of == c).tolist() for c in tour], marks, l)
        merged = records.diverse(class_of)
        assert sorted(map(sorted, expected)) == sorted(
            np.flatnonzero(merged == c).tolist() for c in set(merged.tolist())
        )
