"""Runs of PCTA, UPCTA, COAT and Apriori with the losses their paper reports, and sentences that compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, log10

import numpy as np

from experiments.experiment import Line, Outcome, Panel, Statement, Workshop
from setveil.core import Itemsets, Recoding, Transactions
from setveil.errors import InfeasibleError
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.utility.avg_re import avg_re, workload_i, workload_t
from setveil.utility.loss import group_sizes
from setveil.workflows.assess import measure

N_QUERIES = 1000
QUERY_SIZE = 5
FANOUT = 5
PLUS = "pcta+ (ours)"
ALGORITHMS = {"PCTA": "pcta", "UPCTA": "upcta", "COAT": "coat", "Apriori": "aa", PLUS: "pcta+"}
TOO_MUCH = "no point: more than the allowed share of items would have to be suppressed"
SLOW = "no point: left out to save time"

X = float | str
Model = KmAnonymity | ConstraintAnonymity
Queries = Mapping[str, Itemsets]


@dataclass(frozen=True)
class Run:
    """What one verified release cost."""

    ul: float  # log2 of UL, -inf if nothing is published
    ncp: float
    errors: Mapping[str, float]  # AvgRE by workload
    largest: int  # items of the largest published item
    suppressed: int  # items
    n_items: int
    seconds: float


@dataclass(frozen=True)
class Table:
    """Methods over an axis; None where there is no release."""

    data: str
    axis: str
    runs: Mapping[str, Mapping[X, Run | None]]
    notes: Mapping[str, str] = field(default_factory=dict)
    workloads: tuple[str, ...] = ()

    def pairs(self, base: str, other: str) -> list[tuple[Run, Run]]:
        """Both methods wherever both gave a release."""
        found = ((run, self.runs[other].get(x)) for x, run in self.runs[base].items())
        return [(one, two) for one, two in found if one is not None and two is not None]

    def panel(self, figure: str, label: str, value: Callable[[Run], float], *, timing: bool = False) -> Panel:
        """One figure of every run."""
        lines = tuple(
            Line(
                name,
                tuple((x, None if run is None else value(run)) for x, run in runs.items()),
                self.notes.get(name, ""),
            )
            for name, runs in self.runs.items()
        )
        return Panel(f"{figure}: {self.data}", self.axis, label, lines, is_timing=timing)

    def error_panels(self, figure: str) -> tuple[Panel, ...]:
        """AvgRE, a picture per workload."""
        return tuple(
            self.panel(f"{figure}, workload {name}", f"AvgRE, workload {name}", lambda run, name=name: run.errors[name])  # type: ignore[misc]
            for name in self.workloads
        )

    def ul_panel(self, figure: str) -> Panel:
        """UL, in powers of two."""
        return self.panel(figure, "log2 of UL", lambda run: run.ul)

    def ncp_panel(self, figure: str) -> Panel:
        """NCP."""
        return self.panel(figure, "NCP", lambda run: run.ncp)

    def seconds_panel(self, figure: str) -> Panel:
        """CPU seconds."""
        return self.panel(figure, "CPU seconds", lambda run: run.seconds, timing=True)


def queries_of(data: Transactions) -> Queries:
    """Workloads T and I: five items of random records, evenly over records or evenly over items."""
    return {"T": workload_t(data, N_QUERIES, QUERY_SIZE), "I": workload_i(data, N_QUERIES, QUERY_SIZE)}


def run_once(workshop: Workshop, data: Transactions, model: Model, method: str, queries: Queries) -> Run | None:
    """One verified release, or None if too much would have to be suppressed."""
    hierarchy = f"fanout:{FANOUT}" if method == "Apriori" else None
    try:
        release, seconds = workshop.release(data, model, ALGORITHMS[method], hierarchy)
    except InfeasibleError:
        return None
    assert isinstance(release, Recoding)
    metrics = measure(data, release)
    return Run(
        ul=-inf if metrics["ul_log2"] is None else metrics["ul_log2"],
        ncp=metrics["ncp"],
        errors={name: avg_re(data, release, workload) for name, workload in queries.items()},
        largest=int(group_sizes(release).max(initial=0)),
        suppressed=metrics["suppressed_items"],
        n_items=data.n_items,
        seconds=seconds,
    )


def sweep(
    workshop: Workshop,
    name: str,
    axis: str,
    cases: Mapping[X, tuple[Transactions, Model]],
    methods: Sequence[str],
    *,
    apriori: Callable[[X], Model] | None = None,
    skip: Callable[[str, X], bool] = lambda method, x: False,
    queries: Callable[[Transactions], Queries] = queries_of,
) -> Table:
    """Every method on every case. ``apriori``: what Apriori, which knows no constraints, is asked for instead."""
    runs: dict[str, dict[X, Run | None]] = {method: {} for method in methods}
    asked = {id(data): queries(data) for data, _ in cases.values()}
    notes: dict[str, str] = {}
    for x, (data, model) in cases.items():
        for method in methods:
            workshop.step(f"{name}, {axis} {x}, {method}")
            if skip(method, x):
                runs[method][x], notes[method] = None, SLOW
                continue
            other = apriori(x) if method == "Apriori" and apriori is not None else model
            runs[method][x] = run_once(workshop, data, other, method, asked[id(data)])
            if runs[method][x] is None:
                notes[method] = TOO_MUCH
    workloads = dict.fromkeys(name for found in asked.values() for name in found)
    return Table(name, axis, runs, notes, tuple(workloads))


def compile_kernels(workshop: Workshop, methods: Iterable[str]) -> None:
    """Every method once on next to nothing, so that seconds are those of the methods."""
    tiny = Transactions.from_lists([["a", "b", "c"], ["a", "b"], ["b", "c"], ["c", "d"], ["d"]] * 3)
    pairs = ConstraintAnonymity(4, [["a", "b"], ["c", "d"], ["a"]])
    for method in methods:
        run_once(workshop, tiny, KmAnonymity(4, 2), method, {})
        if method != "Apriori":
            run_once(workshop, tiny, pairs, method, {})


def utility_groups(data: Transactions, size: int) -> list[list[str]]:
    """Groups of items with consecutive numbers: siblings in a balanced hierarchy over them."""
    labels = list(data.vocabulary)
    return [labels[begin : begin + size] for begin in range(0, len(labels), size)]


# -- sentences --------------------------------------------------------------------------------------------------------------


def lower(claim: str, table: Table, base: str, others: Sequence[str], what: str, attribute: str) -> Statement:
    """``base`` has the lower value wherever both gave a release."""
    parts, agrees = [], True
    for other in others:
        values = [(getattr(one, attribute), getattr(two, attribute)) for one, two in table.pairs(base, other)]
        wins, ties = sum(a < b for a, b in values), sum(a == b for a, b in values)
        equal = f", equal at {ties}" if ties else ""
        last = f" (at the last {values[-1][0]:.4g} against {values[-1][1]:.4g})" if values else ""
        parts.append(f"lower than that of {other} at {wins} of {len(values)} points{equal}{last}")
        agrees = agrees and bool(values) and wins == len(values)
    return Statement(claim, f"{what} of {base} is {'; '.join(parts)}. Rule: lower at all.", agrees)


def at_least(claim: str, table: Table, base: str, other: str, factor: float) -> Statement:
    """The error of ``other`` is at least ``factor`` times that of ``base`` at every point and in every workload."""
    found = error_ratios(table, base, other)
    agrees = all(ratios and min(ratios) >= factor for ratios in found.values())
    return Statement(
        claim,
        f"{_ratios(found, base, other)} Rule: at least {factor:g} times at every point, in every workload.",
        agrees,
    )


def more_accurate(claim: str, table: Table, base: str, other: str) -> Statement:
    """The error of ``other`` is larger than that of ``base`` at every point and in every workload."""
    found = error_ratios(table, base, other)
    agrees = all(ratios and min(ratios) > 1 for ratios in found.values())
    return Statement(claim, f"{_ratios(found, base, other)} Rule: above 1 at every point, in every workload.", agrees)


def up_to(claim: str, table: Table, base: str, other: str, factor: float) -> Statement:
    """The error of ``other`` reaches ``factor`` times that of ``base`` in every workload."""
    found = error_ratios(table, base, other)
    agrees = all(ratios and max(ratios) >= factor for ratios in found.values())
    return Statement(claim, f"{_ratios(found, base, other)} Rule: reaches {factor:g} times in every workload.", agrees)


def error_ratios(table: Table, base: str, other: str) -> dict[str, list[float]]:
    """How many times larger the error of ``other`` is, by workload; equal errors of zero count as once."""
    pairs = table.pairs(base, other)
    return {
        name: [_ratio(two.errors[name], one.errors[name]) for one, two in pairs]
        for name in (pairs[0][0].errors if pairs else ("T", "I"))
    }


def _ratio(above: float, below: float) -> float:
    if below == 0:
        return 1.0 if above == 0 else inf
    return above / below


def _ratios(found: Mapping[str, Sequence[float]], base: str, other: str) -> str:
    parts = (f"{span(ratios)} times that of {base} (workload {name})" for name, ratios in found.items())
    return f"the error of {other} is {', '.join(parts)}."


def span(values: Sequence[float]) -> str:
    """From least to largest, in words."""
    if not values:
        return "never measured:"
    low, high = (f"{value:.2g}" if isfinite(value) else "infinitely many" for value in (min(values), max(values)))
    if max(values) >= 100 and isfinite(max(values)):
        high = f"{max(values):.0f}"
    if min(values) >= 100 and isfinite(min(values)):
        low = f"{min(values):.0f}"
    return low if low == high else f"{low} to {high}"


def magnitude(claim: str, table: Table, base: str, others: Sequence[str], orders: float) -> Statement:
    """UL is smaller by so many powers of ten at every point."""
    found = {other: [(two.ul - one.ul) * log10(2) for one, two in table.pairs(base, other)] for other in others}
    text = ", ".join(f"by 10 to the power of {span(powers)} than that of {other}" for other, powers in found.items())
    agrees = all(powers and min(powers) >= orders for powers in found.values())
    return Statement(claim, f"the UL of {base} is smaller {text}. Rule: at least {10**orders:.0f} times.", agrees)


def mean_reduction(claim: str, table: Table, base: str, other: str, percent: float) -> Statement:
    """The error of ``base`` is lower by so many percent on average, in every workload."""
    pairs = table.pairs(base, other)
    names = list(pairs[0][0].errors) if pairs else []
    found = {
        name: 100 * float(np.mean([1 - one.errors[name] / two.errors[name] for one, two in pairs if two.errors[name]]))
        for name in names
    }
    text = ", ".join(
        f"{abs(value):.0f} % {'lower' if value >= 0 else 'higher'} (workload {name})" for name, value in found.items()
    )
    return Statement(
        claim,
        f"the error of {base} is on average {text or 'not measured'}. Rule: at least {percent:g} % lower in every workload.",
        bool(found) and min(found.values()) >= percent,
    )


def seconds_apart(claim: str, ours: str) -> Statement:
    """Seconds depend on the machine and on how a method is written: shown, not compared."""
    return Statement(claim, ours, None)


def join(*outcomes: Outcome) -> Outcome:
    """Several as one."""
    return Outcome(
        tuple(panel for outcome in outcomes for panel in outcome.panels),
        tuple(statement for outcome in outcomes for statement in outcome.statements),
    )
