"""Reconstruction error and time of the algorithms for the privacy degree, over one parameter at a time.

A seed draws the sensitive items (uniformly, among items that p=20 allows) and the queries; every method gets the same
ones. The error is the mean Kullback-Leibler divergence of the queries, then the mean over the seeds. Queries are drawn
in three ways, as "randomly" is all the paper says; each way is a reading of its own. One method *beats* others if its
mean is lower at every value of the axis. Seconds are the median over the seeds. The distance inside groups is the mean
Hamming distance of two records of a group, over public items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.claims import Reading
from experiments.experiment import Line, Panel, Workshop, name_of_default
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.releases import Grouping
from setveil.utility.reconstruction import PROTOCOLS as PROTOCOLS
from setveil.utility.reconstruction import Query, draw_queries, kl_divergences

Floats = NDArray[np.float64]

P_VALUES = (4, 6, 10, 20)
M_VALUES = (5, 10, 15, 20)
R_VALUES = (2, 4, 6, 8)
DEFAULTS = {"p": 10, "m": 10, "r": 4}
SEEDS = range(3)
SPOKEN = dict(zip(PROTOCOLS, ("uniform", "frequency-weighted", "co-occurring"), strict=True))
N_QUERIES = 100  # per seed and protocol


@dataclass(frozen=True)
class Method:
    """An algorithm under the name of its line."""

    name: str
    algorithm: str | None  # None: setveil's default
    options: Mapping[str, Any] = field(default_factory=dict)


GRAY = Method("Gray", "cahd")
RCM = Method("RCM", "cahd", {"ordering": "rcm"})
NN = Method("NN", "nn")
LSH = Method("LSH", "lsh")
PM = Method("PM", "permmondrian")
RANDOM = Method("random groups", "random")
DEFAULT = Method(name_of_default("degree"), None)
PROPOSED = (GRAY, RCM, NN, LSH)
PAPERS = (*PROPOSED, PM)
ALL = (*PAPERS, RANDOM, DEFAULT)


@dataclass(frozen=True)
class Sweep:
    """What the methods gave over the values of one parameter."""

    data: str
    axis: str
    values: tuple[int, ...]
    methods: tuple[Method, ...]
    errors: Floats  # [protocols, methods, values]
    distances: Floats  # [methods, values]
    seconds: Floats  # [methods, values]

    def error(self, method: Method, protocol: str = "uniform") -> Floats:
        """Of one method, [values]."""
        return self._row(self.errors[PROTOCOLS.index(protocol)], method)

    def time(self, method: Method) -> Floats:
        """Seconds of one method, [values]."""
        return self._row(self.seconds, method)

    def distance(self, method: Method) -> Floats:
        """Inside the groups of one method, [values]."""
        return self._row(self.distances, method)

    def _row(self, table: Floats, method: Method) -> Floats:
        row: Floats = table[self.methods.index(method)]
        return row

    @property
    def default(self) -> int:
        """The parameter's default value; the first, if it has none."""
        return DEFAULTS.get(self.axis, self.values[0])

    def at_default(self, row: Floats) -> float:
        """The entry of the default value."""
        return float(row[self.values.index(self.default)])

    def error_panels(self) -> tuple[Panel, ...]:
        """One per protocol."""
        return tuple(
            Panel(
                f"{self.data}, {SPOKEN[protocol]} queries",
                self.axis,
                "KL divergence",
                self._lines(self.errors[number]),
            )
            for number, protocol in enumerate(PROTOCOLS)
        )

    def distance_panel(self) -> Panel:
        """How similar the records of a group are."""
        return Panel(
            f"{self.data}, distance inside groups", self.axis, "mean Hamming distance", self._lines(self.distances)
        )

    def time_panel(self) -> Panel:
        """CPU seconds."""
        return Panel(
            f"{self.data}, time", self.axis, "CPU seconds", self._lines(self.seconds), log_y=True, is_timing=True
        )

    def _lines(self, table: Floats) -> tuple[Line, ...]:
        return tuple(
            Line(method.name, tuple(zip(self.values, row.tolist(), strict=True)))
            for method, row in zip(self.methods, table, strict=True)
        )


# -- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draw:
    """What a seed draws: sensitive items and queries about them, the same for every method."""

    sensitive: tuple[str, ...]
    queries: tuple[Query, ...]  # protocol by protocol, r by r
    rs: tuple[int, ...]  # public items per query


def draw(data: Transactions, m: int, seed: int, rs: tuple[int, ...] = (DEFAULTS["r"],)) -> Draw:
    """The first m of the seed's sequence of items, among those that the largest p allows, and queries."""
    allowed = np.flatnonzero((data.supports > 0) & (data.supports * max(P_VALUES) <= data.n_records))
    chosen = np.random.default_rng(seed).permutation(allowed)[:m]
    return draw_about(data, tuple(data.vocabulary[int(item)] for item in chosen), seed, rs)


def draw_about(
    data: Transactions, sensitive: tuple[str, ...], seed: int, rs: tuple[int, ...] = (DEFAULTS["r"],)
) -> Draw:
    """Queries about given items."""
    cases = [(protocol, r) for protocol in PROTOCOLS for r in rs]
    queries = [query for case in cases for query in draw_queries(data, sensitive, *case, N_QUERIES, seed)]
    return Draw(sensitive, tuple(queries), rs)


def ask(
    workshop: Workshop, data: Transactions, drawn: Draw, method: Method, p: int = DEFAULTS["p"]
) -> tuple[Floats, float, Grouping]:
    """Errors [protocols, rs] and seconds of one verified release, and the release."""
    release, seconds = workshop.release(data, PrivacyDegree(p, drawn.sensitive), method.algorithm, **method.options)
    assert isinstance(release, Grouping)
    divergences = kl_divergences(data, release, drawn.queries).reshape(len(PROTOCOLS), len(drawn.rs), N_QUERIES)
    return divergences.mean(axis=2), seconds, release


def group_distance(release: Grouping, p: int) -> float:
    """The mean Hamming distance of two records of a group; the one large group of records that nobody needed is left
    out.
    """
    rows, n_groups = release.published, release.n_groups
    size = np.bincount(release.group_of, minlength=n_groups)
    keys, count = np.unique(release.group_of[rows.owners] * rows.n_items + rows.items, return_counts=True)
    group = keys // max(rows.n_items, 1)
    # An item that c of g records have tells c * (g - c) pairs apart.
    apart = np.bincount(group, weights=count * (size[group] - count), minlength=n_groups)
    formed = (size > 1) & (size <= 2 * p)
    return float((apart[formed] / (size[formed] * (size[formed] - 1) / 2)).mean()) if formed.any() else 0.0


def warm_up(workshop: Workshop, methods: Iterable[Method]) -> None:
    """Compile what will be timed, on next to nothing."""
    tiny = Transactions.from_lists([[f"i{number % 7}", f"i{number % 3}"] for number in range(60)] + [["s"]])
    for method in methods:
        workshop.release(tiny, PrivacyDegree(4, ("s",)), method.algorithm, **method.options)


def sweep(
    workshop: Workshop,
    title: str,
    data: Transactions,
    axis: str,
    values: tuple[int, ...],
    methods: tuple[Method, ...],
) -> Sweep:
    """Vary p, m, or else an option of the methods that have one."""
    warm_up(workshop, methods)
    tables = []
    for value in values:
        chosen = {**DEFAULTS, axis: value}
        runs = []
        for seed in SEEDS:
            drawn = draw(data, chosen["m"], seed)
            for method in methods:
                workshop.step(f"{title}, {axis}={value}: {method.name}, seed {seed}")
                option = {} if axis in DEFAULTS or method.algorithm is None else {axis: value}
                varied = Method(method.name, method.algorithm, {**method.options, **option})
                errors, seconds, release = ask(workshop, data, drawn, varied, chosen["p"])
                runs.append((*errors[:, 0], group_distance(release, chosen["p"]), seconds))
        tables.append(np.reshape(runs, (-1, len(methods), len(PROTOCOLS) + 2)))  # [seeds, methods, figures]
    return Sweep(title, axis, values, methods, *_over_seeds(np.stack(tables, axis=2)))


def sweep_queries(workshop: Workshop, title: str, data: Transactions, methods: tuple[Method, ...]) -> Sweep:
    """Vary r, which only the queries know."""
    warm_up(workshop, methods)
    runs = []
    for seed in SEEDS:
        drawn = draw(data, DEFAULTS["m"], seed, R_VALUES)
        for method in methods:
            workshop.step(f"{title}, r={R_VALUES[0]} to {R_VALUES[-1]}: {method.name}, seed {seed}")
            errors, seconds, release = ask(workshop, data, drawn, method)
            alike = np.full(len(R_VALUES), group_distance(release, DEFAULTS["p"]))
            runs.append(np.column_stack((errors.T, alike, np.full(len(R_VALUES), seconds))))
    table = np.reshape(runs, (len(SEEDS), len(methods), len(R_VALUES), len(PROTOCOLS) + 2))
    return Sweep(title, "r", R_VALUES, methods, *_over_seeds(table))


def _over_seeds(table: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean errors and distances, median seconds, of [seeds, methods, values, figures]."""
    errors = np.moveaxis(table[..., :-2].mean(axis=0), 2, 0)
    return errors, table[..., -2].mean(axis=0), np.median(table[..., -1], axis=0)


# -- comparing with the paper ------------------------------------------------------------------------------------------


def names(methods: Iterable[Method]) -> str:
    """As in a sentence."""
    *most, last = [method.name for method in methods]
    return f"{', '.join(most)} and {last}" if most else last


def ranked_by_error(claim: str, of: Sweep, better: Sequence[Method], worse: Sequence[Method]) -> Iterator[Reading]:
    """Every one of ``better`` has a lower error than every one of ``worse``; a reading per way of drawing queries."""
    for protocol in PROTOCOLS:
        below = _is_below([of.error(one, protocol) for one in better], [of.error(one, protocol) for one in worse])
        shown = list_values({one.name: of.at_default(of.error(one, protocol)) for one in (*better, *worse)}, ".4f")
        yield Reading(
            claim,
            f"{of.data} over {of.axis}, {SPOKEN[protocol]} queries",
            f"{names(better)} below {names(worse)} at {below} of {len(of.values)} values; {of.axis}={of.default}: "
            f"{shown}. Rule: at all.",
            below == len(of.values),
        )


def timed(claim: str, of: Sweep, methods: Sequence[Method]) -> Reading:
    """Seconds of programs that the paper did not have: shown, not compared."""
    shown = list_values({one.name: float(np.median(of.time(one))) for one in methods}, ".3f")
    return Reading(claim, f"{of.data} over {of.axis}", f"median CPU seconds of our programs: {shown}.", None)


def _is_below(low: Sequence[Floats], high: Sequence[Floats]) -> int:
    """At how many values all of ``low`` are below all of ``high``."""
    return int((np.max(low, axis=0) < np.min(high, axis=0)).sum())


def similar_error(claim: str, of: Sweep, one: Method, other: Method, at_most: float = 0.1) -> Iterator[Reading]:
    """Errors that differ by at most a tenth."""
    for protocol in PROTOCOLS:
        ratio = of.error(one, protocol) / of.error(other, protocol)
        largest = float(np.abs(ratio - 1).max())
        of_papers = np.array([of.error(method, protocol) for method in of.methods if method in PAPERS])
        apart = float((of_papers.max(axis=0) / of_papers.min(axis=0) - 1).max())
        told = f"they differ by at most {100 * largest:.1f} %"
        name = f"{of.data} over {of.axis}, {SPOKEN[protocol]} queries"
        if apart <= at_most:
            all_alike = f"{told}, but all of the paper's methods by at most {100 * apart:.1f} %"
            yield Reading(claim, name, f"{all_alike}: nothing can be told from this.", None)
        else:
            rule = f"up to {100 * at_most:.0f} %, where the paper's methods differ by up to {100 * apart:.0f} %"
            yield Reading(claim, name, f"{told}. Rule: {rule}.", largest <= at_most)


def rising_error(claim: str, of: Sweep, methods: Sequence[Method] = PAPERS) -> Iterator[Reading]:
    """The error of every method is larger at the last value than at the first, and grows at most steps."""
    for protocol in PROTOCOLS:
        rows = {one.name: of.error(one, protocol) for one in methods}
        steps = np.concatenate([np.diff(row) > 0 for row in rows.values()])
        growth = {name: float(row[-1] / row[0]) for name, row in rows.items()}
        yield Reading(
            claim,
            f"{of.data} over {of.axis}, {SPOKEN[protocol]} queries",
            f"it rises at {int(steps.sum())} of {len(steps)} steps; from {of.axis}={of.values[0]} to "
            f"{of.axis}={of.values[-1]}: {list_values(growth, '.2f', '×')}. Rule: larger at the end for every "
            "method, and at three quarters of the steps.",
            min(growth.values()) > 1 and 4 * int(steps.sum()) >= 3 * len(steps),
        )


def list_values(values: Mapping[str, float], form: str, before: str = "") -> str:
    """``Gray 0.1387, NN 0.1235``."""
    return ", ".join(f"{name} {before}{value:{form}}".replace("%", " %") for name, value in values.items())
