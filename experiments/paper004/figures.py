"""Figures 8 to 13: loss and time of classes of identical records, over k and the number of segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop, name_of_default
from setveil.core import Transactions
from setveil.generate import collect, quest
from setveil.models import KAnonymity
from setveil.workflows.assess import measure

KS = (5, 10, 15, 20, 25)
K = 15  # where the number of segments varies
N_BASKETS = 100_000  # T10I4D100K
NEAR = 2.0  # percentage points within which two losses are called equal
LITTLE = 0.5  # percentage points that are no change at all
TOO_SHORT = 0.2  # seconds from which on two times are compared
RAPIDLY = 1.5  # how many times the loss has to grow from the least k to the largest

# -- methods and data -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """A line: an algorithm with its options; no algorithm is setveil's default."""

    name: str
    algorithm: str | None
    bits: str = "id"
    has_segments: bool = True
    leftovers: str = ""

    def options(self, segments: int) -> dict[str, Any]:
        """For so many segments."""
        options: dict[str, Any] = {} if self.algorithm is None else {"bits": self.bits}
        if self.has_segments:
            options["segments"] = segments
        if self.leftovers:
            options["leftovers"] = self.leftovers
        return options


PTA = Method("PTA, leftovers in their segment", "pta", leftovers="segment")  # Algorithm 3, one segment at a time
PTA_ALL = Method("PTA, leftovers anywhere", "pta", leftovers="all")  # section IV-C
BOTH = (PTA, PTA_ALL)
TSP = Method("Gray-TSP", "gray-tsp")
GSC = Method("GSC", "gsc", has_segments=False)
SORTED = Method("PTA, bits by frequency", "pta", "frequency")
DEFAULT = Method(name_of_default("k-anonymity"), None, has_segments=False)
PAPERS = (PTA, PTA_ALL, TSP, GSC)


@dataclass(frozen=True)
class Set:
    """A data set and its numbers of segments."""

    name: str
    stem: str  # of its file, "" for what is made
    letter: str
    segments: tuple[int, ...]  # of figures 9, 10, 12
    few: tuple[int, ...]  # of figure 8: so few that finding loops takes nearly all of the time
    middle: int  # of figures 11 and 13

    def read(self, workshop: Workshop) -> Transactions:
        """From its file, or made."""
        return workshop.data(self.stem) if self.stem else collect(quest(D=N_BASKETS)).used_items()


SETS = (
    Set("chess", "chess", "a", (20, 40, 60, 80, 100), (5, 10, 20, 40), 60),
    Set("mushroom", "mushroom-fimi", "b", (100, 125, 150, 175, 200), (20, 40, 80, 160), 150),
    Set("T10I4D100K", "", "f", (600, 800, 1000, 1200, 1400), (400, 800, 1600), 1000),
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
    for method in (*PAPERS, SORTED, DEFAULT):
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


# -- Figures 8 and 9 ---------------------------------------------------------------------------------------------------


def segments_and_k(workshop: Workshop) -> Outcome:
    """Figures 8 and 9."""
    compile_kernels(workshop)
    panels: list[Panel] = []
    readings: list[Reading] = []
    for each in SETS:
        data = each.read(workshop)
        slow = {k: {n: run_once(workshop, data, PTA, k, n) for n in each.few} for k in (KS[0], K, KS[-1])}
        panels.append(
            panel(
                f"Figure 8 ({each.letter}): {each.name}",
                "segments",
                "seconds",
                {f"k = {k}": runs for k, runs in slow.items()},
            )
        )
        readings += [_speed(each, slow), _steady_time(each, slow)]
        default = run_once(workshop, data, DEFAULT, K, each.middle)
        for method in BOTH:
            is_slow = method is PTA_ALL and data.n_records >= 50_000
            ks, segments = (KS[::2], each.segments[::2]) if is_slow else (KS, each.segments)
            runs = {k: {n: run_once(workshop, data, method, k, n) for n in segments} for k in ks}
            lines: dict[str, Runs] = {f"k = {k}": found for k, found in runs.items()}
            lines[f"{DEFAULT.name}, k = {K}"] = dict.fromkeys(segments, default)
            panels.append(panel(f"Figure 9 ({each.letter}): {each.name}, {method.name}", "segments", "loss", lines))
            readings += [_steady_loss(each, method, runs), _grows(each, method, runs)]
    return Outcome(tuple(panels), tuple(readings))


def _speed(each: Set, slow: Mapping[int, Runs]) -> Reading:
    few, more = each.few[:2]
    seconds = {n: sum(runs[n].seconds for runs in slow.values()) for n in (few, more)}
    factor = seconds[few] / max(seconds[more], 1e-9)
    return Reading(
        "segments-time",
        each.name,
        f"{factor:.1f} times less from {few} to {more} segments, mean over k. Rule: at least 2 times.",
        factor >= 2,
    )


def _steady_time(each: Set, slow: Mapping[int, Runs]) -> Reading:
    n = each.few[0]
    seconds = [runs[n].seconds for runs in slow.values()]
    factor = max(seconds) / max(min(seconds), 1e-9)
    return Reading(
        "k-time",
        each.name,
        f"with {n} segments the slowest k takes {factor:.2f} times as long as the fastest. Rule: at most 1.5 times.",
        factor <= 1.5,
    )


def _steady_loss(each: Set, method: Method, runs: Mapping[int, Runs]) -> Reading:
    apart = {k: spread(run.loss for run in found.values()) for k, found in runs.items()}
    return Reading(
        "segments-loss",
        f"{each.name}, {method.name}",
        f"over {each.segments[0]} to {each.segments[-1]} segments it varies by "
        + ", ".join(f"{points:.1f} (k={k})" for k, points in apart.items())
        + f" percentage points. Rule: at most {NEAR:.0f}.",
        max(apart.values()) <= NEAR,
    )


def _grows(each: Set, method: Method, runs: Mapping[int, Runs]) -> Reading:
    low, high = runs[KS[0]][each.middle].loss, runs[KS[-1]][each.middle].loss
    return Reading(
        "k-loss",
        f"{each.name}, {method.name}",
        f"from {low:.1f} % (k={KS[0]}) to {high:.1f} % (k={KS[-1]}) with {each.middle} segments. Rule: at "
        f"least {RAPIDLY} times.",
        high >= RAPIDLY * low,
    )


# -- Figures 10 to 13 --------------------------------------------------------------------------------------------------


def over_segments(workshop: Workshop) -> Outcome:
    """Figures 10 and 12: k = 15."""
    compile_kernels(workshop)
    panels: list[Panel] = []
    readings: list[Reading] = []
    for each in SETS:
        data = each.read(workshop)
        lines = {method.name: _over_segments(workshop, data, method, each) for method in (*PAPERS, SORTED, DEFAULT)}
        panels.append(panel(f"Figure 10 ({each.letter}): {each.name}, k = {K}", "segments", "loss", lines))
        panels.append(panel(f"Figure 12 ({each.letter}): {each.name}, k = {K}", "segments", "seconds", lines))
        readings += [*_best(f"{each.name} over segments", lines), *_falls(each, lines)]
        if each.letter == "f":
            readings.append(_worst(f"{each.name} over segments", lines))
        if each.name == "mushroom":
            readings += _printed(lines)
        readings.append(_time("time-segments", each.name, lines))
    return Outcome(tuple(panels), tuple(readings))


def _over_segments(workshop: Workshop, data: Transactions, method: Method, each: Set) -> Runs:
    if method.has_segments:
        return {n: run_once(workshop, data, method, K, n) for n in each.segments}
    once = run_once(workshop, data, method, K, each.middle)
    return dict.fromkeys(each.segments, once)


def over_k(workshop: Workshop) -> Outcome:
    """Figures 11 and 13: the middle number of segments."""
    compile_kernels(workshop)
    panels: list[Panel] = []
    readings: list[Reading] = []
    for each in SETS:
        data = each.read(workshop)
        lines: dict[str, Runs] = {
            method.name: {k: run_once(workshop, data, method, k, each.middle) for k in KS}
            for method in (*PAPERS, SORTED)
        }
        few = KS if data.n_records < 50_000 else KS[::2]  # our default takes long on many records
        lines[DEFAULT.name] = {k: run_once(workshop, data, DEFAULT, k, each.middle) for k in few}
        where = f"{each.name}, {each.middle} segments"
        panels.append(panel(f"Figure 11 ({each.letter}): {where}", "k", "loss", lines))
        panels.append(panel(f"Figure 13 ({each.letter}): {where}", "k", "seconds", lines))
        readings += [*_best(f"{each.name} over k", lines), *_slip(each.name, lines[PTA.name])]
        if each.letter == "f":
            readings.append(_worst(f"{each.name} over k", lines))
        readings += [_time("time-k", each.name, lines), *_steady(each.name, lines)]
    return Outcome(tuple(panels), tuple(readings))


# -- rules -------------------------------------------------------------------------------------------------------------


def _range(runs: Runs) -> str:
    losses = [run.loss for run in runs.values()]
    return f"{min(losses):.1f} to {max(losses):.1f}" if spread(losses) >= 0.05 else f"{losses[0]:.1f}"


def _best(where: str, lines: Mapping[str, Runs]) -> Iterator[Reading]:
    others = [lines[other.name] for other in (TSP, GSC)]
    for method in BOTH:
        pta = lines[method.name]
        wins = sum(all(run.loss < other[x].loss for other in others) for x, run in pta.items())
        yield Reading(
            "pta-best",
            f"{where}, {method.name}",
            f"at {wins} of {len(pta)} points: PTA {_range(pta)} %, Gray-TSP {_range(others[0])} %, GSC "
            f"{_range(others[1])} %, our default {_range(lines[DEFAULT.name])} %. Rule: at all.",
            wins == len(pta),
        )


def _worst(where: str, lines: Mapping[str, Runs]) -> Reading:
    gsc = lines[GSC.name]
    loses = sum(run.loss > max(lines[other.name][x].loss for other in (PTA, TSP)) for x, run in gsc.items())
    return Reading(
        "gsc-worst", where, f"at {loses} of {len(gsc)} points. Rule: at more than half.", 2 * loses > len(gsc)
    )


def _falls(each: Set, lines: Mapping[str, Runs]) -> Iterator[Reading]:
    for method in (*BOTH, TSP):
        runs = lines[method.name]
        first, last = (runs[n] for n in (each.segments[0], each.segments[-1]))
        left = (
            (f"; {first.leftovers:,} and {last.leftovers:,} records are left over by the groups of k")
            if first.leftovers and last.leftovers
            else ""
        )
        told = f"{first.loss:.1f} % with {each.segments[0]} segments, {last.loss:.1f} % with {each.segments[-1]}{left}"
        yield fallen("segments-falls", f"{each.name}, {method.name}", told, last.loss - first.loss)


def fallen(claim: str, name: str, told: str, change: float) -> Reading:
    """Whether a loss, in percentage points, has become less; a change that any draw could make tells nothing."""
    if abs(change) < LITTLE:
        return Reading(claim, name, f"{told}: less than {LITTLE} points, nothing can be told from this.", None)
    return Reading(claim, name, f"{told}. Rule: falls by {LITTLE} points or more.", change < 0)


def _printed(lines: Mapping[str, Runs]) -> Iterator[Reading]:
    for claim, methods, printed in (("mushroom-pta", BOTH, (19.5, 19.0)), ("mushroom-tsp", (TSP,), (28.0, 23.0))):
        for method in methods:
            ours = [lines[method.name][segments].loss for segments in (100, 200)]
            yield Reading(
                claim,
                method.name,
                f"{ours[0]:.1f} and {ours[1]:.1f} %, printed {printed[0]:g} and {printed[1]:g}. Rule: within "
                f"{NEAR:.0f} percentage points.",
                all(abs(loss - wanted) <= NEAR for loss, wanted in zip(ours, printed, strict=True)),
            )


def _slip(name: str, pta: Runs) -> Iterator[Reading]:
    """Section VI-B says the opposite of VI-A and of its own reason: both are tried."""
    first, last = pta[KS[0]].loss, pta[KS[-1]].loss
    ours = f"PTA {first:.1f} % with k={KS[0]}, {last:.1f} % with k={KS[-1]}. Rule:"
    yield Reading("k-slip", f"{name}, as printed: decreases", f"{ours} less.", last < first)
    yield Reading("k-slip", f"{name}, as the reason given has it: increases", f"{ours} more.", last > first)


def _time(claim: str, name: str, lines: Mapping[str, Runs]) -> Reading:
    mean = {method.name: np.mean([run.seconds for run in lines[method.name].values()]) for method in PAPERS}
    told = ", ".join(f"{line} {seconds:.2f} s" for line, seconds in mean.items())
    return Reading(
        claim,
        name,
        f"{told} on average. How long a genetic search goes on is not said, so the factor is not compared.",
        None,
    )


def _steady(name: str, lines: Mapping[str, Runs]) -> Iterator[Reading]:
    for method in (PTA, TSP, GSC):
        seconds = [run.seconds for run in lines[method.name].values()]
        factor = max(seconds) / max(min(seconds), 1e-9)
        told = f"over k the slowest takes {factor:.2f} times as long as the fastest ({max(seconds):.2f} s)"
        if max(seconds) < TOO_SHORT:
            yield Reading("k-time-steady", f"{name}, {method.name}", f"{told}, too short to tell.", None)
        else:
            yield Reading("k-time-steady", f"{name}, {method.name}", f"{told}. Rule: at most 2 times.", factor <= 2)
