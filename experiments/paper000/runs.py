"""Runs of PCTA, UPCTA, COAT and Apriori with the losses their paper reports, and the rules by which they are
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite, log2, log10

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop, name_of_default
from setveil.core import Itemsets, Transactions
from setveil.errors import InfeasibleError
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.releases import LocalRecoding, Recoding, Release
from setveil.utility.avg_re import avg_re, workload_i, workload_t
from setveil.utility.loss import utility_loss
from setveil.workflows.assess import measure

N_QUERIES = 1000
QUERY_SIZE = 5
FANOUT = 5
PLUS = "pcta+ (ours)"
ALGORITHMS = {"PCTA": "pcta", "UPCTA": "upcta", "COAT": "coat", "Apriori": "aa", PLUS: "pcta+"}
TOO_MUCH = "no point: more than the allowed share of items would have to be suppressed"
NOT_ASKED = "gaps: no record has five items of the kind asked for"
LEFT_OUT = {
    "log2 of UL": "suppressed entries cost nothing in UL: see AvgRE and NCP",
    "AvgRE": "it generalizes nothing: queries about generalized items ask about items with suppressed entries",
    "NCP": "a suppressed entry counts as 1",
}  # what there is to say of a release that leaves out entries

X = float | str
Model = KmAnonymity | ConstraintAnonymity
Queries = Mapping[str, Itemsets]

# Section 5.1 draws the items of a query "from the generalized items": those that the release in question publishes as
# part of a set. Every method is then asked about what it changed itself. The other two ask all methods the same; they
# are shown beside it, and no claim is judged by them.
WORKLOADS = {
    "GT": "generalized items, by record",
    "GI": "generalized items, by item",
    "T": "all items, by record",
    "I": "all items, by item",
    "frequent": "frequent itemsets",
}
NOT_THE_PAPERS = ("T", "I")


@dataclass(frozen=True)
class Run:
    """What one verified release cost."""

    ul: float  # log2 of UL, -inf if nothing is published
    ncp: float
    errors: Mapping[str, float | None]  # AvgRE by workload; None where there is nothing to ask
    largest: int  # items of the largest published item
    suppressed: int  # items
    n_items: int
    seconds: float
    leaves_out: bool = False  # single entries, different from record to record

    def coincides(self, other: Run) -> bool:
        """Whether two methods have come to the same, as far as can be seen."""
        return (self.ul, self.ncp, self.largest, self.suppressed) == (
            *(other.ul, other.ncp, other.largest, other.suppressed),
        )


@dataclass(frozen=True)
class Table:
    """Methods over an axis; None where there is no release."""

    data: str
    axis: str
    runs: Mapping[str, Mapping[X, Run | None]]
    notes: Mapping[str, str] = field(default_factory=dict)

    def pairs(self, base: str, other: str) -> list[tuple[X, Run, Run]]:
        """Both methods wherever both gave a release."""
        found = ((x, run, self.runs[other].get(x)) for x, run in self.runs[base].items())
        return [(x, one, two) for x, one, two in found if one is not None and two is not None]

    @property
    def workloads(self) -> list[str]:
        """The queries that were asked."""
        runs = [run for of_method in self.runs.values() for run in of_method.values() if run is not None]
        return [name for name in WORKLOADS if any(name in run.errors for run in runs)]

    def panel(self, figure: str, label: str, value: Callable[[Run], float | None], *, timing: bool = False) -> Panel:
        """One figure of every run."""
        lines = []
        for name, runs in self.runs.items():
            points = tuple((x, None if run is None else value(run)) for x, run in runs.items())
            notes = [self.notes[name]] if name in self.notes else []
            if any(run is not None and value(run) is None for run in runs.values()):
                notes.append(NOT_ASKED)
            if label in LEFT_OUT and any(run is not None and run.leaves_out for run in runs.values()):
                notes.append(LEFT_OUT[label])
            lines.append(Line(name, points, "; ".join(notes)))
        return Panel(f"{figure}: {self.data}", self.axis, label, tuple(lines), log_y=label == "AvgRE", is_timing=timing)

    def error_panels(self, figure: str) -> tuple[Panel, ...]:
        """AvgRE, a picture per workload; the paper's own first."""
        return tuple(
            self.panel(f"{figure}, {WORKLOADS[name]}", "AvgRE", lambda run, name=name: run.errors[name])  # type: ignore[misc]
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


# -- queries -----------------------------------------------------------------------------------------------------------


def common_queries(data: Transactions) -> Queries:
    """Workloads T and I: five items of random records, evenly over records or evenly over items."""
    return {"T": workload_t(data, N_QUERIES, QUERY_SIZE), "I": workload_i(data, N_QUERIES, QUERY_SIZE)}


def own_queries(data: Transactions, release: Release) -> dict[str, Itemsets | None]:
    """The same over the items that a release changes; None where no record has five of them."""
    asked = with_items(data, changed_items(data, release))
    if not (asked.lengths >= QUERY_SIZE).any():
        return {"GT": None, "GI": None}
    return {"GT": workload_t(asked, N_QUERIES, QUERY_SIZE), "GI": workload_i(asked, N_QUERIES, QUERY_SIZE)}


def changed_items(data: Transactions, release: Release) -> list[str]:
    """What is published as part of a set; in a release that leaves out entries, the items that lack some."""
    if isinstance(release, LocalRecoding):
        kept = dict(zip(release.published.vocabulary, release.published.supports.tolist(), strict=True))
        supports = zip(data.vocabulary, data.supports.tolist(), strict=True)
        return [item for item, support in supports if kept.get(item, 0) < support]
    groups = (members for label, members in release.codebook().items() if label and len(members) > 1)
    return sorted({item for members in groups for item in members if item in data.vocabulary})


def with_items(data: Transactions, labels: Sequence[str]) -> Transactions:
    """The same records with some of their items, over the same vocabulary."""
    chosen = np.zeros(data.n_items, dtype=bool)
    chosen[data.vocabulary.numbers(list(labels))] = True
    kept = chosen[data.items]
    return Transactions.from_pairs(data.owners[kept], data.items[kept], data.n_records, data.vocabulary)


# -- runs --------------------------------------------------------------------------------------------------------------


def run_once(
    workshop: Workshop,
    data: Transactions,
    model: Model,
    method: str,
    queries: Queries | None,
    hierarchy: str = f"fanout:{FANOUT}",
    timed: bool = False,
) -> Run | None:
    """One verified release, or None if too much would have to be suppressed; without ``queries`` nothing is asked.

    Where releases are ``timed`` they are made anew, so that seconds do not hold those of compiling.
    """
    make = workshop.make if timed else workshop.release
    try:
        if method in ALGORITHMS:
            made = make(data, model, ALGORITHMS[method], hierarchy if method == "Apriori" else None)
        else:
            found = workshop.default_release(data, model)
            if found is None:
                return None
            made = found
    except InfeasibleError:
        return None
    release, seconds = made
    metrics = measure(data, release)
    return Run(
        ul=log2_ul(release),
        ncp=metrics["ncp"],
        errors={} if queries is None else _errors(data, release, queries),
        largest=int(release.published_sizes.max(initial=0)) if isinstance(release, Recoding) else 1,
        suppressed=metrics.get("suppressed_items") or 0,
        n_items=data.n_items,
        seconds=seconds,
        leaves_out=isinstance(release, LocalRecoding),
    )


def log2_ul(release: Release) -> float:
    """UL in powers of two, -inf if nothing is published; of releases that leave out entries, too, by its formula."""
    if isinstance(release, Recoding):
        loss = utility_loss(release)
    else:
        assert isinstance(release, LocalRecoding)
        sizes, supports = np.diff(release.cover.indptr).tolist(), release.published.supports.tolist()
        mass = sum(((1 << size) - 1) * support for size, support in zip(sizes, supports, strict=True))
        n_domain, n_records = len(release.cover.vocabulary), release.published.n_records
        loss = Fraction(mass, ((1 << n_domain) - 1) * n_records)
    return log2(loss.numerator) - log2(loss.denominator) if loss else -inf


def _errors(data: Transactions, release: Release, queries: Queries) -> dict[str, float | None]:
    asked: dict[str, Itemsets | None] = {} if "frequent" in queries else dict(own_queries(data, release))
    errors: dict[str, float | None] = {}
    for name, workload in {**asked, **queries}.items():
        errors[name] = None if workload is None else avg_re(data, release, workload)
    return errors


def sweep(
    workshop: Workshop,
    name: str,
    axis: str,
    cases: Mapping[X, tuple[Transactions, Model]],
    methods: Sequence[str],
    *,
    apriori: Callable[[X], Model] | None = None,
    queries: Callable[[Transactions], Queries | None] = common_queries,
    timed: bool = False,
) -> Table:
    """Every method on every case, and our default unless seconds are compared. ``apriori``: what Apriori, which knows
    no constraints, is asked for.
    """
    (model_name,) = {model.name for _, model in cases.values()}
    if not timed:
        methods = (*methods, name_of_default(model_name))
    runs: dict[str, dict[X, Run | None]] = {method: {} for method in methods}
    asked = {id(data): queries(data) for data, _ in cases.values()}
    notes: dict[str, str] = {}
    for x, (data, model) in cases.items():
        for method in methods:
            workshop.step(f"{name}, {axis} {x}, {method}")
            other = apriori(x) if method == "Apriori" and apriori is not None else model
            runs[method][x] = run_once(workshop, data, other, method, asked[id(data)], timed=timed)
            if runs[method][x] is None:
                notes[method] = TOO_MUCH
    return Table(name, axis, runs, notes)


def compile_kernels(workshop: Workshop, methods: Iterable[str]) -> None:
    """Every method once on next to nothing, so that seconds are those of the methods."""
    tiny = Transactions.from_lists([["a", "b", "c"], ["a", "b"], ["b", "c"], ["c", "d"], ["d"]] * 3)
    pairs = ConstraintAnonymity(4, [["a", "b"], ["c", "d"], ["a"]])
    for method in methods:
        run_once(workshop, tiny, KmAnonymity(4, 2), method, None)
        if method != "Apriori":
            run_once(workshop, tiny, pairs, method, None)


def utility_groups(data: Transactions, size: int) -> list[list[str]]:
    """Groups of items with consecutive numbers: siblings in a balanced hierarchy over them."""
    labels = list(data.vocabulary)
    return [labels[begin : begin + size] for begin in range(0, len(labels), size)]


# -- rules -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """When a list of ratios agrees with what is printed."""

    words: str
    holds: Callable[[Sequence[float]], bool]


def at_least(factor: float) -> Rule:
    """A lower bound."""
    return Rule(f"at least {factor:g} times at every point", lambda ratios: min(ratios) >= factor)


def up_to(factor: float) -> Rule:
    """A largest value: neither never reached nor far exceeded."""
    return Rule(
        f"the largest within a factor of 2 of {factor:g}", lambda ratios: factor / 2 <= max(ratios) <= 2 * factor
    )


LARGER = Rule("above 1 at every point", lambda ratios: min(ratios) > 1)


def by_queries(
    claim: str, table: Table, workload: str, told: str, rule: str, holds: bool | None, more: str = ""
) -> Reading:
    """A reading by one way of drawing queries; those that are not the paper's are shown, and not judged."""
    name = ", ".join(filter(None, (table.data, WORKLOADS[workload], more)))
    if workload in NOT_THE_PAPERS:
        return Reading(claim, name, f"{told}. Not the paper's queries: not judged.", None)
    return Reading(claim, name, f"{told}. Rule: {rule}.", holds)


def compare_errors(claim: str, table: Table, base: str, other: str, rule: Rule, more: str = "") -> Iterator[Reading]:
    """How many times larger the error of ``other`` is, a reading per workload; points where both coincide are left
    out.
    """
    pairs = table.pairs(base, other)
    same = [x for x, one, two in pairs if one.coincides(two)]
    for name in table.workloads:
        ratios = [
            ratio
            for x, one, two in pairs
            if x not in same and (ratio := _ratio(two.errors[name], one.errors[name])) is not None
        ]
        text = f"{other} has {span(ratios)} times the error of {base}" if ratios else "nothing to compare"
        equal = f"; both publish the same at {table.axis} {', '.join(map(str, same))}" if same else ""
        yield by_queries(claim, table, name, f"{text}{equal}", rule.words, rule.holds(ratios) if ratios else None, more)


def _ratio(above: float | None, below: float | None) -> float | None:
    """None where nothing was asked, and where neither makes any error."""
    if above is None or below is None or above == below == 0:
        return None
    return inf if below == 0 else above / below


def span(values: Sequence[float]) -> str:
    """From least to largest, in words."""
    low, high = (_short(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    if not isfinite(value):
        return "infinitely many"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def compare_losses(
    claim: str, table: Table, base: str, others: Sequence[str], what: str, attribute: str
) -> Iterator[Reading]:
    """``base`` has the lower value wherever both gave a release and do not coincide; a reading per other method."""
    for other in others:
        pairs = table.pairs(base, other)
        same = [x for x, one, two in pairs if one.coincides(two)]
        values = [(getattr(one, attribute), getattr(two, attribute)) for x, one, two in pairs if x not in same]
        wins = sum(a < b for a, b in values)
        last = f" (at the last {values[-1][0]:.4g} against {values[-1][1]:.4g})" if values else ""
        equal = f"; both publish the same at {table.axis} {', '.join(map(str, same))}" if same else ""
        yield Reading(
            claim,
            f"{table.data}, {what}, {base} against {other}",
            f"lower at {wins} of {len(values)} points{last}{equal}. Rule: at all.",
            wins == len(values) if values else None,
        )


def magnitude(claim: str, table: Table, base: str, others: Sequence[str], orders: float) -> Iterator[Reading]:
    """UL is smaller by so many powers of ten at every point."""
    for other in others:
        powers = [(two.ul - one.ul) * log10(2) for _, one, two in table.pairs(base, other)]
        yield Reading(
            claim,
            f"{table.data}, against {other}",
            f"smaller by 10 to the power of {span(powers)}. Rule: at least {10**orders:.0f} times.",
            min(powers) >= orders,
        )


def mean_reduction(claim: str, table: Table, base: str, other: str, percent: float) -> Iterator[Reading]:
    """The error of ``base`` is lower by about so many percent on average; a reading per workload."""
    for name in table.workloads:
        pairs = [(one.errors[name], two.errors[name]) for _, one, two in table.pairs(base, other)]
        known = [1 - a / b for a, b in pairs if a is not None and b]
        value = 100 * float(np.mean(known)) if known else None
        told = (
            "nothing to compare"
            if value is None
            else f"{abs(value):.0f} % {'lower' if value >= 0 else 'higher'} on average, printed {percent:g} %"
        )
        is_so = None if value is None else percent / 2 <= value <= 2 * percent
        yield by_queries(claim, table, name, told, "between half the printed figure and twice", is_so)


def seconds_apart(claim: str, ours: str) -> Reading:
    """Seconds depend on the machine and on how a method is written: shown, not compared."""
    return Reading(claim, "", ours, None)


def join(*outcomes: Outcome) -> Outcome:
    """Several as one."""
    return Outcome(
        tuple(panel for outcome in outcomes for panel in outcome.panels),
        tuple(reading for outcome in outcomes for reading in outcome.readings),
    )
