"""The worked example, the data sets, and Figures 8 to 10: OA, DA and AA on click streams reduced to a few dozen
items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop, name_of_default
from experiments.paper001.runs import ABOVE, NOT_COMPARED, WEB, Run, default_loss, line, loss, run
from setveil.algorithms.base import Context
from setveil.algorithms.km.count_tree import DistinctRecords, node_order
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.models import KmAnonymity
from setveil.workflows.assess import measure, verify

METHODS = {"oa": "OA", "da": "DA", "aa": "AA"}
K, FANOUT = 100, 4


# -- the worked example -----------------------------------------------------------------------------------------------

EXAMPLE = (("a1", "b1", "b2"), ("a2", "b1"), ("a2", "b1", "b2"), ("a1", "a2", "b2"))


def worked_example(workshop: Workshop) -> Outcome:
    """Figures 1 to 6 and the loss computed in section 3.3."""
    data = Transactions.from_lists(EXAMPLE)
    tree = Hierarchy.from_paths([(item, item[0].upper(), "ALL") for item in ("a1", "a2", "b1", "b2")])
    model = KmAnonymity(2, 2)
    before = verify(data, model)
    found = {name: workshop.release(data, model, algorithm, tree)[0] for algorithm, name in METHODS.items()}
    published = {name: [sorted(record) for record in release.transactions()] for name, release in found.items()}
    losses = {name: measure(data, release)["ncp"] for name, release in found.items()}
    with_b2 = sum({"A", "b2"} <= set(record) for record in published["DA"])
    with_a = sum("A" in record for record in published["DA"])
    records = DistinctRecords.of_leaves(data, tree, Context(hierarchy=tree))
    supports = records.node_supports(tree)
    order = " ".join(f"{tree.labels[node]}:{supports[node]}" for node in node_order(tree, supports, "frequency"))
    printed = [["A", "b1", "b2"], ["A", "b1"], ["A", "b1", "b2"], ["A", "b2"]]
    return Outcome(
        (),
        (
            Reading(
                "example-before",
                "",
                f"{{{', '.join(before.witness or ())}}} is in {before.support} record.",
                not before.holds and before.support == 1,
            ),
            *(
                Reading(
                    "example-cut",
                    name,
                    f"publishes {'; '.join(' '.join(record) for record in rows)}.",
                    rows == printed,
                )
                for name, rows in published.items()
            ),
            Reading("example-supports", "", f"{with_b2} and {with_a} records.", (with_b2, with_a) == (3, 4)),
            Reading(
                "example-loss",
                "",
                ", ".join(f"{name} {value:.4f}" for name, value in losses.items()) + f"; 2.5/11 = {2.5 / 11:.4f}.",
                all(abs(value - 2.5 / 11) < 1e-12 for value in losses.values()),
            ),
            Reading("example-order", "", f"{order}.", order == "A:4 B:4 a2:3 b1:3 b2:3 a1:2"),
        ),
    )


# -- Figure 7 ---------------------------------------------------------------------------------------------------------

PRINTED = {"BMS1": (59_602, 497, 267, 2.5), "BMS2": (77_512, 3_340, 161, 5.0)}


def data_sets(workshop: Workshop) -> Outcome:
    """The table of data sets."""
    readings = []
    for name, printed in PRINTED.items():
        data = workshop.data(name)
        mean = float(data.lengths.mean())
        ours = (data.n_records, data.n_items, int(data.lengths.max(initial=0)), round(mean, 1))
        told = f"{ours[0]:,} records, {ours[1]:,} items, at most {ours[2]} and on average {mean:.2f}. Rule: all equal."
        readings.append(Reading(f"data-{name.lower()}", WEB[name], told, ours == printed))
    return Outcome((), tuple(readings))


# -- Figures 8 to 10: three methods on a few dozen items --------------------------------------------------------------


def _by_rank(shift: int) -> Callable[[Transactions, int], np.ndarray]:
    return lambda data, n_items: (np.arange(data.n_items) + shift) % n_items


def _by_id(data: Transactions, n_items: int) -> np.ndarray:
    return np.array([int(label) % n_items for label in data.vocabulary])


# "A modulo on the items ids": of the ids as printed in the file, or of ranks that begin anywhere. It decides which
# items become one, and which of those are siblings.
PHASES: dict[str, Callable[[Transactions, int], np.ndarray]] = {
    "rank": _by_rank(0),
    "rank + 1": _by_rank(1),
    "rank + 2": _by_rank(2),
    "rank + 3": _by_rank(3),
    "id as in the file": _by_id,
}
MAIN = "rank"  # drawn


def reduced(data: Transactions, n_items: int, n_records: int, phase: str = MAIN) -> Transactions:
    """The first records, over few items: each item's rank or id modulo their number, repeats in a record removed."""
    first = data.select(np.arange(min(n_records, data.n_records)))
    return first.recode(PHASES[phase](data, n_items), Vocabulary(str(item) for item in range(n_items)))


@dataclass(frozen=True)
class Small:
    """A point of Figures 8 to 10."""

    n_records: int = 10_000
    n_items: int = 40
    m: int = 3


Runs = dict[str, dict[float | str, Run]]
Losses = dict[str, dict[str, dict[float | str, float]]]  # phase, method, point


def compare_methods(workshop: Workshop, points: Mapping[float | str, Small]) -> tuple[Runs, Losses, Line]:
    """OA, DA and AA at every point with all they report; their losses in every phase; and the default's."""
    source = workshop.data("BMS2")
    tiny = reduced(source, 8, 200)
    for algorithm in METHODS:  # compile first
        run(workshop, tiny, algorithm, 5, 2, Hierarchy.balanced(tiny, FANOUT))
    runs: Runs = {name: {} for name in METHODS}
    losses: Losses = {phase: {name: {} for name in METHODS} for phase in PHASES}
    default: list[tuple[float | str, float | None]] = []
    for x, point in points.items():
        for phase in PHASES:
            data = reduced(source, point.n_items, point.n_records, phase)
            tree = Hierarchy.balanced(data, FANOUT)
            for algorithm in METHODS:
                workshop.step(
                    f"{METHODS[algorithm]}, {point.n_records:,} records, {point.n_items} items, m={point.m}, {phase}"
                )
                if phase == MAIN:
                    runs[algorithm][x] = run(workshop, data, algorithm, K, point.m, tree)
                    losses[phase][algorithm][x] = runs[algorithm][x].ncp
                else:
                    losses[phase][algorithm][x] = loss(workshop, data, algorithm, K, point.m, tree)
            if phase == MAIN:
                default.append((x, default_loss(workshop, data, K, point.m)))
    return (
        runs,
        losses,
        Line(name_of_default("km"), tuple(default), "" if all(y for _, y in default) else "gaps: no release"),
    )


def panels_of(runs: Runs, losses: Losses, default: Line, x_label: str) -> tuple[Panel, ...]:
    """Time, memory and loss, as in the paper; and how far AA is from the optimum in every phase."""
    above = tuple(
        Line(phase, tuple((x, 100 * (of_aa[x] / best - 1) if best else 0.0) for x, best in of_phase["oa"].items()))
        for phase, of_phase in losses.items()
        for of_aa in (of_phase["aa"],)
    )
    return (
        Panel(
            "Time",
            x_label,
            "CPU seconds",
            tuple(line(METHODS[name], runs[name], "seconds") for name in METHODS),
            log_y=True,
            is_timing=True,
        ),
        Panel(
            "Size of the count-tree",
            x_label,
            "nodes",
            (
                line("OA and DA", runs["da"], "last_tree", "the complete count-tree; ours is walked, never built"),
                line("AA, largest round", runs["aa"], "largest_tree"),
                line("AA, last round", runs["aa"], "last_tree", "what the paper reports"),
            ),
            log_y=True,
        ),
        Panel(
            f"Loss, {MAIN} modulo |I|",
            x_label,
            "NCP",
            (*(line(METHODS[name], runs[name], "ncp") for name in METHODS), default),
        ),
        Panel("AA above the optimum, by phase of the modulo", x_label, ABOVE, above),
    )


def excess(losses: Mapping[str, Mapping[float | str, float]], method: str) -> float:
    """By how much a method's loss is above the optimum, at worst: 0.1 is 10 %."""
    return max(value / losses["oa"][x] - 1 if losses["oa"][x] else 0.0 for x, value in losses[method].items())


def near_optimum(claim: str, losses: Losses, methods: tuple[str, ...], at_most: float) -> Iterator[Reading]:
    """How far greedy methods are from the optimum, a reading per phase of the modulo."""
    rule = "equal" if at_most < 1e-6 else f"up to {at_most:.0%}"
    for phase, of_phase in losses.items():
        told = ", ".join(f"{METHODS[name]} at worst {excess(of_phase, name):.0%} above OA" for name in methods)
        yield Reading(
            claim, phase, f"{told}. Rule: {rule}.", all(excess(of_phase, name) <= at_most for name in methods)
        )


def growth(runs: Mapping[float | str, Run], what: str) -> float:
    """How many times larger the last point is than the first."""
    values = [getattr(run, what) or 1 for run in runs.values()]
    return float(values[-1] / values[0])


SAME = 1e-9


def figure_8(workshop: Workshop) -> Outcome:
    """Growing database."""
    sizes = (2_000, 5_000, 10_000, 15_000)
    runs, losses, default = compare_methods(workshop, {size: Small(n_records=size) for size in sizes})
    tree, records = growth(runs["da"], "last_tree"), sizes[-1] / sizes[0]
    shares = [runs["aa"][size].last_tree / runs["da"][size].last_tree for size in sizes]
    return Outcome(
        panels_of(runs, losses, default, "records"),
        (
            *near_optimum("same-loss", losses, ("da", "aa"), SAME),
            Reading(
                "tree-records",
                "",
                f"{records:.3g} times the records, {tree:.2f} times the nodes. Rule: below half of that growth.",
                tree < records / 2,
            ),
            Reading(
                "tree-converges",
                "",
                f"AA's tree in percent of theirs: {', '.join(f'{share:.0%}' for share in shares)}. Rule: rises to "
                "80 % or more.",
                shares[-1] > shares[0] and shares[-1] >= 0.8,
            ),
            Reading("time-records", "", NOT_COMPARED, None),
        ),
    )


def figure_9(workshop: Workshop) -> Outcome:
    """Growing domain."""
    sizes = (40, 50, 60)
    runs, losses, default = compare_methods(workshop, {size: Small(n_items=size) for size in sizes})
    tree, of_aa, items = growth(runs["da"], "last_tree"), growth(runs["aa"], "last_tree"), sizes[-1] / sizes[0]
    examined = ", ".join(f"{run.cuts:,}" for run in runs["oa"].values())
    return Outcome(
        panels_of(runs, losses, default, "items"),
        (
            *near_optimum("domain-loss", losses, ("aa",), SAME),
            Reading(
                "tree-domain", "", f"{items:.2f} times the items, {tree:.2f} times the nodes. Rule: more.", tree > items
            ),
            Reading("tree-domain-aa", "", f"{of_aa:.2f} times against {tree:.2f} times. Rule: less.", of_aa < tree),
            Reading("time-domain", "", f"our OA examines {examined} cuts; {NOT_COMPARED}", None),
        ),
    )


def figure_10(workshop: Workshop) -> Outcome:
    """Growing m."""
    ms = (1, 2, 3, 4)
    runs, losses, default = compare_methods(workshop, {m: Small(m=m) for m in ms})
    tree, of_aa = growth(runs["da"], "last_tree"), growth(runs["aa"], "last_tree")
    return Outcome(
        panels_of(runs, losses, default, "m"),
        (
            *near_optimum("m-loss", losses, ("da", "aa"), 0.1),
            Reading(
                "tree-m",
                "",
                f"from m=1 to m=4 {of_aa:.1f} times against {tree:.0f} times. Rule: below a tenth.",
                of_aa < tree / 10,
            ),
            Reading("time-m", "", NOT_COMPARED, None),
        ),
    )
