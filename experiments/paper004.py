"""The experiments of PTA: loss and time of classes of identical records, over k and the number of segments.

J. C.-W. Lin, Q. Liu, P. Fournier-Viger, T.-P. Hong: PTA: An Efficient System for Transaction Database Anonymization, IEEE Access
4, 2016; sections III, V and VI.

The methods of the paper take the bits of the Gray code in the order of the items, as its example does. Its pictures carry
no numbers; what is compared is what the text says about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.experiment import Experiment, Line, Outcome, Panel, Statement, Workshop
from setveil.algorithms.base import Context
from setveil.algorithms.k_anonymity.pta import distances, prim_tsp
from setveil.core import Replacement, Transactions
from setveil.generate import collect, quest
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from setveil.workflows.assess import measure, verify

KS = (5, 10, 15, 20, 25)
K = 15  # where the number of segments varies
N_BASKETS = 100_000  # T10I4D100K
NEAR = 2.0  # percentage points within which two losses are called equal
LEFT_OUT = (
    ("Figures 8 to 13, (c) pumsb, (d) connect, (e) accidents", "the data sets are not at hand."),
    ("Figure 1", "a flow chart."),
    ("Table 3", "the Gray code of 0 to 7; the order of records in 004-fig2 rests on it."),
)
SENSITIVE = tuple(f"S{number}" for number in range(1, 8))
FIGURE_2 = (
    "B D S1", "A B C S2", "C D E S3", "A C D E S3", "A B D S2", "B D E S4", "A C S5", "D E S6", "A E S7", "B D S2",
    "B D S1", "A C E S5", "B C D S7",
)  # fmt: skip
TABLE_1 = ("ab", "bc", "bc", "abc", "abd", "acd")
TABLE_2 = ("abd", "bc", "bc", "bc", "abd", "abd")


# -- methods and data -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A line: an algorithm with its options."""

    name: str
    algorithm: str
    bits: str = "id"
    has_segments: bool = True

    def options(self, segments: int) -> dict[str, Any]:
        """For so many segments."""
        bits: dict[str, Any] = {} if self.algorithm == "weave" else {"bits": self.bits}
        return {**bits, "segments": segments} if self.has_segments else bits


PTA = Method("PTA", "pta")
TSP = Method("Gray-TSP", "gray-tsp")
GSC = Method("GSC", "gsc", has_segments=False)
OURS = (Method("PTA, bits by frequency", "pta", "frequency"), Method("weave (ours)", "weave", has_segments=False))
THREE = (PTA, TSP, GSC)


@dataclass(frozen=True)
class Set:
    """A data set and its numbers of segments."""

    name: str
    letter: str
    segments: tuple[int, ...]  # of figures 9, 10, 12
    few: tuple[int, ...]  # of figure 8: so few that finding loops takes nearly all of the time
    middle: int  # of figures 11 and 13

    def read(self, workshop: Workshop) -> Transactions:
        """From its file, or made."""
        if self.name == "T10I4D100K":
            return collect(quest(D=N_BASKETS)).used_items()
        return workshop.data(self.name)


SETS = (
    Set("chess", "a", (20, 40, 60, 80, 100), (5, 10, 20, 40), 60),
    Set("mushroom", "b", (100, 125, 150, 175, 200), (20, 40, 80, 160), 150),
    Set("T10I4D100K", "f", (600, 800, 1000, 1200, 1400), (400, 800, 1600), 1000),
)


@dataclass(frozen=True)
class Run:
    """What one release cost."""

    loss: float  # percent of the item occurrences
    seconds: float
    leftovers: int | None  # records that PTA put into no class at first


Runs = Mapping[int, Run]  # over segments, or over k


def run_once(workshop: Workshop, data: Transactions, method: Method, k: int, segments: int) -> Run:
    """One verified release."""
    workshop.step(f"{method.name}, k={k}, {segments} segments")
    release, seconds = workshop.release(data, KAnonymity(k), method.algorithm, **method.options(segments))
    return Run(100 * measure(data, release)["il_ratio"], seconds, release.details.get("leftovers"))


def compile_kernels(workshop: Workshop) -> None:
    """Every method once on next to nothing, so that seconds are those of the methods."""
    tiny = Transactions.from_lists([["a", "b"], ["a"], ["b", "c"], ["c"]] * 10)
    for method in (*THREE, *OURS):
        run_once(workshop, tiny, method, 3, 2)


def panel(title: str, axis: str, what: str, lines: Mapping[str, Runs]) -> Panel:
    """Loss or seconds over segments or k."""
    timing = what == "seconds"
    drawn = tuple(Line(name, tuple((x, getattr(run, what)) for x, run in runs.items())) for name, runs in lines.items())
    label = "CPU seconds" if timing else "information loss (% of items)"
    return Panel(title, axis, label, drawn, log_y=timing, is_timing=timing)


def spread(values: Iterable[float]) -> float:
    """From the least to the largest."""
    known = list(values)
    return max(known) - min(known)


def listed(parts: Iterable[str]) -> str:
    """One sentence out of several parts."""
    return "; ".join(parts) + "."


# -- worked examples ----------------------------------------------------------------------------------------------------


def table_2(workshop: Workshop) -> Outcome:
    """The two classes of the introduction, given by hand."""
    workshop.step("the example of tables 1 and 2")
    data = Transactions.from_lists([list(row) for row in TABLE_1])
    numbers = {row: number for number, row in enumerate(sorted(set(TABLE_2)))}
    cells = [(number, data.vocabulary.numbers([item])[0]) for row, number in numbers.items() for item in row]
    owners, items = np.array(cells).T
    centres = Transactions.from_pairs(owners, items, len(numbers), data.vocabulary)
    given = Replacement.from_centres(data, np.array([numbers[row] for row in TABLE_2]), centres)
    best, _ = workshop.release(data, KAnonymity(3), "weave")
    loss, least = measure(data, given)["il"], measure(data, best)["il"]
    holds = verify(given, KAnonymity(3)).holds
    return Outcome(
        (),
        (
            Statement("Table 2 is 3-anonymous.", f"verify says {'yes' if holds else 'no'}.", holds),
            Statement(
                "Its information loss is 4.",
                f"{loss}; weave, our default, loses {least} with 3-anonymous records.",
                loss == 4,
            ),
        ),
    )


def figure_2(workshop: Workshop) -> Outcome:
    """Section V: thirteen records, two segments, k = 3."""
    workshop.step("the example of section V")
    data = Transactions.from_lists([row.split() for row in FIGURE_2])
    public = Transactions.from_lists([[item for item in row.split() if item not in SENSITIVE] for row in FIGURE_2])
    order = gray_order(public, "id")
    first = np.array_split(order, 2)[0]
    (loop,) = prim_tsp([public.select(first)], Context())
    distance = distances(public.select(first))
    length = int(distance[loop, np.roll(loop, -1)].sum())
    release, _ = workshop.release(data, KAnonymity(3, SENSITIVE), "pta", bits="id", segments=2)
    rows = {int(number) + 1: sorted(release.transactions()[number] - set(SENSITIVE)) for number in first}
    classes = {"".join(row): sorted(number for number, other in rows.items() if other == row) for row in rows.values()}
    printed = {"BD": [1, 10, 11, 13], "DE": [3, 6, 8]}
    names = [int(number) + 1 for number in order]
    return Outcome(
        (),
        (
            Statement(
                "Sorted by Gray code the records are T8 T3 T13 T1 T10 T11 T6 T5 T2 T7 T12 T4 T9.",
                f"{' '.join(f'T{name}' for name in names)}.",
                names == [8, 3, 13, 1, 10, 11, 6, 5, 2, 7, 12, 4, 9],
            ),
            Statement(
                "The shortest loop of the first segment is T8 T6 T1 T10 T11 T13 T3; its length is 6.",
                f"{' '.join(f'T{int(first[node]) + 1}' for node in loop)}; {length}.",
                [int(first[node]) + 1 for node in loop] == [8, 6, 1, 10, 11, 13, 3] and length == 6,
            ),
            Statement(
                f"The first segment is published as {_classes(printed)}.", f"{_classes(classes)}.", classes == printed
            ),
        ),
    )


def _classes(classes: Mapping[str, list[int]]) -> str:
    members = {row: " ".join(f"T{number}" for number in numbers) for row, numbers in sorted(classes.items())}
    return ", ".join(f"{row} for {names}" for row, names in members.items())


# -- sweeps ---------------------------------------------------------------------------------------------------------------


def segments_and_k(workshop: Workshop) -> Outcome:
    """Figures 8 and 9."""
    compile_kernels(workshop)
    panels: list[Panel] = []
    statements: list[Statement] = []
    for each in SETS:
        data = each.read(workshop)
        slow = {k: {n: run_once(workshop, data, PTA, k, n) for n in each.few} for k in (KS[0], K, KS[-1])}
        runs = {k: {n: run_once(workshop, data, PTA, k, n) for n in each.segments} for k in KS}
        lines = {k: {f"k = {k}": found} for k, found in slow.items()}
        panels.append(
            panel(
                f"Figure 8 ({each.letter}): {each.name}",
                "segments",
                "seconds",
                {name: found for line in lines.values() for name, found in line.items()},
            )
        )
        panels.append(
            panel(
                f"Figure 9 ({each.letter}): {each.name}",
                "segments",
                "loss",
                {f"k = {k}": found for k, found in runs.items()},
            )
        )
        statements += [_speed(each, slow), _steady_time(each, slow), _steady_loss(each, runs), _grows(each, runs)]
    return Outcome(tuple(panels), tuple(statements))


def _speed(each: Set, slow: Mapping[int, Runs]) -> Statement:
    few, more = each.few[:2]
    seconds = {n: sum(runs[n].seconds for runs in slow.values()) for n in (few, more)}
    factor = seconds[few] / max(seconds[more], 1e-9)
    return Statement(
        f"{each.name}: more segments take much less time (the text's example, T10I4D100K from 50 to 100 segments: 4.1 times less).",
        f"{factor:.1f} times less from {few} to {more} segments, mean over k. Rule: at least 2 times.",
        factor >= 2,
    )


def _steady_time(each: Set, slow: Mapping[int, Runs]) -> Statement:
    n = each.few[0]
    seconds = [runs[n].seconds for runs in slow.values()]
    factor = max(seconds) / max(min(seconds), 1e-9)
    return Statement(
        f"{each.name}: k does not influence the time.",
        f"with {n} segments the slowest k takes {factor:.2f} times as long as the fastest. Rule: at most 1.5 times.",
        factor <= 1.5,
    )


def _steady_loss(each: Set, runs: Mapping[int, Runs]) -> Statement:
    apart = {k: spread(run.loss for run in found.values()) for k, found in runs.items()}
    return Statement(
        f"{each.name}: the number of segments has little influence on the loss.",
        f"over {each.segments[0]} to {each.segments[-1]} segments it varies by "
        + ", ".join(f"{points:.1f} (k={k})" for k, points in apart.items())
        + f" percentage points. Rule: at most {NEAR:.0f}.",
        max(apart.values()) <= NEAR,
    )


def _grows(each: Set, runs: Mapping[int, Runs]) -> Statement:
    steps = [runs[a][n].loss < runs[b][n].loss for a, b in pairwise(KS) for n in each.segments]
    low, high = runs[KS[0]][each.middle].loss, runs[KS[-1]][each.middle].loss
    return Statement(
        f"{each.name}: the loss grows rapidly with k.",
        f"from {low:.1f} % (k={KS[0]}) to {high:.1f} % (k={KS[-1]}) with {each.middle} segments; over all numbers of segments it grows "
        f"at {sum(steps)} of {len(steps)} steps from one k to the next. Rule: at all.",
        all(steps),
    )


def over_segments(workshop: Workshop) -> Outcome:
    """Figures 10 and 12: k = 15."""
    compile_kernels(workshop)
    panels: list[Panel] = []
    statements: list[Statement] = []
    for each in SETS:
        data = each.read(workshop)
        lines = {method.name: _over_segments(workshop, data, method, each) for method in (*THREE, *OURS)}
        panels.append(panel(f"Figure 10 ({each.letter}): {each.name}, k = {K}", "segments", "loss", lines))
        panels.append(panel(f"Figure 12 ({each.letter}): {each.name}, k = {K}", "segments", "seconds", lines))
        statements += [_best(each.name, lines), _worst(each.name, lines), *_falls(each, lines)]
        if each.name == "mushroom":
            statements += _printed(lines)
        statements.append(_time(each.name, lines, "(chess: PTA nearly 0.01 s, Gray-TSP more than 10 s) "))
    return Outcome(tuple(panels), tuple(statements))


def _over_segments(workshop: Workshop, data: Transactions, method: Method, each: Set) -> Runs:
    if method.has_segments:
        return {n: run_once(workshop, data, method, K, n) for n in each.segments}
    once = run_once(workshop, data, method, K, each.middle)
    return dict.fromkeys(each.segments, once)


def over_k(workshop: Workshop) -> Outcome:
    """Figures 11 and 13: the middle number of segments."""
    compile_kernels(workshop)
    panels: list[Panel] = []
    statements: list[Statement] = []
    for each in SETS:
        data = each.read(workshop)
        lines = {
            method.name: {k: run_once(workshop, data, method, k, each.middle) for k in KS}
            for method in (*THREE, *OURS[: 2 if data.n_records < 50_000 else 1])
        }
        where = f"{each.name}, {each.middle} segments"
        panels.append(panel(f"Figure 11 ({each.letter}): {where}", "k", "loss", lines))
        panels.append(panel(f"Figure 13 ({each.letter}): {where}", "k", "seconds", lines))
        statements += [_best(each.name, lines), _worst(each.name, lines), _shrinks(each.name, lines)]
        statements.append(_time(each.name, lines, "(mushroom: PTA and GSC below 0.1 s, Gray-TSP above 10 s) "))
    return Outcome(tuple(panels), tuple(statements))


# -- what the text says about both ------------------------------------------------------------------------------------------


def _range(runs: Runs) -> str:
    losses = [run.loss for run in runs.values()]
    return f"{min(losses):.1f} to {max(losses):.1f}" if spread(losses) >= 0.05 else f"{losses[0]:.1f}"


def _best(name: str, lines: Mapping[str, Runs]) -> Statement:
    pta, others = lines[PTA.name], [lines[other.name] for other in (TSP, GSC)]
    wins = sum(all(run.loss < other[x].loss for other in others) for x, run in pta.items())
    ours = [f"{line} {_range(runs)}" for line, runs in lines.items() if line not in {each.name for each in THREE}]
    return Statement(
        f"{name}: PTA loses less than Gray-TSP and GSC.",
        f"at {wins} of {len(pta)} points: PTA {_range(pta)} %, Gray-TSP {_range(others[0])} %, GSC {_range(others[1])} % "
        f"({', '.join(ours)} %).",
        wins == len(pta),
    )


def _worst(name: str, lines: Mapping[str, Runs]) -> Statement:
    gsc = lines[GSC.name]
    loses = sum(run.loss > max(lines[other.name][x].loss for other in (PTA, TSP)) for x, run in gsc.items())
    return Statement(
        f"{name}: GSC mostly loses the most.",
        f"at {loses} of {len(gsc)} points. Rule: at more than half.",
        2 * loses > len(gsc),
    )


def _falls(each: Set, lines: Mapping[str, Runs]) -> Iterable[Statement]:
    for method in (PTA, TSP):
        runs = lines[method.name]
        first, last = (runs[n].loss for n in (each.segments[0], each.segments[-1]))
        yield Statement(
            f"{each.name}: the loss of {method.name} falls with more segments.",
            f"{first:.1f} % with {each.segments[0]} segments, {last:.1f} % with {each.segments[-1]}."
            + _left(runs[each.segments[0]], runs[each.segments[-1]]),
            last < first,
        )


def _left(first: Run, last: Run) -> str:
    if first.leftovers is None or last.leftovers is None:
        return ""
    return f" {first.leftovers:,} and {last.leftovers:,} records are left over by the groups of k."


def _printed(lines: Mapping[str, Runs]) -> Iterable[Statement]:
    for method, segments, percent in ((PTA, 100, 19.5), (TSP, 100, 28), (PTA, 200, 19), (TSP, 200, 23)):
        loss = lines[method.name][segments].loss
        yield Statement(
            f"mushroom, k = {K}, {segments} segments: {method.name} loses {percent} %.",
            f"{loss:.1f} %. Rule: within {NEAR:.0f} percentage points.",
            abs(loss - percent) <= NEAR,
        )


def _shrinks(name: str, lines: Mapping[str, Runs]) -> Statement:
    pta = lines[PTA.name]
    falls = pta[KS[-1]].loss < pta[KS[0]].loss
    return Statement(
        f"{name}: the loss decreases with k (section VI B; section VI A says that it increases).",
        f"PTA {pta[KS[0]].loss:.1f} % with k={KS[0]}, {pta[KS[-1]].loss:.1f} % with k={KS[-1]}"
        + ("." if falls else ": it increases, as section VI A and the reason given in VI B have it."),
        falls,
    )


def _time(name: str, lines: Mapping[str, Runs], example: str) -> Statement:
    mean = {method.name: np.mean([run.seconds for run in lines[method.name].values()]) for method in THREE}
    return Statement(
        f"{name}: PTA and GSC are one to two orders of magnitude faster than Gray-TSP {example}and about equally fast.",
        listed(f"{line} {seconds:.2f} s on average" for line, seconds in mean.items())[:-1]
        + ". How long a genetic search goes on is not said, so the factor is not compared.",
        None,
    )


BITS = (
    "Bits of the Gray code in the order of the items for the paper's three methods. chess and mushroom as in the paper (mushroom without "
    "its class attributes), T10I4D100K made by our Quest generator; pumsb, connect and accidents are not at hand."
)


def _experiment(name: str, title: str, setting: str, run: Callable[[Workshop], Outcome], *needs: str) -> Experiment:
    return Experiment(f"004-{name}", "004", title, setting, needs, run)


EXPERIMENTS = (
    _experiment("table2", "Tables 1 and 2: a 3-anonymous database", "The classes as printed.", table_2),
    _experiment("fig2", "Figures 2 to 7: PTA step by step", "Thirteen records, k = 3, two segments.", figure_2),
    _experiment(
        "fig8",
        "Figures 8 and 9: time and loss of PTA over segments and k",
        f"k = 5 to 25 for the loss and 5, 15, 25 for the time. {BITS} The numbers of segments of figure 8 are ours: few enough "
        "for the search of loops to decide the time. T10I4D100K has no fewer than 400, as 50 take more than four minutes.",
        segments_and_k,
        "chess",
        "mushroom",
    ),
    _experiment(
        "fig10",
        "Figures 10 and 12: loss and time over segments",
        f"k = {K}. {BITS} Gray-TSP cuts its tour into runs of k identical records (see its page).",
        over_segments,
        "chess",
        "mushroom",
    ),
    _experiment(
        "fig11",
        "Figures 11 and 13: loss and time over k",
        f"60, 150 and 1,000 segments. {BITS}",
        over_k,
        "chess",
        "mushroom",
    ),
)
