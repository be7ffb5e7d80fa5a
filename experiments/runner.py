"""Run experiments and write what came of them: a page, its pictures, and one tidy table."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from experiments.catalogue import choose
from experiments.experiment import Experiment, Result, Workshop, data_folder
from experiments.page import render_page
from experiments.plots import draw, plot_names
from setveil.core.progress import Progress, no_progress
from setveil.errors import InfeasibleError, InputError

PAGE, FOLDER, TABLE = "reproduction.md", "reproduction", "results.csv"
COLUMNS = ("experiment", "panel", "line", "source", "x_label", "x", "y_label", "y", "note")


def reproduce(
    names: Sequence[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    progress: Progress = no_progress,
) -> list[Result]:
    """Run experiments by name and write ``reproduction.md``, its pictures and ``results.csv`` into ``out``."""
    experiments = choose(names)
    folder, target = data_folder(data), Path(out)
    check_target(target)
    workshop = Workshop(folder, step=lambda _: None)
    results = []
    for number, experiment in enumerate(experiments):
        workshop.step = _steps(experiment, number / len(experiments), progress)
        results.append(run_one(experiment, workshop))
    command = f"python -m experiments {' '.join(names)} --data DIR -o {target.name or '.'}"
    write(results, render_page(results, command), target)
    return results


def run_one(experiment: Experiment, workshop: Workshop) -> Result:
    """One experiment; without its data, or with data it cannot be run on, the reason is kept instead."""
    missing = [name for name in experiment.needs if not any(workshop.folder.glob(f"{name}.*"))]
    if missing:
        return Result(experiment, None, f"the data folder has no {' and no '.join(f'{name}.*' for name in missing)}.")
    try:
        return Result(experiment, experiment.run(workshop))
    except (InputError, InfeasibleError) as problem:
        return Result(experiment, None, str(problem))


def _steps(experiment: Experiment, share: float, progress: Progress) -> Callable[[str], None]:
    def step(what: str) -> None:
        progress(f"{experiment.name}: {what}", share)

    return step


# -- writing ----------------------------------------------------------------------------------------------------------


def check_target(out: Path) -> None:
    """Refuse to replace what an earlier run did not write."""
    for path in (out / PAGE, out / FOLDER):
        if path.exists() and not (out / FOLDER / TABLE).is_file():
            raise InputError(f"{path}: exists and was not written by this command; choose another folder with -o.")


def write(results: Sequence[Result], page: str, out: Path) -> None:
    """Everything appears at the end, in place of what an earlier run wrote."""
    from setveil.io.releases.folders import place

    with staging(out) as new:
        (new / FOLDER).mkdir()
        (new / PAGE).write_text(page, encoding="utf-8", newline="\n")
        write_table(results, new / FOLDER / TABLE)
        for result in results:
            for panel, name in plot_names(result.experiment.name, result.outcome) if result.outcome else ():
                (new / FOLDER / name).write_text(draw(panel), encoding="utf-8", newline="\n")
        place(new / FOLDER, out / FOLDER)
        (new / PAGE).replace(out / PAGE)


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """A folder beside the target's files, gone afterwards."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".reproduction.partial-", dir=out))
    except OSError as problem:
        raise InputError(f"{out}: cannot be written ({problem.strerror}); choose another output.") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_table(results: Sequence[Result], path: Path) -> None:
    """One row per point of every line."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for result in results:
            for panel in result.outcome.panels if result.outcome else ():
                for line in panel.lines:
                    source = "paper" if line.is_paper else "setveil"
                    for x, y in line.points:
                        value = "" if y is None else repr(y)
                        row = (result.experiment.name, panel.title, line.name, source, panel.x_label, x)
                        table.writerow((*row, panel.y_label, value, line.note))
