"""What all algorithms for privacy constraints share."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints._merge_costs import Merge, compare_powers, compare_ul_gains
from setveil.algorithms.constraints.clusters import ClusterAlgorithm
from setveil.algorithms.constraints.coat import COAT
from setveil.algorithms.constraints.pcta import PCTA
from setveil.algorithms.constraints.pcta_plus import PCTAPlus
from setveil.algorithms.constraints.upcta import UPCTA
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.releases import Recoding
from setveil.utility.categories import purity_of
from setveil.utility.loss import ncp
from tests.naive.constraint_cases import (
    answer,
    make,
    smallest_first,
    twin,
)
from tests.naive.constraints import pgen


@pytest.mark.parametrize("start", [0, 600])
def test_branches_of_a_hierarchy_mix_last_as_the_twin_does_it(start: int) -> None:
    n_pure = n_mixed = 0
    for records, ask in smallest_first(range(start, start + 600)):
        if sum(map(bool, records)) < ask["k"]:
            continue
        data = Transactions.from_lists(map(sorted, records))
        branch = {item: f"branch {ord(item) % 3}" for item in data.vocabulary}
        tree = sv.Hierarchy.from_paths([[item, name] for item, name in branch.items()])
        if len(set(branch.values())) == 1:
            continue
        slow = twin(records, ask, [], 0)
        slow.branch = branch
        if ask["m"] == "all":
            slow.enforce(sorted(map(sorted, pgen(records, ask["k"]))), ask["order"])
        else:
            slow.enforce_km(ask["m"], ask["order"])
        model = KmAnonymity(ask["k"], ask["m"])
        assert answer(make(ask), data, model, tree) == (slow.partition(), set()), (records, ask)
        mixes = any(slow.home(cluster) == "mixed" for cluster in slow.clusters)
        n_pure, n_mixed = n_pure + (not mixes), n_mixed + mixes
        moved = PCTAPlus(sweeps=2).run(data, model, Context(tree, seed=start))
        assert sv.verify(moved, model).holds
        given = ConstraintAnonymity(ask["k"], ask["constraints"])
        assert sv.verify(make(ask).run(data, given, Context(tree)), given).holds
        found = purity_of(moved, tree)
        if ask["kind"] is COAT and ask["order"] == "static" and not mixes and not ask["weights"] and ask["m"] in (1, 2):
            assert ask["criterion"] != "ul" or found is None or not found.labels
    assert n_pure > 50 and n_mixed > 50


def test_figure_4_needs_one_suppression_that_is_not_allowed() -> None:
    rows = [["i1", "i2", "i7"], ["i2", "i7"], ["i3", "i5"], ["i4", "i6", "i7"], ["i5", "i7"]]
    data = Transactions.from_lists(rows)
    others = [f"i{number}" for number in range(2, 8)]
    for algorithm in (UPCTA(), COAT(), PCTAPlus()):
        with pytest.raises(sv.InfeasibleError, match=r'"i1".*group 1 .*1 item.*0 are allowed') as problem:
            algorithm.run(data, ConstraintAnonymity(2, [["i1"]], [["i1"], others], 0), Context())
        assert problem.value.items == ("i1",)
        release = algorithm.run(data, ConstraintAnonymity(2, [["i1"]], [["i1"], others], 15), Context())
        assert release.codebook()[""] == ["i1"]


def test_utility_groups_keep_their_counts() -> None:
    draw = random.Random(5)
    items = [f"{disease}{code}" for disease in "xyz" for code in range(5)]
    data = Transactions.from_lists(draw.sample(items, draw.randint(1, 5)) for _ in range(200))
    groups = [[item for item in items if item[0] == disease] for disease in "xyz"]
    constraints = [row for row in data.distinct().rows.to_lists() if row]
    release = sv.anonymize(data, ConstraintAnonymity(5, constraints, groups, 0))
    published = release.transactions()
    book = release.codebook()
    assert "" not in book
    for group in groups:
        names = {label for label, members in book.items() if set(members) <= set(group)}
        original = sum(1 for row in data.to_lists() if set(row) & set(group))
        assert sum(1 for row in published if row & names) == original


def test_utility_losses_are_compared_exactly() -> None:
    draw = random.Random(1)
    assert compare_powers(2, 7, 3, 3) == 0
    for _ in range(4000):
        n, other_n = draw.choice([1, 2, 3, 30, 61, 62, 63, 64, 500]), draw.choice([1, 2, 3, 30, 61, 62, 63, 64, 500])
        s, other_s = draw.choice([0, 1, 3, 7, 2**20, 2**40 + 1]), draw.choice([0, 1, 3, 7, 2**20, 2**40 - 1])
        exact = (2**n - 1) * s - (2**other_n - 1) * other_s
        assert compare_powers(n, s, other_n, other_s) == (exact > 0) - (exact < 0)


def test_gains_in_utility_loss_are_compared_exactly() -> None:
    draw = random.Random(2)
    ties = 0
    for trial in range(4000):
        asked = []
        for _ in range(2):
            left, right = draw.choice([1, 2, 3, 40, 90]), draw.choice([1, 2, 3, 40, 90])
            a, b = draw.choice([1, 2, 5, 2**30]), draw.choice([1, 2, 5, 2**30])
            asked.append((left, right, a, b, draw.choice([max(a, b), a + b])))
        if trial % 10 == 0:  # the same merge from the other side
            left, right, a, b, loss = asked[0]
            asked[1] = (right, left, b, a, loss)
        one, other = ((2 ** (n + m) - 1) * s - (2**n - 1) * a - (2**m - 1) * b for n, m, a, b, s in asked)
        ties += one == other
        merges = [Merge(*map(np.int64, (0, 1, *numbers))) for numbers in asked]
        assert compare_ul_gains(*merges) == (one > other) - (one < other)
    assert ties >= 400


@pytest.mark.parametrize("algorithm", [PCTA(), UPCTA(), COAT(), PCTAPlus()])
def test_items_that_do_not_occur_are_left_alone(algorithm: ClusterAlgorithm) -> None:
    data = Transactions.from_lists([["a", "b"], ["a"], ["b", "z"]])
    part = data.select(np.array([0, 1]))
    release = algorithm.run(part, KmAnonymity(2, 2), Context())
    assert isinstance(release, Recoding)
    assert release.codebook() == {"a or b": ["a", "b"]}
    assert not release.suppressed.any()


def test_utility_constraints_need_an_algorithm_that_knows_them() -> None:
    model = ConstraintAnonymity(2, [["a"]], [["a", "b"]])
    with pytest.raises(sv.InputError, match="does not support utility constraints"):
        PCTA().run(Transactions.from_lists([["a", "b"]]), model, Context())
    with pytest.raises(sv.InputError, match="in no utility group"):
        UPCTA().run(Transactions.from_lists([["a", "b", "c"]]), model, Context())


@pytest.mark.slow
def test_the_larger_click_streams(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("BMS2.dat.gz"))
    for algorithm, expected in ((PCTA(order="static"), 0.0063), (COAT(order="static"), 0.0049)):
        assert round(ncp(data, algorithm.run(data, KmAnonymity(5, 2), Context())), 4) == expected
