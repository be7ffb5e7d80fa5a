"""Section 5.3: UPCTA against COAT, with utility constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop
from experiments.paper000.privacy import KS, N_MIX, NAMES, PART, UL, K, first_records, nested_parts
from experiments.paper000.runs import (
    LARGER,
    N_QUERIES,
    TOO_MUCH,
    Model,
    Queries,
    Table,
    X,
    at_least,
    by_queries,
    compare_errors,
    compare_losses,
    compile_kernels,
    mean_reduction,
    seconds_apart,
    span,
    sweep,
    up_to,
    utility_groups,
)
from setveil.algorithms.constraints.generators import (
    PAIR_SHARES,
    SIZE_SHARES,
    occurring,
    per_group,
    random_mix,
    random_pairs,
    rare_records,
)
from setveil.core import Itemsets, Transactions
from setveil.generate import collect, patients, patients_groups
from setveil.models import ConstraintAnonymity
from setveil.utility.itemsets import frequent_itemsets

GROUP_SIZES = {"UR1": 25, "UR2": 50, "UR3": 125, "UR4": 250, "UR5": 500}
NOT_FINEST = {name: size for name, size in GROUP_SIZES.items() if name != "UR1"}
MAX_SUPPRESSED = 15.0
N_PAIRS = 20_000  # of the 1.4 million pairs of PR5 on BMS-WebView-2
TWO = ("UPCTA", "COAT")
N_PATIENTS = {"VNEC": 2762, "VNEC_KC": 1335}
PATIENT_KS = (2, 5, 10, 25)
PATIENT_BOUND = 2.0  # percent suppressed, in the paper
Constraints = Sequence[Sequence[str]]


def over_groups(
    workshop: Workshop,
    name: str,
    data: Transactions,
    constraints: Constraints,
    sizes: Mapping[str, int] = GROUP_SIZES,
    most: float = MAX_SUPPRESSED,
) -> Table:
    """UR1 to UR5, at most so many percent of the items suppressed."""
    cases: dict[X, tuple[Transactions, Model]] = {
        group: (data, ConstraintAnonymity(K, constraints, utility_groups(data, size), most))
        for group, size in sizes.items()
    }
    return sweep(workshop, name, "utility constraints", cases, TWO)


def _compared(claim: str, tables: Sequence[Table], figures: Sequence[int]) -> Outcome:
    """AvgRE and UL of each table, and whether UPCTA has less of both."""
    errors, losses = figures[: len(tables)], figures[len(tables) :]
    panels = [
        panel for table, number in zip(tables, errors, strict=True) for panel in table.error_panels(f"Figure {number}")
    ]
    panels += [table.ul_panel(f"Figure {number}") for table, number in zip(tables, losses, strict=True)]
    readings = [
        reading
        for table in tables
        for reading in (
            *compare_errors(f"{claim}-error", table, *TWO, LARGER),
            *compare_losses(f"{claim}-ul", table, "UPCTA", ("COAT",), *UL),
        )
    ]
    return Outcome(tuple(panels), tuple(readings))


def all_pairs(workshop: Workshop) -> Outcome:
    """Figures 21 to 24: all pairs protected."""
    one, two = workshop.data("BMS1"), first_records(workshop.data("BMS2"), PART)
    tables = (
        over_groups(workshop, NAMES["BMS1"], one, list(occurring(one, 2))),
        over_groups(workshop, f"{NAMES['BMS2']}, first {PART:,} records", two, list(occurring(two, 2))),
    )
    found = _compared("groups", tables, (21, 22, 23, 24))
    more = (
        *mean_reduction("groups-mean", tables[0], *TWO, 61),
        *mean_reduction("groups-mean", tables[1], *TWO, 33),
        _suppression(tables[0], one.n_items),
    )
    return Outcome(found.panels, (*more, *found.readings))


def _suppression(table: Table, n_items: int) -> Reading:
    gone = {method: table.runs[method]["UR1"] for method in TWO}
    counts = [None if run is None else run.suppressed for run in gone.values()]
    text = " and ".join(
        f"{method} "
        f"{'more than is allowed' if run is None else f'{run.suppressed} items ({run.suppressed / n_items:.1%})'}"
        for method, run in gone.items()
    )
    later = sum(run.suppressed for method in TWO for name, run in table.runs[method].items() if run and name != "UR1")
    return Reading(
        "groups-suppressed",
        table.data,
        f"under UR1 {text}; under the others {later or 'none'}. Rule: equal, more than none and at most "
        f"{MAX_SUPPRESSED:.0f} %.",
        None not in counts and counts[0] == counts[1] and 0 < (counts[0] or 0) <= MAX_SUPPRESSED / 100 * n_items,
    )


def half_of_the_pairs(workshop: Workshop) -> Outcome:
    """Figures 25 to 28: PR5."""
    one, two = workshop.data("BMS1"), workshop.data("BMS2")
    share = PAIR_SHARES["PR5"]
    tables = (
        over_groups(workshop, NAMES["BMS1"], one, list(random_pairs(one, share))),
        over_groups(workshop, NAMES["BMS2"], two, list(random_pairs(two, share, N_PAIRS))),
    )
    found = _compared("groups-pr5", tables, (25, 26, 27, 28))
    return Outcome(found.panels, (*found.readings, *(reading for table in tables for reading in _growth(table))))


def _growth(table: Table) -> Iterator[Reading]:
    """How AvgRE and UL change from the finest to the coarsest groups under which both have a release, and how far they
    range.
    """
    pairs = table.pairs(*TWO)
    if len(pairs) < 2:
        return
    for name in ("ul", *table.workloads):
        values = [
            [run.ul if name == "ul" else run.errors[name] for run in (one, two)]
            for _, one, two in (pairs[0], pairs[-1])
        ]
        if any(value is None for row in values for value in row):
            continue
        change = [last - first for first, last in zip(*values, strict=True)]
        told = f"from {pairs[0][0]} to {pairs[-1][0]} UPCTA changes by {change[0]:+.1f}, COAT by {change[1]:+.1f}"
        rule, is_so = "UPCTA's increases less", change[0] < change[1]
        if name == "ul":
            yield Reading("groups-increase", f"{table.data}, log2 of UL", f"{told}. Rule: {rule}.", is_so)
        else:
            yield by_queries("groups-increase", table, name, told, rule, is_so)


def mixed_sizes(workshop: Workshop) -> Outcome:
    """Figures 29 to 32: PR9."""
    one, two = workshop.data("BMS1"), workshop.data("BMS2")
    shares = SIZE_SHARES["PR9"]
    tables = (
        over_groups(workshop, NAMES["BMS1"], one, list(random_mix(one, shares, N_MIX))),
        over_groups(workshop, NAMES["BMS2"], two, list(random_mix(two, shares, N_MIX))),
    )
    return _compared("groups-pr9", tables, (29, 30, 31, 32))


def complete(workshop: Workshop) -> Outcome:
    """Figures 33 and 34: complete 5-anonymity of BMS-WebView-2, and PR9 to compare with."""
    data = workshop.data("BMS2")
    unbounded = over_groups(workshop, NAMES["BMS2"], data, list(rare_records(data, K)), NOT_FINEST, most=100)
    table = within(unbounded, MAX_SUPPRESSED)
    mixes = over_groups(workshop, NAMES["BMS2"], data, list(random_mix(data, SIZE_SHARES["PR9"], N_MIX)), NOT_FINEST)
    found = _compared("groups-complete", (table,), (33, 34))
    readings = [*found.readings, *compare_errors("groups-complete-most", table, *TWO, up_to(2.5))]
    for method, factor in (("COAT", 4.4), ("UPCTA", 4.8)):
        readings += _against_pr9(table, mixes, method, factor)
    panel, bound = _without_bound(unbounded)
    return Outcome((*found.panels, panel), (*readings, bound))


def within(table: Table, most: float) -> Table:
    """The same with a bound on suppression: it decides whether there is a release, and never which."""
    runs = {
        method: {
            x: None if run is None or 100 * run.suppressed > most * run.n_items else run for x, run in of_method.items()
        }
        for method, of_method in table.runs.items()
    }
    lacking = {method: TOO_MUCH for method, of_method in runs.items() if None in of_method.values()}
    return Table(table.data, table.axis, runs, {**table.notes, **lacking})


def _without_bound(table: Table) -> tuple[Panel, Reading]:
    """What share of the items has to go where nothing limits it."""
    shares = {
        method: {x: 100 * run.suppressed / run.n_items for x, run in of_method.items() if run is not None}
        for method, of_method in table.runs.items()
    }
    lines = [Line(method, tuple(of_method.items())) for method, of_method in shares.items()]
    lines.append(Line("the bound, paper", tuple((name, MAX_SUPPRESSED) for name in NOT_FINEST), is_paper=True))
    panel = Panel(
        f"Without a bound: {table.data}, complete {K}-anonymity",
        "utility constraints",
        "% of items suppressed",
        tuple(lines),
    )
    text = "; ".join(
        f"{method} " + ", ".join(f"{share:.0f} % under {name}" for name, share in shares[method].items())
        for method in TWO
    )
    reading = Reading(
        "groups-complete-bound",
        f"{table.data}, UR2 to UR5",
        f"without a bound {text} of the items are suppressed. Rule: at most {MAX_SUPPRESSED:.0f} % everywhere.",
        all(share <= MAX_SUPPRESSED for method in TWO for share in shares[method].values()),
    )
    return panel, reading


def _against_pr9(table: Table, mixes: Table, method: str, factor: float) -> Iterator[Reading]:
    both = [(run, mixes.runs[method][x]) for x, run in table.runs[method].items()]
    pairs = [(run, other) for run, other in both if run is not None and other is not None]
    for name in table.workloads:
        errors = [(run.errors[name], other.errors[name]) for run, other in pairs]
        known = [(a, b) for a, b in errors if a is not None and b is not None]
        if known:
            times = sum(a for a, _ in known) / max(sum(b for _, b in known), 1e-9)
            yield by_queries(
                "groups-complete-pr9",
                table,
                name,
                f"{times:.1f} times, printed {factor}",
                "larger, and within a factor of 2",
                max(1, factor / 2) < times <= 2 * factor,
                f"{method}, PR9 of table 3",
            )


# -- figures 35 to 39 --------------------------------------------------------------------------------------------------


def medical(workshop: Workshop) -> Outcome:
    """Patients whose visits are the constraints and whose diseases are the utility constraints."""
    tables = [_patients(workshop, name, n) for name, n in N_PATIENTS.items()]
    panels = [
        panel
        for table, number in zip(tables, (35, 36), strict=True)
        for panel in table.error_panels(f"Figure {number}")
    ]
    panels += [table.ncp_panel(f"Figure {number}") for table, number in zip(tables, (37, 38), strict=True)]
    panels.append(tables[1].ul_panel("Figure 39"))
    readings: list[Reading] = []
    for table in tables:
        readings += [
            _kept(table),
            *compare_errors("medical-error", table, *TWO, at_least(2.5)),
            *compare_losses("medical-loss", table, "UPCTA", ("COAT",), "NCP", "ncp"),
            *compare_losses("medical-loss", table, "UPCTA", ("COAT",), *UL),
        ]
    return Outcome(tuple(panels), tuple(_not_compared(reading) for reading in readings))


def _not_compared(reading: Reading) -> Reading:
    """Other patients: it can only be told how it is with them."""
    return Reading(reading.claim, reading.name, f"{reading.ours} Generated patients, so it is not compared.", None)


def _kept(table: Table) -> Reading:
    shares = {
        method: [100 * run.suppressed / run.n_items for run in table.runs[method].values() if run is not None]
        for method in TWO
    }
    text = ", ".join(f"{method} {span(found)} %" for method, found in shares.items())
    return Reading("medical-kept", table.data, f"the groups are kept, but {text} of the codes are suppressed.", None)


def _patients(workshop: Workshop, name: str, n: int) -> Table:
    data = collect(patients(n)).used_items()
    visits = list(per_group(collect(patients(n, visits=True)), data))
    named = ([label for label in labels if label in data.vocabulary] for labels in patients_groups().values())
    groups = [labels for labels in named if labels]
    cases: dict[X, tuple[Transactions, Model]] = {
        k: (data, ConstraintAnonymity(k, visits, groups, 100)) for k in PATIENT_KS
    }
    return sweep(workshop, f"{n:,} patients for {name}", "k", cases, TWO, queries=frequent_queries)


def frequent_queries(data: Transactions) -> Queries:
    """1,000 of the itemsets that 0.5 % of the records have."""
    frequent = frequent_itemsets(data, 0.005).itemsets
    drawn = np.random.default_rng((0, 2)).integers(0, len(frequent), N_QUERIES)
    indptr = np.concatenate(([0], np.cumsum(np.diff(frequent.indptr)[drawn])))
    items = np.concatenate([frequent[number] for number in drawn.tolist()])
    return {"frequent": Itemsets(indptr.astype(np.int64), items, data.vocabulary)}


# -- figures 40 to 42 --------------------------------------------------------------------------------------------------


def runtime(workshop: Workshop) -> Outcome:
    """Time over records, k and utility constraints, all pairs protected."""
    compile_kernels(workshop, TWO)
    data = workshop.data("BMS1")
    pairs = list(occurring(data, 2))

    def ask(part: Transactions, k: int, size: int, constraints: Constraints) -> tuple[Transactions, Model]:
        return part, ConstraintAnonymity(k, constraints, utility_groups(part, size), 100)

    parts = nested_parts(data, (0.25, 0.5, 1.0))
    axes: dict[str, dict[X, tuple[Transactions, Model]]] = {
        "records": {n: ask(part, K, GROUP_SIZES["UR2"], list(occurring(part, 2))) for n, part in parts.items()},
        "k": {k: ask(data, k, GROUP_SIZES["UR2"], pairs) for k in (KS[0], 10, KS[-1])},
        "utility constraints": {name: ask(data, K, GROUP_SIZES[name], pairs) for name in ("UR1", "UR3", "UR5")},
    }
    tables = [
        sweep(workshop, NAMES["BMS1"], axis, cases, TWO, queries=lambda _: None, timed=True)
        for axis, cases in axes.items()
    ]
    panels = tuple(table.seconds_panel(f"Figure {number}") for number, table in enumerate(tables, start=40))
    claims = ("groups-time", "groups-time-k", "groups-time-groups")
    return Outcome(
        panels, tuple(seconds_apart(claim, _times(table)) for claim, table in zip(claims, tables, strict=True))
    )


def _times(table: Table) -> str:
    ratios = [coat.seconds / max(upcta.seconds, 1e-9) for _, upcta, coat in table.pairs(*TWO)]
    growth = {}
    for method in TWO:
        runs = [run for run in table.runs[method].values() if run is not None]
        growth[method] = f"{runs[-1].seconds / max(runs[0].seconds, 1e-9):.1f} times ({method})"
    return (
        f"our COAT takes {span(ratios)} times as long as our UPCTA; from first to last time grows "
        f"{', '.join(growth.values())}."
    )
