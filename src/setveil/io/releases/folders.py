"""Folders that appear whole or not at all.

A release is two folders: ``OUT`` (may leave the house) and ``OUT.internal`` (stays, mode 0700). Both are filled below
``.OUT.partial-run`` beside ``OUT`` and then renamed. That folder is locked from the beginning to the end of a run, so
that two runs never write the same release, and whoever finds it unlocked knows that its run has ended before its time.

Two folders cannot change places at once. So an old ``OUT.internal`` is taken away first, then ``OUT`` is exchanged,
then the new ``OUT.internal`` comes: at no time does one stand beside an ``OUT`` it does not belong to. If that is
interrupted by an error, it is undone; if the process dies in the middle of it, the next run to the same place
finishes or undoes it from what stands in the partial folder. Whoever only looks at a folder changes nothing.

File systems without rename get a copy instead, and its commit marker is ``certificate.json``, which is written last:
without it a folder is no release, and the next run takes back what was copied.

Only what a run can prove to be its own is removed: a partial folder carries a mark that no archive can hold
(``marks.py``), copies are compared with what they were copied from, and ``--force`` replaces folders that hold the
files of a release and nothing else.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from setveil.core.regular_files import LARGEST_CERTIFICATE, LARGEST_RECORD, open_regular
from setveil.errors import InputError, one_line
from setveil.io.releases.marks import MARKS, is_blank, is_marked, mark

if TYPE_CHECKING:
    from setveil.io.releases.addresses import Address

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_BUSY = "another run is writing it; wait for that one or choose another output."
_COPYING = "copying"  # in the partial folder while files are copied, for want of rename
_LOST = (errno.EIO, errno.ENOSPC, errno.EDQUOT)  # what was written did not get to the disk
_NO_RENAME = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP)
CERTIFICATE = "certificate.json"
RECORD = "run.json"
INTERNAL = frozenset(  # what OUT.internal may hold
    (
        RECORD,
        "policy.toml",
        "report.html",
        "assessment.html",
        "codebook.csv",
        "columns.csv",
        "order.npy",
        "hierarchy.csv",
    )
)
_PARTS = ("public", "internal", "old-public", "old-internal")  # folders in the partial folder
_CHUNK = 1 << 20
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Step = tuple[Callable[[], object], Callable[[], object]]  # do, undo


def internal_folder_of(out: Path) -> Path:
    """``OUT.internal``."""
    return out.with_name(out.name + ".internal")


def partial_folder_of(out: Path) -> Path:
    """Where a run fills both folders."""
    return out.with_name(f".{out.name}.partial-run")


def check_target(out: str | os.PathLike[str], force: bool = False) -> Path:
    """The output as an absolute path; refuses one that stands there already and may not be replaced."""
    refuse_address(out)
    try:
        public = _absolute(out)
        for target in (public, internal_folder_of(public)):
            check_place(target, target is not public, force)
        for above in public.parents:  # its internal folder would leave the house with that one, or be replaced with it
            if (above / CERTIFICATE).exists() or (above.name.endswith(".internal") and (above / RECORD).exists()):
                raise InputError(
                    f"{one_line(str(public), 120)}: lies inside another release, {one_line(above.name, 60)}; choose "
                    "another output."
                )
        if not public.parent.is_dir():
            raise InputError(
                f"{one_line(str(public.parent), 120)}: there is no such folder; create it, or choose another output."
            )
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        reason = getattr(problem, "strerror", None) or "impossible name"
        raise InputError(f"{one_line(str(out), 120)}: cannot be written ({reason}); choose another output.") from None
    return public


def refuse_address(out: str | os.PathLike[str]) -> None:
    """An error for ``s3://…`` where a folder is needed; as a path it has one slash only."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(out)):
        raise InputError(f"{one_line(str(out), 120)}: is an address; give a folder of this machine.")


def _absolute(out: str | os.PathLike[str]) -> Path:
    public = Path(os.path.abspath(out))  # noqa: PTH100 (links stay as they are)
    if not public.name:
        raise InputError(f"{public}: cannot be the folder of a release; choose another output.")
    return public


def check_place(target: Path, is_internal: bool, force: bool) -> None:
    """Refuse a place that holds something already and may not be replaced."""
    shown = one_line(str(target), 120)
    try:
        kind = target.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(kind):
        raise InputError(f"{shown}: exists and is not a folder; choose another output.")
    if not any(target.iterdir()):
        return
    is_release = (target / (RECORD if is_internal else CERTIFICATE)).exists()
    refuse_taken(shown, is_release, _strange_file(target, is_internal) if force and is_release else None, force)


def refuse_taken(shown: str, is_release: bool, strange: str | None, force: bool) -> None:
    """Refuse to replace what is there, unless it is a release without a ``strange`` file and ``force`` says so."""
    if not force:
        instead = " or add --force" if is_release else ""  # which replaces releases only
        raise InputError(f"{shown}: exists already; choose another output{instead}.")
    if not is_release:
        raise InputError(f"{shown}: is not a setveil release, so --force does not replace it; choose another output.")
    if strange:
        raise InputError(
            f"{shown}: holds {one_line(strange)}, which is not part of the release, so --force does not replace it; "
            "move that file away."
        )


def _strange_file(folder: Path, is_internal: bool) -> str | None:
    """The first file of a release folder that no run wrote there; None if there is none."""
    files = () if is_internal else read_record(folder / CERTIFICATE).get("files", ())
    listed = set(files) if isinstance(files, dict) else set()
    known = INTERNAL if is_internal else {*listed, CERTIFICATE, "certificate.sig"}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_parent = path.is_dir() and not path.is_symlink() and any(one.startswith(f"{name}/") for one in listed)
        if name not in known and not is_parent:
            return name
    return None


class Staging:
    """``with Staging(out, force) as staging: … staging.commit()``; without commit everything is removed again."""

    def __init__(self, out: str | os.PathLike[str], force: bool = False) -> None:
        self.force = force
        refuse_address(out)
        try:
            self.out = _absolute(out)
            self.folder = partial_folder_of(self.out)
            is_left = os.path.lexists(self.folder)
        except ValueError:  # a NUL in the name
            is_left, self.out = True, check_target(out, force)
        if not is_left:  # else what an earlier run has left is settled first
            self.check()
        self.public, self.internal = self.folder / "public", self.folder / "internal"
        self._lock: int | None = None
        self._is_mine = False  # whether this run may empty the partial folder

    @property
    def place(self) -> Path | Address:
        """Where the release appears."""
        return self.out

    @property
    def internal_folder(self) -> Path:
        """Where its ``OUT.internal`` appears."""
        return internal_folder_of(self.out)

    def check(self) -> None:
        """Refuse a place that holds something already and may not be replaced."""
        check_target(self.out, self.force)

    def __enter__(self) -> Staging:
        try:
            self._lock = _reserve(self.folder)
            if self._lock is None:
                raise InputError(f"{one_line(str(self.out), 120)}: {_BUSY}")
            self._take_over()
            self.check()  # now that nobody else can change it
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

    def _take_over(self) -> None:
        """Settle what an earlier run has left, and make the folder this run's; one that no run made is refused."""
        if not is_blank(self.folder):
            if not (
                is_marked(self.folder) and {path.name for path in self.folder.iterdir()} <= {*_PARTS, *MARKS, _COPYING}
            ):
                raise InputError(
                    f"{one_line(str(self.folder), 120)}: exists, and it may not be a temporary folder of setveil. "
                    "Check it and remove it, or choose another output."
                )
            _settle(self.out)
            _clear(self.folder)
        self._is_mine = True
        mark(self.folder)

    def _leave(self) -> None:
        """Remove the partial folder, then let others in."""
        if self._lock is None:
            return
        if self._is_mine:
            _settle(self.out)
            with contextlib.suppress(OSError):
                _clear(self.folder)
                for name in MARKS:
                    (self.folder / name).unlink(missing_ok=True)
                self.folder.rmdir()
        os.close(self._lock)
        self._lock = None

    def commit(self) -> None:
        """Make both folders appear, or neither."""
        _set_one_time(self.public)
        _close_to_others(self.internal)
        for folder in (self.public, self.internal):
            for path in folder.rglob("*"):
                _flush(path)
            _flush(folder)
        with _undisturbed():
            self.check()
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
        internal = internal_folder_of(self.out)
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
            _take_back(self.public, self.out)
            _take_back(self.internal, internal)
            raise
        with contextlib.suppress(OSError):
            (self.folder / _COPYING).unlink()

    def _internal_steps(self) -> tuple[list[Step], Step]:
        """The old ``OUT.internal`` is taken away, the new one comes."""
        internal, aside = self.internal_folder, self.folder / "old-internal"
        takes_away = [_renaming(internal, aside)] if internal.exists() else []
        return takes_away, _renaming(self.internal, internal)

    def _steps(self) -> list[Step]:
        takes_away, comes = self._internal_steps()
        if self.out.exists():
            exchanges = _exchanging(self.public, self.out, self.folder / "old-public")
            return [*takes_away, *exchanges, comes]
        return [*takes_away, comes, _renaming(self.public, self.out)]  # OUT last: once it is there, all of it is


def _settle(out: Path) -> None:
    """Finish or undo what a run that died in the middle of its commit has left; its partial folder is proven."""
    internal, folder = internal_folder_of(out), partial_folder_of(out)
    new, old = folder / "internal", folder / "old-internal"
    if (folder / _COPYING).exists() and "digest" not in read_record(out / CERTIFICATE):  # it died before it was there
        _take_back(folder / "public", out)
        _take_back(new, internal)
        return
    aside = folder / "old-public"
    if aside.exists() and not os.path.lexists(out):  # between two renames, where nothing can be exchanged
        aside.rename(out)
    if not os.path.lexists(internal):
        if _belongs(new, out):
            new.rename(internal)
        elif old.exists():
            old.rename(internal)
    elif not os.path.lexists(out) and _belongs(internal, folder / "public") and not new.exists():
        internal.rename(new)  # nothing was published yet: back to where it came from


def _take_back(source: Path, target: Path) -> None:
    """Remove what was copied to a place, whole or in part, and nothing else that is there."""
    if target.is_symlink():
        return
    with contextlib.suppress(OSError):
        for path in sorted(source.rglob("*"), reverse=True):  # files before the folder that they are in
            copy = target / path.relative_to(source)
            if path.is_dir():
                with contextlib.suppress(OSError):
                    copy.rmdir()
            elif _is_copied(copy, path):
                copy.unlink()
        target.rmdir()  # refuses one that holds something


def _is_copied(copy: Path, path: Path) -> bool:
    """Whether a file is the beginning of another, so that nothing is lost with it."""
    try:
        with open_regular(copy) as left, open_regular(path) as right:
            while found := left.read(_CHUNK):
                if right.read(len(found)) != found:
                    return False
    except (InputError, OSError):
        return False
    return True


def _belongs(internal: Path, public: Path) -> bool:
    """Whether an internal folder was written with a public one."""
    digest = read_record(public / CERTIFICATE).get("digest")
    return digest is not None and read_record(internal / RECORD).get("certificate_digest") == digest


def read_record(path: Path) -> dict[str, Any]:
    """``certificate.json`` or ``run.json``; empty if it is no such file, or larger than those are. It may come from
    anyone, as any folder may.
    """
    most = LARGEST_CERTIFICATE if path.name == CERTIFICATE else LARGEST_RECORD
    try:
        with open_regular(path) as file:
            content = file.read(most + 1)
        record = json.loads(content.decode()) if len(content) <= most else {}
    except (InputError, OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


# -- one run at a time ------------------------------------------------------------------------------------------------


def _reserve(folder: Path) -> int | None:
    """The folder, made if need be and locked; None if a living run holds it."""
    while True:
        is_new = False
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            is_new = True
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
        except BaseException:  # a file system that cannot lock
            os.close(handle)
            if is_new:
                folder.rmdir()
            raise
        os.close(handle)


def _clear(folder: Path) -> None:
    """Remove all but the marks: as long as something is left, they prove whose it is."""
    for left in folder.iterdir():
        if left.name not in MARKS:
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait until two renames are done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- positions ---------------------------------------------------------------------------------------------------------


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
    target.chmod(mode)

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, mode & 0o666)

    for path in sorted(folder.rglob("*"), key=lambda path: path.name == CERTIFICATE):
        copy = target / path.relative_to(folder)
        if path.is_dir():
            copy.mkdir(exist_ok=True)
            continue
        copy.parent.mkdir(exist_ok=True)
        with open(path, "rb") as source, open(copy, "wb", opener=opener) as file:
            shutil.copyfileobj(source, file)
        _flush(copy)
    _set_one_time(target)
    _flush(target)


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


def _close_to_others(folder: Path) -> None:
    """Only this user may read what is internal, also where a file is moved out of its folder."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


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
