"""Known columns: attackers always know them. Compared with sets, and never a comfort."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.core import Itemsets, Transactions, Vocabulary
from setveil.core.columns import Column, Columns
from setveil.risk import risk
from setveil.risk.attack import attack
from setveil.risk.column_classes import ColumnClasses
from setveil.risk.surface import Surface
from tests.naive.kkm_cases import random_people, with_columns

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def classes_of(data: Transactions) -> list[tuple[str, ...]]:
    known = [column.to_list() for column in data.columns or () if column.role == "known"]
    return list(zip(*known, strict=True)) if known else [()] * data.n_records


def test_the_risk_of_columns_and_items_is_that_of_sets() -> None:
    n_compared = 0
    for seed in range(150):
        data = random_people(np.random.default_rng(seed), 25)
        if not any(column.role == "known" for column in data.columns or ()):
            continue
        n_compared += 1
        rows, own = [set(row) for row in data.to_lists()], classes_of(data)
        table = risk(data, known=(1, 2, 3), k=3)
        assert [row.known for row in table.rows] == [0, 1, 2, 3]
        for found in table.rows:
            supports = [
                [
                    sum(own[other] == own[place] and set(part) <= rows[other] for other in range(len(rows)))
                    for part in combinations(sorted(rows[place]), found.known)
                ]
                for place in range(len(rows))
                if len(rows[place]) >= found.known
            ]
            assert found.n_records == len(supports)
            if not supports:
                continue
            mean = lambda values: sum(values) / len(values)  # noqa: E731
            assert found.singled_out == pytest.approx(mean([mean([n == 1 for n in one]) for one in supports]))
            assert found.mean_inverse_support == pytest.approx(mean([mean([1 / n for n in one]) for one in supports]))
            assert found.max_inverse_support == pytest.approx(1 / min(min(one) for one in supports))
            assert found.below_k == pytest.approx(mean([min(one) < 3 for one in supports]))
    assert n_compared > 80


@pytest.mark.parametrize("hierarchy", [None, "fanout:2"])
def test_candidates_are_in_the_class_of_the_target(hierarchy: str | None) -> None:
    n_compared = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        data = random_people(random)
        if not data.n_items or not any(column.role == "known" for column in data.columns or ()):
            continue
        try:
            release = sv.anonymize(data, "kkm", k=2, m=2, hierarchy=hierarchy)
        except sv.InfeasibleError:
            continue
        n_compared += 1
        surface = Surface.of_release(release, data.vocabulary, np.empty(0, dtype=np.int64))
        assert surface.column_classes is not None
        shown, own, book = release.transactions(), classes_of(release.rows), release.codebook()
        filled = np.flatnonzero(data.lengths)
        for size in (0, 1, 2):
            targets = filled[data.lengths[filled] >= size]
            if not len(targets):
                continue
            known = [sorted(random.choice(data.record(one), size, replace=False)) for one in targets.tolist()]
            itemsets = Itemsets(
                np.arange(0, size * len(known) + 1, size) if size else np.zeros(len(known) + 1, dtype=np.int64),
                np.array([item for one in known for item in one], dtype=np.int32),
                data.vocabulary,
            )
            nobody = np.full(len(targets), -1)
            found = surface.search(itemsets, targets, nobody, "every", surface.column_classes.of_record[targets])
            best = surface.search(itemsets, targets, nobody, "most", surface.column_classes.of_record[targets])
            for place, target in enumerate(targets.tolist()):
                labels = [data.vocabulary[int(item)] for item in known[place]]
                usable = [one for one in labels if any(one in book[label] for label in book if label)]
                n_shown = {
                    other: sum(any(one in book[label] for label in shown[other]) for one in usable)
                    for other in range(data.n_records)
                    if own[other] == own[target]
                }
                assert found.n_candidates[place] == sum(n == len(usable) for n in n_shown.values())
                assert best.n_candidates[place] == sum(n == max(n_shown.values()) for n in n_shown.values())
    assert n_compared > 8


def test_columns_never_make_data_look_safer() -> None:
    """The same people with and without columns: whoever knows more finds at least as much."""
    data = with_columns(sv.generate("patients", n=600, visits=False, seed=3))
    release = sv.anonymize(data, "kkm", k=3, m=2)
    bare = replace(release, published=replace(release.rows, columns=None))
    with_them, without = (attack(data, one, targets=400, guess=False) for one in (release, bare))
    by_name = {(row.strategy, row.known): row for row in with_them.rows}
    assert (("random", 0) in by_name) and all(row.known for row in without.rows)
    for row in without.rows:
        more = by_name[row.strategy, row.known]
        if row.attacker.match == "every":
            assert row.before.linked.value <= more.before.linked.value
            assert row.after.linked.value <= more.after.linked.value
    for was, now in zip(sv.risk(replace(data, columns=None)).rows, sv.risk(data).rows[1:], strict=True):
        assert was.singled_out <= now.singled_out and was.mean_inverse_support <= now.mean_inverse_support
    assert 'knows the columns "age", "sex", "region" and 2 items' in by_name["random", 2].to_dict()["words"]
    with pytest.raises(sv.InputError, match="the original has no known column"):
        attack(replace(data, columns=None), release)


def test_people_whose_record_is_not_known_are_looked_for_in_the_smallest_class_that_covers_them() -> None:
    for seed in range(40):
        data = random_people(np.random.default_rng(seed))
        try:
            release = sv.anonymize(data, "kkm", k=2, m=0)
        except sv.InfeasibleError:
            continue
        classes = ColumnClasses.of(release.rows)
        if classes is None:
            continue
        assert data.columns is not None and release.rows.columns is not None
        covers = {
            column.name: dict(zip(column.values, column.cover.to_lists(), strict=True))
            for column in release.rows.columns
            if column.cover is not None
        }
        found = classes.of_people(data.columns)
        published = classes_of(release.rows)
        for place, own in enumerate(classes_of(data)):
            fitting = {
                int(classes.of_record[other]): published.count(published[other])
                for other in range(len(published))
                if all(value in covers[name][label] for name, value, label in zip(covers, own, published[other]))  # noqa: B905
            }
            assert fitting[int(found[place])] == min(fitting.values())


def test_carried_columns_that_are_the_same_in_each_class_are_no_further_risk(tmp_path: Path) -> None:
    data = Transactions.from_lists([["a"], ["a", "b"], ["b"], ["a", "b"]] * 10)
    sex = ["f", "m", "f", "m"] * 10
    for ward, is_moderate in ((sex, False), (["x", "x", "y", "y"] * 10, True)):
        columns = Columns((Column.of("sex", "known", sex), Column.of("ward", "carry", ward)))
        outcome = sv.publish(sv.anonymize(replace(data, columns=columns), "kkm", k=5, m=2), tmp_path / f"{is_moderate}")
        light = outcome.lights[1]
        assert ("carried columns" in light.sentence) == is_moderate
        assert light.answer == "moderate"  # everybody of a class has an item here
        assert "reveal an item or a sensitive value of" in light.sentence


def test_values_of_sensitive_columns_are_inferred_like_sensitive_items() -> None:
    """Everybody with "a" and the same sex has one value; those with "b" have two."""
    data = Transactions.from_lists([["a"], ["a"], ["b"], ["b"]] * 10)
    sex, value = ["f", "m", "f", "m"] * 10, ["x", "y", "x", "x", "x", "y", "y", "y"] * 5
    columns = Columns((Column.of("sex", "known", sex), Column.of("c", "sensitive", value)))
    data = replace(data, columns=columns)
    table = attack(data, sv.anonymize(data, "kkm", k=5, m=1), known=(1,), targets=400, strategies=["random"])
    alone, one = table.rows
    assert (alone.known, one.known) == (0, 1)
    assert alone.after.certain is not None and alone.after.certain.value == 0
    assert one.after.certain is not None and one.before.certain is not None
    assert 0.4 < one.after.certain.value < 0.6  # those with "a"
    assert one.after.certain == one.before.certain and one.n_sensitive == 2
    assert one.to_dict()["certain"]["base"] == "people with at least 1 item and a sensitive item"


def test_whoever_finds_no_record_knows_what_the_class_says() -> None:
    """No woman has "x": what remains is how many of the women have the secret, not how many of all people."""
    rows = [["a", "s"], ["b", "s"], ["a", "b"], ["x"], ["x"], ["x", "a"]]
    sex = Column("sex", "known", Vocabulary(["f", "m"]), np.array([0, 0, 0, 1, 1, 1], dtype=np.int32))
    data = replace(sv.Transactions.from_lists(rows), columns=Columns((sex,)))
    secret = data.vocabulary.numbers(["s"])
    surface = Surface.of_original(data, secret)
    assert surface.column_classes is not None
    known, _ = Itemsets.from_lists([["x"], ["a", "b"]], data.vocabulary)
    for match in ("every", "most"):
        found = surface.search(known, np.array([0, 2]), np.zeros(2, dtype=np.int64), match, np.array([0, 0]))
        assert found.posterior[0] == pytest.approx(2 / 3) and found.control[0] == pytest.approx(1 / 2)
        assert found.posterior[1] == 0 and found.control[1] == pytest.approx(1)  # the other two women have it
