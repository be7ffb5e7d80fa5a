"""The searches among cuts find the same from counts of the engine as from the records themselves."""

from __future__ import annotations

from typing import Any

import pytest

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.km import counted_violations, optimal, refine
from setveil.algorithms.km.aa_refine import AARefine
from setveil.algorithms.km.counted_violations import CountedViolations
from setveil.algorithms.km.optimal import Optimal
from setveil.algorithms.km.violations import Violations, questions_about
from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError
from setveil.models import KmAnonymity
from tests.naive.km_cases import cases
from tests.naive.optimal import skewed_cases


def from_counts(
    data: Transactions, tree: Hierarchy, model: KmAnonymity, context: Context, needs_rows: bool = False
) -> CountedViolations:
    assert not needs_rows
    return CountedViolations(context.engine.tree_counts(data, tree), tree, model, context)


def results(algorithm: Algorithm, seed: int) -> list[dict[str, Any]]:
    found = []
    for number, (data, tree, k) in enumerate([*cases(12, seed), *skewed_cases(12, seed)]):
        release = algorithm.run(data, KmAnonymity(k, 1 + number % 4), Context(hierarchy=tree))
        assert release.node_of_leaf is not None  # type: ignore[attr-defined]
        found.append({**release.details, "cut": release.node_of_leaf.tolist()})  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("algorithm", [AARefine(), Optimal()], ids=repr)
def test_the_same_cut_and_the_same_reasons(algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = results(algorithm, seed=17)
    for module in (refine, optimal):
        monkeypatch.setattr(module, "questions_about", from_counts)
    for at_once in (0, 1 << 22):  # level by level, or everything at the beginning
        monkeypatch.setattr(counted_violations, "AT_ONCE", at_once)
        assert results(algorithm, seed=17) == expected
    assert sum(bool(one["moves"]) for one in expected) > 10


def test_whole_records_are_not_counted() -> None:
    data, tree, k = cases(1, seed=1)[0]
    with pytest.raises(InputError, match="set m to a number"):
        from_counts(data, tree, KmAnonymity(k, "all"), Context(hierarchy=tree))


def test_large_data_is_counted_once_unless_records_are_needed() -> None:
    tree = Hierarchy.balanced(Transactions.from_lists([["a", "b", "c"]]), fanout=2)
    model, context = KmAnonymity(2, 2), Context(hierarchy=tree)
    many, few = (Transactions.from_lists([["a", "b", "c"]] * n) for n in (20, 2))
    assert isinstance(questions_about(many, tree, model, context), CountedViolations)
    assert isinstance(questions_about(many, tree, model, context, needs_rows=True), Violations)
    assert isinstance(questions_about(many, tree, KmAnonymity(2, "all"), context), Violations)
    assert isinstance(questions_about(few, tree, model, context), Violations)
