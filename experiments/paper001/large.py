"""Figure 11: AA on whole data sets, and beside it the proven optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from experiments.claims import Reading
from experiments.experiment import OURS, REFINE, Line, Outcome, Panel, Workshop, name_of_default
from experiments.paper001.runs import ABOVE, NOT_COMPARED, WEB, Run, default_loss, line, loss, pair_error, run
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.models import KmAnonymity
from setveil.taxonomies.balanced import with_levels
from setveil.workflows.assess import measure

FANOUT = 5
MODEL = KmAnonymity(5, 3)
NO_TREE = "needs no hierarchy; a suppressed entry counts as 1"


def by_frequency(data: Transactions) -> Transactions:
    """The same records with items renumbered from the most frequent to the rarest; ties in ascending order."""
    rank = np.empty(data.n_items, dtype=np.int64)
    rank[np.argsort(-data.supports, kind="stable")] = np.arange(data.n_items)
    return data.recode(rank, Vocabulary(str(item) for item in range(data.n_items)))


ORDERS: dict[str, Callable[[Transactions], Transactions]] = {"by id": lambda data: data, "by frequency": by_frequency}


Tree = Callable[[Transactions], Hierarchy]
Setting = tuple[int, int, Tree]  # k, m, hierarchy
Runs = Mapping[str, Mapping[float | str, Run]]


def packed(data: Transactions) -> Hierarchy:
    """Fan-out 5, every group but the last full."""
    return Hierarchy.balanced(data, FANOUT)


def vary(
    workshop: Workshop,
    xs: Sequence[int],
    setting: Callable[[int], Setting],
    for_default: Callable[[int], bool] = lambda _: True,
) -> tuple[dict[str, dict[float | str, Run]], list[Line]]:
    """AA on both data sets and both orders of items; beside it what is ours, on items by frequency."""
    runs: dict[str, dict[float | str, Run]] = {}
    ours = []
    for name, title in WEB.items():
        for order, reorder in ORDERS.items():
            data = reorder(workshop.data(name))
            warm_up(workshop, data)
            of_line: dict[float | str, Run] = {}
            for x in xs:
                workshop.step(f"AA, {title}, items {order}, {x}")
                k, m, tree = setting(x)
                of_line[x] = run(workshop, data, "aa", k, m, tree(data))
            runs[f"{short(title)}, {order}"] = of_line
        refined, default = [], []
        for x in xs:
            k, m, tree = setting(x)
            workshop.step(f"aa+refine, {title}, {x}")
            refined.append((float(x), loss(workshop, data, "aa+refine", k, m, tree(data))))
            workshop.step(f"default, {title}, {x}")
            default.append((float(x), default_loss(workshop, workshop.data(name), k, m) if for_default(x) else None))
        gaps = "" if all(for_default(x) for x in xs) else "; gaps: not run to save time"
        ours += [
            Line(f"{REFINE}, {short(title)}", tuple(refined), "items by frequency"),
            Line(f"{name_of_default('km')}, {short(title)}", tuple(default), NO_TREE + gaps),
        ]
    return runs, ours


def warm_up(workshop: Workshop, data: Transactions) -> None:
    """Compile on a few records."""
    few = data.select(np.arange(min(200, data.n_records)))
    run(workshop, few, "aa", 5, 2, packed(few))


def panels_of(runs: Runs, ours: Sequence[Line], x_label: str) -> tuple[Panel, ...]:
    """Time, memory and loss of AA."""
    return (
        Panel(
            "Time of AA",
            x_label,
            "CPU seconds",
            tuple(line(name, some, "seconds") for name, some in runs.items()),
            is_timing=True,
        ),
        Panel(
            "Largest count-tree of AA",
            x_label,
            "nodes",
            tuple(line(name, some, "largest_tree") for name, some in runs.items()),
            log_y=True,
        ),
        Panel(
            "Loss of AA",
            x_label,
            "NCP",
            (*(line(name, some, "ncp") for name, some in runs.items()), *ours),
            log_y=True,
        ),
    )


def short(title: str) -> str:
    """For legends."""
    return title.removeprefix("BMS-")


def figure_11a(workshop: Workshop) -> Outcome:
    """AA on whole data sets."""
    runs: dict[str, dict[float | str, Run]] = {f"AA, {order}": {} for order in ORDERS}
    ours = (REFINE, name_of_default("km"))
    losses: dict[str, dict[str, float | None]] = {name: {} for name in ours}
    off: dict[str, dict[str, float | None]] = {name: {} for name in (*runs, *ours)}
    for name, title in WEB.items():
        for order, reorder in ORDERS.items():
            data = reorder(workshop.data(name))
            warm_up(workshop, data)
            workshop.step(f"AA, {title}, items {order}")
            runs[f"AA, {order}"][title] = run(workshop, data, "aa", 5, 3, packed(data))
            off[f"AA, {order}"][title] = pair_error(data, workshop.release(data, MODEL, "aa", packed(data))[0])
        workshop.step(f"ours, {title}")
        stored = workshop.data(name)
        refined, default = (
            workshop.release(data, MODEL, "aa+refine", packed(data)),
            workshop.default_release(stored, MODEL),
        )
        for line_name, (records, made) in zip(ours, ((data, refined), (stored, default)), strict=True):
            losses[line_name][title] = None if made is None else measure(records, made[0])["ncp"]
            off[line_name][title] = None if made is None else pair_error(records, made[0])
    readings = [
        Reading(
            "large-loss",
            f"items {order.removeprefix('AA, ')}",
            ", ".join(f"{title} {run.ncp:.2%}" for title, run in some.items()) + ". Rule: at most 3 %.",
            max(run.ncp for run in some.values()) <= 0.03,
        )
        for order, some in runs.items()
    ]
    readings.append(Reading("time-large", "", NOT_COMPARED, None))
    notes = dict(zip(ours, ("items by frequency", NO_TREE), strict=True))
    lines = [Line(name, tuple(of_line.items()), notes[name]) for name, of_line in losses.items()]
    errors = [Line(name, tuple(of_line.items()), notes.get(name, "")) for name, of_line in off.items()]
    of_pairs = Panel("Counts of pairs", "", "mean relative error", tuple(errors), log_y=True)
    return Outcome((*panels_of(runs, lines, ""), of_pairs), tuple(readings))


def listed(runs: Mapping[float | str, Run], what: str) -> str:
    """Counts along a line."""
    return ", ".join(f"{getattr(run, what):,}" for run in runs.values())


def figure_11b(workshop: Workshop) -> Outcome:
    """Growing k."""
    runs, ours = vary(workshop, (2, 5, 10, 20, 50), lambda k: (k, 3, packed), lambda k: k >= 5)
    return Outcome(
        panels_of(runs, ours, "k"),
        (
            *(
                Reading(
                    "k-memory",
                    name,
                    f"largest tree {listed(some, 'largest_tree')} nodes; tree of the last round "
                    f"{listed(some, 'last_tree')}. Rule: the largest differ less than twofold.",
                    max(run.largest_tree for run in some.values()) < 2 * min(run.largest_tree for run in some.values()),
                )
                for name, some in runs.items()
            ),
            Reading("time-k", "", NOT_COMPARED, None),
        ),
    )


LEVELS = (4, 5, 6, 7)


def packed_levels(data: Transactions, levels: int) -> Hierarchy:
    """The smallest fan-out whose packed hierarchy has at most so many levels, root and items counted."""
    fanout = next(each for each in range(2, data.n_items + 2) if each ** (levels - 1) >= data.n_items)
    return Hierarchy.balanced(data, fanout)


def even_levels(data: Transactions, levels: int) -> Hierarchy:
    """Exactly so many levels, evenly split; as many as there can be over few items."""
    return with_levels(data.vocabulary, min(levels, data.n_items.bit_length()))


def figure_11c(workshop: Workshop) -> Outcome:
    """Flat and tall hierarchies, evenly split; packed ones, whose last branch is a remainder, are shown beside them."""
    runs, ours = vary(workshop, LEVELS, lambda h: (5, 3, lambda data: even_levels(data, h)))
    of_packed = []
    for name, title in WEB.items():
        for order, reorder in ORDERS.items():
            data = reorder(workshop.data(name))
            points = []
            for h in LEVELS:
                workshop.step(f"AA, packed, {title}, items {order}, {h}")
                points.append((float(h), loss(workshop, data, "aa", 5, 3, packed_levels(data, h))))
            of_packed.append(Line(f"{short(title)}, {order}, packed", tuple(points)))
    readings = []
    for name, some in runs.items():
        told = ", ".join(f"{run.ncp:.2%}" for run in some.values())
        flat, *rest = (some[h].ncp for h in LEVELS)
        readings += [
            Reading("flat-worst", name, f"4 to 7 levels: {told}. Rule: 4 levels lose most.", flat >= max(rest)),
            Reading("flat-root", name, f"with 4 levels NCP {flat:.2%}. Rule: above 99.9 %.", flat > 0.999),
            Reading(
                "tall-loss", name, f"with 5 to 7 levels at worst {max(rest):.2%}. Rule: up to 2 %.", max(rest) <= 0.02
            ),
        ]
    readings.append(Reading("time-h", "", NOT_COMPARED, None))
    defaults = (each for each in ours if each.name.startswith(OURS))  # the same below any hierarchy
    return Outcome(
        (
            *panels_of(runs, ours, "levels of the hierarchy, evenly split"),
            Panel(
                "Loss of AA, packed hierarchies", "levels of the hierarchy", "NCP", (*of_packed, *defaults), log_y=True
            ),
        ),
        tuple(readings),
    )


def figure_11d(workshop: Workshop) -> Outcome:
    """Growing m; and the proven optimum, which the paper could not have at this size."""
    ms = (1, 2, 3, 4)
    runs, ours = vary(workshop, ms, lambda m: (5, m, packed), lambda m: m <= 3)
    above: dict[str, dict[int, float]] = {name: {} for name in runs}
    refined: dict[str, dict[int, float]] = {line.name: {} for line in ours if line.name.startswith(REFINE)}
    for name, title in WEB.items():
        for order, reorder in ORDERS.items():
            data = reorder(workshop.data(name))
            for m in ms:
                workshop.step(f"optimum, {title}, items {order}, m={m}")
                least = loss(workshop, data, "optimal", 5, m, packed(data))
                label = f"{short(title)}, {order}"
                above[label][m] = 100 * (runs[label][m].ncp / least - 1) if least else 0.0
                if order == "by frequency":  # the last
                    ncp = next(line for line in ours if line.name == f"{REFINE}, {short(title)}").at(m)
                    refined[f"{REFINE}, {short(title)}"][m] = 100 * ((ncp or 0.0) / least - 1) if least else 0.0
    return Outcome(
        (
            *panels_of(runs, ours, "m"),
            Panel(
                "AA above the proven optimum",
                "m",
                ABOVE,
                tuple(Line(name, tuple(of_line.items())) for name, of_line in {**above, **refined}.items()),
            ),
        ),
        (
            *(
                Reading(
                    "large-m",
                    name,
                    f"m=1 to 4: {', '.join(f'{run.ncp:.2%}' for run in some.values())}. Rule: never falls and stays "
                    "below 5 %.",
                    all(some[m].ncp <= some[m + 1].ncp for m in (1, 2, 3)) and some[4].ncp < 0.05,
                )
                for name, some in runs.items()
            ),
            *(
                Reading(
                    "near-optimal",
                    name,
                    f"m=1 to 4: {', '.join(f'{more:.0f} %' for more in of_line.values())} above the optimum. Rule: up "
                    "to 10 %.",
                    max(of_line.values()) <= 10,
                )
                for name, of_line in above.items()
            ),
            Reading("time-large-m", "", NOT_COMPARED, None),
        ),
    )
