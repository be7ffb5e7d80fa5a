"""Run experiments, and write what came of them: one table, a page per paper with its picture, and a page about all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import replace
from math import inf
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from experiments import catalogue, pages
from experiments.experiment import Experiment, Outcome, Workshop, data_folder
from experiments.plots import draw
from experiments.results import Results, read_results, write_results
from experiments.store import Store
from setveil.errors import InfeasibleError, InputError

PAGE, FOLDER, TABLE = "reproduction.md", "reproduction", "results.csv"


def reproduce(
    names: Sequence[str], data: str | os.PathLike[str], out: Path, jobs: int = 1, only_missing: bool = False
) -> Results:
    """Run experiments by name; other results that ``out`` has are kept, and so is what was done before a stop."""
    experiments = catalogue.choose(names)
    folder = data_folder(data)
    check_target(out)
    found = earlier_results(out)
    if only_missing:
        experiments = [each for each in experiments if each.name not in found]
    experiments.sort(key=lambda each: -_cost(found.get(each.name)))
    n_done = 0
    try:
        for name, outcome in run_all(experiments, folder, jobs):
            found[name] = outcome
            n_done += 1
    finally:
        known = [each.name for each in catalogue.choose(["all"])]
        results = {name: found[name] for name in known if name in found}
        if n_done:
            write(results, out)
    return results


def _cost(earlier: Outcome | None) -> float:
    """What it took before: the longest begin, so that side by side all end at about the same time."""
    return inf if earlier is None or earlier.cpu_seconds is None else earlier.cpu_seconds


def earlier_results(out: Path) -> Results:
    """What earlier runs have written."""
    table = out / FOLDER / TABLE
    return read_results(table) if table.is_file() else {}


class Task(NamedTuple):
    """What a worker needs to run an experiment."""

    name: str
    folder: Path  # of the data
    kept: Path  # of releases


def run_all(experiments: Sequence[Experiment], folder: Path, jobs: int) -> Iterator[tuple[str, Outcome]]:
    """Outcomes by name, in order; with several jobs side by side in processes of their own.

    Then one that fails does not take the others with it: its error is raised when they are done.
    """
    with TemporaryDirectory(prefix="setveil-experiments-") as kept:
        tasks = [Task(experiment.name, folder, Path(kept)) for experiment in experiments]
        if jobs == 1:
            yield from map(_run_task, tasks)
            return
        failed: list[BaseException] = []
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            for future in [pool.submit(_run_task, task) for task in tasks]:
                problem = future.exception()
                if problem is None:
                    yield future.result()
                elif isinstance(problem, Exception) and not isinstance(problem, BrokenExecutor):
                    failed.append(problem)
                else:  # stopped from outside
                    pool.shutdown(cancel_futures=True)
                    raise problem
        if failed:
            raise failed[0]


_WORKSHOPS: dict[tuple[Path, Path], Workshop] = {}  # of this process: data is read once


def _run_task(task: Task) -> tuple[str, Outcome]:
    workshop = _WORKSHOPS.setdefault((task.folder, task.kept), Workshop(task.folder, Store(task.kept)))
    workshop.step = lambda what: _tell(f"{task.name}: {what}")
    (experiment,) = catalogue.choose([task.name])
    outcome, seconds = workshop.timed(lambda: run_one(experiment, workshop))
    _tell("")
    print(f"{task.name}: {outcome.not_run or f'{seconds:.0f} CPU seconds'}", file=sys.stderr, flush=True)
    return task.name, replace(outcome, cpu_seconds=round(seconds))


def _tell(what: str) -> None:
    """What is being done now, on one line of the terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def run_one(experiment: Experiment, workshop: Workshop) -> Outcome:
    """One experiment; without its data, or with data it cannot be run on, the reason is kept instead."""
    missing = [name for name in experiment.needs if not any(workshop.folder.glob(f"{name}.*"))]
    if missing:
        return Outcome(not_run=f"the data folder has no {' and no '.join(f'{name}.*' for name in missing)}.")
    try:
        return experiment.run(workshop)
    except (InputError, InfeasibleError) as problem:
        return Outcome(not_run=str(problem))


# -- writing ----------------------------------------------------------------------------------------------------------


def check_target(out: Path) -> None:
    """Refuse to replace what an earlier run did not write."""
    for path in (out / PAGE, out / FOLDER):
        if path.exists() and not (out / FOLDER / TABLE).is_file():
            raise InputError(f"{path}: exists and was not written by this command; choose another folder with -o.")


def write(results: Results, out: Path) -> None:
    """The table, the pages and one picture per paper; all of them made before the first is written."""
    papers = [paper for paper in catalogue.PAPERS if any(each.name in results for each in paper.experiments)]
    files = {PAGE: pages.render_index(papers, results).encode()}
    for paper in papers:
        files[f"{FOLDER}/{paper.number}.md"] = pages.render_paper(paper, results).encode()
        panels = pages.pictured(paper, results)
        if panels:
            files[f"{FOLDER}/{paper.number}.svg"] = draw(panels)
    try:
        (out / FOLDER).mkdir(parents=True, exist_ok=True)
        write_results(results, out / FOLDER / f"{TABLE}.partial")
        (out / FOLDER / f"{TABLE}.partial").replace(out / FOLDER / TABLE)
        _place(files.items(), out)
    except OSError as problem:
        raise InputError(f"{out}: cannot be written ({problem.strerror}); choose another output.") from None


def _place(files: Iterable[tuple[str, bytes]], out: Path) -> None:
    for name, content in files:
        partial = out / f"{name}.partial"
        partial.write_bytes(content)
        partial.replace(out / name)


def draw_all(names: Sequence[str], out: Path, folder: Path) -> list[Path]:
    """A picture of every panel of experiments that ``out`` has results of."""
    results = earlier_results(out)
    if not results:
        raise InputError(f"{out / FOLDER / TABLE}: no results to draw; name where they are with -o.")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for experiment in catalogue.choose(names):
        for number, panel in enumerate(results.get(experiment.name, Outcome()).panels, start=1):
            path = folder / f"{experiment.name}-{number}.svg"
            path.write_bytes(draw([panel]))
            drawn.append(path)
    return drawn
