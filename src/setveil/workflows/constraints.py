"""Constraint lists and data: make lists from what occurs, and tell what a list asks for before anything is merged."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError
from setveil.models import ConstraintAnonymity
from setveil.policy.constraints import write_lists
from setveil.policy.resolve import model_of
from setveil.policy.rules import write_rules
from setveil.policy.schema import Policy
from setveil.workflows.hierarchy import resolve_hierarchy

if TYPE_CHECKING:
    from setveil.algorithms.constraints.feasibility import ConstraintReport

KINDS = ("occurring", "pgen", "support", "visits", *(f"PR{number}" for number in range(1, 10)))


def generate(
    data: Transactions,
    out: str | os.PathLike[str],
    kind: str,
    *,
    k: int = 5,
    m: int = 2,
    low: int = 1,
    high: int = 4,
    n: int | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> int:
    """Write the constraints of a kind to a file; returns how many. ``visits``: one constraint per record of
    ``data``.
    """
    from pathlib import Path

    return write_lists(_generated(data, kind, k, m, low, high, n, seed, progress), Path(out))


def generate_rules(
    data: Transactions,
    out: str | os.PathLike[str],
    sensitive: str,
    *,
    p: int = 2,
    hierarchy: str | None = None,
    progress: Progress = no_progress,
) -> int:
    """Write a rule for each sensitive item and each occurring itemset of at most ``p`` public items; returns how
    many.
    """
    from pathlib import Path

    from setveil.algorithms.rules.generators import every_rule
    from setveil.models.parameters import whole_number
    from setveil.workflows.policies import check_request

    p, listed = whole_number(p, "p"), check_request(data, hierarchy, sensitive)
    progress("generating rules", None)
    return write_rules(every_rule(data, listed, p, progress), Path(out))


def _generated(
    data: Transactions, kind: str, k: int, m: int, low: int, high: int, n: int | None, seed: int, progress: Progress
) -> Iterator[tuple[str, ...]]:
    from setveil.algorithms.constraints import generators as make

    progress("generating constraints", None)
    if kind == "occurring":
        return make.occurring(data, m, progress)
    if kind == "pgen":
        return make.rare_records(data, k)
    if kind == "support":
        return make.in_support_range(data, low, high, m, progress)
    if kind == "visits":
        return make.per_group(data)
    if kind in make.PAIR_SHARES:
        return make.random_pairs(data, make.PAIR_SHARES[kind], n, seed)
    if kind in make.SIZE_SHARES:
        return make.random_mix(data, make.SIZE_SHARES[kind], n or 1000, seed)
    raise InputError(f'there are no constraints of kind "{kind}"; choose one of {", ".join(KINDS)}.')


def check(data: Transactions, section: Mapping[str, Any], hierarchy: str | None = None) -> ConstraintReport:
    """What is already satisfied, what contradicts, and whether the ask is known to be infeasible."""
    from setveil.algorithms.constraints.feasibility import check_constraints

    policy = Policy.from_dict({"schema": 1, "model": dict(section)})
    model = model_of(policy, data, resolve_hierarchy(hierarchy, data))
    assert isinstance(model, ConstraintAnonymity)
    return check_constraints(data, model)
