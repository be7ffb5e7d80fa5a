"""Files of a release folder, which may come from anyone, and files that are none."""

from __future__ import annotations

import errno
import os
import selectors
import stat
from pathlib import Path
from typing import IO, Any, BinaryIO

from setveil.errors import InputError, one_line

GZIP = b"\x1f\x8b"
LARGEST_CERTIFICATE = 4 * 2**20  # bytes; without constraints 10 kB are usual, 50,000 published pairs fill it
PATIENCE = 10.0  # seconds that a pipe may stay silent at first
LARGEST_RECORD = 2**20  # bytes of run.json; 10 kB are usual


def open_regular(path: Path) -> BinaryIO:
    """A regular, uncompressed file opened for reading.

    Links are not followed and pipes are not waited for: a link could lead to a device or to a secret of whoever reads.
    Compressed data, and files with holes, could be a thousand times larger than they look; no release holds any.
    """
    shown = one_line(path.name, 120)
    try:
        file = open(path, "rb", opener=_without_following)  # noqa: SIM115 (for whoever asked)
    except FileNotFoundError:
        raise InputError(f"{shown}: missing; without it a release is not complete.") from None
    except (OSError, ValueError) as problem:  # ValueError: names no file system can hold
        reason = getattr(problem, "strerror", None) or "impossible name"
        if _is_there_but_not_regular(path):
            reason = "not a regular file"
        raise InputError(f"{shown}: cannot be read ({reason}).") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError(f"{shown}: cannot be read (not a regular file).")
    if _has_holes(file.fileno()):
        file.close()
        raise InputError(f"{shown}: cannot be read (it has holes; files of a release are plain).")
    if file.peek(2).startswith(GZIP):
        file.close()
        raise InputError(f"{shown}: cannot be read (compressed; files of a release are plain).")
    return file


def _has_holes(handle: int) -> bool:
    """Whether a file says that it is longer than what is stored of it; only zeros would be read there."""
    size = os.fstat(handle).st_size
    try:
        return bool(size) and hasattr(os, "SEEK_HOLE") and os.lseek(handle, 0, os.SEEK_HOLE) < size
    except OSError:  # a file system that does not know
        return False
    finally:
        os.lseek(handle, 0, os.SEEK_SET)


def is_device(file: IO[Any]) -> bool:
    """Whether reading may never end, as from ``/dev/zero``; pipes do, and so do people at a terminal."""
    mode = os.fstat(file.fileno()).st_mode
    return (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not file.isatty()


def without_waiting(path: str, flags: int) -> int:
    """An ``opener`` for files that a user or a policy names: a pipe is opened only if somebody writes to it.

    Opening one that has no writer would wait for ever.
    """
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        if stat.S_ISFIFO(os.fstat(handle).st_mode):
            with selectors.DefaultSelector() as selector:
                selector.register(handle, selectors.EVENT_READ)
                if not selector.select(PATIENCE):
                    raise OSError(errno.ENXIO, "it is a pipe, and nobody writes to it")
        os.set_blocking(handle, True)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _without_following(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _is_there_but_not_regular(path: Path) -> bool:
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False
