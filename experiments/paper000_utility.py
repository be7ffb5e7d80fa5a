"""Section 5.3: UPCTA against COAT, both under utility constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.experiment import Outcome, Statement, Workshop
from experiments.paper000_privacy import KS, N_MIX, NAMES, PART, K, first_records, nested_parts
from experiments.paper000_runs import (
    N_QUERIES,
    PLUS,
    Model,
    Queries,
    Table,
    X,
    at_least,
    compile_kernels,
    lower,
    mean_reduction,
    more_accurate,
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
from setveil.core import Transactions
from setveil.generate import collect, patients, patients_groups
from setveil.models import ConstraintAnonymity
from setveil.utility.avg_re import workload_frequent

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
    methods: Sequence[str] = TWO,
    sizes: Mapping[str, int] = GROUP_SIZES,
) -> Table:
    """UR1 to UR5."""
    cases: dict[X, tuple[Transactions, Model]] = {
        group: (data, ConstraintAnonymity(K, constraints, utility_groups(data, size), MAX_SUPPRESSED))
        for group, size in sizes.items()
    }
    return sweep(workshop, name, "utility constraints", cases, methods)


def _panels_and_losses(tables: Sequence[Table], figures: Sequence[int]) -> Outcome:
    errors, losses = figures[: len(tables)], figures[len(tables) :]
    panels = [
        panel for table, number in zip(tables, errors, strict=True) for panel in table.error_panels(f"Figure {number}")
    ]
    panels += [table.ul_panel(f"Figure {number}") for table, number in zip(tables, losses, strict=True)]
    statements = [
        statement
        for table in tables
        for statement in (
            more_accurate(f"{table.data}: UPCTA answers more accurately than COAT.", table, "UPCTA", "COAT"),
            lower(f"{table.data}: UPCTA loses less UL than COAT.", table, "UPCTA", ("COAT",), "log2 of UL", "ul"),
        )
    ]
    return Outcome(tuple(panels), tuple(statements))


def all_pairs(workshop: Workshop) -> Outcome:
    """Figures 21 to 24: all pairs protected."""
    one, two = workshop.data("BMS1"), first_records(workshop.data("BMS2"), PART)
    tables = (
        over_groups(workshop, NAMES["BMS1"], one, list(occurring(one, 2))),
        over_groups(workshop, f"{NAMES['BMS2']}, first {PART:,} records", two, list(occurring(two, 2))),
    )
    found = _panels_and_losses(tables, (21, 22, 23, 24))
    more = (
        mean_reduction(f"{tables[0].data}: UPCTA's error is 61 % lower than COAT's on average.", tables[0], *TWO, 61),
        mean_reduction(f"{tables[1].data}: UPCTA's error is 33 % lower than COAT's on average.", tables[1], *TWO, 33),
        _suppression(tables[0], one.n_items),
    )
    return Outcome(found.panels, (*more, *found.statements))


def _suppression(table: Table, n_items: int) -> Statement:
    gone = {method: table.runs[method]["UR1"] for method in TWO}
    counts = [None if run is None else run.suppressed for run in gone.values()]
    text = " and ".join(
        f"{method} {'more than is allowed' if run is None else f'{run.suppressed} items ({run.suppressed / n_items:.1%})'}"
        for method, run in gone.items()
    )
    later = sum(run.suppressed for method in TWO for name, run in table.runs[method].items() if run and name != "UR1")
    return Statement(
        f"{table.data}: under UR1 both suppress the same small share of items, less than {MAX_SUPPRESSED:.0f} %.",
        f"{text}; under the others {later or 'none'}.",
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
    found = _panels_and_losses(tables, (25, 26, 27, 28))
    return Outcome(found.panels, (*found.statements, *(_growth(table) for table in tables)))


def _growth(table: Table) -> Statement:
    """How errors change from the finest to the coarsest groups under which both have a release."""
    pairs = table.pairs(*TWO)
    change = {
        name: tuple(pairs[-1][side].errors[name] - pairs[0][side].errors[name] for side in (0, 1))
        for name in (pairs[0][0].errors if len(pairs) > 1 else ())
    }
    text = "; ".join(f"workload {name} {a:+.1f} (UPCTA), {b:+.1f} (COAT)" for name, (a, b) in change.items())
    falls = all(a <= 0 and b <= 0 for a, b in change.values())
    return Statement(
        f"{table.data}: from UR1 to UR5 UPCTA's error grows much less than COAT's.",
        f"from the finest to the coarsest groups that both can keep: {text or 'one point only'}."
        + (" Both fall." if change and falls else "")
        + " Rule: both grow, UPCTA's less.",
        bool(change) and all(0 <= a < b for a, b in change.values()),
    )


def mixed_sizes(workshop: Workshop) -> Outcome:
    """Figures 29 to 32: PR9."""
    one, two = workshop.data("BMS1"), workshop.data("BMS2")
    shares = SIZE_SHARES["PR9"]
    tables = (
        over_groups(workshop, NAMES["BMS1"], one, list(random_mix(one, shares, N_MIX)), (*TWO, PLUS)),
        over_groups(workshop, NAMES["BMS2"], two, list(random_mix(two, shares, N_MIX))),
    )
    return _panels_and_losses(tables, (29, 30, 31, 32))


def complete(workshop: Workshop) -> Outcome:
    """Figures 33 and 34: complete 5-anonymity of BMS-WebView-2, and PR9 to compare with."""
    data = workshop.data("BMS2")
    table = over_groups(workshop, NAMES["BMS2"], data, list(rare_records(data, K)), TWO, NOT_FINEST)
    mixes = over_groups(
        workshop, NAMES["BMS2"], data, list(random_mix(data, SIZE_SHARES["PR9"], N_MIX)), TWO, NOT_FINEST
    )
    found = _panels_and_losses((table,), (33, 34))
    more = [up_to("COAT's error is up to 2.5 times that of UPCTA.", table, *TWO, 2.5)]
    more += [_against_pr9(table, mixes, method, factor) for method, factor in (("COAT", 4.4), ("UPCTA", 4.8))]
    return Outcome(found.panels, (*found.statements, *more))


def _against_pr9(table: Table, mixes: Table, method: str, factor: float) -> Statement:
    both = [(run, mixes.runs[method][x]) for x, run in table.runs[method].items()]
    pairs = [(run, other) for run, other in both if run is not None and other is not None]
    names = list(pairs[0][0].errors) if pairs else []
    times = {
        name: sum(run.errors[name] for run, _ in pairs) / max(sum(other.errors[name] for _, other in pairs), 1e-9)
        for name in names
    }
    text = ", ".join(f"{value:.1f} times (workload {name})" for name, value in times.items())
    return Statement(
        f"{method}: the mean error under complete 5-anonymity is {factor} times that under PR9.",
        f"{text or 'no release to compare'}. Rule: larger, and within a factor of 2 of the paper's.",
        bool(times) and all(max(1, factor / 2) < value <= 2 * factor for value in times.values()),
    )


# -- figures 35 to 39 ---------------------------------------------------------------------------------------------------


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
    statements: list[Statement] = []
    for table in tables:
        found = [
            at_least(f"{table.data}: COAT's error is at least 2.5 (up to 3.8) times that of UPCTA.", table, *TWO, 2.5),
            lower(f"{table.data}: UPCTA has a lower NCP than COAT.", table, "UPCTA", ("COAT",), "NCP", "ncp"),
        ]
        if table is tables[1]:
            claim = f"{table.data}: UPCTA loses less UL than COAT."
            found.append(lower(claim, table, "UPCTA", ("COAT",), "log2 of UL", "ul"))
        statements += [_kept(table), *(_tested(statement, table) for statement in found)]
    return Outcome(tuple(panels), tuple(statements))


def _tested(statement: Statement, table: Table) -> Statement:
    """Where both methods lose exactly the same at every point, the data cannot tell them apart."""
    pairs = table.pairs(*TWO)
    if any((one.ul, one.ncp, one.errors) != (two.ul, two.ncp, two.errors) for one, two in pairs):
        return statement
    ours = f"UPCTA and COAT have the same NCP, UL and AvgRE at all of {len(pairs)} points, so these patients do not test it."
    return Statement(statement.paper, ours, None)


def _kept(table: Table) -> Statement:
    """A claim about one set of patients; with others it can only be told how it is there."""
    shares = {
        method: [100 * run.suppressed / run.n_items for run in table.runs[method].values() if run is not None]
        for method in TWO
    }
    text = ", ".join(f"{method} {span(found)} %" for method, found in shares.items())
    return Statement(
        f"{table.data}: UPCTA and COAT satisfy the utility constraints for every k, with at most {PATIENT_BOUND:g} % suppressed.",
        f"the groups are kept, but {text} of the codes are suppressed. Generated patients, so it is not compared.",
        None,
    )


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
    return {"frequent": workload_frequent(data, 0.005, N_QUERIES)}


# -- figures 40 to 42 ---------------------------------------------------------------------------------------------------


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
    tables = [sweep(workshop, NAMES["BMS1"], axis, cases, TWO, queries=lambda data: {}) for axis, cases in axes.items()]
    panels = tuple(table.seconds_panel(f"Figure {number}") for number, table in enumerate(tables, start=40))
    claims = (
        "COAT takes 65 % less time than UPCTA on average.",
        "From k=2 to k=50 COAT's time grows 5.3 times and UPCTA's 4 times; COAT is faster.",
        "From UR1 to UR5 COAT's time grows 16.7 times and UPCTA's 17.9 times; COAT is faster.",
    )
    return Outcome(
        panels, tuple(seconds_apart(claim, _times(table)) for claim, table in zip(claims, tables, strict=True))
    )


def _times(table: Table) -> str:
    ratios = [coat.seconds / max(upcta.seconds, 1e-9) for upcta, coat in table.pairs(*TWO)]
    growth = {}
    for method in TWO:
        runs = [run for run in table.runs[method].values() if run is not None]
        growth[method] = f"{runs[-1].seconds / max(runs[0].seconds, 1e-9):.1f} times ({method})"
    return f"our COAT takes {span(ratios)} times as long as our UPCTA; from first to last time grows {', '.join(growth.values())}."
