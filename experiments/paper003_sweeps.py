"""Reconstruction error and time of the algorithms for the privacy degree, over one parameter at a time.

A seed draws the sensitive items (uniformly, among items that p=20 allows) and the queries; every method gets the same
ones. The error is the mean Kullback-Leibler divergence of the queries, then the mean over the seeds. Queries are drawn in
three ways; "at random", the paper's words, is taken as uniform, and statements are judged on uniform queries. One method
*beats* others if its mean is lower at every value of the axis. Seconds are the median over the seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.experiment import Line, Panel, Statement, Workshop
from setveil.core import Grouping, Transactions
from setveil.models import PrivacyDegree
from setveil.utility.reconstruction import PROTOCOLS, Query, draw_queries, kl_divergences

Floats = NDArray[np.float64]

P_VALUES = (4, 6, 8, 10, 15, 20)
M_VALUES = (5, 10, 15, 20)
R_VALUES = (2, 4, 6, 8)
DEFAULTS = {"p": 10, "m": 10, "r": 4}
SEEDS = range(5)
SPOKEN = dict(zip(PROTOCOLS, ("uniform", "frequency-weighted", "co-occurring"), strict=True))
N_QUERIES = 100  # per seed and protocol


@dataclass(frozen=True)
class Method:
    """An algorithm under the name of its line."""

    name: str
    algorithm: str
    options: Mapping[str, Any] = field(default_factory=dict)


GRAY = Method("Gray", "cahd")
RCM = Method("RCM", "cahd", {"ordering": "rcm"})
NN = Method("NN", "nn")
LSH = Method("LSH", "lsh")
PM = Method("PM", "permmondrian")
RANDOM = Method("random groups", "random")
NN_PLUS = Method("NN+", "nn+")
PROPOSED = (GRAY, RCM, NN, LSH)
PAPERS = (*PROPOSED, PM)
ALL = (*PAPERS, RANDOM, NN_PLUS)


@dataclass(frozen=True)
class Sweep:
    """What the methods gave over the values of one parameter."""

    data: str
    axis: str
    values: tuple[int, ...]
    methods: tuple[Method, ...]
    errors: Floats  # [protocols, methods, values]
    seconds: Floats  # [methods, values]

    def error(self, method: Method, protocol: str = "uniform") -> Floats:
        """Of one method, [values]."""
        return self._row(self.errors[PROTOCOLS.index(protocol)], method)

    def time(self, method: Method) -> Floats:
        """Seconds of one method, [values]."""
        return self._row(self.seconds, method)

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
    """Vary p, m, or else an option of the methods."""
    warm_up(workshop, methods)
    tables = []
    for value in values:
        chosen = {**DEFAULTS, axis: value}
        option = {} if axis in DEFAULTS else {axis: value}
        runs = []
        for seed in SEEDS:
            drawn = draw(data, chosen["m"], seed)
            for method in methods:
                workshop.step(f"{title}, {axis}={value}: {method.name}, seed {seed}")
                varied = Method(method.name, method.algorithm, {**method.options, **option})
                errors, seconds, _ = ask(workshop, data, drawn, varied, chosen["p"])
                runs.append((*errors[:, 0], seconds))
        tables.append(np.reshape(runs, (-1, len(methods), len(PROTOCOLS) + 1)))  # [seeds, methods, figures]
    return Sweep(title, axis, values, methods, *_over_seeds(np.stack(tables, axis=2)))


def sweep_queries(workshop: Workshop, title: str, data: Transactions, methods: tuple[Method, ...]) -> Sweep:
    """Vary r, which only the queries know."""
    warm_up(workshop, methods)
    runs = []
    for seed in SEEDS:
        drawn = draw(data, DEFAULTS["m"], seed, R_VALUES)
        for method in methods:
            workshop.step(f"{title}, r={R_VALUES[0]} to {R_VALUES[-1]}: {method.name}, seed {seed}")
            errors, seconds, _ = ask(workshop, data, drawn, method)
            runs.append(np.column_stack((errors.T, np.full(len(R_VALUES), seconds))))
    table = np.reshape(runs, (len(SEEDS), len(methods), len(R_VALUES), len(PROTOCOLS) + 1))
    return Sweep(title, "r", R_VALUES, methods, *_over_seeds(table))


def _over_seeds(table: Floats) -> tuple[Floats, Floats]:
    """Mean errors [protocols, methods, values] and median seconds [methods, values] of [seeds, methods, values, figures]."""
    return np.moveaxis(table[..., :-1].mean(axis=0), 2, 0), np.median(table[..., -1], axis=0)


# -- comparing with the paper -------------------------------------------------------------------------------------------


def names(methods: Iterable[Method]) -> str:
    """As in a sentence."""
    *most, last = [method.name for method in methods]
    return f"{', '.join(most)} and {last}" if most else last


def ranked_by_error(paper: str, of: Sweep, better: Sequence[Method], worse: Sequence[Method]) -> Statement:
    """Every one of ``better`` has a lower error than every one of ``worse``."""
    n_true = {
        protocol: int(
            _is_below([of.error(one, protocol) for one in better], [of.error(one, protocol) for one in worse])
        )
        for protocol in PROTOCOLS
    }
    others = [f"{count} with {SPOKEN[protocol]}" for protocol, count in n_true.items() if protocol != "uniform"]
    shown = list_values({one.name: of.at_default(of.error(one)) for one in (*better, *worse)}, ".4f")
    ours = (
        f"{of.data}: {names(better)} below {names(worse)} at {n_true['uniform']} of {len(of.values)} values of {of.axis} with uniform "
        f"queries ({', '.join(others)} ones); uniform, {of.axis}={of.default}: {shown}."
    )
    return Statement(paper, ours, n_true["uniform"] == len(of.values))


def ranked_by_time(paper: str, of: Sweep, faster: Sequence[Method], slower: Sequence[Method]) -> Statement:
    """Every one of ``faster`` takes less time than every one of ``slower``."""
    n_true = int(_is_below([of.time(one) for one in faster], [of.time(one) for one in slower]))
    shown = list_values({one.name: float(np.median(of.time(one))) for one in (*faster, *slower)}, ".3f")
    ours = f"{of.data}: {names(faster)} faster than {names(slower)} at {n_true} of {len(of.values)} values of {of.axis}; median seconds: {shown}."
    return Statement(paper, ours, n_true == len(of.values))


def _is_below(low: Sequence[Floats], high: Sequence[Floats]) -> np.int64:
    """At how many values all of ``low`` are below all of ``high``."""
    count: np.int64 = (np.max(low, axis=0) < np.min(high, axis=0)).sum()
    return count


def similar_error(paper: str, of: Sweep, one: Method, other: Method, at_most: float = 0.1) -> Statement:
    """Errors that differ by at most a tenth."""
    ratio = of.error(one) / of.error(other)
    largest = float(np.abs(ratio - 1).max())
    ours = f"{of.data}: they differ by at most {100 * largest:.1f} % with uniform queries (similar: up to {100 * at_most:.0f} %)."
    return Statement(paper, ours, largest <= at_most)


def rising_error(paper: str, of: Sweep, methods: Sequence[Method] = PAPERS) -> Statement:
    """The error grows from each value to the next."""
    steps = np.concatenate([np.diff(of.error(one)) > 0 for one in methods])
    growth = list_values({one.name: float(of.error(one)[-1] / of.error(one)[0]) for one in methods}, ".2f", "×")
    ours = (
        f"{of.data}: it rises at {int(steps.sum())} of {len(steps)} steps; from {of.axis}={of.values[0]} to "
        f"{of.axis}={of.values[-1]}: {growth}."
    )
    return Statement(paper, ours, bool(steps.all()))


def order_of_magnitude(paper: str, of: Sweep, slow: Method, fast: Method, orders: int) -> Statement:
    """How many times slower, to the nearest power of ten."""
    ratio = float(np.median(of.time(slow) / of.time(fast)))
    ours = f"{of.data}: {slow.name} takes {ratio:.1f} times the time of {fast.name} (median over {of.axis})."
    return Statement(paper, ours, round(float(np.log10(ratio))) == orders)


def list_values(values: Mapping[str, float], form: str, before: str = "") -> str:
    """``Gray 0.1387, NN 0.1235``."""
    return ", ".join(f"{name} {before}{value:{form}}".replace("%", " %") for name, value in values.items())
