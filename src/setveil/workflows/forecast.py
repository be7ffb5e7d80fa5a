"""How much memory and time an input will take, before it is read, and a refusal where the memory does not suffice.

The figures are upper bounds from the tables of ``docs/speed.md``, for two cores. A machine that runs out of memory ends
processes at random, so a run that needs more than there is is refused at its beginning.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any, NamedTuple

from setveil.errors import InputError, one_line

LARGE = 1 << 26  # bytes of input; below, nothing is forecast
BASE = 2e8  # bytes that a process has before it reads anything
PER_BYTE = {".parquet": 20.0, ".gz": 30.0}  # bytes of memory for a byte of input; compressed files grow
PER_BYTE_OF_TEXT = 8.0  # short numbers need most
BYTES_A_SECOND = 3e7  # of text
PER_ENTRY = {"counts": 70.0, "shards": 300.0, "local": 300.0}  # bytes while an algorithm runs, by how it scales
OFF = "SETVEIL_NO_FORECAST"  # an environment variable

log = logging.getLogger("setveil.forecast")


class Forecast(NamedTuple):
    """What is needed, and what there is."""

    needed: float  # bytes
    free: float | None  # bytes; None where that cannot be found out
    seconds: float | None = None

    def __str__(self) -> str:
        time = "" if self.seconds is None else f" and {self.seconds:,.0f} s"
        free = "" if self.free is None else f"; {self.free / 1e9:,.1f} GB are free"
        return f"needs about {self.needed / 1e9:,.1f} GB{time}{free}"


def before_reading(source: Any) -> Forecast | None:
    """The forecast for a large file; None for other input.

    Raises:
        InputError: it needs more memory than there is.
    """
    # Path.is_file raises for a name that is too long.
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):  # noqa: PTH113
        return None
    size = Path(source).stat().st_size
    if size < LARGE:
        return None
    growth = PER_BYTE.get(Path(source).suffix.lower(), PER_BYTE_OF_TEXT)
    found = Forecast(BASE + growth * size, free_memory(), growth / PER_BYTE_OF_TEXT * size / BYTES_A_SECOND)
    _refuse(found, f"{one_line(Path(source).name, 120)}: reading")
    return found


def before_running(n_entries: int, scales: str, algorithm: str) -> Forecast:
    """The forecast for an algorithm.

    Raises:
        InputError: it needs more memory than there is.
    """
    found = Forecast(BASE + PER_ENTRY[scales] * n_entries, free_memory())
    if found.needed > LARGE * PER_BYTE_OF_TEXT:
        _refuse(found, f"{n_entries:,} entries: {algorithm}")
    return found


def for_gathering(n_cells: int, n_bytes: float) -> Forecast:
    """The forecast for a table of so many cells that is brought into this process and worked on by any algorithm."""
    return Forecast(BASE + max(PER_ENTRY.values()) * n_cells + 2 * n_bytes, free_memory())


def _refuse(found: Forecast, what: str) -> None:
    log.info("%s %s", what, found)
    if found.free is not None and found.needed > found.free and not os.environ.get(OFF):
        raise InputError(
            f"{what} {found}. Use a machine with more memory, a sample, or --engine spark; set {OFF}=1 to try anyway."
        )


def free_memory() -> float | None:
    """Bytes that can be had without driving out others: of the machine, and of the container."""
    found = []
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found.append(float(line.split()[1]) * 1024)
        most = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
        if most != "max":
            found.append(float(most) - float(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return min(found, default=None)
