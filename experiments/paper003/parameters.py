"""Parameters that the paper sets without a figure: w and B of LSH, alpha of CAHD, the number of records."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop
from experiments.paper003.sweeps import (
    DEFAULT,
    DEFAULTS,
    GRAY,
    LSH,
    NN,
    PROPOSED,
    RCM,
    Draw,
    Method,
    ask,
    draw,
    draw_about,
    list_values,
    sweep,
    warm_up,
)
from setveil.algorithms.base import Context
from setveil.algorithms.degree.groups import split_records
from setveil.algorithms.degree.lsh import LSH as LSHAlgorithm
from setveil.core import Transactions
from setveil.models import PrivacyDegree

TABLES = (8, 16, 32, 66)
WIDTHS = (8, 16, 32, 62)
PAPERS_TABLES, PAPERS_WIDTHS = (8, 32), (62,)  # the paper's projections are slow
ROBUST = 0.1  # how far the errors of the settings may be from that of NN


def hashing(workshop: Workshop) -> Outcome:
    """Sections 4.2 and 6.2: w and B of LSH, drawn as in the paper and by frequency."""
    data = workshop.data("BMS1")
    uniform = {"projection": "uniform"}
    drawn = draw(data, DEFAULTS["m"], 0)
    warm_up(workshop, (NN, LSH, DEFAULT))
    runs: dict[tuple[str, int], tuple[float, float, float]] = {}  # error, seconds, share of records in a bucket
    for line, values, options in (
        ("B", TABLES, {}),
        ("w", WIDTHS, {}),
        ("B of the paper", PAPERS_TABLES, uniform),
        ("w of the paper", PAPERS_WIDTHS, uniform),
    ):
        for value in values:
            workshop.step(f"BMS1, {line}={value}")
            method = Method("LSH", "lsh", {**options, line[0]: value})
            errors, seconds, release = ask(workshop, data, drawn, method)
            runs[line, value] = float(errors[0, 0]), seconds, float(release.details["mean_bucket_share"])
    errors, nn_seconds, _ = ask(workshop, data, drawn, NN)
    nn_error = float(errors[0, 0])
    errors, default_seconds, _ = ask(workshop, data, drawn, DEFAULT)
    default_error = float(errors[0, 0])
    return Outcome(
        tuple(
            Panel(
                f"BMS1, {title}",
                axis,
                unit,
                (
                    *_hash_lines(runs, axis, figure),
                    *(
                        Line(name, tuple((value, y) for value in values))
                        for name, y in (("NN", nn), (DEFAULT.name, ours))
                    ),
                ),
                log_y=figure == 1,
                is_timing=figure == 1,
            )
            for axis, values in (("B", TABLES), ("w", WIDTHS))
            for figure, title, unit, nn, ours in (
                (0, f"error over {axis}", "KL divergence, uniform queries", nn_error, default_error),
                (1, f"time over {axis}", "CPU seconds", nn_seconds, default_seconds),
            )
        ),
        (*_hash_readings(data, runs, nn_error, nn_seconds), *_fallbacks(workshop, data, drawn)),
    )


def _hash_lines(runs: dict[tuple[str, int], tuple[float, float, float]], axis: str, figure: int) -> list[Line]:
    lines = []
    for key, name in (
        (axis, "items drawn by frequency"),
        (f"{axis} of the paper", "items drawn uniformly, as in the paper"),
    ):
        points = tuple((value, run[figure]) for (line, value), run in runs.items() if line == key)
        if points:
            lines.append(Line(name, points))
    return lines


OURS_TOO = "items drawn by frequency, which is ours"
AS_PRINTED = "items drawn uniformly, as printed"
OTHER = "Not the paper's."


def _hash_readings(
    data: Transactions, runs: dict[tuple[str, int], tuple[float, float, float]], nn_error: float, nn_seconds: float
) -> tuple[Reading, ...]:
    _, seconds, share = runs["B of the paper", 32]
    n_tables = ceil(log(1 / 0.1) / -log(1 - 0.9**32))
    near = 1 - 1 / (data.n_items - DEFAULTS["m"])
    printed, ours = (
        {
            f"{line[0]}={value}": run[0] / nn_error - 1
            for (line, value), run in runs.items()
            if line.endswith("of the paper") is is_printed
        }
        for is_printed in (True, False)
    )
    told = "error beside NN's: {}."
    return (
        Reading("lsh-tables", "", f"equation 6 gives B={n_tables}. Rule: equal.", n_tables == 32),
        Reading(
            "lsh-p1",
            "BMS1",
            f"p1 = 1 - 1/|Q| = {near:.4f} for records that differ in one item; above 0.9 for any data of more than "
            "ten items, so that there is nothing to test.",
            None,
        ),
        Reading(
            "lsh-prunes",
            AS_PRINTED,
            f"with w=32 one bucket holds {100 * share:.0f} % of all records on average: few records have any "
            "of the items. Rule: under half.",
            share < 0.5,
        ),
        Reading(
            "lsh-prunes",
            OURS_TOO,
            f"one bucket holds {100 * runs['B', 32][2]:.1f} % of all records on average. {OTHER}",
            None,
        ),
        Reading(
            "time-hashing",
            "",
            f"as printed (w=32, B=32) {seconds:.2f} s against {nn_seconds:.2f} s of NN, which finds its "
            f"candidates through an index here; drawn by frequency {runs['B', 32][1]:.2f} s.",
            None,
        ),
        Reading(
            "lsh-robust",
            AS_PRINTED,
            f"{told.format(list_values(printed, '+.1%'))} Rule: within {ROBUST:.0%}.",
            max(map(abs, printed.values())) <= ROBUST,
        ),
        Reading("lsh-robust", OURS_TOO, f"{told.format(list_values(ours, '+.1%'))} {OTHER}", None),
    )


def _fallbacks(workshop: Workshop, data: Transactions, drawn: Draw) -> Iterator[Reading]:
    """How many sensitive records share buckets with too few others to fill a group, so that all records are
    searched.
    """
    p = DEFAULTS["p"]
    split = split_records(data, PrivacyDegree(p, drawn.sensitive))
    for name, projection in ((AS_PRINTED, "uniform"), (OURS_TOO, "frequency")):
        workshop.step(f"BMS1, buckets, {projection}")
        tables = LSHAlgorithm(projection=projection)._build_tables(split, 32, Context())
        n_short = 0
        for first, last in zip(tables.first, tables.last, strict=True):
            if (last - first).max() < p:  # otherwise one bucket is enough
                met = np.concatenate([tables.records[a:b] for a, b in zip(first, last, strict=True)])
                n_short += len(np.unique(met)) < p
        share = n_short / max(len(tables.first), 1)
        yield Reading(
            "lsh-rarely",
            name,
            f"{n_short:,} of {len(tables.first):,} sensitive records ({share:.1%}) meet fewer than p={p} records in "
            f"their buckets, even before any is taken. {'Rule: under 5 %.' if name == AS_PRINTED else OTHER}",
            share < 0.05 if name == AS_PRINTED else None,
        )


ALPHAS = (1, 2, 4, 8, 16)


def over_alpha(workshop: Workshop) -> Outcome:
    """Section 5.3: how far CAHD looks."""
    methods = (GRAY, RCM, DEFAULT)
    both = [sweep(workshop, name, workshop.data(name), "alpha", ALPHAS, methods) for name in ("BMS1", "BMS2")]
    readings = []
    for found in both:
        for one in (GRAY, RCM):
            alike, error, time = found.distance(one), found.error(one), found.time(one)
            excess = float(error[0] / error.min() - 1)
            readings += [
                Reading(
                    "alpha-similar",
                    f"{found.data}, {one.name}",
                    f"mean distance inside groups {', '.join(f'{value:.2f}' for value in alike)} for "
                    f"alpha={', '.join(map(str, ALPHAS))} (error {error[0]:.4f} to {error[-1]:.4f}). Rule: falls "
                    "at every step.",
                    bool((np.diff(alike) < 0).all()),
                ),
                Reading(
                    "alpha-low",
                    f"{found.data}, {one.name}",
                    f"error at alpha=1 is {excess:.1%} above the best alpha's. Rule: up to 10 %.",
                    excess <= 0.1,
                ),
                Reading(
                    "time-alpha",
                    f"{found.data}, {one.name}",
                    f"alpha=16 takes {time[-1] / max(time[0], 1e-9):.1f} times as long as alpha=1. Rule: longer.",
                    bool(time[-1] > time[0]),
                ),
            ]
    panels = tuple(
        panel for found in both for panel in (found.error_panels()[0], found.distance_panel(), found.time_panel())
    )
    return Outcome(panels, tuple(readings))


SIZES = (12_500, 25_000, 50_000, 100_000)


def over_size(workshop: Workshop) -> Outcome:
    """Sections 5.2 and 5.3: cost over the number of records."""
    methods = (*PROPOSED, DEFAULT)
    warm_up(workshop, methods)
    errors, seconds = (np.empty((len(methods), len(SIZES))) for _ in range(2))
    largest = _baskets(max(SIZES))
    sensitive = draw(largest.select(np.arange(min(SIZES))), DEFAULTS["m"], 0).sensitive
    for column, size in enumerate(SIZES):
        data = largest.select(np.arange(size)).used_items()
        drawn = draw_about(data, sensitive, 0)
        for row, method in enumerate(methods):
            workshop.step(f"{size:,} baskets: {method.name}")
            found, seconds[row, column], _ = ask(workshop, data, drawn, method)
            errors[row, column] = found[0, 0]
    records = SIZES[-1] / SIZES[0]
    growth = {method.name: float(seconds[row, -1] / seconds[row, 0]) for row, method in enumerate(methods)}
    panels = [
        Panel(
            f"Quest baskets, {title}",
            "records",
            unit,
            tuple(
                Line(method.name, tuple(zip(SIZES, row.tolist(), strict=True)))
                for method, row in zip(methods, table, strict=True)
            ),
            log_y=timing,
            is_timing=timing,
        )
        for title, unit, table, timing in (
            ("error", "KL divergence, uniform queries", errors, False),
            ("time", "CPU seconds", seconds, True),
        )
    ]
    return Outcome(
        tuple(panels),
        (
            Reading(
                "size-gray",
                "",
                f"{records:.0f} times the records take {growth['Gray']:.1f} times the time with Gray. Rule: up to "
                "twice that growth.",
                growth["Gray"] <= 2 * records,
            ),
            Reading(
                "size-nn",
                "",
                f"{records:.0f} times the records take {growth['NN']:.1f} times the time with NN and "
                f"{growth['LSH']:.1f} times with LSH; our NN searches through an index.",
                None,
            ),
        ),
    )


def _baskets(n_records: int) -> Transactions:
    """Quest baskets of five items on average."""
    from setveil.generate.quest import quest

    chunks = list(quest(D=n_records, T=5))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate([chunk.lengths for chunk in chunks]))))
    return Transactions(indptr, np.concatenate([chunk.items for chunk in chunks]), chunks[0].vocabulary)
