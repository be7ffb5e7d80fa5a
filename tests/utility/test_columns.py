"""Loss of columns, and counts by columns and items together: compared with plain loops over people."""

from __future__ import annotations

import numpy as np
import pytest

import setveil as sv
from setveil.utility.columns import Answers, draw_questions, mixed_errors
from tests.naive.kkm_cases import random_people, with_columns

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def test_losses_and_answers_are_those_of_plain_loops() -> None:
    n_compared = 0
    for seed in range(30):
        data = random_people(np.random.default_rng(seed))
        known = [column for column in data.columns or () if column.role == "known"]
        tree = "fanout:2" if seed % 2 and data.n_items > 1 else None
        try:
            release = sv.anonymize(data, "kkm", k=2, m=1, hierarchy=tree)
        except sv.InfeasibleError:
            continue
        if not known or not data.n_occurrences:
            continue
        n_compared += 1
        published = {column.name: column for column in release.rows.columns or ()}
        covers = {
            column.name: dict(zip(published[column.name].values, published[column.name].cover.to_lists(), strict=True))
            for column in known
        }
        shown = {column.name: published[column.name].to_list() for column in known}
        losses = sv.measure(data, release)
        for column in known:
            sizes = [len(covers[column.name][value]) for value in shown[column.name]]
            loss = sum(size / column.tree.n_items for size in sizes if size > 1) / data.n_records
            assert losses[f"ncp_of_column:{column.name}"] == pytest.approx(loss)
        people = list(zip(*shown.values(), strict=True))
        assert losses["discernibility"] == sum(people.count(one) for one in people)
        assert losses["n_classes"] == len(set(people))
        names = list(shown)
        answers = Answers(data, release, names)
        rows, records, book = data.to_lists(), release.transactions(), release.codebook()
        for question in draw_questions(data, names, 15, seed):
            asked = {
                name: {data.columns[name].tree.labels[leaf] for leaf in data.columns[name].tree.leaves(node)}
                for name, node in question.nodes.items()
            }
            items = [data.vocabulary[item] for item in question.items]
            truth, answer = 0, 0.0
            for place in range(data.n_records):
                own = {name: data.columns[name].to_list()[place] for name in asked}
                truth += all(own[name] in asked[name] for name in asked) and set(items) <= set(rows[place])
                chance = 1.0
                for name, values in asked.items():
                    covered = covers[name][shown[name][place]]
                    chance *= len(values & set(covered)) / len(covered)
                for item in items:
                    sizes = [len(book[label]) for label in records[place] if item in book[label]]
                    chance *= 1 / min(sizes) if sizes else 0.0
                answer += chance
            assert answers.truth(question) == truth
            assert answers.answer(question) == pytest.approx(answer)
    assert n_compared > 8


def test_data_published_unchanged_are_counted_exactly() -> None:
    sexes = sv.Transactions.from_lists([["a", "b"]] * 40)
    same = with_columns(sexes)
    assert same.columns is not None
    only = type(same.columns)((same.columns["sex"],))
    same = type(same)(same.indptr, same.items, same.vocabulary, columns=only)
    assert mixed_errors(same, sv.anonymize(same, "kkm", k=2, m=2))["largest"] == 0
    assert mixed_errors(sexes, sv.anonymize(sexes, "km", k=2, m=2)) == {}
