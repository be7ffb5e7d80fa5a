"""What checking a folder that may come from anyone may cost."""

from __future__ import annotations

import os
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.errors import UncheckedError

if TYPE_CHECKING:
    from setveil.core.progress import Progress

SECONDS, SECONDS_PER_MB = 120, 60  # how long a check may take unless set otherwise
MEMORY = 3 * 2**30  # bytes of address space: libraries take half of it, a release of a million records the same
MEMORY_PER_THREAD = 80 * 2**20  # bytes that a thread of a library reserves
MEMORY_PER_BYTE = 64
MEMORY_PER_ORIGINAL_BYTE = 1000  # the owner's own file, perhaps compressed
MOST_FILES = 10_000
UNPACKED_PER_BYTE = 10  # of an archive of text


class Deadline:
    """Passes progress on until time is up."""

    def __init__(self, seconds: float, progress: Progress) -> None:
        self.seconds, self.progress = seconds, progress
        self.end = time.monotonic() + seconds

    def __call__(self, stage: str, share: float | None) -> None:
        if time.monotonic() > self.end:
            raise UncheckedError(out_of_time(self.seconds))
        self.progress(stage, share)


def out_of_time(seconds: float) -> str:
    """What is said when time is up."""
    return f"not completed within {seconds:g} seconds; increase --time-limit."


def seconds_for(folder: Path) -> float:
    """How long checking a folder may take."""
    return SECONDS + SECONDS_PER_MB * _release_size(folder) / 1e6


def memory_for(folder: Path, original: Path | None) -> int:
    """How much address space checking a folder may take."""
    known = MEMORY + MEMORY_PER_THREAD * (os.cpu_count() or 1) + MEMORY_PER_BYTE * _release_size(folder)
    return known + (0 if original is None else MEMORY_PER_ORIGINAL_BYTE * size_of(original))


def _release_size(place: Path) -> int:
    """The bytes of a release folder, or about those of its archive once it is unpacked."""
    return size_of(place) * (UNPACKED_PER_BYTE if place.is_file() else 1)


def size_of(path: Path, depth: int = 2) -> int:
    """The bytes of a file, or of the files in a folder and in the folders there; 0 where that is not known."""
    try:
        if depth and path.is_dir() and not (depth == 1 and path.is_symlink()):
            with os.scandir(path) as entries:
                return sum(size_of(Path(entry.path), depth - 1) for entry in islice(entries, MOST_FILES))
        return path.stat(follow_symlinks=depth == 2).st_size
    except (OSError, ValueError):
        return 0
