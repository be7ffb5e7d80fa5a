"""Where the page keeps data for as long as it runs: one folder of mode 0700, removed at the end, or by the next
start. It lies in the user's runtime folder, which nobody else can enter and which is gone after logging out; where
there is none, or it is short of space, it lies in the folder for temporary files.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path
from types import TracebackType

from setveil.io.formats.registry import FORMATS

PREFIX = "setveil-ui-"
MIN_FREE = 1_000_000_000  # bytes: an upload, and the releases made from it
COPIES = 4  # of an upload that must find room on the disk
LOCK = "in-use"  # locked for as long as its process lives, however that ends
WORKBOOKS = {"xlsx", "xlsm", "xlsb", "xls", "ods"}  # read, or refused as what they are
ENDINGS = (
    WORKBOOKS
    | {"csv", "tsv", "tab", "txt", "dat", "data", "json", "zip", "xml"}
    | {ending.removeprefix(".") for format in FORMATS.values() for ending in (*format.extensions, format.suffix)}
)


class Workspace:
    """``with Workspace() as workspace: workspace.folder``."""

    def __init__(self, parent: Path | None = None) -> None:
        self.parents = [parent] if parent else [*runtime_folder(), Path(tempfile.gettempdir())]
        self.parent = self.parents[0]

    def __enter__(self) -> Workspace:
        for parent in self.parents:
            sweep(parent)
        if self.parent is not self.parents[-1] and shutil.disk_usage(self.parent).free < MIN_FREE:
            self.parent = self.parents[-1]
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=self.parent))  # mode 0700
        self._lock = os.open(self.folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove everything; may be called twice."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def max_upload(self, limit: int) -> int:
        """How large an upload may be: it is stored twice for a moment, and releases are made from it."""
        return min(limit, shutil.disk_usage(self.folder).free // COPIES)

    def new_folder(self) -> Path:
        """An empty folder of its own."""
        folder = self.folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder


def runtime_folder() -> list[Path]:
    """``$XDG_RUNTIME_DIR`` where it is what its specification says: this user's own folder, of mode 0700."""
    given = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    try:
        found = given.lstat()
    except OSError:
        return []
    is_private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == os.getuid()
    return [given] if given.is_absolute() and is_private else []


def sweep(parent: Path) -> None:
    """Remove what killed runs of this user left behind."""
    for left in parent.glob(f"{PREFIX}*"):
        try:
            found = left.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            lock = os.open(left / LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # just being made, or going already
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except OSError:  # its process lives
            pass
        finally:
            os.close(lock)


def safe_name(given: str, stem: str) -> str:
    """A file name of our own for an upload: only its ending, if it is one that readers know, comes from outside."""
    parts = given.lower().rsplit(".", 2)
    gz = ".gz" if parts[-1] == "gz" else ""
    ending = parts[-2] if gz and len(parts) > 1 else parts[-1]
    return f"{stem}.{ending}{gz}" if ending in ENDINGS else f"{stem}{gz}"
