"""Many settings side by side: a grid of policies, each run in a process of its own, gathered into one table and one page.

A grid file (TOML) holds blocks; every key of a block may be a list, and the block stands for all combinations:

    schema = 1
    known = 3                       # the attacker's items for the risk axis

    [limits]
    seconds = 120                   # per setting
    memory_mb = 4000

    [[grid]]
    model = "km"
    k = [2, 5, 10]
    m = [1, 2]
    algorithm = ["aa", "pcta+"]
    hierarchy = ["fanout:5", "auto"]

A run can be stopped and started again: settings that have a result are not run twice. Settings that fail, take too long
or grow too large are kept with their reason.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError, SetveilError
from setveil.models import NUMBERS, PARAMETERS
from setveil.policy.schema import Policy, is_built_hierarchy, read_toml

OTHER_KEYS = ("model", "algorithm", "hierarchy", "options", "seed")
COLUMNS = (
    "id", "status", "reason", "model", "algorithm", "hierarchy", *NUMBERS, "seed", "options",
    "singled_out", "mean_chance", "avg_re", "ncp", "ul_log2", "suppression_ratio", "il_ratio", "kl",
    "published_items", "seconds", "peak_mb", "pareto",
)  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """What to compare."""

    policies: tuple[Policy, ...]
    known: int = 3
    seconds: float = 600.0
    memory_mb: int = 8000


@dataclass(frozen=True)
class Point:
    """One setting and what came of it."""

    id: str
    policy: Policy
    result: Mapping[str, Any] = field(default_factory=dict)  # of the worker; ``status`` is "ok" or says what happened

    @property
    def is_ok(self) -> bool:
        return self.result.get("status") == "ok"


# -- the grid ---------------------------------------------------------------------------------------------------------


def read_grid(path: str | os.PathLike[str]) -> Grid:
    """Read and check a grid file; paths in it are relative to it."""
    where = Path(path)
    content = read_toml(where)
    if content.get("schema") != 1:
        raise InputError(f"{where}: lacks `schema = 1`; put it first.")
    blocks, limits = content.get("grid"), content.get("limits", {})
    if not isinstance(blocks, list) or not blocks or not all(isinstance(block, dict) for block in blocks):
        raise InputError(f"{where}: lacks [[grid]] blocks; write at least one.")
    unknown = sorted(set(content) - {"schema", "grid", "limits", "known"}) + sorted(
        set(limits) - {"seconds", "memory_mb"}
    )
    if unknown:
        raise InputError(f"{where}: unknown key `{unknown[0]}`; check the spelling.")
    policies = [policy for block in blocks for policy in _expand(block, where)]
    distinct = list({policy.to_toml(): policy for policy in policies}.values())
    return Grid(
        tuple(distinct),
        int(content.get("known", 3)),
        float(limits.get("seconds", 600)),
        int(limits.get("memory_mb", 8000)),
    )


def _expand(block: Mapping[str, Any], where: Path) -> Iterator[Policy]:
    for key in block:
        if key not in (*PARAMETERS, *OTHER_KEYS):
            raise InputError(
                f"{where}: unknown key `grid.{key}`; it is one of {', '.join((*OTHER_KEYS, *PARAMETERS))}."
            )
    if "model" not in block:
        raise InputError(f"{where}: a [[grid]] block lacks `model`.")
    for values in product(*(_choices(key, value) for key, value in block.items())):
        chosen = dict(zip(block, values, strict=True))
        hierarchy = chosen.get("hierarchy")
        if hierarchy and not is_built_hierarchy(hierarchy):
            hierarchy = str(where.parent / hierarchy)
        content: dict[str, Any] = {
            "schema": 1,
            "model": {"name": chosen["model"], **{key: chosen[key] for key in PARAMETERS if key in chosen}},
        }
        if "seed" in chosen:
            content["seed"] = chosen["seed"]
        if "algorithm" in chosen:
            content["algorithm"] = {"name": chosen["algorithm"], "options": chosen.get("options", {})}
        if hierarchy:
            content["hierarchy"] = {"source": hierarchy}
        try:
            yield Policy.from_dict(content)
        except SetveilError as problem:
            raise InputError(f"{where}: {problem}") from None


def _choices(key: str, value: Any) -> list[Any]:
    if key == "options":
        names = list(value)
        return [dict(zip(names, some, strict=True)) for some in product(*(_choices("", value[name]) for name in names))]
    if (
        PARAMETERS.get(key) == str | list[str]
        and isinstance(value, list)
        and not any(isinstance(p, list) for p in value)
    ):
        return [value]  # a list of labels is one value, a list of lists is several
    return value if isinstance(value, list) else [value]


# -- running ----------------------------------------------------------------------------------------------------------


def compare(
    source: str | os.PathLike[str],
    grid: Grid,
    out: str | os.PathLike[str],
    *,
    read_options: Mapping[str, Any] | None = None,
    processes: int | None = None,
    progress: Progress = no_progress,
) -> list[Point]:
    """Run every setting of the grid, write ``results.csv``, ``results.parquet``, ``compare.html`` and the policies."""
    from setveil.report.compare_page import write_compare_page

    folder = Path(out)
    if not Path(source).is_file():
        raise InputError(f"{source}: no such file; compare needs a file, not standard input.")
    (folder / "points").mkdir(parents=True, exist_ok=True)
    task = {"source": str(Path(source).absolute()), "read": dict(read_options or {}), "known": grid.known}
    points = [Point(_id_of(policy, task), policy) for policy in grid.policies]
    for point in points:
        (folder / "points" / f"{point.id}.toml").write_text(point.policy.to_toml(), encoding="utf-8", newline="\n")
    _run_all(points, folder, task, grid, processes or os.cpu_count() or 1, progress)
    done = [Point(point.id, point.policy, _result_of(folder, point)) for point in points]
    front = pareto_front(done)
    rows = [row_of(point, point.id in front) for point in done]
    _write_table(rows, folder)
    write_compare_page(rows, Path(source).name, grid.known, folder / "compare.html")
    return done


def _id_of(policy: Policy, task: Mapping[str, Any]) -> str:
    """A name for a setting over an input: the same ask finds its earlier result."""
    stat = Path(task["source"]).stat()
    told = json.dumps([policy.to_toml(), task, stat.st_size, stat.st_mtime_ns], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def _run_all(
    points: Sequence[Point], folder: Path, task: Mapping[str, Any], grid: Grid, processes: int, progress: Progress
) -> None:
    """Keep ``processes`` workers busy; each has one kernel thread, and is watched for time and memory."""
    waiting = [point for point in points if not (folder / "points" / f"{point.id}.json").exists()]
    n_all, running = len(points), []  # type: int, list[_Worker]
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                running.append(_Worker(waiting.pop(0), folder, task))
            for worker in list(running):
                if worker.is_over(grid):
                    running.remove(worker)
            n_done = n_all - len(waiting) - len(running)
            progress(f"{n_done} of {n_all} settings", n_done / n_all)
            time.sleep(0.05)
    finally:
        for worker in running:
            worker.stop()


class _Worker:
    """One setting in a process of its own."""

    def __init__(self, point: Point, folder: Path, task: Mapping[str, Any]) -> None:
        self.point = point
        self.target = folder / "points" / f"{point.id}.json"
        self.started = time.monotonic()
        self.peak_mb = 0.0
        environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
        order = json.dumps({**task, "policy": str(folder / "points" / f"{point.id}.toml")})
        command = [sys.executable, "-m", "setveil.workflows.compare_worker", order]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
        )

    def is_over(self, grid: Grid) -> bool:
        """Watch once; write the result if it has ended or had to be stopped."""
        if self.process.poll() is None:
            self.peak_mb = max(self.peak_mb, _resident_mb(self.process.pid))
            seconds = time.monotonic() - self.started
            if self.peak_mb > grid.memory_mb:
                return self._end({"status": "memory", "reason": f"grew beyond {grid.memory_mb:,} MB"})
            if seconds > grid.seconds:
                return self._end({"status": "time", "reason": f"took longer than {grid.seconds:g} s"})
            return False
        printed = self.process.stdout.read() if self.process.stdout else ""
        try:
            return self._end(json.loads(printed))
        except ValueError:
            return self._end({"status": "failed", "reason": f"the process ended with code {self.process.returncode}"})

    def _end(self, result: dict[str, Any]) -> bool:
        self.stop()
        result["peak_mb"] = max(self.peak_mb, result.get("peak_mb", 0.0))
        partial = self.target.with_suffix(".partial")
        partial.write_text(json.dumps(result, sort_keys=True), encoding="utf-8")
        partial.replace(self.target)
        return True

    def stop(self) -> None:
        """End the process if it has not ended by itself."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def _resident_mb(process: int) -> float:
    """Resident size in MB, 0 where the system does not tell."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0


def _result_of(folder: Path, point: Point) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "points" / f"{point.id}.json").read_text(encoding="utf-8"))
    return result


# -- results ----------------------------------------------------------------------------------------------------------


def pareto_front(points: Sequence[Point]) -> set[str]:
    """Ids of the settings that no other beats in risk and in query error at once."""
    known = [(p.id, p.result["mean_chance"], p.result["avg_re"]) for p in points if p.is_ok and None not in (p.result["mean_chance"], p.result["avg_re"])]  # fmt: skip
    return {
        name
        for name, risk, loss in known
        if not any((r <= risk and x < loss) or (r < risk and x <= loss) for _, r, x in known)
    }


def row_of(point: Point, is_front: bool) -> dict[str, Any]:
    """One tidy row."""
    policy, result = point.policy, point.result
    row: dict[str, Any] = {name: result.get(name) for name in COLUMNS}
    row.update(
        id=point.id,
        status=result["status"],
        reason=result.get("reason", ""),
        model=policy.model.name,
        algorithm=result.get("algorithm") or policy.algorithm.name or "default",
        hierarchy=Path(policy.hierarchy.source).name if policy.hierarchy.source else "",
        seed=policy.seed,
        options=" ".join(f"{name}={value}" for name, value in policy.algorithm.options.items()),
        pareto=is_front,
    )
    given = policy.model.given()
    row.update({name: given.get(name) for name in NUMBERS})
    return row


def _write_table(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    with open(folder / "results.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([{key: "" if row[key] is None else row[key] for key in COLUMNS} for row in rows])
    import polars as pl

    text = {"m", "options", "id", "status", "reason", "model", "algorithm", "hierarchy"}
    columns = {key: [None if row[key] is None else str(row[key]) if key in text else row[key] for row in rows] for key in COLUMNS}  # fmt: skip
    pl.DataFrame(columns, strict=False, infer_schema_length=None).write_parquet(folder / "results.parquet")
