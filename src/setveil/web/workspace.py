"""Where the page keeps data for as long as it runs: one folder of mode 0700, removed at the end, or by the next
start.
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

PREFIX = "setveil-ui-"
LOCK = "in-use"  # locked for as long as its process lives, however that ends
ENDINGS = (
    "csv",
    "tsv",
    "txt",
    "dat",
    "data",
    "jsonl",
    "ndjson",
    "json",
    "parquet",
    "gmt",
    "arff",
    "basket",
    "zip",
    "xml",
)


class Workspace:
    """``with Workspace() as workspace: workspace.folder``."""

    def __init__(self, parent: Path | None = None) -> None:
        self.parent = parent or Path(tempfile.gettempdir())

    def __enter__(self) -> Workspace:
        sweep(self.parent)
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

    def new_folder(self) -> Path:
        """An empty folder of its own."""
        folder = self.folder / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder


def sweep(parent: Path) -> None:
    """Remove what killed runs of this user left behind."""
    for left in parent.glob(f"{PREFIX}*"):
        try:
            told = left.lstat()
            if not stat.S_ISDIR(told.st_mode) or told.st_uid != os.getuid():
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
