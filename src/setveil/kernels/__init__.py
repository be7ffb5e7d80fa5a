"""Loops that Numba compiles when they are first used, or that run as plain Python while the data are tiny.

Loading Numba and compiled loops takes half a second, in which plain Python is done with six baskets long ago. A loop
gives the same either way; the tests run algorithms and verifier both ways and compare.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

Loop = TypeVar("Loop", bound=Callable[..., Any])

UNNEEDED = ("scipy.linalg", "coverage", "yaml", "colorama")  # a BLAS, coverage of loops, a settings file, colours
OPTIONS = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}  # of all loops
KNOWN = "0.68."  # the Numba whose inside parts.py builds on; any other compiles in its own way, for longer
PATIENCE = 0.3  # seconds in plain loops after which the compiled ones are worth loading

_making = threading.RLock()
_inside = threading.local()  # whether this thread runs a plain loop, which calls others
_time_left = 0.0  # for plain loops
_tell: Callable[[], None] | None = None


def compiled(loop: Loop) -> Loop:
    """Compile on first call, without the GIL; cached on disk if that is possible."""
    return cast(Loop, Kernel(loop))


def stay_plain() -> None:
    """From now on run loops as plain Python, unless they turn out to take long: for data that are tiny."""
    global _time_left
    _time_left = PATIENCE


@contextmanager
def plainly() -> Iterator[None]:
    """Run loops as plain Python in here, for a handful of records."""
    before, _inside.now = getattr(_inside, "now", False), True
    try:
        with np.errstate(over="ignore"):  # hashes wrap around, as they do when compiled
            yield
    finally:
        _inside.now = before


def call_before_compiling(tell: Callable[[], None]) -> None:
    """Call ``tell`` once, when a kernel really has to be compiled and is not found on disk."""
    global _tell
    _tell = tell


class Kernel:
    """A loop, and what Numba makes of it as soon as that is worth while."""

    def __init__(self, loop: Callable[..., Any]) -> None:
        functools.update_wrapper(self, loop)
        self.loop = loop
        self._dispatcher: Any = None
        self._part: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if _time_left > 0 or getattr(_inside, "now", False):
            return self._run_plainly(arguments)
        return (self._dispatcher or self.dispatcher)(*arguments)

    def __reduce__(self) -> str:
        """By name: workers of a cluster import the loop, and have it once, whatever asks for it."""
        return self.loop.__qualname__

    @property
    def dispatcher(self) -> Any:
        """What Numba makes of the loop."""
        with _making:
            if self._dispatcher is None:
                dispatcher = _dispatch(self.loop, "Whole")
                with suppress(RuntimeError, OSError):  # no folder for a cache: compile in memory, every time
                    from setveil.kernels.cache import KernelCache

                    dispatcher._cache = KernelCache(self.loop)
                self._dispatcher = dispatcher
            return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """Loops that are compiled find this one among their globals."""
        with _making:
            if self._part is None:
                self._part = _dispatch(self.loop, "Part")
            return self._part._numba_type_

    def _run_plainly(self, arguments: tuple[Any, ...]) -> Any:
        global _time_left
        if getattr(_inside, "now", False):
            return self.loop(*arguments)
        _inside.now, started = True, time.process_time()
        try:
            with np.errstate(over="ignore"):  # hashes wrap around, as they do when compiled
                return _as_compiled(self.loop(*arguments))
        finally:
            _inside.now = False
            _time_left -= time.process_time() - started


def _dispatch(loop: Callable[..., Any], kind: str) -> Any:
    """A loop in Numba's hands: compiled our way, which builds on the inside of Numba, or else in its own."""
    numba = _numba()
    if numba.__version__.startswith(KNOWN) and not numba.config.DISABLE_JIT:
        with suppress(ImportError, AttributeError):
            from setveil.kernels import parts

            return getattr(parts, kind)(loop, OPTIONS)
    return numba.jit(**OPTIONS)(loop)


def _as_compiled(result: Any) -> Any:
    """Numbers as compiled loops return them."""
    if isinstance(result, np.generic):
        return result.item()
    if type(result) is tuple:
        return tuple(map(_as_compiled, result))
    return result


@functools.cache
def _numba() -> Any:
    """Numba without what it looks for while it starts: that costs half as much again."""
    choose_cache_folder()
    hidden = [name for name in UNNEEDED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))
    try:
        import numba
        import numba.core.caching
        import numba.np.arraymath
    finally:
        for name in hidden:
            del sys.modules[name]
    _listen()
    return numba


def _listen() -> None:
    from numba.core import event

    class Watch(event.Listener):
        """Calls ``tell`` once, and lets Python's collector of garbage rest: it takes a quarter of compiling."""

        depth = 0
        is_told = collects = False

        def on_start(self, started: Any) -> None:
            if self.depth == 0:
                self.collects = gc.isenabled()
                gc.disable()
            self.depth += 1
            if not self.is_told:
                self.is_told = True
                if _tell is not None:
                    _tell()

        def on_end(self, ended: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.collects:
                gc.enable()

    event.register("numba:compile", Watch())


def choose_cache_folder() -> None:
    """Point Numba at a folder it can write to, before Numba is imported; without one kernels compile in memory."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    beside = Path(__file__).parent / "__pycache__"
    try:
        beside.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=beside):
            return  # Numba's own default works: beside the sources
    except OSError:
        os.environ["NUMBA_CACHE_DIR"] = _users_cache_folder()


def _users_cache_folder() -> str:
    """A user without a home folder has none: ``os.devnull`` then, which no cache is kept in."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return os.devnull
    return str(Path(base) / "setveil" / "numba")
