"""Runs something again and again, and stops it at its first, second, … event of the file system. Prints what was left
behind.

    python crash_points.py stage|copy|publish|compare die|full FOLDER

``die`` ends the process there, as if it were killed; ``full`` lets the call fail, as if the disk were full.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.chmod", "ctypes.dlsym"}
MOST = 500  # events; more mean that something goes on for ever


class Interrupter:
    """Counts events that change something below a folder, and acts at one of them."""

    def __init__(self) -> None:
        self.folder, self.at, self.seen, self.dies = "", -1, 0, False
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.at < 0 or event not in EVENTS or not self.concerns(event, arguments):
            return
        self.seen += 1
        if self.seen == self.at:
            if self.dies:
                os._exit(9)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def concerns(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "ctypes.dlsym":
            return arguments[1] == "renameat2"
        path = arguments[0]
        if isinstance(path, int) or not os.fsdecode(path).startswith(self.folder):
            # rmtree works with names relative to an open folder: those count, too
            return event in ("os.remove", "os.rmdir") and isinstance(path, str) and not path.startswith(os.sep)
        return event != "open" or bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))

    def run(self, work: Callable[[], None], folder: Path, at: int, dies: bool) -> bool:
        """Whether the work came to its end without being interrupted."""
        self.folder, self.at, self.seen, self.dies = str(folder), at, 0, dies
        try:
            work()
        except Exception:  # what it was interrupted with, or what that became
            pass
        finally:
            self.at = -1
        return self.seen < at


def pair(out: Path) -> list[Any]:
    """The version of OUT and that of OUT.internal; of a comparison the table and the page, each whole or not there."""
    if (out / "points").is_dir():
        files = (out / "results.csv", out / "compare.html")
        return [hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else None for file in files]
    versions = []
    for file in (out / "certificate.json", out.with_name("out.internal") / "run.json"):
        content = json.loads(file.read_text()) if file.exists() else {}
        versions.append(content.get("digest") or content.get("certificate_digest"))
    return versions


def stage(out: Path, version: str, force: bool) -> None:
    """What a release goes through, with two files in place of a real one."""
    from setveil.io.releases.folders import Staging

    with Staging(out, force) as staging:
        (staging.public / "certificate.json").write_text(json.dumps({"digest": version}))
        (staging.internal / "run.json").write_text(json.dumps({"certificate_digest": version}))
        staging.commit()


def copy(out: Path, again: bool) -> None:
    """The same on a file system that cannot rename folders; ``again``: somebody took the old release away first."""

    def refuse(folder: Path, target: Path) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    if again:
        for folder in (out, out.with_name("out.internal")):
            shutil.rmtree(folder, ignore_errors=True)
    kept, Path.rename = Path.rename, refuse  # type: ignore[assignment, method-assign]
    try:
        stage(out, "new", again)
    finally:
        Path.rename = kept  # type: ignore[method-assign]


def main() -> None:
    """One line of JSON: what was found after each interruption."""
    what, way, place = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    interrupter = Interrupter()
    found: list[dict[str, Any]] = []
    work, before = prepared(what)
    for number in range(1, MOST):
        for is_fresh in (True, False):
            folder = place / "here"  # the same for all: a comparison tells where it is
            folder.mkdir()
            out = folder / "out"
            if not is_fresh:
                before(out)
            old = pair(out)
            if way == "die":
                child = os.fork()
                if child == 0:
                    os._exit(0 if interrupter.run(lambda: work(out, not is_fresh), folder, number, dies=True) else 9)  # noqa: B023
                done = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            else:
                done = interrupter.run(lambda: work(out, not is_fresh), folder, number, dies=False)  # noqa: B023
            left = {"number": number, "fresh": is_fresh, "done": done, "old": old, "left": pair(out)}
            left["folder"] = sorted(path.name for path in folder.iterdir())
            left["next"] = after(what, work, out)
            found.append(left)
            shutil.rmtree(folder)
        if found[-1]["done"] and found[-2]["done"]:
            break
    print(json.dumps(found))


def prepared(what: str) -> tuple[Callable[[Path, bool], None], Callable[[Path], None]]:
    """The work (OUT, whether to replace), and what makes an OUT that can be replaced."""
    if what == "stage":
        return (lambda out, force: stage(out, "new", force)), (lambda out: stage(out, "old", False))
    if what == "copy":
        return copy, (lambda out: None)
    if what == "compare":
        return compared, (lambda out: compared(out, False))
    import setveil as sv

    rows = [["a", "b"], ["a", "c"], ["b", "c"], ["a"]] * 5
    old, new = (sv.anonymize(rows, sv.KmAnonymity(k=k, m=2), "aa", "fanout:2") for k in (2, 3))
    return (lambda out, force: _nothing(new.publish(out, force=force))), (lambda out: _nothing(old.publish(out)))


class QuickWorker:
    """Stands for the process of a setting: it has its result at once."""

    def __init__(self, job: Any, *_: Any) -> None:
        self.target = job.target

    def is_over(self) -> bool:
        from setveil.io.releases.folders import write_whole

        write_whole(self.target, json.dumps({"status": "ok", "mean_chance": 0.5, "avg_re": 1.0, "peak_mb": 1.0}))
        return True

    def stop(self) -> None:
        """It has ended."""


class QuickFrame:
    """Stands for a Polars frame, whose threads would not outlive a fork."""

    def write_parquet(self, file: Any) -> None:
        file.write(b"PAR1")


def compared(out: Path, again: bool) -> None:
    """A small comparison; ``again`` makes no difference to it."""
    from setveil.workflows import compare as module
    from setveil.workflows import trials

    data = out.parent / "data.dat"
    if not data.exists():
        data.write_text("1 2\n1 2\n")
        os.utime(data, (0, 0))
    trials._Process = QuickWorker  # type: ignore[assignment, misc]
    module._frame = lambda rows: QuickFrame()  # type: ignore[assignment]
    trials.time.sleep = lambda seconds: None  # type: ignore[assignment]
    block = {"model": "km", "k": [2, 3], "m": 1, "algorithm": "aa", "hierarchy": "fanout:2"}
    module.compare(data, {"grid": [block]}, out, processes=1)


def after(what: str, work: Callable[[Path, bool], None], out: Path) -> list[Any]:
    """What the next runs make of it: the first one settles what is open and gives up, the second one does its work."""
    from setveil.errors import InputError
    from setveil.io.releases.folders import Staging

    with contextlib.suppress(InputError, ZeroDivisionError), Staging(out, force=True):
        raise ZeroDivisionError
    settled = pair(out)
    work(out, True)
    return [settled, pair(out), sorted(path.name for path in out.parent.iterdir())]


def _nothing(result: object) -> None:
    """What a work comes back with."""


if __name__ == "__main__":
    main()
