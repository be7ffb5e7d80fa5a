"""Folders that appear whole or not at all.

A release is two folders: ``OUT`` (may leave the house) and ``OUT.internal`` (stays, mode 0700). Both are filled below
``.OUT.partial-run`` beside ``OUT`` and then renamed. That folder is locked from the beginning to the end of a run, so
that two runs never write the same release, and whoever finds it unlocked knows that its run has ended before its time.

Two folders cannot change places at once. So an old ``OUT.internal`` is taken away first, then ``OUT`` is exchanged,
then the new ``OUT.internal`` comes: at no time does one stand beside an ``OUT`` it does not belong to. If that is
interrupted by an error, it is undone; if the process dies in the middle of it, ``settle`` finishes it from what stands
in the partial folder.

File systems without rename get a copy instead, and its commit marker is ``certificate.json``, which is written last:
without it a folder is no release, and ``settle`` removes one whose copying was interrupted.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from setveil.core.regular_files import open_regular
from setveil.errors import InputError, one_line

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_BUSY = "another run is writing it; wait for that one or choose another output."
_COPYING = "copying"  # in the partial folder while files are copied, for want of rename
_LOST = (errno.EIO, errno.ENOSPC, errno.EDQUOT)  # what was written did not get to the disk
_NO_RENAME = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP)
CERTIFICATE = "certificate.json"
LARGEST_RECORD = 256 * 2**20  # bytes
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Step = tuple[Callable[[], object], Callable[[], object]]  # do, undo


def internal_beside(out: Path) -> Path:
    """``OUT.internal``."""
    return out.with_name(out.name + ".internal")


def partial_beside(out: Path) -> Path:
    """Where a run fills both folders."""
    return out.with_name(f".{out.name}.partial-run")


def check_target(out: str | os.PathLike[str], force: bool = False) -> Path:
    """The output as an absolute path; refuses one that stands there already and may not be replaced."""
    try:
        public = Path(os.path.abspath(out))  # noqa: PTH100 (links stay as they are)
        if not public.name:
            raise InputError(f"{public}: is not a place for a release; choose another output.")
        for target, mark in ((public, CERTIFICATE), (internal_beside(public), "run.json")):
            _check_place(target, mark, force)
        for above in public.parents:  # its internal folder would leave the house with that one, or be replaced with it
            if (above / CERTIFICATE).exists() or (above.name.endswith(".internal") and (above / "run.json").exists()):
                raise InputError(
                    f"{one_line(str(public), 120)}: lies inside another release, {one_line(above.name, 60)}; choose "
                    "another output."
                )
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        reason = getattr(problem, "strerror", None) or "impossible name"
        raise InputError(f"{one_line(str(out), 120)}: cannot be written ({reason}); choose another output.") from None
    return public


def _check_place(target: Path, mark: str, force: bool) -> None:
    shown = one_line(str(target), 120)
    try:
        kind = target.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(kind):
        raise InputError(f"{shown}: exists and is not a folder; choose another output.")
    if not any(target.iterdir()):
        return
    if not force:
        raise InputError(f"{shown}: exists already; choose another output or add --force.")
    if not (target / mark).exists():
        raise InputError(f"{shown}: is not a setveil release, so --force does not replace it; choose another output.")


class Staging:
    """``with Staging(out, force) as staging: … staging.commit()``; without commit everything is removed again."""

    def __init__(self, out: str | os.PathLike[str], force: bool = False) -> None:
        self.out = check_target(out, force)
        self.force = force
        self.folder = partial_beside(self.out)
        self.public, self.internal = self.folder / "public", self.folder / "internal"
        self._lock: int | None = None
        self._made: list[Path] = []  # folders above OUT that were not there

    def __enter__(self) -> Staging:
        try:
            self._made = [place for place in (self.out.parent, *self.out.parent.parents) if not place.exists()]
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _reserve(self.folder)
            if self._lock is None:
                raise InputError(f"{one_line(str(self.out), 120)}: {_BUSY}")
            _settle(self.out)
            check_target(self.out, self.force)  # now that nobody else can change it
            _clear(self.folder)
            self.public.mkdir(mode=0o755)
            self.internal.mkdir(mode=0o700)
        except BaseException as problem:
            self._leave()
            if isinstance(problem, OSError):
                reason = f"cannot be written ({problem.strerror}); choose another output."
                raise InputError(f"{one_line(str(self.out), 120)}: {reason}") from None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._leave()
        except (KeyboardInterrupt, OSError):
            # Ctrl-C in the middle of it, which rmtree may turn into "bad file descriptor": finish first.
            self._leave()
            raise KeyboardInterrupt from None

    def _leave(self) -> None:
        """Remove the partial folder, then let others in."""
        if self._lock is None:
            self._remove_empty()
            return
        _settle(self.out)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)
        self._lock = None
        self._remove_empty()

    def _remove_empty(self) -> None:
        with contextlib.suppress(OSError):
            for place in self._made:
                place.rmdir()  # refuses one that holds something
        self._made = []

    def commit(self) -> None:
        """Make both folders appear, or neither."""
        _set_one_time(self.public)
        for folder in (self.public, self.internal):
            for path in folder.rglob("*"):
                _flush(path)
            _flush(folder)
        with _undisturbed():
            check_target(self.out, self.force)
            done: list[Step] = []
            try:
                for step in self._steps():
                    step[0]()
                    done.append(step)
            except BaseException as problem:
                for _, undo in reversed(done):
                    undo()
                if isinstance(problem, OSError) and problem.errno in _NO_RENAME:
                    self._copy()
                    return
                if isinstance(problem, OSError) and problem.errno in (errno.ENOTEMPTY, errno.EEXIST):
                    raise InputError(f"{one_line(str(self.out), 120)}: {_BUSY}") from None
                raise
        with contextlib.suppress(OSError):  # it stands there already
            _flush(self.out.parent)

    def _copy(self) -> None:
        """Make both folders where nothing can be renamed: the certificate comes last, and with it the release."""
        internal = internal_beside(self.out)
        if any(place.exists() and any(place.iterdir()) for place in (self.out, internal)):
            raise InputError(
                f"{one_line(str(self.out), 120)}: this file system cannot exchange folders, so --force cannot replace "
                "a release here; move the old one away first."
            )
        (self.folder / _COPYING).touch()
        _flush(self.folder)
        try:
            _copy_all(self.internal, internal, 0o700)
            _copy_all(self.public, self.out, 0o755)
        except BaseException:
            _remove(self.out, internal)
            raise
        with contextlib.suppress(OSError):
            (self.folder / _COPYING).unlink()

    def _steps(self) -> list[Step]:
        internal, aside = internal_beside(self.out), self.folder / "old-internal"
        takes_away = [_renaming(internal, aside)] if internal.exists() else []
        comes = _renaming(self.internal, internal)
        if self.out.exists():
            exchanges = _exchanging(self.public, self.out, self.folder / "old-public")
            return [*takes_away, *exchanges, comes]
        return [*takes_away, comes, _renaming(self.public, self.out)]  # OUT last: once it is there, all of it is


def settle(out: str | os.PathLike[str]) -> None:
    """Finish or undo what a run that died in the middle of its commit has left; nothing happens while a run is
    alive.
    """
    target = Path(os.path.abspath(out))  # noqa: PTH100 (links stay as they are)
    folder = partial_beside(target) if target.name else target
    if not target.name or not folder.is_dir():
        return
    with contextlib.suppress(OSError):
        if folder.lstat().st_uid != os.geteuid():  # in a place for everybody nobody finishes for others
            return
        lock = _reserve(folder)
        if lock is not None:
            _settle(target)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _settle(out: Path) -> None:
    internal, folder = internal_beside(out), partial_beside(out)
    new, old = folder / "internal", folder / "old-internal"
    if (folder / _COPYING).exists() and "digest" not in read_record(out / CERTIFICATE):  # it died before it was there
        _remove(out, internal)
        return
    if not internal.exists():
        if _belongs(new, out):
            new.rename(internal)
        elif old.exists():
            old.rename(internal)
    elif not out.exists() and _belongs(internal, folder / "public"):  # nothing was published yet
        shutil.rmtree(internal, ignore_errors=True)


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _belongs(internal: Path, public: Path) -> bool:
    """Whether an internal folder was written with a public one."""
    digest = read_record(public / CERTIFICATE).get("digest")
    return digest is not None and read_record(internal / "run.json").get("certificate_digest") == digest


def read_record(path: Path) -> dict[str, Any]:
    """``certificate.json`` or ``run.json``; empty if it is no such file. It may come from anyone, as any folder may."""
    try:
        with open_regular(path) as file:
            record = json.loads(file.read(LARGEST_RECORD).decode())
    except (InputError, OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


# -- one run at a time ------------------------------------------------------------------------------------------------


def _reserve(folder: Path) -> int | None:
    """The folder, made if need be and locked; None if a living run holds it."""
    while True:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:  # its run has just ended
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _clear(folder: Path) -> None:
    for left in folder.iterdir():
        shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait until two renames are done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- places -----------------------------------------------------------------------------------------------------------


def _renaming(old: Path, new: Path) -> Step:
    return (lambda: old.rename(new)), (lambda: new.rename(old))


def _exchanging(new: Path, target: Path, aside: Path) -> list[Step]:
    """One step where the system can exchange, two elsewhere."""
    if hasattr(ctypes.CDLL(None), "renameat2"):
        return [((lambda: _exchange(new, target, aside)), (lambda: _exchange(new, target, aside)))]
    return [_renaming(target, aside), _renaming(new, target)]


def _exchange(new: Path, target: Path, aside: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(target), _RENAME_EXCHANGE) != 0:
        if ctypes.get_errno() not in (errno.EINVAL, errno.ENOSYS):  # a file system that cannot
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        target.rename(aside)
        new.rename(target)


def _copy_all(folder: Path, target: Path, mode: int) -> None:
    """Copy a folder, its certificate last."""
    target.mkdir(mode=mode, exist_ok=True)
    for path in sorted(folder.rglob("*"), key=lambda path: path.name == CERTIFICATE):
        copy = target / path.relative_to(folder)
        if path.is_dir():
            copy.mkdir(exist_ok=True)
            continue
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, copy)
        _flush(copy)
    _set_one_time(target)
    _flush(target)


def place(new: Path, target: Path) -> None:
    """Put a folder in its place; one that stands there is exchanged, or moved beside the new one's old place."""
    if target.exists():
        _exchange(new, target, new.with_name(new.name + "-old"))
    else:
        new.rename(target)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that is there as a whole or as it was before."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def _set_one_time(folder: Path) -> None:
    """All files as of now: the time between two of them would tell how long measuring the original took."""
    now = int(time.time())
    with contextlib.suppress(OSError):
        for path in (*folder.rglob("*"), folder):
            os.utime(path, (now, now))


def _flush(path: Path) -> None:
    """See a file or folder safe on the disk, where the file system can; a disk that fails or is full is an error."""
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as problem:
        if problem.errno in _LOST:
            raise
