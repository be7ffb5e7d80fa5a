"""What to do with a data set, for people who do not know the papers.

The data is profiled, a few settings that fit its shape are really run (on the whole data where that is quick, on a random
sample where it is large), and the first one that is feasible and verified is proposed, with reasons and what it cost. So
nothing infeasible is ever proposed.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.algorithms import ENTRIES
from setveil.core import Hierarchy, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import InfeasibleError, InputError
from setveil.policy.resolve import model_of
from setveil.policy.schema import Policy
from setveil.workflows.anonymize import anonymize
from setveil.workflows.assess import QUICK, measure, risk, verify
from setveil.workflows.hierarchy import resolve_hierarchy
from setveil.workflows.policies import make_policy
from setveil.workflows.reading import as_transactions

SAMPLE = 400_000  # occurrences that are tried out; larger data is sampled down to about that
DENSE = 0.05  # an item is in this share of the records on average: records then resemble each other
CROWDS = (10, 5, 3, 2)  # k or p to try, best protection first
QUERIES = 500


@dataclass(frozen=True)
class Profile:
    """The shape of the data."""

    n_records: int
    n_filled: int
    n_items: int
    mean_length: float
    longest: int
    density: float  # mean share of records an item is in
    rare_items: float  # share of items that fewer than 5 people have
    singled_out: tuple[float | None, ...]  # by 1, 2, 3, 4 known items


@dataclass(frozen=True)
class Choice:
    """One setting that was tried and works."""

    policy: Policy
    guarantee: str
    reasons: tuple[str, ...]
    algorithm: str
    metrics: Mapping[str, Any]
    query_error: float | None
    singled_out: tuple[float | None, ...]
    seconds: float


@dataclass(frozen=True)
class Suggestion:
    """The profile, the best choice and what else would work."""

    profile: Profile
    choices: tuple[Choice, ...]  # the first is the proposal
    refused: tuple[str, ...]  # what was tried in vain, and why
    is_sampled: bool


def suggest(
    data: Any,
    *,
    hierarchy: str | None = None,
    sensitive: Sequence[str] = (),
    seed: int = 0,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> Suggestion:
    """Propose model, parameters, hierarchy and algorithm for a data set."""
    data = as_transactions(data, **(read_options or {}))
    profile = profile_of(data, seed)
    if profile.n_filled < 2:
        raise InputError("the data has fewer than two records with items; there is nobody to hide among.")
    part = _sample(data, seed)
    choices: list[Choice] = []
    refused: list[str] = []
    for number, (kind, asks) in enumerate(_ideas(profile, hierarchy, sensitive)):
        progress(f"trying {kind}", number / 4)
        choice = _first_feasible(part, asks, seed, refused)
        if choice is not None:
            choices.append(choice)
    if not choices:
        raise InfeasibleError("no setting that was tried is feasible: " + "; ".join(refused))
    return Suggestion(profile, tuple(choices), tuple(refused), part is not data)


def profile_of(data: Transactions, seed: int = 0) -> Profile:
    """The shape of the data and what known items reveal."""
    table = risk(data, seed=seed, budget=QUICK)
    n_filled = data.n_records - data.n_empty
    supports = data.supports[data.supports > 0]
    return Profile(
        n_records=data.n_records,
        n_filled=n_filled,
        n_items=len(supports),
        mean_length=float(data.lengths.mean()) if data.n_records else 0.0,
        longest=int(data.lengths.max(initial=0)),
        density=float(supports.mean() / data.n_records) if len(supports) else 0.0,
        rare_items=float((supports < 5).mean()) if len(supports) else 0.0,
        singled_out=tuple(row.singled_out for row in table.rows),
    )


def _sample(data: Transactions, seed: int) -> Transactions:
    if data.n_occurrences <= SAMPLE:
        return data
    n = max(int(data.n_records * SAMPLE / data.n_occurrences), 1000)
    chosen = np.sort(np.random.default_rng(seed).choice(data.n_records, size=min(n, data.n_records), replace=False))
    return data.select(chosen)


Ask = tuple[dict[str, Any], tuple[str, ...]]  # sections of a policy, reasons


def _ideas(profile: Profile, hierarchy: str | None, sensitive: Sequence[str]) -> Iterator[tuple[str, list[Ask]]]:
    """Ways to protect such data, the most fitting first; each with several crowd sizes, the best protection first."""
    crowds = [k for k in CROWDS if k * 4 <= profile.n_filled] or [2]
    if sensitive:
        reason = "You named sensitive items: groups hide who has them, and everything else stays exact."
        yield "groups with sensitive counts", [
            ({"model": {"name": "degree", "p": p, "sensitive": list(sensitive)}}, (reason, f"Nobody is linked to one of them with a probability above 1/{p}.")) for p in crowds
        ]  # fmt: skip
    dense = profile.density >= DENSE
    if dense:
        reason = f"The data is dense (an item is in {100 * profile.density:.0f} % of the records on average), so whole records can be made alike at little loss."
        yield "identical records", [({"model": {"name": "k-anonymity", "k": k, "sensitive": list(sensitive)}}, (reason, f"Every published record occurs at least {k} times.")) for k in crowds]  # fmt: skip
    m = 2 if (profile.singled_out[1] or 0) > 0 or profile.mean_length < 6 else 3
    known = f"Two known items single out {100 * (profile.singled_out[1] or 0):.1f} % of the records, three {100 * (profile.singled_out[2] or 0):.1f} %."
    generalizing = _known(("aa+refine", "aa"))
    source = hierarchy or "auto"
    tree = (
        "Your hierarchy says what may stand for what, so published items keep a meaning."
        if hierarchy
        else "Without a hierarchy of yours, one is built from the data; its groups have no names that mean something."
    )
    if generalizing:
        yield "generalization", [
            ({"model": {"name": "km", "k": k, "m": m}, "algorithm": {"name": generalizing}, "hierarchy": {"source": source}}, (known, tree)) for k in crowds if k <= 5
        ]  # fmt: skip
    merging = _known(("pcta+", "pcta"))
    if merging and not hierarchy:
        why = "Items are merged into sets, as few and small as the promise allows; no hierarchy is needed."
        yield "merging items", [({"model": {"name": "km", "k": k, "m": m}, "algorithm": {"name": merging}}, (known, why)) for k in crowds if k <= 5]  # fmt: skip


def _known(names: Sequence[str]) -> str | None:
    available = {entry.name for entry in ENTRIES}
    return next((name for name in names if name in available), None)


def _first_feasible(data: Transactions, asks: Sequence[Ask], seed: int, refused: list[str]) -> Choice | None:
    """The first ask that gives a release that verifies."""
    for sections, reasons in asks:
        policy = make_policy({**sections, "seed": seed})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return _try(data, policy, reasons)
        except (InfeasibleError, InputError) as problem:
            refused.append(f"{policy.model.name}: {problem}")
    return None


def _try(data: Transactions, policy: Policy, reasons: tuple[str, ...]) -> Choice:
    from setveil.utility.avg_re import avg_re, workload_t

    tree: Hierarchy | None = resolve_hierarchy(policy.hierarchy.source, data)
    model = model_of(policy, data, tree)
    started = time.perf_counter()
    release = anonymize(data, model, policy.algorithm.name, tree, policy.algorithm.options, policy.seed)
    seconds = time.perf_counter() - started
    verdict = verify(release, model)
    if not verdict.holds:
        raise InputError(f"the release did not verify: {verdict.reason}")
    try:
        error: float | None = avg_re(data, release, workload_t(data, QUERIES, 2, seed=policy.seed))
    except InputError:  # no record has two items
        error = None
    assert release.record is not None
    table = risk(release, seed=policy.seed, budget=QUICK)
    return Choice(
        policy=policy,
        guarantee=model.guarantee(),
        reasons=reasons,
        algorithm=release.record.algorithm,
        metrics=measure(data, release),
        query_error=error,
        singled_out=tuple(row.singled_out for row in table.rows),
        seconds=seconds,
    )


def command_for(source: str | os.PathLike[str], choice: Choice, out: str = "OUT") -> str:
    """The command that does what was proposed."""
    model, policy = choice.policy.model, choice.policy
    words = ["setveil anonymize", str(source), "-o", out, "--model", model.name]
    for name, value in model.given().items():
        flag = {"h": "-H"}.get(name, f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}")
        words += [flag, '"' + ",".join(value) + '"' if isinstance(value, list) else str(value)]
    words += ["--algorithm", choice.algorithm]
    if policy.hierarchy.source:
        words += ["--hierarchy", policy.hierarchy.source]
    return " ".join(words)


def policy_for(choice: Choice) -> Policy:
    """The proposal as a policy that names its algorithm."""
    named = choice.policy.algorithm.model_copy(update={"name": choice.algorithm})
    return choice.policy.model_copy(update={"algorithm": named})
