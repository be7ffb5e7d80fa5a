"""Checks of files that a command writes."""

from __future__ import annotations

import os
from pathlib import Path

from setveil.errors import InputError, one_line


def refuse_overwriting_input(source: str | os.PathLike[str], output: Path) -> None:
    """Raise InputError if the output is the input file, also under another name."""
    read = Path(source)
    if read.exists() and output.exists() and output.samefile(read):
        raise InputError(
            f"{one_line(str(output), 120)}: is the input, which would be overwritten; choose another output."
        )
