"""How far long work is, where a person watches: a bar in a notebook or a terminal, nothing where output is piped."""

from __future__ import annotations

import html
import logging
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from setveil.arrays import compiling
from setveil.core.progress import no_progress
from setveil.errors import InputError, is_interrupt

if TYPE_CHECKING:
    from setveil.core.progress import Progress

P = ParamSpec("P")
R = TypeVar("R")
log = logging.getLogger("setveil.calls")
FIRST_RUN = "First run of this kind: compiling for up to a minute. Later runs start at once."
PAUSE = 0.2  # seconds between two pictures in a notebook, whose every picture is a message


def progress_bar() -> AbstractContextManager[Progress]:
    """A progress bar for functions with a parameter ``progress``, in a notebook or a terminal; none if output is piped.

    The bar disappears at the end. The stop button of the notebook, or Ctrl-C, cancels the run.

    Returns:
        A context manager; its value is passed as ``progress``.

    Examples:
        >>> import setveil as sv
        >>> with sv.progress_bar() as progress:
        ...     release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="trim", progress=progress)
        >>> release.published.n_records
        6
    """
    display = _display_of_a_notebook()
    if display is not None:
        return _in_a_notebook(display)
    return _on_a_terminal() if sys.stderr is not None and sys.stderr.isatty() else _nowhere()


def shows_progress(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose ``progress`` may also be True, for ``progress_bar()``, and False or None, for nothing.

    It is logged. Ctrl-C is KeyboardInterrupt in compiled loops, too.
    """

    @wraps(function)
    def watched(*arguments: P.args, **options: P.kwargs) -> R:
        progress: Any = options.get("progress", no_progress)
        if progress is True:
            with progress_bar() as bar:
                options["progress"] = bar
                return _logged(function, *arguments, **options)
        if progress is None or progress is False:
            options["progress"] = no_progress
        elif not callable(progress):
            raise InputError(
                f"progress={progress!r}: give True for a progress bar, or a function that takes a stage and a fraction."
            )
        return _logged(function, *arguments, **options)

    return watched


def _logged(function: Callable[P, R], *arguments: P.args, **options: P.kwargs) -> R:
    name, started = function.__qualname__, time.perf_counter()
    log.debug("%s begins", name)
    if compiling._announce is None:  # the command line and the page say it in their own way
        compiling.call_before_compiling(_announce_compiling)
    try:
        result = function(*arguments, **options)
    except BaseException as problem:
        # Messages may name items, so only the kind of an error is logged.
        log.info("%s ended with %s after %.1f s", name, type(problem).__name__, time.perf_counter() - started)
        if isinstance(problem, SystemError) and is_interrupt(problem):
            raise KeyboardInterrupt from problem
        raise
    log.info("%s took %.1f s", name, time.perf_counter() - started)
    return result


def _announce_compiling() -> None:
    """Say in the log, and to whoever sits at a terminal or a notebook, that the first run takes longer."""
    log.info(FIRST_RUN)
    is_watched = _display_of_a_notebook() is not None or (sys.stderr is not None and sys.stderr.isatty())
    if is_watched and multiprocessing.parent_process() is None:
        sys.stderr.write(FIRST_RUN + "\n")


@contextmanager
def _nowhere() -> Iterator[Progress]:
    yield no_progress


@contextmanager
def _on_a_terminal() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def progress(stage: str, share: float | None) -> None:
            bar.update(task, description=stage, total=None if share is None else 1.0, completed=share or 0.0)

        yield progress


def _display_of_a_notebook() -> Any:
    """IPython's function that shows things, if a notebook's kernel is running; None elsewhere."""
    running = sys.modules.get("IPython")
    shell = running.get_ipython() if running is not None else None
    if running is None or shell is None or not hasattr(shell, "kernel"):
        return None
    return running.display.display


@contextmanager
def _in_a_notebook(display: Any) -> Iterator[Progress]:
    shown = display({"text/html": _picture("starting", None)}, raw=True, display_id=True)
    last = (time.monotonic(), "starting")

    def progress(stage: str, share: float | None) -> None:
        nonlocal last
        if stage != last[1] or time.monotonic() - last[0] >= PAUSE:
            last = (time.monotonic(), stage)
            shown.update({"text/html": _picture(stage, share)}, raw=True)

    try:
        yield progress
    finally:
        shown.update({"text/html": ""}, raw=True)


def _picture(stage: str, share: float | None) -> str:
    value = "" if share is None else f' value="{min(max(share, 0.0), 1.0):.3f}"'
    return f"<progress{value}></progress> {html.escape(stage)}"
