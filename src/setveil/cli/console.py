"""What the commands print, and how they end."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from setveil.errors import SetveilWarning

if TYPE_CHECKING:
    from setveil.core import Transactions
    from setveil.core.progress import Progress


def show_warnings() -> None:
    """Warnings for users as one line on standard error; Python's own stay hidden."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, SetveilWarning):
            print(f"warning: {message}", file=sys.stderr)  # noqa: T201

    warnings.simplefilter("always", SetveilWarning)
    warnings.showwarning = show


def say(text: str) -> None:
    """One line for people, on standard output."""
    print(text)  # noqa: T201


def note(text: str) -> None:
    """One line about the run, on standard error, so that output can be piped."""
    print(text, file=sys.stderr)  # noqa: T201


def read_data(source: Any, reading: Mapping[str, Any]) -> Transactions:
    """The input of a command; how it was read is said in one line on standard error."""
    import setveil

    data = setveil.read(source, **reading)
    note(data.summary())
    return data


def say_json(content: Any) -> None:
    """One JSON object and nothing else."""
    print(json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False))  # noqa: T201


def table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A small table; numbers right-aligned, the first column left."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(header):
        grid.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*row)
    Console(highlight=False, markup=False).print(grid)


def note_first_run() -> None:
    """Tell why a run takes longer, if kernels have to be compiled in it."""
    from setveil.arrays.compile import call_before_compiling

    call_before_compiling(
        lambda: note(
            "first run of this kind: compiling kernels, once; `python -m setveil.workflows.warm` does it beforehand."
        )
    )


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A progress bar on a terminal, nothing when piped."""
    if not sys.stderr.isatty():
        from setveil.core.progress import no_progress

        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def progress(stage: str, share: float | None) -> None:
            bar.update(task, description=stage, total=None if share is None else 1.0, completed=share or 0.0)

        yield progress
