"""Figures 1 and 2: the running example."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop, name_of_default
from setveil.core import Hierarchy, Transactions
from setveil.models import Coherence, KAnonymity, KmAnonymity, PrivacyModel
from setveil.releases import Recoding
from setveil.verify import minimal_violations
from setveil.workflows.assess import measure, verify

EXAMPLE = tuple(row.split() for row in ("b c d", "a f g", "d f y z", "c d f x", "a b c f g", "e i", "e", "i"))
TREE = tuple(
    path.split()
    for path in (
        *("a H P T", "b H P T", "c K P T", "d K P T", "f J Q T", "g J Q T"),
        *("x M Q T", "y M Q T", "z M Q T", "e T", "i T"),
    )
)
ALL = KmAnonymity(2, "all")
COLUMNS: dict[str, tuple[str, PrivacyModel, str]] = {
    "LG": ("lg", KAnonymity(2), "T; P f g; K M f; K M f; P f g; T; T; T"),
    "AA": ("aa", ALL, "T; T; T; T; T; T; T; T"),
    "MM": ("mm", Coherence(100, 2, 5), "d; a f g; d f; d f; a f g; e; e; "),
    "HgHs": ("hghs", ALL, "P; P f g; M P f; M P f; P f g; e; e; "),
}


def records_of(records: Sequence[set[str]]) -> str:
    """Records in a row."""
    return "; ".join(" ".join(sorted(record)) for record in records)


def figure_1(workshop: Workshop) -> Outcome:
    """What each method publishes of eight records."""
    data, tree = Transactions.from_lists(EXAMPLE), Hierarchy.from_paths(TREE)
    costs: dict[str, float] = {}
    readings = []
    for name, (algorithm, model, printed) in COLUMNS.items():
        release, _ = workshop.release(data, model, algorithm, None if algorithm == "mm" else tree)
        costs[name] = measure(data, release)["lm_cost"]
        ours = records_of(release.transactions())
        readings.append(Reading("example-published", name, f"{ours}. Printed: {printed}.", ours == printed))
    optimal, _ = workshop.release(data, KmAnonymity(2, 5), "optimal", tree, suppression=True)
    best = measure(data, optimal)["lm_cost"]
    told = f"AA {costs['AA']:.1f}, HgHs {costs['HgHs']:.1f}; the optimum costs {best:.1f}."
    found = (round(costs["AA"], 6), round(costs["HgHs"], 6))
    readings.append(Reading("example-costs", "", told, found == (23, 5.6)))
    costs["optimum"] = best
    default = workshop.default_release(data, KmAnonymity(2, 5))
    if default is not None:
        costs[name_of_default("km")] = measure(data, default[0])["lm_cost"]
    lines = (
        *(Line(name, (("all eight", cost),)) for name, cost in costs.items()),
        *(
            Line(f"{name}, paper", (("all eight", cost),), is_paper=True)
            for name, cost in (("AA", 23.0), ("HgHs", 5.6))
        ),
    )
    return Outcome((Panel("What the eight records lose", "records", "LM, summed over items", lines),), tuple(readings))


# A cut, what is suppressed of it, what that costs, and the threats the paper lists for it.
CUTS = (
    ("T", "", 23.0, ""),
    ("P Q e i", "i", 8.6, "e i"),
    ("H K Q e i", "H i", 10.2, "e i; H K Q"),
    ("P J M e i", "i", 6.2, ""),
    ("P f g M e i", "i", 5.6, "e i"),
)


def recoded(data: Transactions, tree: Hierarchy, cut: str, suppressed: str = "") -> Recoding:
    """The data on a cut, given by labels."""
    number = {label: node for node, label in enumerate(tree.labels)}
    node_of_leaf = np.full(tree.n_items, -1, dtype=np.int32)
    for label in set(cut.split()) - set(suppressed.split()):
        node_of_leaf[tree.leaves(number[label])] = number[label]
    return Recoding.from_cut(data, tree, node_of_leaf)


def figure_2(workshop: Workshop) -> Outcome:
    """How HgHs and mHgHs get there."""
    data, tree = Transactions.from_lists(EXAMPLE), Hierarchy.from_paths(TREE)
    readings = []
    for cut, suppressed, printed, threats in CUTS:
        release = recoded(data, tree, cut, suppressed)
        cost = measure(data, release)["lm_cost"]
        told = f"{{{cut.replace(' ', ', ')}}} without {{{suppressed.replace(' ', ', ')}}}"
        is_safe = verify(release, ALL).holds
        readings.append(
            Reading(
                "walk-costs",
                told,
                f"{cost:.1f}, {'anonymous' if is_safe else 'not anonymous'}; printed {printed:g}.",
                is_safe and round(cost, 6) == printed,
            )
        )
        if threats:
            found = minimal_violations(recoded(data, tree, cut), ALL)
            ours = "; ".join(" ".join(sorted(violation.itemset)) for violation in found)
            readings.append(Reading("walk-threats", told, f"{ours}; printed {threats}.", ours == threats))
    hghs, _ = workshop.release(data, ALL, "hghs", tree)
    n_threats = hghs.details["rounds"][0]["minimal_threats"]
    readings.append(Reading("walk-threats", "all", f"{n_threats}; printed 25.", n_threats == 25))
    for m, printed_cut, without in ((1, "a b c d f g M e i", ""), (5, "P f g M e i", "i")):
        found_cut, _ = workshop.release(data, KmAnonymity(2, m), "mhghs", tree)
        ours, theirs = (records_of(r.transactions()) for r in (found_cut, recoded(data, tree, printed_cut, without)))
        readings.append(
            Reading(
                f"walk-round-{m}",
                "",
                f"publishes {ours}, cost {measure(data, found_cut)['lm_cost']:.1f}.",
                ours == theirs,
            )
        )
    return Outcome((), tuple(readings))
