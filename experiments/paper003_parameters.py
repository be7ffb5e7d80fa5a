"""Parameters that the paper sets without a figure: w and B of LSH, alpha of CAHD, the number of records."""

from __future__ import annotations

from math import ceil, log

import numpy as np

from experiments.experiment import Line, Outcome, Panel, Statement, Workshop
from experiments.paper003_sweeps import (
    DEFAULTS,
    GRAY,
    LSH,
    NN,
    PROPOSED,
    RCM,
    Method,
    ask,
    draw,
    draw_about,
    list_values,
    sweep,
    warm_up,
)
from setveil.core import Transactions

TABLES = (8, 16, 32, 66)
WIDTHS = (8, 16, 32, 62)
PAPERS_TABLES = (8, 32)  # the paper's projections are slow


def hashing(workshop: Workshop) -> Outcome:
    """Sections 4.2 and 6.2: w and B of LSH, drawn as in the paper and by frequency."""
    data = workshop.data("BMS1")
    uniform = {"projection": "uniform"}
    drawn = draw(data, DEFAULTS["m"], 0)
    warm_up(workshop, (NN, LSH))
    runs: dict[tuple[str, int], tuple[float, float, float]] = {}  # error, seconds, share of records in a bucket
    for line, values, options in (("B", TABLES, {}), ("w", WIDTHS, {}), ("B of the paper", PAPERS_TABLES, uniform)):
        for value in values:
            workshop.step(f"BMS1, {line}={value}")
            method = Method("LSH", "lsh", {**options, line[0]: value})
            errors, seconds, release = ask(workshop, data, drawn, method)
            runs[line, value] = float(errors[0, 0]), seconds, float(release.details["mean_bucket_share"])
    errors, nn_seconds, _ = ask(workshop, data, drawn, NN)
    nn_error = float(errors[0, 0])
    return Outcome(
        tuple(
            Panel(
                f"BMS1, {title}",
                axis,
                unit,
                (*_hash_lines(runs, axis, figure), Line("NN", tuple((value, nn) for value in values))),
                log_y=figure == 1,
                is_timing=figure == 1,
            )
            for axis, values in (("B", TABLES), ("w", WIDTHS))
            for figure, title, unit, nn in (
                (0, f"error over {axis}", "KL divergence, uniform queries", nn_error),
                (1, f"time over {axis}", "CPU seconds", nn_seconds),
            )
        ),
        _hash_statements(data, runs, nn_error, nn_seconds),
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


def _hash_statements(
    data: Transactions, runs: dict[tuple[str, int], tuple[float, float, float]], nn_error: float, nn_seconds: float
) -> tuple[Statement, ...]:
    error, seconds, share = runs["B of the paper", 32]
    n_tables = ceil(log(1 / 0.1) / -log(1 - 0.9**32))
    near = 1 - 1 / (data.n_items - DEFAULTS["m"])
    apart = max(abs(run[0] / nn_error - 1) for run in runs.values())
    return (
        Statement(
            "With w=32, p1=0.9 and an accuracy of 90 %, B=32 hash tables are required.",
            f"Equation 6 gives B={n_tables}.",
            n_tables == 32,
        ),
        Statement(
            "p1 exceeds 0.9 for these data.",
            f"BMS1: p1 = 1 - 1/|Q| = {near:.4f} for records that differ in one item.",
            near > 0.9,
        ),
        Statement(
            "Records in the same buckets are considerably fewer than all records.",
            f"With w=32 items drawn uniformly one bucket holds {100 * share:.0f} % of all records on average (considerably: under half): few records "
            f"have any of the items. Drawn by frequency: {100 * runs['B', 32][2]:.1f} %.",
            share < 0.5,
        ),
        Statement(
            "Hashing improves the time of NN considerably.",
            f"As printed (w=32, B=32) {seconds:.2f} s against {nn_seconds:.2f} s of NN; drawn by frequency {runs['B', 32][1]:.2f} s.",
            seconds < nn_seconds,
        ),
        Statement(
            "The search is robust to its parameters.",
            f"Errors stay within {100 * apart:.1f} % of NN's over all w and B tried (robust: 10 %); as printed {error:.4f}, NN {nn_error:.4f}.",
            apart <= 0.1,
        ),
    )


ALPHAS = (1, 2, 4, 8, 16)


def over_alpha(workshop: Workshop) -> Outcome:
    """Section 5.3: how far CAHD looks."""
    both = [sweep(workshop, name, workshop.data(name), "alpha", ALPHAS, (GRAY, RCM)) for name in ("BMS1", "BMS2")]
    statements = []
    for found in both:
        excess = {one.name: float(found.error(one)[0] / found.error(one).min() - 1) for one in (GRAY, RCM)}
        errors = {one.name: float(found.error(one)[-1] / found.error(one)[0]) for one in (GRAY, RCM)}
        times = {one.name: float(found.time(one)[-1] / found.time(one)[0]) for one in (GRAY, RCM)}
        statements += [
            Statement(
                "A larger alpha finds more similar records.",
                f"{found.data}: error at alpha=16 over alpha=1: {list_values(errors, '.2f')}.",
                all(factor < 1 for factor in errors.values()),
            ),
            Statement(
                "A larger alpha takes more time.",
                f"{found.data}: time at alpha=16 over alpha=1: {list_values(times, '.1f')}.",
                all(factor > 1 for factor in times.values()),
            ),
            Statement(
                "Even a low alpha gives good results.",
                f"{found.data}: error at alpha=1 above the best alpha's: {list_values(excess, '.1%')} (good: up to 10 %).",
                all(more <= 0.1 for more in excess.values()),
            ),
        ]
    panels = tuple(panel for found in both for panel in (found.error_panels()[0], found.time_panel()))
    return Outcome(panels, tuple(statements))


SIZES = (12_500, 25_000, 50_000, 100_000)


def over_size(workshop: Workshop) -> Outcome:
    """Sections 5.2 and 5.3: cost over the number of records."""
    warm_up(workshop, PROPOSED)
    errors, seconds = (np.empty((len(PROPOSED), len(SIZES))) for _ in range(2))
    largest = _baskets(max(SIZES))
    sensitive = draw(largest.select(np.arange(min(SIZES))), DEFAULTS["m"], 0).sensitive
    for column, size in enumerate(SIZES):
        data = largest.select(np.arange(size)).used_items()
        drawn = draw_about(data, sensitive, 0)
        for row, method in enumerate(PROPOSED):
            workshop.step(f"{size:,} baskets: {method.name}")
            found, seconds[row, column], _ = ask(workshop, data, drawn, method)
            errors[row, column] = found[0, 0]
    records = SIZES[-1] / SIZES[0]
    growth = {method.name: float(seconds[row, -1] / seconds[row, 0]) for row, method in enumerate(PROPOSED)}
    panels = [
        Panel(
            f"Quest baskets, {title}",
            "records",
            unit,
            tuple(
                Line(method.name, tuple(zip(SIZES, row.tolist(), strict=True)))
                for method, row in zip(PROPOSED, table, strict=True)
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
            Statement(
                "Gray order and CAHD together cost n log n, nearly linear in the number of records.",
                f"{records:.0f} times the records take {growth['Gray']:.1f} times the time with Gray (nearly linear: up to twice that).",
                growth["Gray"] <= 2 * records,
            ),
            Statement(
                "NN searches all records for every sensitive record: its time grows faster than the data.",
                f"{records:.0f} times the records take {growth['NN']:.1f} times the time with NN and {growth['LSH']:.1f} times with LSH "
                "(faster: at least twice the growth of the data).",
                growth["NN"] >= 2 * records,
            ),
        ),
    )


def _baskets(n_records: int) -> Transactions:
    """Quest baskets of five items on average."""
    from setveil.generate.quest import quest

    chunks = list(quest(D=n_records, T=5))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate([chunk.lengths for chunk in chunks]))))
    return Transactions(indptr, np.concatenate([chunk.items for chunk in chunks]), chunks[0].vocabulary)
