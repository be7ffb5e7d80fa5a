"""How loops are compiled: plain Numba, without the GIL, kept on disk. No other file knows the compiler.

Numba compiles a loop when it is first called and keeps the machine code in a folder. It compiles a loop anew when the
file of that loop changes, but not when a loop changes that it calls from another file. Therefore each file of loops has
a folder, named after its contents and those of all files of loops that it imports: machine code of other sources is
never used, and a change in one file compiles only what depends on it.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent.parent
PACKAGE_CACHE = PACKAGE / "__pycache__"
HOLD_LOOPS = ("arrays/*.py", "**/_[a-z]*.py")  # files of the package
IMPORTED = re.compile(r"^from (setveil[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)
OPTIONAL = ("scipy.linalg", "coverage", "yaml")  # to multiply matrices, for coverage of loops, for a settings file
OUTDATED = 7 * 24 * 3600.0  # seconds since earlier sources were compiled

_deciding = threading.Lock()
_announce: Callable[[], None] | None = None


def compiled(loop: Loop) -> Loop:
    """Compile a loop on its first call; keep the machine code where a folder is writable."""
    numba, folder = _numba(), cache_folder(loop.__module__)
    if folder is None:
        return _by_name(numba.njit(nogil=True)(loop))  # type: ignore[no-any-return]
    with _deciding:  # Numba looks up its folder while it decorates; other packages keep theirs
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            return _by_name(_or_compile_again(numba.njit(cache=True, nogil=True)(loop)))  # type: ignore[no-any-return]
        finally:
            numba.config.CACHE_DIR = before


def _by_name(loop: Loop) -> Loop:
    """The same loop, which is pickled by its name. Numba pickles the source: each process would compile it again."""
    setattr(loop, "__reduce_ex__", lambda protocol: loop.__qualname__)  # noqa: B010 (no attribute that mypy knows)
    return loop


def _or_compile_again(loop: Loop) -> Loop:
    """The same loop, which is compiled again where its files on disk are damaged; Numba would raise an error."""
    kept = getattr(loop, "_cache", None)  # nothing is kept if Numba is switched off
    if kept is None:
        return loop
    load = kept.load_overload

    def load_or_forget(*wanted: Any) -> Any:
        try:
            return load(*wanted)
        except Exception:  # whatever unpickling broken files may raise
            with suppress(OSError):
                kept.flush()
            return None

    kept.load_overload = load_or_forget
    return loop


def call_before_compiling(announce: Callable[[], None]) -> None:
    """Call ``announce`` once, when the first loop has to be compiled because it is not on disk."""
    global _announce
    _announce = announce


@cache
def cache_folder(module: str) -> Path | None:
    """The folder for the machine code of a module's loops; None if nothing can be written."""
    for parent in _cache_parents():
        folder = parent / f"loops-{digest_of_loops(module)}"
        with suppress(OSError):
            is_new = not folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            if is_new and parent == PACKAGE_CACHE:
                _remove_outdated()
            return folder
    return None


def _cache_parents() -> list[Path]:
    """Where the folder may be: as the user says, or else beside the sources or in the user's cache."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(named)]
    try:
        return [PACKAGE_CACHE, Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "setveil"]
    except RuntimeError:  # a user without a home folder
        return [PACKAGE_CACHE]


def digest_of_loops(module: str) -> str:
    """A short digest of a module and of all files of loops that it imports, directly or not."""
    digest = hashlib.sha256()
    for path in sorted(files_behind(module)):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def files_behind(module: str) -> set[Path]:
    """The files of loops that a module consists of: its own, and those that it imports, directly or not."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        for path in _file_of(waiting.pop()) - found:
            found.add(path)
            for package, names in IMPORTED.findall(path.read_text(encoding="utf-8")):
                waiting += [package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))]
    return found


@cache
def _holding_loops() -> frozenset[Path]:
    return frozenset(path for pattern in HOLD_LOOPS for path in PACKAGE.glob(pattern))


def _file_of(module: str) -> set[Path]:
    """The file of a module, if it may hold loops."""
    return {PACKAGE.parent / f"{module.replace('.', '/')}.py"} & _holding_loops()


def _remove_outdated() -> None:
    """Remove what was compiled from earlier contents of the same files."""
    for folder in PACKAGE_CACHE.glob("loops-*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > OUTDATED:
                shutil.rmtree(folder, ignore_errors=True)


@cache
def _numba() -> Any:
    numba = _import_numba()
    from numba.core import event

    class FirstCompilation(event.Listener):
        """Announces the first compilation. Pauses the garbage collector, which takes a quarter of compiling."""

        depth = 0
        is_announced = collects = False

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                self.collects = gc.isenabled()
                gc.disable()
            self.depth += 1
            if not self.is_announced and _announce is not None:
                self.is_announced = True
                _announce()

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.collects:
                gc.enable()

    event.register("numba:compile", FirstCompilation())  # type: ignore[no-untyped-call]
    return numba


def _import_numba() -> Any:
    """Numba without what it loads if it is installed and no loop here needs: that takes as long as Numba itself."""
    hidden = {name: None for name in OPTIONAL if name not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type]
    try:
        import numba
        import numba.np.arraymath
    finally:
        for name in hidden:
            del sys.modules[name]
    return numba
