"""Generalizing what a release suppresses: what its twin does, beside any safe suppression."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil.algorithms import Context
from setveil.algorithms.km.generalizing import add_offered, generalize_suppressed
from setveil.models import KmAnonymity
from tests.naive.km_cases import cases
from tests.naive.optimal import skewed_cases
from tests.naive.trim import added, generalized, itemset_counts


@pytest.mark.parametrize("m", [1, 2, 3])
def test_offers_are_added_as_its_twin_does(m: int) -> None:
    rng = random.Random(m)
    n_added = n_refused = 0
    while n_added < 300 or n_refused < 300:
        k, n_labels = rng.randint(2, 3), rng.randint(3, 7)
        part = {label for label in range(n_labels) if rng.random() < 0.6}  # what was published before, and is safe
        fixed = [part & {label for label in range(n_labels) if rng.random() < 0.5} for _ in range(rng.randint(3, 7))]
        counts = itemset_counts([frozenset(map(str, record)) for record in fixed], m)
        if any(count < k for count in counts.values()):
            fixed = [set() for _ in fixed]
        offered = [{label for label in range(n_labels) if rng.random() < 0.5} for _ in fixed]
        worth = [rng.choice((0.2, 0.5, 1.0)) for _ in range(n_labels)]
        entries = [(row, label, False) for row, record in enumerate(fixed) for label in record]
        entries += [(row, label, True) for row, record in enumerate(offered) for label in record]
        entries.sort(key=lambda entry: (entry[0], rng.random()))
        if not any(is_new for _, _, is_new in entries):
            continue
        owners, labels, is_new = (np.array(column) for column in zip(*entries, strict=True))
        kept = add_offered(owners, labels, is_new, np.array(worth), len(fixed), k, m, Context(None))
        assert kept is not None
        shown = [set(labels[(owners == row) & kept].tolist()) for row in range(len(fixed))]
        assert shown == added(fixed, offered, worth, k, m)
        n_added += int((is_new & kept).sum())
        n_refused += int((~kept).sum())


@pytest.mark.parametrize("m", [1, 2, 3, "all"])
def test_any_safe_suppression_is_generalized_level_by_level(m: int | str) -> None:
    """Nothing but the most frequent item is shown at first."""
    n_raised = 0
    for data, tree, k in [*cases(100, seed=60), *skewed_cases(30, seed=60)]:
        leaves = tree.leaf_of_items(data.vocabulary)[data.items].astype(np.int64)
        best = int(data.supports.argmax()) if data.n_items else 0
        shown = np.where((data.items == best) & (data.supports.max(initial=0) >= k), leaves, -1)
        model = KmAnonymity(k=k, m=m)  # type: ignore[arg-type]
        nodes = generalize_suppressed(data, shown, np.ones(len(leaves)), tree, model, Context(tree))
        assert (nodes[shown >= 0] == shown[shown >= 0]).all()
        assert all(node < 0 or tree.covers(node, leaf) for node, leaf in zip(nodes.tolist(), leaves, strict=True))
        begin: list[dict[int, int]] = [{} for _ in range(data.n_records)]
        found: list[dict[int, int]] = [{} for _ in range(data.n_records)]
        for owner, leaf, before, node in zip(data.owners.tolist(), leaves.tolist(), shown, nodes, strict=True):
            begin[owner][leaf], found[owner][leaf] = int(before), int(node)
        if m == "all":
            records = [set(record.values()) - {-1} for record in found]
            assert all(sum(one <= other for other in records) >= k for one in records)
        else:
            assert found == generalized(begin, tree, k, int(m))
        n_raised += int((nodes >= tree.n_items).sum())
    assert n_raised > 20
