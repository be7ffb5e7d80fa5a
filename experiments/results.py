"""Everything that was found, in one table: a row per point of every line, per reading of every claim, and per run.

Pages and pictures are made of this table alone, so that they can be made again without running anything.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel
from setveil.errors import InputError

Results = dict[str, Outcome]  # by the name of the experiment

COLUMNS = ("experiment", "kind", "title", "line", "source", "x_label", "x", "y_label", "y", "note")
SCALES = {"figure": (False, False), "log figure": (True, False), "seconds": (False, True), "log seconds": (True, True)}
KINDS = {flags: kind for kind, flags in SCALES.items()}  # (log scale, seconds of one machine)
HOLDS = {True: "yes", False: "no", None: ""}


def write_results(results: Mapping[str, Outcome], path: Path) -> None:
    """The table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for name, outcome in results.items():
            table.writerows((name, *row) for row in _rows(outcome))


def _rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    for panel in outcome.panels:
        kind = KINDS[panel.log_y, panel.is_timing]
        for line in panel.lines:
            source = "paper" if line.is_paper else "setveil"
            for x, y in line.points:
                value = "" if y is None else repr(y)
                yield kind, panel.title, line.name, source, panel.x_label, str(x), panel.y_label, value, line.note
    for reading in outcome.readings:
        yield "reading", reading.claim, reading.name, "setveil", "", "", "holds", HOLDS[reading.holds], reading.ours
    if outcome.cpu_seconds is not None or outcome.remark:
        cost = "" if outcome.cpu_seconds is None else str(outcome.cpu_seconds)
        yield "run", "", "", "setveil", "", "", "CPU seconds", cost, outcome.remark
    if outcome.not_run:
        yield "not run", "", "", "setveil", "", "", "", "", outcome.not_run


def read_results(path: Path) -> Results:
    """What ``write_results`` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        if tuple(table.fieldnames or ()) != COLUMNS:
            raise InputError(f"{path}: not a table of results; its columns must be {', '.join(COLUMNS)}.")
        rows = list(table)
    return {name: _outcome(list(of_one)) for name, of_one in groupby(rows, key=lambda row: row["experiment"])}


def _outcome(rows: list[dict[str, str]]) -> Outcome:
    holds = {word: value for value, word in HOLDS.items()}
    readings = [
        Reading(row["title"], row["line"], row["note"], holds[row["y"]]) for row in rows if row["kind"] == "reading"
    ]
    not_run = "".join(row["note"] for row in rows if row["kind"] == "not run")
    cpu_seconds = next((int(row["y"]) for row in rows if row["kind"] == "run" and row["y"]), None)
    remark = "".join(row["note"] for row in rows if row["kind"] == "run")
    points = [row for row in rows if row["kind"] in SCALES]
    panels = []
    for title, of_panel in groupby(points, key=lambda row: row["title"]):
        some = list(of_panel)
        log, timing = SCALES[some[0]["kind"]]
        lines = tuple(_line(name, list(of_line)) for name, of_line in groupby(some, key=lambda row: row["line"]))
        panels.append(Panel(title, some[0]["x_label"], some[0]["y_label"], lines, log, timing))
    return Outcome(tuple(panels), tuple(readings), not_run, cpu_seconds, remark)


def _line(name: str, rows: list[dict[str, str]]) -> Line:
    points = tuple((_place(row["x"]), float(row["y"]) if row["y"] else None) for row in rows)
    return Line(name, points, rows[0]["note"], rows[0]["source"] == "paper")


def _place(text: str) -> float | str:
    """A number if it is one, else a name."""
    try:
        return float(text)
    except ValueError:
        return text
