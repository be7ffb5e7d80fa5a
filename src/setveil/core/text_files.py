"""Text files that a data owner wrote: lists, weights, policies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from setveil.core.regular_files import is_device, without_waiting
from setveil.errors import InputError, one_line


@contextmanager
def open_text(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """The file, line ends untouched, for as long as it is read; what cannot be read is an error of one line."""
    if "\0" in os.fspath(path):
        raise InputError(f"{one_line(os.fspath(path))}: a path has no NUL characters; check it.")
    try:
        with open(path, encoding="utf-8-sig", newline="", opener=without_waiting) as file:
            if is_device(file):
                raise InputError(f"{os.fspath(path)}: is a device, which may never end; name a file.")
            yield file
    except FileNotFoundError:
        raise InputError(f"{os.fspath(path)}: no such file; check the path.") from None
    except IsADirectoryError:
        raise InputError(f"{os.fspath(path)}: is a folder; name a file.") from None
    except OSError as problem:
        raise InputError(f"{os.fspath(path)}: cannot be read ({problem.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)}: is not UTF-8 text; save it as UTF-8.") from None
