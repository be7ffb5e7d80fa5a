"""Random requests for pcta, upcta and coat, and what their slow twin answers."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints.clusters import ClusterAlgorithm
from setveil.algorithms.constraints.coat import COAT
from setveil.algorithms.constraints.pcta import PCTA
from setveil.algorithms.constraints.pcta_plus import PCTAPlus
from setveil.algorithms.constraints.upcta import UPCTA
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.releases import Recoding
from setveil.utility.loss import ncp, utility_loss
from tests.naive.constraints import Clustering, Infeasible, log2, pgen

FIGURE_1A = ["ab", "abcde", "abdef", "ace", "bcg", "ceg"]


Answer = tuple[set[frozenset[str]], set[str]] | None


def answer(
    algorithm: ClusterAlgorithm | PCTAPlus, data: Transactions, model: object, tree: sv.Hierarchy | None = None
) -> Answer:
    """Clusters and suppressed items, None if infeasible."""
    try:
        book = algorithm.run(data, model, Context(tree)).codebook()  # type: ignore[arg-type]
    except sv.InfeasibleError as problem:
        assert problem.items
        return None
    suppressed = set(book.pop("", []))
    return {frozenset(members) for members in book.values()}, suppressed


def some_ask(seed: int) -> tuple[list[frozenset[str]], dict[str, Any]]:
    draw = random.Random(seed)
    items = "abcdefgh"[: draw.randint(2, 8)]
    lengths = [0, 1, 1, 2, 2, 3, 4, 5]
    records = [frozenset(draw.sample(items, min(len(items), draw.choice(lengths)))) for _ in range(draw.randint(1, 14))]
    used = sorted(set().union(*records))
    groups = [[item for item in used if ord(item) % 3 == part] for part in range(3)] if draw.random() < 0.5 else []
    return records, {
        "k": draw.randint(2, 6),
        "order": draw.choice(["dynamic", "static"]),
        "criterion": draw.choice(["ul", "delta-ul", "delta-mass"]),
        "kind": draw.choice([PCTA, UPCTA, COAT]),
        "m": draw.choice([1, 2, 3, 4, "all"]),
        "weights": {item: draw.choice([0, 0.25, 0.5, 1]) for item in used} if draw.random() < 0.3 else None,
        "penalty": {item: draw.choice([0, 1, 2]) for item in used} if draw.random() < 0.3 else None,
        "constraints": [draw.sample(items, draw.randint(1, min(len(items), 4))) for _ in range(draw.randint(0, 10))],
        "groups": [group for group in groups if group],
        "bound": draw.choice([0, 15, 30, 50, 100]),
    }


def twin(records: list[frozenset[str]], ask: dict[str, Any], groups: list[list[str]], bound: float) -> Clustering:
    return Clustering(
        records,
        ask["k"],
        [frozenset(group) for group in groups],
        bound,
        ask["criterion"],
        "rarest" if ask["kind"] is COAT else "all",
        {item: Fraction(weight) for item, weight in (ask["weights"] or {}).items()},
        {item: Fraction(penalty) for item, penalty in (ask["penalty"] or {}).items()},
    )


def make(ask: dict[str, Any]) -> ClusterAlgorithm:
    kind: type[ClusterAlgorithm] = ask["kind"]
    return kind(order=ask["order"], criterion=ask["criterion"], weights=ask["weights"], penalty=ask["penalty"])


def smallest_first(seeds: Iterable[int]) -> list[tuple[list[frozenset[str]], dict[str, Any]]]:
    """What the seeds give; the first that fails is the smallest of all that do."""
    return sorted(map(some_ask, seeds), key=lambda found: (sum(map(len, found[0])), len(found[0])))


def assert_itemsets_as_the_twin(kind: type[ClusterAlgorithm]) -> None:
    """Itemsets of up to m items."""
    for records, ask in smallest_first(range(2000)):
        if not any(records) or ask["kind"] is not kind:
            continue
        slow = twin(records, ask, [], 0)
        expected: Answer = None
        if sum(map(bool, records)) >= ask["k"]:
            if ask["m"] == "all":
                slow.enforce(sorted(map(sorted, pgen(records, ask["k"]))), ask["order"])
            else:
                slow.enforce_km(ask["m"], ask["order"])
            expected = slow.partition(), set()
        data = Transactions.from_lists(map(sorted, records))
        assert answer(make(ask), data, KmAnonymity(ask["k"], ask["m"])) == expected, (records, ask)


def assert_constraints_as_the_twin(kind: type[ClusterAlgorithm]) -> None:
    """Given constraints and utility groups."""
    for records, ask in smallest_first(range(3000)):
        if not any(records) or ask["kind"] is not kind:
            continue
        groups = [] if ask["kind"] is PCTA else ask["groups"]
        bound = ask["bound"] if groups else 0
        slow = twin(records, ask, groups, bound)
        expected: Answer = None
        needy = any(slow.is_violated(slow.image(constraint)) for constraint in ask["constraints"])
        if not needy or sum(map(bool, records)) >= ask["k"]:
            try:
                slow.enforce(ask["constraints"], ask["order"])
                expected = slow.partition(), slow.suppressed
            except Infeasible:
                expected = None
        model = ConstraintAnonymity(ask["k"], ask["constraints"], groups or None, bound)
        assert answer(make(ask), Transactions.from_lists(map(sorted, records)), model) == expected, (records, ask)


def figures(data: Transactions, release: Recoding) -> tuple[int, int, float, float]:
    shown = release.details
    loss = log2(utility_loss(release))
    return shown["clusters"], shown["largest_cluster"], round(ncp(data, release), 4), round(loss, 1)
