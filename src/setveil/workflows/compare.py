"""Compare many settings: a grid of policies, each run in a process of its own, collected in one table and one page.

A run can be stopped and started again: settings that have a result are not run twice. Settings that fail, take too long
or grow too large are kept with their reason.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, overload

from setveil.algorithms import ENTRIES
from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.core.tables import Tabular
from setveil.errors import InputError, one_line, unheard_warnings
from setveil.io.releases.folders import refuse_address, write_whole
from setveil.models import NUMBERS
from setveil.policy.schema import Policy
from setveil.report.compare_page import (
    FIGURES,
    YARDSTICKS,
    Yardstick,
    front_of,
    merged,
    name_of,
    write_compare_page,
    yardstick_of,
)
from setveil.workflows.grid import Grid, default_grid, make_grid, read_grid
from setveil.workflows.inputs import as_transactions
from setveil.workflows.policies import make_policy
from setveil.workflows.progress_bars import shows_progress
from setveil.workflows.trials import Job, Limits, kept_answer, try_in_processes

COLUMNS = (
    "id",
    "status",
    "reason",
    "model",
    "algorithm",
    "hierarchy",
    *NUMBERS,
    "seed",
    "options",
    *FIGURES,
    "seconds",
    "peak_mb",
    "guessable",
    "pareto",
)
MEASURED = (*FIGURES, "seconds", "peak_mb")
WORKER = "setveil.workflows.compare_worker"
LOST = {"status": "failed", "reason": "the result was lost"}


@dataclass(frozen=True)
class Point:
    """One setting and its result."""

    id: str
    policy: Policy
    result: Mapping[str, Any] = field(default_factory=dict)  # of the worker; ``status`` is "ok" or says what happened

    @property
    def is_ok(self) -> bool:
        return self.result.get("status") == "ok"

    @property
    def algorithm(self) -> str:
        return self.result.get("algorithm") or self.policy.algorithm.name or "default"

    @property
    def is_guessable(self) -> bool:
        """Whether its groups reveal more than the attackers measured here look for."""
        return any(entry.guessable for entry in ENTRIES if entry.name == self.algorithm)


@dataclass(frozen=True, repr=False)
class Comparison(Tabular, Sequence[Point]):
    """Every setting with its result; prints as the best settings: no other has both less risk and less loss.

    Examples:
        >>> import setveil as sv
        >>> setting = {"model": "km", "k": [2, 3], "m": 1, "algorithm": "aa", "hierarchy": "taxonomy.csv"}
        >>> comparison = sv.compare("baskets.txt", {"grid": [setting]})
        >>> comparison.filter(k=3)["status"]
        ['ok']
    """

    points: tuple[Point, ...]
    rows: tuple[Mapping[str, Any], ...]  # one tidy row per setting
    known: int
    floors: Mapping[int, float] = field(default_factory=dict)  # by k: the least error of pair counts; utility/floor.py

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, place: int) -> Point: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Point]: ...
    def __getitem__(self, place: int | slice) -> Point | Sequence[Point]:
        return self.points[place]

    @property
    def front(self) -> list[list[Mapping[str, Any]]]:
        """The settings that no other of their kind beats in risk and loss, those with equal figures together, the least
        risk first, groups last.
        """
        return [same for _, lines in self.fronts for same in lines]

    @property
    def fronts(self) -> list[tuple[Yardstick, list[list[Mapping[str, Any]]]]]:
        """The front of each kind of settings that has one, with what it is ranked by."""
        best = [row for row in self.rows if row["pareto"]]
        kinds = [(by, sorted((row for row in best if yardstick_of(row) is by), key=by.place)) for by in YARDSTICKS]
        return [(by, merged(rows)) for by, rows in kinds if rows]

    def tables(self) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
        """The fronts in words: headings, and a line for settings with equal figures."""
        return [
            (
                (f"best {by.what}", "entries unchanged", by.risk_words, by.loss_words),
                [_front_line(by, same) for same in lines],
            )
            for by, lines in self.fronts
        ]

    def records(self) -> list[dict[str, Any]]:
        """A row per setting."""
        return [dict(row) for row in self.rows]

    def to_polars(self) -> Any:
        """The table of all settings."""
        return _frame(self.rows)

    def plot(self) -> Any:
        """A chart of risk against loss, a point per setting, as a figure of Matplotlib.

        Raises:
            InputError: Matplotlib is not installed.
        """
        from setveil.report.plots import plot_comparison

        return plot_comparison(self.fronts, self.rows)

    def __str__(self) -> str:
        lines = []
        for header, rows in self.tables():
            widths = [max(8, len(name) + 2) for name in header[1:]]
            for name, *figures in (header, *rows):
                row = "".join(f"{cell:>{width}}" for cell, width in zip(figures, widths, strict=True))
                lines.append(f"{row}  {name}")
        return "\n".join(lines) or "No setting gave a release with known risk and loss."

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from setveil.report.cards import card

        n_ok = sum(point.is_ok for point in self)
        note = f"{n_ok} of {len(self)} settings gave a release."
        tables = self.tables() or [(("best settings",), [])]
        return "".join(card("Comparison", header=header, rows=rows, note=note) for header, rows in tables)


def _front_line(by: Yardstick, same: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    from setveil.report.words import percent

    row = same[0]
    names = "; ".join(map(name_of, same))
    return names, percent(row["exact_ratio"]), percent(row[by.risk]), by.show_loss(row[by.loss])


# -- running ----------------------------------------------------------------------------------------------------------


@shows_progress
def compare(
    source: Any,
    grid: Grid | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    hierarchy: str | None = None,
    sensitive: Sequence[str] | str | None = None,
    read_options: Mapping[str, Any] | None = None,
    processes: int | None = None,
    progress: Progress | bool = no_progress,
    **options: Any,
) -> Comparison:
    """Run every setting of a grid and write ``results.csv``, ``results.parquet``, ``compare.html`` and the policies to
    ``out``.

    Without ``out`` nothing is kept except the return value.

    Args:
        source: anything that ``read`` takes.
        grid: the settings to compare: a file, or as in ``{"model": "km", "k": [5, 10], "m": 2}``; by default some of
            every model.
        out: a folder for the results; a second call continues there.
        hierarchy: the hierarchy of the default grid.
        sensitive: the sensitive items of the default grid.
        read_options: how to read ``source``, as in ``read``.
        processes: number of settings that run at the same time; by default one per core.
        progress: True for a bar, or a function that is called with a stage name and a fraction between 0 and 1.
        options: how to read ``source``, as keywords: ``person``, ``item``, …

    Returns:
        Every setting with its result; prints as the best settings.

    Raises:
        InputError: the data or the grid cannot be read.

    Examples:
        >>> import setveil as sv
        >>> grid = {"grid": [{"model": "km", "k": 2, "m": 1, "algorithm": "aa", "hierarchy": "taxonomy.csv"}]}
        >>> comparison = sv.compare("baskets.txt", grid)
        >>> comparison.to_polars()["status"].to_list()
        ['ok']
    """
    assert callable(progress)
    read_options = {**(read_options or {}), **options}
    if grid is not None and (hierarchy or sensitive):
        raise InputError(
            "the grid says which hierarchy and which sensitive items to use; remove --hierarchy and --sensitive."
        )
    if grid is None:
        grid = default_grid(hierarchy, sensitive, bool(read_options.get("known_columns")))
    elif isinstance(grid, Mapping):
        content = {"grid": [dict(grid)]} if "model" in grid else grid  # one block needs no list
        grid = make_grid({"schema": 1, **content}, Path("grid"), Path())
    elif not isinstance(grid, Grid):
        grid = read_grid(grid)
    if out is None:
        with TemporaryDirectory() as kept_for_now:
            return compare(
                source, grid, kept_for_now, read_options=read_options, processes=processes, progress=progress
            )
    folder = _made(Path(out))
    if not isinstance(source, str | os.PathLike):
        source, read_options = _written(source, folder, read_options), {}
    if not Path(source).is_file():
        raise InputError(f"{source}: no such file; compare needs a file, not standard input.")
    return _compare(source, grid, folder, dict(read_options or {}), processes or os.cpu_count() or 1, progress)


def _made(folder: Path) -> Path:
    """The folder of a comparison. Its files contain information about the original, so only the owner may read it."""
    refuse_address(folder)
    try:
        is_new, above = not folder.exists(), folder.absolute().parent
        if is_new and not above.exists():
            raise InputError(f"{one_line(str(above), 120)}: there is no such folder; create it, or choose another.")
        folder.mkdir(mode=0o700, exist_ok=True)
        if not is_new and not (folder / "points").is_dir() and any(folder.iterdir()):
            raise InputError(f"{one_line(str(folder), 120)}: contains other files; choose another folder.")
        folder.chmod(0o700)
        (folder / "points").mkdir(mode=0o700, exist_ok=True)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "impossible name"
        raise InputError(
            f"{one_line(str(folder), 120)}: cannot be written ({reason}); choose another folder."
        ) from None
    return folder


def _written(data: Any, folder: Path, read_options: Mapping[str, Any] | None) -> Path:
    """Data of the library as a file that workers can read."""
    from setveil.core import Layout
    from setveil.io.transactions.writing import write_transactions

    path = folder / "data.jsonl"
    records = as_transactions(data, **(read_options or {}))
    if records.columns is not None:
        raise InputError("settings for data with columns are compared from a file; write the table to one and name it.")
    write_transactions(records, path, Layout("jsonl"))
    return path


def _compare(
    source: str | os.PathLike[str],
    grid: Grid,
    folder: Path,
    read_options: dict[str, Any],
    processes: int,
    progress: Progress,
) -> Comparison:
    task = {"source": str(Path(source).absolute()), "read": read_options, "known": grid.known}
    points = [Point(_id_of(policy, task), policy) for policy in grid.policies]
    reading = {"input": {name: value for name, value in read_options.items() if value is not None}}
    commands, jobs = {}, []
    for point in points:
        # The file repeats the setting from anywhere: its paths start at its own folder, and it says how to read the
        # input.
        policy = make_policy({**point.policy.model_dump(by_alias=True, exclude_none=True), **reading})
        file = folder / "points" / f"{point.id}.toml"
        write_whole(file, policy.seen_from(file.parent).to_toml())
        words = ["setveil", "anonymize", str(source), "--policy", str(file), "-o", f"release-{point.id}"]
        commands[point.id] = shlex.join(words)
        jobs.append(Job(WORKER, {**task, "policy": str(file)}, file.with_suffix(".json")))
    try_in_processes(jobs, processes, Limits(grid.seconds, grid.memory_mb), _read_result, progress)
    done = [
        Point(point.id, point.policy, kept_answer(job.target, _read_result) or LOST)
        for point, job in zip(points, jobs, strict=True)
    ]
    front = pareto_front(done)
    rows = tuple(row_of(point, point.id in front) for point in done)
    _write_table(rows, folder)
    page = folder / "compare.html"
    floors = _floors(source, read_options, rows)
    write_compare_page(rows, Path(source).name, grid.known, page.with_suffix(".partial"), commands, floors)
    page.with_suffix(".partial").replace(page)
    return Comparison(tuple(done), rows, grid.known, floors)


def _floors(
    source: str | os.PathLike[str], read_options: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> dict[int, float]:
    """The least error of pair counts at each k of settings that gave a release."""
    crowds = crowds_of(row for row in rows if row["status"] == "ok")
    if not crowds:
        return {}
    with unheard_warnings():  # reported for every setting already
        data = as_transactions(source, **read_options)
    return floors_of(data, crowds)


def crowds_of(settings: Iterable[Mapping[str, Any]]) -> set[int]:
    """Every k of settings that show no pair of fewer than k people: those about single items alone may."""
    return {one["k"] for one in settings if one.get("k") is not None and one.get("m") not in (0, 1)}


def floors_of(data: Transactions, crowds: Iterable[int]) -> dict[int, float]:
    """The least error of pair counts at each k; nothing where nobody has two items."""
    from setveil.utility.floor import pair_floor

    found = {k: pair_floor(data, k) for k in sorted(crowds)}
    return {k: floor for k, floor in found.items() if floor is not None}


def _id_of(policy: Policy, task: Mapping[str, Any]) -> str:
    """A name for a setting over an input: the same ask finds its earlier result."""
    stat = Path(task["source"]).stat()
    setting = json.dumps([policy.to_toml(), task, stat.st_size, stat.st_mtime_ns], sort_keys=True)
    return hashlib.sha256(setting.encode()).hexdigest()[:12]


def _read_result(text: str) -> dict[str, Any] | None:
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(result, dict) or not isinstance(result.get("status"), str):
        return None
    if not isinstance(result.get("peak_mb", 0.0), int | float):
        return None
    figures = (result.get(name) for name in MEASURED)
    if result["status"] == "ok" and not all(value is None or isinstance(value, int | float) for value in figures):
        return None
    return result


# -- results ----------------------------------------------------------------------------------------------------------


def pareto_front(points: Sequence[Point]) -> set[str]:
    """Ids of the settings that no other of their kind beats in risk and in loss at once; none whose risk is another
    one.
    """
    front: set[str] = set()
    for by in YARDSTICKS:
        places = {p.id: by.place(p.result) for p in points if not p.is_guessable and by.measures(p.result)}
        best = set(front_of(places.values()))
        front |= {name for name, place in places.items() if place in best}
    return front


def row_of(point: Point, is_front: bool) -> dict[str, Any]:
    """One tidy row."""
    policy, result = point.policy, point.result
    row: dict[str, Any] = {name: result.get(name) for name in COLUMNS}
    row.update(
        id=point.id,
        status=result["status"],
        reason=result.get("reason", ""),
        model=policy.model.name,
        algorithm=point.algorithm,
        guessable=point.is_guessable,
        hierarchy=Path(policy.hierarchy.source).name if policy.hierarchy.source else "",
        seed=policy.seed,
        options=" ".join(f"{name}={value}" for name, value in policy.algorithm.options.items()),
        pareto=is_front,
    )
    given = policy.model.given()
    row.update({name: given.get(name) for name in NUMBERS})
    return row


def _write_table(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    text, table = io.StringIO(newline=""), io.BytesIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows([{key: "" if row[key] is None else row[key] for key in COLUMNS} for row in rows])
    write_whole(folder / "results.csv", text.getvalue())
    _frame(rows).write_parquet(table)
    write_whole(folder / "results.parquet", table.getvalue())


def _frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    import polars as pl

    text = {"options", "id", "status", "reason", "model", "algorithm", "hierarchy"}
    if any(isinstance(row["m"], str) for row in rows):  # "all"
        text.add("m")
    columns = {
        key: [None if row[key] is None else str(row[key]) if key in text else row[key] for row in rows]
        for key in COLUMNS
    }
    return pl.DataFrame(columns, strict=False, infer_schema_length=None)
