"""The text of a hierarchy file: plain or gzipped, in UTF-8 or an encoding that is said or shows."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from setveil.errors import InputError, warn
from setveil.io.source import BOM, Source, guess_encoding

MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def load_text(path: str | PathLike[str], encoding: str | None = None) -> str:
    """Everything in the file; a warning says so if its encoding was not named and is not UTF-8."""
    marked = "utf-16" if encoding is None and first_bytes(path, 2) in MARKS_OF_UTF16 else None
    with Source(path, encoding or marked) as source:  # read once: it may be a pipe
        raw = source.whole().removeprefix(BOM)
        if b"\0" in raw:
            raise source.error(
                "a NUL byte; the file is damaged or not a text file.", raw.count(b"\n", 0, raw.index(b"\0")) + 1
            )
        if not raw.strip():
            raise source.error("the file is empty.", None)
        name = source.name
    try:
        text = raw.decode()
    except UnicodeDecodeError as problem:
        marked = guess_encoding(raw)
        if marked is None:
            line = raw.count(b"\n", 0, problem.start) + 1
            raise InputError(f"{name}:{line}: the text is not UTF-8; save it as UTF-8.") from None
        text = raw.decode(marked)
    if marked is not None:
        warn(f"{name}: read as {marked}, because it is not UTF-8.")
    return text


def first_bytes(path: str | PathLike[str], n: int) -> bytes:
    """The beginning of a file; nothing if it is a pipe, or cannot be opened, which opening it as a source explains."""
    try:
        if not Path(path).is_file():
            return b""
        with open(path, "rb") as file:
            return file.read(n)
    except (OSError, ValueError):
        return b""
