"""Whether a command is about so little data that loading compiled loops would take longer than the work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

COMMANDS = ("anonymize", "risk", "verify")  # whose work grows with the data alone
BYTES, LINES = 2_000, 60
PUBLISHED = ("published.*", "sensitive.csv")  # what a release holds that grows


def names_tiny_files(arguments: Sequence[str]) -> bool:
    """Whether a command reads some small files of text and nothing else."""
    if not arguments or arguments[0] not in COMMANDS or "-" in arguments:
        return False
    try:
        files = [file for name in _values(arguments[1:]) for file in _read_from(Path(name))]
        return bool(files) and all(map(_is_tiny, files))
    except (OSError, ValueError):  # whoever reads it says what is wrong with it
        return False


def _values(arguments: Sequence[str]) -> list[str]:
    """What could be a path: the values of ``--option=value``, and everything that is no option itself."""
    values = [text.partition("=")[2] if text.startswith("-") else text for text in arguments]
    is_output = [before in ("-o", "--output") for before in ("", *arguments[:-1])]
    return [value for value, skipped in zip(values, is_output, strict=True) if value and not skipped]


def _read_from(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for pattern in PUBLISHED for file in path.glob(pattern)]
    return [path] if os.path.lexists(path) else []


def _is_tiny(file: Path) -> bool:
    """A regular file of a few short lines; what is compressed is never called tiny."""
    if not file.is_file() or file.stat().st_size > BYTES:
        return False
    content = file.read_bytes()
    return content.count(b"\n") <= LINES and b"\0" not in content and not content.startswith(b"\x1f\x8b")
