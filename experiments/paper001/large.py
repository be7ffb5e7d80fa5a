"""Figure 11: AA on whole data sets, and beside it the proven optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop, name_of_default
from experiments.paper001.runs import NOT_COMPARED, WEB, Run, default_loss, line, loss, run
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.taxonomies.balanced import with_levels

FANOUT = 5


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
    workshop: Workshop, xs: Sequence[int], setting: Callable[[int], Setting]
) -> tuple[dict[str, dict[float | str, Run]], list[Line]]:
    """AA on both data sets and both orders of items, and the default on items by frequency."""
    runs: dict[str, dict[float | str, Run]] = {}
    defaults = []
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
        points = []
        for x in xs:
            workshop.step(f"default, {title}, {x}")
            k, m, tree = setting(x)
            points.append((float(x), default_loss(workshop, data, k, m, tree(data))))
        defaults.append(
            Line(
                f"{name_of_default('km')}, {short(title)}",
                tuple(points),
                "with a hierarchy over items by frequency, if it needs one",
            )
        )
    return runs, defaults


def warm_up(workshop: Workshop, data: Transactions) -> None:
    """Compile on a few records."""
    few = data.select(np.arange(min(200, data.n_records)))
    run(workshop, few, "aa", 5, 2, packed(few))


def panels_of(runs: Runs, defaults: Sequence[Line], x_label: str) -> tuple[Panel, ...]:
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
        Panel("Loss of AA", x_label, "NCP", (*(line(name, some, "ncp") for name, some in runs.items()), *defaults)),
    )


def short(title: str) -> str:
    """For legends."""
    return title.removeprefix("BMS-")


def figure_11a(workshop: Workshop) -> Outcome:
    """AA on whole data sets."""
    runs: dict[str, dict[float | str, Run]] = {f"AA, {order}": {} for order in ORDERS}
    default: list[tuple[float | str, float | None]] = []
    for name, title in WEB.items():
        for order, reorder in ORDERS.items():
            data = reorder(workshop.data(name))
            warm_up(workshop, data)
            workshop.step(f"AA, {title}, items {order}")
            runs[f"AA, {order}"][title] = run(workshop, data, "aa", 5, 3, packed(data))
        default.append((title, default_loss(workshop, data, 5, 3, packed(data))))
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
    return Outcome(panels_of(runs, [Line(name_of_default("km"), tuple(default))], ""), tuple(readings))


def listed(runs: Mapping[float | str, Run], what: str) -> str:
    """Counts along a line."""
    return ", ".join(f"{getattr(run, what):,}" for run in runs.values())


def figure_11b(workshop: Workshop) -> Outcome:
    """Growing k."""
    runs, defaults = vary(workshop, (2, 5, 10, 20, 50), lambda k: (k, 3, packed))
    return Outcome(
        panels_of(runs, defaults, "k"),
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
    """Flat and tall hierarchies, evenly split and packed."""
    runs, defaults = vary(workshop, LEVELS, lambda h: (5, 3, lambda data: even_levels(data, h)))
    losses = {f"{name}, even": {h: some[h].ncp for h in LEVELS} for name, some in runs.items()}
    for name, title in WEB.items():
        for order, reorder in ORDERS.items():
            data = reorder(workshop.data(name))
            found = {}
            for h in LEVELS:
                workshop.step(f"AA, packed, {title}, items {order}, {h}")
                found[h] = loss(workshop, data, "aa", 5, 3, packed_levels(data, h))
            losses[f"{short(title)}, {order}, packed"] = found
    readings = []
    for name, some in losses.items():
        told = ", ".join(f"{value:.2%}" for value in some.values())
        flat, rest = some[LEVELS[0]], [some[h] for h in LEVELS[1:]]
        readings += [
            Reading("flat-worst", name, f"4 to 7 levels: {told}. Rule: 4 levels lose most.", flat >= max(rest)),
            Reading("flat-root", name, f"with 4 levels NCP {flat:.2%}. Rule: above 99.9 %.", flat > 0.999),
            Reading(
                "tall-loss", name, f"with 5 to 7 levels at worst {max(rest):.2%}. Rule: up to 2 %.", max(rest) <= 0.02
            ),
        ]
    readings.append(Reading("time-h", "", NOT_COMPARED, None))
    of_packed = tuple(
        Line(name, tuple((float(h), value) for h, value in some.items()))
        for name, some in losses.items()
        if name.endswith("packed")
    )
    return Outcome(
        (
            *panels_of(runs, defaults, "levels of the hierarchy, evenly split"),
            Panel("Loss of AA, packed hierarchies", "levels of the hierarchy", "NCP", of_packed),
        ),
        tuple(readings),
    )


def figure_11d(workshop: Workshop) -> Outcome:
    """Growing m; and the proven optimum, which the paper could not have at this size."""
    ms = (1, 2, 3, 4)
    runs, defaults = vary(workshop, ms, lambda m: (5, m, packed))
    above: dict[str, dict[int, float]] = {name: {} for name in runs}
    for name, title in WEB.items():
        for order, reorder in ORDERS.items():
            data = reorder(workshop.data(name))
            for m in ms:
                workshop.step(f"optimum, {title}, items {order}, m={m}")
                least = loss(workshop, data, "optimal", 5, m, packed(data))
                label = f"{short(title)}, {order}"
                above[label][m] = 100 * (runs[label][m].ncp / least - 1) if least else 0.0
    return Outcome(
        (
            *panels_of(runs, defaults, "m"),
            Panel(
                "AA above the proven optimum",
                "m",
                "percent of the optimal NCP",
                tuple(Line(name, tuple(of_line.items())) for name, of_line in above.items()),
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
