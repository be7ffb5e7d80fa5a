"""What the commands print, and how they end."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from setveil.errors import SetveilWarning, one_line, printable

if TYPE_CHECKING:
    from setveil.core import Dataset
    from setveil.core.progress import Progress

LONGEST = 300  # characters of an error
LAYOUT = "\n\t"  # characters that lines and lists are made of


def show_warnings() -> None:
    """Warnings for users as one line on standard error, each once; Python's own stay hidden."""
    _warned.clear()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, SetveilWarning):
            warn(str(message))

    warnings.simplefilter("always", SetveilWarning)
    warnings.showwarning = show


_warned: set[str] = set()  # by this command


def warn(text: str) -> None:
    """A warning for users, in one line; the same one is said once."""
    if text not in _warned:
        _warned.add(text)
        note(f"warning: {one_line(text, LONGEST)}")


def say(text: str) -> None:
    """One line for people, on standard output; what a terminal would obey is shown as an escape."""
    print(printable(text, kept=LAYOUT))  # noqa: T201


def note(text: str) -> None:
    """One line about the run, on standard error, so that output can be piped.

    Where that is full or closed, the work goes on; ``is_lost`` knows.
    """
    global _is_lost
    if sys.stderr is None:
        return
    try:
        print(printable(text, kept=LAYOUT), file=sys.stderr, flush=True)  # noqa: T201
    except OSError:
        _is_lost = True


_is_lost = False


def is_lost() -> bool:
    """Whether something that was to be said on standard error was not."""
    return _is_lost


_is_quiet = False


def be_quiet(quiet: bool) -> None:
    """With ``--quiet`` only results and problems are shown."""
    global _is_quiet
    _is_quiet = quiet


def remark(text: str) -> None:
    """A note that nobody misses who asked for quiet."""
    if not _is_quiet:
        note(text)


def complain(text: str) -> None:
    """What went wrong, in one line of bounded length."""
    note(one_line(text, LONGEST))


def read_data(source: Any, reading: Mapping[str, Any], engine: str = "local", master: str | None = None) -> Dataset:
    """The input of a command; how it was read is said in one line on standard error."""
    import setveil
    from setveil.workflows.cluster import check_engine, read_path

    is_on_spark = check_engine(engine, master)
    data = read_path(source, master, reading) if is_on_spark else setveil.read(source, **reading)
    remark(data.summary())
    return data


def say_json(content: Any) -> None:
    """One JSON object and nothing else."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
    print("".join(map(_as_json, text)) if not text.replace("\n", "").isprintable() else text)  # noqa: T201


def _as_json(character: str) -> str:
    """The character as it may stand in JSON on a terminal: \\u202e turns nothing around and means the same."""
    if character.isprintable() or character == "\n":
        return character
    return json.dumps(character)[1:-1]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
    """A small table; numbers right-aligned, the first column left. A pipe gets its lines whole, however long."""
    if not sys.stdout.isatty():
        cells = [[printable(cell) for cell in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        for line in ([title] if title else []) + [_aligned(row, widths) for row in (header, *cells)]:
            print(line)  # noqa: T201
        return
    from rich.console import Console
    from rich.table import Table

    grid = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(header):
        grid.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(printable(cell) for cell in row))
    Console(highlight=False, markup=False).print(grid)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = row
    cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
    return "  ".join(cells).rstrip()


def note_first_run() -> None:
    """Announce the compilation of loops, if this run has to compile some."""
    from setveil.arrays.compiling import call_before_compiling

    call_before_compiling(announce_compiling)


def announce_compiling() -> None:
    """Say that loops are being compiled."""
    from setveil.workflows.progress_bars import FIRST_RUN

    remark(FIRST_RUN)


def progress_bar() -> AbstractContextManager[Progress]:
    """A progress bar on a terminal, nothing when piped or asked for quiet."""
    if _is_quiet or sys.stderr is None or not sys.stderr.isatty():
        return nullcontext(lambda stage, share: None)
    from setveil.workflows.progress_bars import progress_bar as shown

    return shown()
