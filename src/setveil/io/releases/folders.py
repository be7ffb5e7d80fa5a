"""Folders that appear whole or not at all.

A release is two folders: ``OUT`` (may leave the house) and ``OUT.internal`` (stays, mode 0700). Both are filled below
``.OUT.partial-*`` beside ``OUT`` and then renamed; over an existing release they are exchanged.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from setveil.errors import InputError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def internal_beside(out: Path) -> Path:
    """``OUT.internal``."""
    return out.with_name(out.name + ".internal")


def check_target(out: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse an output that stands there already and may not be replaced."""
    public = Path(out).absolute()
    for target, mark in ((public, "certificate.json"), (internal_beside(public), "run.json")):
        if not (target.exists() or target.is_symlink()):
            continue
        if not target.is_dir() or target.is_symlink():
            raise InputError(f"{target}: exists and is not a folder; choose another output.")
        if not any(target.iterdir()):
            continue
        if not force:
            raise InputError(f"{target}: exists already; choose another output or add --force.")
        if not (target / mark).exists():
            raise InputError(
                f"{target}: is not a setveil release, so --force does not replace it; choose another output."
            )


class Staging:
    """``with Staging(out, force) as staging: … staging.commit()``; without commit everything is removed again."""

    def __init__(self, out: str | os.PathLike[str], force: bool = False) -> None:
        self.out = Path(out).absolute()
        self.force = force
        check_target(out, force)

    def __enter__(self) -> Staging:
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self._sweep()
            prefix = f".{self.out.name}.partial-{os.getpid()}-"
            self.folder = Path(tempfile.mkdtemp(prefix=prefix, dir=self.out.parent))  # mode 0700
            self.public, self.internal = self.folder / "public", self.folder / "internal"
            self.public.mkdir(mode=0o755)
            self.internal.mkdir(mode=0o700)
        except OSError as problem:
            raise InputError(f"{self.out}: cannot be written ({problem.strerror}); choose another output.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
        except (KeyboardInterrupt, OSError):
            # Ctrl-C in the middle of it, which rmtree may turn into "bad file descriptor": finish first.
            shutil.rmtree(self.folder, ignore_errors=True)
            raise KeyboardInterrupt from None

    def _sweep(self) -> None:
        """Remove what a killed run left behind; a run that is still alive keeps its folder."""
        start = f".{self.out.name}.partial-"
        for left in self.out.parent.iterdir():
            if left.name.startswith(start):
                process = left.name[len(start) :].partition("-")[0]
                if not (process.isdigit() and _is_alive(int(process))):
                    shutil.rmtree(left, ignore_errors=True)

    def commit(self) -> None:
        """Make both folders appear. ``OUT`` comes last: once it is there, all of it is."""
        for folder in (self.public, self.internal):
            for path in folder.iterdir():
                _flush(path)
            _flush(folder)
        place(self.internal, internal_beside(self.out))
        place(self.public, self.out)
        _flush(self.out.parent)


def place(new: Path, target: Path) -> None:
    """Put a folder in its place; one that stands there is exchanged, or moved beside the new one's old place."""
    if not target.exists():
        new.rename(target)
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2"):
        status = libc.renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(target), _RENAME_EXCHANGE)
        if status == 0:
            return  # the old folder now stands in the staging folder and goes with it
    old = new.with_name(new.name + "-old")
    target.rename(old)
    new.rename(target)


def _flush(path: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
