"""The verifier against a brute-force checker: thousands of releases of every kind, good and broken, under every
model.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from setveil.core import Hierarchy, Transactions
from setveil.models import Coherence, ConstraintAnonymity, KAnonymity, KmAnonymity, PrivacyDegree, PrivacyModel
from setveil.releases import Grouping, LocalRecoding, Recoding, Release, Replacement
from setveil.verify import achieved, minimal_violations, verify
from tests.naive import verify as naive

N_RELEASES = 10_000
KINDS = ("plain", "recoding", "cut", "local", "replacement", "grouping")


def make_data(rng: random.Random) -> Transactions:
    labels = rng.choice(["abcdef", "abcdefgh", ["2", "10", "9", "007", "7"]])
    weights = [rng.random() ** 2 + 0.05 for _ in labels]
    templates = [
        [label for label, weight in zip(labels, weights, strict=True) if rng.random() < weight]
        for _ in range(rng.randint(1, 6))
    ]
    records = []
    for _ in range(rng.randint(0, 14)):
        row = set(rng.choice(templates))
        if rng.random() < 0.25:
            row ^= {rng.choice(labels)}
        records.append(sorted(row))
    return Transactions.from_lists(records)


def make_release(rng: random.Random, data: Transactions, kind: str) -> Release | Transactions:
    n = data.n_items
    if kind == "plain" or n == 0:
        return data
    if kind == "recoding":
        return Recoding.from_clusters(data, np.array([rng.choice([-1, *range(4)]) for _ in range(n)]))
    if kind in ("cut", "local"):
        extra = ["zz1", "zz2"] if rng.random() < 0.5 else []
        labels = [*data.vocabulary, *extra]
        paths = [[label, f"N{rng.randint(0, 2)}", "ALL"] for label in labels]
        tree = Hierarchy.from_paths(paths)
        if kind == "cut":
            raised = {node: rng.random() < 0.4 for node in range(tree.n_items, tree.n_nodes)}
            cut = []
            for leaf in range(tree.n_items):
                node = leaf
                for ancestor in tree.ancestors(leaf):
                    if raised.get(ancestor) and ancestor != tree.root:
                        node = ancestor
                cut.append(-1 if rng.random() < 0.15 else node)
            return Recoding.from_cut(data, tree, np.array(cut))
        leaves = tree.leaf_of_items(data.vocabulary)
        nodes = [
            -1 if rng.random() < 0.05 else rng.choice(tree.ancestors(int(leaves[item]))) for item in data.items.tolist()
        ]
        return LocalRecoding.from_nodes(data, tree, np.array(nodes, dtype=np.int32))
    sensitive = [label for label in data.vocabulary if rng.random() < 0.3]
    classes = np.array([rng.randint(0, 3) for _ in range(data.n_records)], dtype=np.int64)
    if kind == "grouping":
        return Grouping.from_groups(data, classes, sensitive or [data.vocabulary[0]])
    public = [label for label in data.vocabulary if label not in sensitive]
    rows = [[label for label in public if rng.random() < 0.5] for _ in range(4)]
    return Replacement.from_centres(data, classes, encoded(rows, data), sensitive)


def encoded(rows: list[list[str]], like: Transactions) -> Transactions:
    """Rows over the vocabulary of other transactions."""
    pairs = [(number, like.vocabulary.number(label)) for number, row in enumerate(rows) for label in row]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Transactions.from_pairs(table[:, 0], table[:, 1], len(rows), like.vocabulary)


def broken(rng: random.Random, release: Release | Transactions) -> Release | Transactions:
    """Something changed after the fact: an item more or less, a record gone, a count or a group changed."""
    published = release if isinstance(release, Transactions) else release.published
    what = rng.choice(["item", "drop", "count", "groups"])
    if isinstance(release, Grouping) and what == "count" and len(release.count):
        count = release.count.copy()
        count[rng.randrange(len(count))] += rng.choice([-1, 1, 2])
        return replace(release, count=count)
    if isinstance(release, Grouping) and what == "groups" and release.published.n_records:
        group_of = release.group_of.copy()
        free = [n for n in range(len(group_of)) if (group_of == group_of[n]).sum() > 1]
        if free:
            group_of[rng.choice(free)] = rng.randint(0, int(group_of.max()))
        return replace(release, group_of=group_of)
    if published.n_items == 0 or published.n_records == 0:
        return release
    rows = published.to_lists()
    row = rng.randrange(len(rows))
    if what == "drop" and not isinstance(release, Grouping | Replacement):
        del rows[row]
    else:
        rows[row] = sorted(set(rows[row]) ^ {rng.choice(published.vocabulary.labels)})
    changed = encoded(rows, published)
    return changed if isinstance(release, Transactions) else replace(release, published=changed)


def make_model(rng: random.Random, data: Transactions) -> PrivacyModel:
    labels = [*data.vocabulary, "stranger"]
    some = sorted({rng.choice(labels) for _ in range(rng.randint(1, 3))})
    k = rng.choice([2, 2, 2, 3, 5, 20])
    match rng.randint(0, 4):
        case 0:
            return KmAnonymity(k=k, m=rng.choice([1, 2, 3, 4, "all", 50]))
        case 1:
            return KAnonymity(k=k, sensitive=some if rng.random() < 0.6 else (), l=rng.choice([1, 1, 2, 3]))
        case 2:
            wanted = [[rng.choice(labels) for _ in range(rng.randint(0, 3))] for _ in range(rng.randint(0, 8))]
            groups: dict[int, list[str]] = {}
            for label in labels:
                groups.setdefault(rng.randint(0, 3), []).append(label)
            utility = list(groups.values())[: rng.randint(1, 4)] if rng.random() < 0.5 else None
            return ConstraintAnonymity(
                k=k, constraints=wanted, utility=utility, max_suppressed=rng.choice([0, 12.5, 20, 100])
            )
        case 3:
            return PrivacyDegree(p=rng.choice([2, 2, 3, 5]), sensitive=some)
    return Coherence(
        h=rng.choice([0, 33.3, 50, 66.66666666666667, 80, 100]), k=k, p=rng.choice([1, 2, 3]), sensitive=some
    )


def agree(what: Any, model: PrivacyModel) -> bool:
    """Compare all three answers; says whether the claim holds."""
    release = what if isinstance(what, Release) else None
    published = what.published if isinstance(what, Release) else what
    records = [frozenset(row) for row in published.to_lists()]
    verdict = verify(what, model)
    found = achieved(what, model)
    mixed = too_many = False
    expected: dict[str, Any]
    if isinstance(model, PrivacyDegree):
        holds, expected = naive.degree(release, records, model)
        holds = holds and not naive.misnamed(release, records, model.sensitive)
        assert (verdict.holds, found) == (holds, expected)
        assert holds or verdict.witness is not None
        return holds
    if isinstance(model, KmAnonymity):
        violations, expected = naive.km(records, model)
    elif isinstance(model, KAnonymity):
        violations, expected = naive.k_anonymity(records, model, release)
    elif isinstance(model, Coherence):
        violations, expected = naive.coherence(records, model, release)
    else:
        assert isinstance(model, ConstraintAnonymity)
        violations, expected, mixed, too_many = naive.constraints(release, records, model)
    assert found == expected
    violations = naive.misnamed(release, records, model.options().get("sensitive", ())) or violations
    assert [(one.itemset, one.support) for one in minimal_violations(what, model)] == violations
    assert verdict.holds == (not violations and not mixed and not too_many)
    if violations:
        assert (verdict.witness, verdict.support) == violations[0]
        limit = len(violations) // 2
        assert [(v.itemset, v.support) for v in minimal_violations(what, model, limit)] == violations[:limit]
    assert verdict.holds == (verdict.reason == "")
    return verdict.holds


@pytest.mark.slow
def test_agrees_with_brute_force_on_random_releases() -> None:
    rng = random.Random(20)
    tally: Counter[tuple[str, str, bool]] = Counter()
    for number in range(N_RELEASES):
        kind = KINDS[number % len(KINDS)]
        data = make_data(rng)
        release = make_release(rng, data, kind)
        if rng.random() < 0.4:
            release = broken(rng, release)
        model = make_model(rng, data)
        tally[kind, model.name, agree(release, model)] += 1
    # Every kind met every model, and both answers came up.
    names = {name for _, name, _ in tally}
    assert len(names) == 5
    for kind in KINDS:
        for name in names:
            assert tally[kind, name, True] > 10, (kind, name)
            assert tally[kind, name, False] > 10, (kind, name)
