"""The default for k^m-anonymity: run several algorithms and take the release that loses least.

From m = 3 on it also builds a hierarchy from the data where none was given, weighs generalized items by their counts,
and, where the owner accepts added items, tries an algorithm that adds them. If the records have more itemsets of up to
m items than can be counted in a reasonable time, it asks for m = all instead, which guarantees more and counts none.

Which algorithms run is decided by the effort and the size of the data, never by a clock, so that the same input gives
the same choice on every machine. The choice and the losers' figures go into the release's details.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import comb
from typing import Any, NamedTuple

import numpy as np

from setveil.algorithms import Context, find, make_algorithm
from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError, warn
from setveil.models import KAnonymity, KmAnonymity, PrivacyModel
from setveil.releases import Release
from setveil.utility.categories import purity_of
from setveil.workflows.hierarchy import auto_hierarchy
from setveil.workflows.trials import Trial, best_of, try_each

YARDSTICKS = {
    "counts": "mean relative error of counts of pairs",
    "ncp": "NCP, with 1 for a suppressed entry",
    "itemsets": "1 minus F1 of the frequent itemsets (1 % of the records, up to 3 items), by the best estimator",
    "entries": "share of entries not published unchanged",
}
# What `trim` makes of a hierarchy. Leaving it aside is never better than raising what is left out: it is not tried.
WAYS = {"counts": ("counts",), "ncp": ("loss", "counts"), "itemsets": ("counts", "loss"), "entries": ("counts",)}
FIRST = "trim"
EFFORTS = ("fast", "normal", "best")
FREQUENT, LARGEST = 0.01, 3
MOST_ENTRIES = {"fast": 0, "normal": 100_000, "best": 500_000}  # for algorithms whose cost grows faster than the data
MOST_ITEMS = {"fast": 0, "normal": 500, "best": 4_000}
FROM = 3  # known items from which more is tried: fewer lose little
ADDS_ITEMS = "weave"
MOST_ITEMSETS = 500_000_000  # of up to m items in all records; more are not counted
PROVABLE = {"fast": 0, "normal": 60, "best": 200}  # items for which the optimum is sought


class Candidate(NamedTuple):
    """What is tried."""

    algorithm: str
    options: dict[str, Any]
    hierarchy: str = ""  # "auto": built from the data; else the one that was given, if any


class Choice(NamedTuple):
    """What was taken."""

    algorithm: str
    options: Mapping[str, Any]
    release: Release
    hierarchy: Hierarchy | None  # along which it was made
    source: str  # "auto" if that was built here


def take_least_loss(data: Transactions, model: PrivacyModel, options: Mapping[str, Any], context: Context) -> Choice:
    """The release with the smallest figure on the yardstick; ties go to the algorithm listed first.

    Releases whose categories mix branches of the owner's hierarchy come after all others.
    """
    effort, yardstick, accepts_added = _asked(options)
    reaches_far = (model.reach or 0) >= FROM
    asked = _countable(data, model.strictest)
    trees: dict[str, Hierarchy | None] = {"": context.hierarchy}

    def attempt(candidate: Candidate, _: object) -> tuple[float, Release]:
        name, settings, source = candidate
        if source not in trees:
            trees[source] = auto_hierarchy(data, model=asked, progress=context.progress)
        wanted = KAnonymity(model.crowd or 2) if name == ADDS_ITEMS else asked  # implies any m
        within = replace(context, hierarchy=trees[source], defers_moves=True)
        release = make_algorithm(find(name).load(), name, settings).run(data, wanted, within)
        if reaches_far and model.item_counts is not None:
            release = release.with_item_counts(data, *model.item_counts)
        return figure_of(data, release, yardstick), release

    def rank(result: tuple[float, Release]) -> tuple[bool, float]:
        found = purity_of(result[1], context.hierarchy)
        return found is not None and bool(found.labels), result[0]

    named = candidates(data, effort, yardstick, context.hierarchy is not None, reaches_far)
    if accepts_added:
        named.append(Candidate(ADDS_ITEMS, {}))
    trials = try_each(named, attempt, lambda candidate: candidate.algorithm, progress=context.step)
    tried: list[dict[str, Any]] = []
    best, (_, release) = best_of(trials, rank, lambda trial: tried.append(_trial_details(trial)))
    choice = Choice(best.algorithm, best.options, release, trees[best.hierarchy], best.hierarchy)
    portfolio = {
        "yardstick": yardstick,
        "means": YARDSTICKS[yardstick],
        "effort": effort,
        "chosen": choice.algorithm,
        "options": choice.options,
        "tried": tried,
        **({"hierarchy": choice.source} if choice.source else {}),
        **({} if asked == model.strictest else {"asked": "m=all"}),
    }
    details = dict(choice.release.details)
    if callable(details.get("moves")):
        details["moves"] = details["moves"]()
    release = choice.release.with_facts(details={**details, "portfolio": portfolio})
    return choice._replace(release=release)


def _trial_details(trial: Trial[Candidate, tuple[float, Release]]) -> dict[str, Any]:
    """A trial in the details of the release."""
    name, settings, source = trial.candidate
    settings = {**settings, "hierarchy": source} if source else settings
    details = {"algorithm": name, "options": settings, "figure": trial.result[0] if trial.result else None}
    return details if trial.result else {**details, "refused": trial.reason}


def _countable(data: Transactions, model: PrivacyModel) -> PrivacyModel:
    """The model, or m = all of the same k where the records have too many itemsets of up to m items."""
    if not isinstance(model, KmAnonymity) or model.m == "all":
        return model
    lengths, numbers = np.unique(data.lengths, return_counts=True)
    n_itemsets = sum(
        number * sum(comb(length, size) for size in range(1, model.m + 1))
        for length, number in zip(lengths.tolist(), numbers.tolist(), strict=True)
    )
    if n_itemsets <= MOST_ITEMSETS:
        return model
    warn(
        f"the records have {n_itemsets:,} itemsets of up to {model.m} items, too many to count. The release protects "
        "against attackers who know any number of items (m=all), which is more than requested. Set --algorithm to "
        "count them."
    )
    return replace(model, m="all")


def _asked(options: Mapping[str, Any]) -> tuple[str, str, bool]:
    strange = [name for name in options if name not in ("effort", "yardstick", "accept_added")]
    if strange:
        raise InputError(f'option "{strange[0]}" belongs to an algorithm; set --algorithm as well.')
    effort, yardstick = str(options.get("effort", "normal")), str(options.get("yardstick", "counts"))
    if effort not in EFFORTS:
        raise InputError(f'effort must be one of {", ".join(EFFORTS)}, not "{effort}".')
    if yardstick not in YARDSTICKS:
        raise InputError(f'yardstick must be one of {", ".join(YARDSTICKS)}, not "{yardstick}".')
    return effort, yardstick, str(options.get("accept_added", False)).lower() == "true"


def candidates(
    data: Transactions, effort: str, yardstick: str, has_hierarchy: bool, reaches_far: bool = False
) -> list[Candidate]:
    """Algorithms with their options, in the order in which ties are decided."""
    n_items = int((data.supports > 0).sum())
    small = data.n_occurrences <= MOST_ENTRIES[effort] and n_items <= MOST_ITEMS[effort]
    ways = [{"raising": way} for way in WAYS[yardstick]] if has_hierarchy else [{}]
    names = [Candidate(FIRST, {"effort": effort, **way}) for way in ways]
    if has_hierarchy and small and n_items <= PROVABLE[effort]:
        names.append(Candidate("optimal", {}))
    if small:
        names.append(Candidate("pcta+", {}))
    if has_hierarchy:
        names.append(Candidate("aa+refine", {}))
    elif reaches_far and small:
        names.append(Candidate("aa+refine", {}, "auto"))
        if effort == "best":
            names += [Candidate(FIRST, {"effort": effort, "raising": way}, "auto") for way in WAYS[yardstick]]
    return names


def figure_of(data: Transactions, release: Release, yardstick: str) -> float:
    """How much is lost, 0 for nothing."""
    from setveil.utility import measure

    if yardstick == "counts":
        from setveil.utility.avg_re import least_error

        return least_error(data, release) or 0.0
    if yardstick == "itemsets":
        from setveil.utility.estimates import ESTIMATORS
        from setveil.utility.patterns import compare_patterns

        rows = compare_patterns(data, release, (FREQUENT,), max_size=LARGEST).itemsets
        return 1.0 - max(
            (_harmonic_mean(row.precision, row.recall) for row in rows if row.view in ("items", *ESTIMATORS)),
            default=0.0,
        )
    metrics = measure(data, release)
    return 1.0 - float(metrics["exact_ratio"] or 0) if yardstick == "entries" else float(metrics["ncp"] or 0)


def _harmonic_mean(precision: float | None, recall: float | None) -> float:
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0
