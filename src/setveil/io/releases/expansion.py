"""How much room Parquet files take once they are read: found out where it can do no harm.

Parquet compresses inside, and a few kilobytes can cover gigabytes: one value repeated a billion times, a page of
zeros. What its headers say about that may be a lie. So files of unknown origin are first read in a process of their own
(``python -m setveil.io.releases.expansion``), whose memory and time are bounded by their size; if that fails, nobody
else opens them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from setveil.core.regular_files import open_regular
from setveil.errors import UncheckedError, one_line

ROOM = 2**30  # bytes that reading any file may take
ROOM_PER_BYTE = 64
SECONDS = 60  # of processor time
SECONDS_PER_MEGABYTE = 1
TOO_LARGE = 3  # exit code; so is any signal


def check_expansion(paths: Sequence[Path]) -> None:
    """UncheckedError unless each Parquet file can be read within what its size allows."""
    import subprocess

    with contextlib.ExitStack() as opened:
        files = [opened.enter_context(open_regular(path)) for path in paths]
        for path, file in zip(paths, files, strict=True):
            size = os.fstat(file.fileno()).st_size
            room, seconds = ROOM + ROOM_PER_BYTE * size, SECONDS + SECONDS_PER_MEGABYTE * (size >> 20)
            numbers = [str(number) for number in (file.fileno(), room, seconds)]
            reader = subprocess.run(
                [sys.executable, "-P", "-m", "setveil.io.releases.expansion", *numbers],
                check=False,
                pass_fds=[file.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "POLARS_MAX_THREADS": "1"},
            )
            if reader.returncode:
                raise UncheckedError(
                    f"{one_line(path.name, 120)}: its {size:,} bytes unpack to more than {room >> 20:,} MB, or take "
                    f"longer than {seconds} seconds to read; both are limits."
                )


def read_within(descriptor: int, room: int, seconds: int) -> int:
    """Read an opened file with so much further memory and processor time; the exit code."""
    import resource

    import polars as pl

    with contextlib.suppress(OSError):
        room += int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    with contextlib.suppress(ValueError, OSError):  # where memory cannot be limited, time still is
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
    try:
        with open(descriptor, "rb") as file:
            file.seek(0)  # whoever opened it looked at its beginning
            pl.read_parquet(file)
    except MemoryError:
        return TOO_LARGE
    except (Exception, pl.exceptions.PanicException):  # damaged: whoever reads it next says so
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(read_within(*map(int, sys.argv[1:])))
