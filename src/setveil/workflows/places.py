"""Where a single file may be written."""

from __future__ import annotations

import os
from pathlib import Path

from setveil.errors import InputError, one_line


def spare_what_is_read(source: str | os.PathLike[str], output: Path) -> None:
    """Refuse to write a file in place of the one it is made from, whatever name leads there."""
    read = Path(source)
    if read.exists() and output.exists() and output.samefile(read):
        raise InputError(
            f"{one_line(str(output), 120)}: is the input, which would be overwritten; choose another output."
        )
