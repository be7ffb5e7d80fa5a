"""The default for columns and items: always safe, within its bounds, and never worse than the paper's algorithms."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, product

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.kkm._pruning import choose_nodes
from setveil.algorithms.kkm.classes import Classes, column_bound
from setveil.algorithms.kkm.estimates import Estimates
from setveil.algorithms.kkm.merging import Merging, RMerge, RTMerge, TMerge
from setveil.algorithms.kkm.people import People
from setveil.core import Hierarchy, Transactions
from setveil.core.columns import Column, Columns
from setveil.generate import patients_hierarchy
from setveil.models import KKmAnonymity
from tests.naive.kkm import check_people, people_of
from tests.naive.kkm_cases import random_model, random_people
from tests.naive.kkm_classes import column_loss, estimated_loss, lowest


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.long) for block in range(1, 40))])
def test_random_tables_are_safe(block: int) -> None:
    n_feasible = 0
    for seed in range(block * 60, block * 60 + 60):
        random = np.random.default_rng(seed)
        data = random_people(random)
        model = random_model(random, data)
        tree = Hierarchy.balanced(data, 2) if data.n_items and random.random() < 0.5 else None
        options = {"prefer": random.choice(["balanced", "columns", "items"]), "effort": random.choice(["fast", "best"])}
        if tree is not None and random.random() < 0.3:
            options["items"] = random.choice(["aa", "lra", "mhghs+refine"])
        limit = {}
        if random.random() < 0.4:
            limit = {"delta": float(random.choice([0.1, 0.3, 0.6, 1.0])), "bound": random.choice(["columns", "items"])}
        try:
            release = Classes(**{key: str(value) for key, value in options.items()}, **limit).run(
                data, model, Context(tree)
            )
        except sv.InfeasibleError:
            continue
        n_feasible += 1
        check_people(data, release, model)
        details = release.details
        if limit:
            assert details[f"loss_of_{limit['bound']}"] <= limit["delta"] + 1e-6
        assert details["columns_bound"] <= details["loss_of_columns"] + 1e-9
        assert details["items_bound"] is None or details["items_bound"] <= details["loss_of_items"] + 1e-9
    assert n_feasible > 30


def test_the_order_of_people_does_not_matter() -> None:
    for seed in range(30):
        random = np.random.default_rng(seed)
        data = random_people(random)
        order = random.permutation(data.n_records)
        model = KKmAnonymity(k=2, m=2)
        for algorithm in (Classes(), RTMerge(delta=1.0)):
            try:
                one, other = (algorithm.run(rows, model, Context()) for rows in (data, data.select(order)))
            except sv.InfeasibleError:
                continue
            before, after = people_of(one.published), people_of(other.published)
            original = people_of(data)
            assert sorted(zip(map(str, original), map(str, before), strict=True)) == sorted(
                zip([str(original[place]) for place in order], map(str, after), strict=True)
            )


def test_threads_and_repetition_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    data = patients(3000)
    releases = []
    for threads in ("1", "2", "2"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        releases.append(Classes().run(data, KKmAnonymity(k=5, m=2), Context()))
    assert all(people_of(one.published) == people_of(releases[0].published) for one in releases)


def patients(n: int, seed: int = 1) -> Transactions:
    """Diagnoses with age, sex and region."""
    data = sv.generate("patients", n=n, visits=False, seed=seed)
    random = np.random.default_rng(seed)
    ages = [str(age) for age in np.clip(random.normal(55, 20, n), 0, 95).astype(int)]
    bands = Hierarchy.from_paths([[str(age), f"{age // 10 * 10} to {age // 10 * 10 + 9}", "any"] for age in range(96)])
    return replace(
        data,
        columns=Columns(
            (
                Column.of("age", "known", ages, bands),
                Column.of("sex", "known", [("f", "m")[sex] for sex in random.integers(0, 2, n)]),
                Column.of("region", "known", [f"R{region}" for region in random.integers(0, 8, n)]),
            )
        ),
    )


@pytest.mark.parametrize(
    "delta", [0.6, 0.9, *(pytest.param(delta, marks=pytest.mark.long) for delta in (0.35, 0.5, 0.7))]
)
@pytest.mark.parametrize("kind", [RMerge, TMerge, RTMerge])
def test_items_lose_no_more_than_by_the_paper_at_the_same_loss_of_columns(kind: type[Merging], delta: float) -> None:
    data, model, context = patients(250), KKmAnonymity(k=4, m=2), Context(patients_hierarchy())
    theirs = kind(delta=delta).run(data, model, context).details
    ours = Classes(delta=theirs["loss_of_columns"]).run(data, model, context).details
    assert ours["loss_of_columns"] <= theirs["loss_of_columns"] + 1e-9
    assert ours["loss_of_items"] <= theirs["loss_of_items"] + 1e-9


def test_preferences_trade_one_loss_for_the_other() -> None:
    data, model = patients(1000), KKmAnonymity(k=4, m=2)
    found = {
        name: Classes(prefer=name).run(data, model, Context()).details for name in ("columns", "balanced", "items")
    }
    assert [found[name]["loss_of_columns"] for name in found] == sorted(
        found[name]["loss_of_columns"] for name in found
    )
    assert [found[name]["loss_of_items"] for name in found] == sorted(
        (found[name]["loss_of_items"] for name in found), reverse=True
    )


def test_a_heavier_column_loses_less() -> None:
    data, model = patients(1000), KKmAnonymity(k=4, m=2)

    def kept(weights: str | dict[str, float]) -> int:
        release = Classes(column_weights=weights).run(data, model, Context())
        assert release.published.columns is not None
        return sum(value.startswith("R") for value in release.published.columns["region"].to_list())

    assert kept("region=50") > kept("age=50,sex=50")
    assert kept({"region": 50.0}) == kept("region=50")
    for wrong in ("region", "region=x", "ward=2", "region=0"):
        with pytest.raises(sv.InputError, match="weight"):
            Classes(column_weights=wrong).run(data, model, Context())


def test_infeasible_asks_say_why() -> None:
    data = patients(20)
    with pytest.raises(sv.InfeasibleError, match="20 people, fewer than k=21"):
        Classes().run(data, KKmAnonymity(k=21, m=2), Context())
    with pytest.raises(sv.InfeasibleError, match="raise delta"):
        Classes(delta=0.0).run(data, KKmAnonymity(k=10, m=0), Context())
    with pytest.raises(sv.InputError, match="cannot be used inside classes"):
        Classes(items="pcta").run(data, KKmAnonymity(k=2, m=2), Context())


def test_people_without_items_have_columns() -> None:
    columns = Columns((Column.of("sex", "known", ["f", "m"] * 6),))
    data = replace(Transactions.from_lists([[]] * 12), columns=columns)
    release = Classes().run(data, KKmAnonymity(k=3, m=2), Context())
    assert release.details["loss_of_columns"] == 0.0
    check_people(data, release, KKmAnonymity(k=3, m=2))


# -- parts ------------------------------------------------------------------------------------------------------------


def test_estimates_are_those_of_the_slow_twin() -> None:
    for seed in range(200):
        random = np.random.default_rng(seed)
        data = random_people(random)
        model = KKmAnonymity(k=2, m=int(random.integers(1, 4)))
        try:
            people = People.of(data, model)
        except sv.InfeasibleError:
            continue
        starts = np.unique(np.append(random.integers(0, people.n_records + 1, 3), [0, people.n_records]))
        found = Estimates.of(people, None)(np.arange(people.n_records), starts, Context())
        rows = [people.rows.record(number).tolist() for number in range(people.n_records)]
        for part, (first, last) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
            assert found[part] == estimated_loss(rows[first:last], 2, 0 if model.m == 1 else 2)


def test_lowest_nodes_and_their_costs() -> None:
    for seed in range(100):
        random = np.random.default_rng(seed)
        data = random_people(random)
        try:
            people = People.of(data, KKmAnonymity(k=2, m=0))
        except sv.InfeasibleError:
            continue
        class_of = random.integers(0, 3, people.n_records)
        class_of = np.unique(class_of, return_inverse=True)[1].reshape(-1)
        nodes = people.class_nodes(class_of)
        costs = people.column_costs(nodes, np.bincount(class_of))
        for number in range(len(nodes)):
            members = [
                tuple(people.cells[people.cell_of[place]].tolist()) for place in np.flatnonzero(class_of == number)
            ]
            assert costs[number] == pytest.approx(column_loss(people.trees, members) * len(members))
            for tree, node, leaves in zip(people.trees, nodes[number], zip(*members, strict=True), strict=True):
                assert node == lowest(tree, leaves)


def test_the_best_choice_in_a_tree() -> None:
    for seed in range(200):
        random = np.random.default_rng(seed)
        n_nodes = int(random.integers(1, 10))
        parent = np.array([-1, *(int(random.integers(node)) for node in range(1, n_nodes))])
        cost = random.integers(1, 9, n_nodes).astype(float)
        children = {node: np.flatnonzero(parent == node).tolist() for node in range(n_nodes)}

        def choices(node: int, children: dict[int, list[int]] = children) -> list[list[int]]:
            below = [choices(child) for child in children[node]]
            return [[node]] + ([list(chain(*parts)) for parts in product(*below)] if below else [])

        chosen = np.flatnonzero(choose_nodes(parent, cost))
        assert chosen.tolist() in [sorted(nodes) for nodes in choices(0)]
        assert cost[chosen].sum() == min(cost[nodes].sum() for nodes in choices(0))


def test_the_bound_of_columns_by_trying_everything() -> None:
    for seed in range(60):
        random = np.random.default_rng(seed)
        data = random_people(random, 14)
        try:
            people = People.of(data, KKmAnonymity(k=3, m=0))
        except sv.InfeasibleError:
            continue
        total = 0.0
        leaves = [people.cells[cell].tolist() for cell in people.cell_of]
        for own in leaves:
            least = np.inf
            paths = [tree.ancestors(leaf) for tree, leaf in zip(people.trees, own, strict=True)]
            for nodes in product(*paths):
                below = sum(
                    all(
                        node in tree.ancestors(leaf)
                        for tree, node, leaf in zip(people.trees, nodes, other, strict=True)
                    )
                    for other in leaves
                )
                if below >= 3:
                    loss = [losses[node] for losses, node in zip(people.node_losses, nodes, strict=True)]
                    least = min(least, sum(loss))
            total += least
        assert column_bound(people) == pytest.approx(total / people.n_records)
