"""Proof that a partial folder was made by a run of this user, on this file system.

A folder may come out of an archive, a repository or somebody's shared disk, and look exactly like what an interrupted
run has left. Names, modes and owners prove nothing then. What nobody can choose is the number of a file and the time
of its last change (ctime), which the system sets. So a run makes an empty file, looks at both, and writes them down
beside it: whatever was unpacked, cloned or copied has others.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from setveil.core.regular_files import open_regular
from setveil.errors import InputError

MARK, STATEMENT = "setveil-run", "setveil-run.json"
MARKS = (STATEMENT, MARK)  # in the order in which they are removed
_MOST = 4096  # bytes of a statement


def mark(folder: Path) -> None:
    """Leave the proof in a new folder; the marks of an earlier attempt are overwritten."""
    handle = os.open(folder / MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    os.close(handle)
    content = json.dumps(_identity(folder)).encode()
    handle = os.open(folder / STATEMENT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(handle, "wb") as file:
        file.write(content)


def is_marked(folder: Path) -> bool:
    """Whether a run of this user made the folder where it is; nothing in it is trusted."""
    try:
        if not is_private(folder):
            return False
        with open_regular(folder / STATEMENT) as file:
            said = json.loads(file.read(_MOST))
        return bool(said == _identity(folder))
    except (InputError, OSError, ValueError, RecursionError):
        return False


def is_blank(folder: Path) -> bool:
    """Whether a folder holds nothing but marks, finished or not: a run ended before it wrote anything, or after it had
    removed everything else.
    """
    with os.scandir(folder) as entries:
        return all(
            entry.name in MARKS and entry.is_file(follow_symlinks=False) and entry.stat().st_size <= _MOST
            for entry in entries
        )


def is_private(folder: Path) -> bool:
    """Whether it is a folder, no link, that belongs to this user and that nobody else may open."""
    kind = folder.lstat()
    return stat.S_ISDIR(kind.st_mode) and kind.st_uid == os.geteuid() and not kind.st_mode & 0o077


def _identity(folder: Path) -> dict[str, int]:
    found = (folder / MARK).lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_size or found.st_nlink != 1:
        raise OSError(f"{MARK} is not a mark")
    return {"folder": folder.lstat().st_ino, "mark": found.st_ino, "made": found.st_ctime_ns}
