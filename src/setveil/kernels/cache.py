"""Compiled kernels kept on disk: a comfort that must never be in the way.

Whatever is wrong with the cache (damaged, full, not writable, left by another version) costs compiling in memory,
nothing else. Data files carry a checksum: machine code with a flipped bit would not raise an error but do anything.
A kernel has the kernels it calls compiled into it, wherever they stand: it is stamped with the sources of all of them,
and of what compiles them. Two processes do not compile the same one at the same time: the second waits for the first.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from numba.core import caching
from numba.core.runtime.nrt import rtsys

MARK = b"setveil kernel\n"
CLAIMS = "setveil-compiling"  # a file in a folder of kernels; a byte of it is locked while a kernel is compiled
PATIENCE = 15.0  # seconds to wait for somebody else, who may have forgotten
COMPILER = [str(Path(__file__).with_name(name)) for name in ("arrays.py", "lowering.py", "parts.py")]


class _CheckedFile(caching.IndexDataCacheFile):
    """Numba's files, with a checksum before the data."""

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if content.startswith(MARK):
            digest, content = content[len(MARK) :][:32], content[len(MARK) + 32 :]
            if hashlib.sha256(content).digest() != digest:
                raise pickle.UnpicklingError("damaged")
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(MARK + hashlib.sha256(content).digest() + content)


class KernelCache(caching.FunctionCache):
    """Numba's cache, which never stops a kernel from running."""

    def __init__(self, kernel: Any) -> None:
        if os.environ.get("NUMBA_CACHE_DIR") == os.devnull:  # Numba would make a folder called "~" in the current one
            raise RuntimeError("no folder for compiled kernels")
        super().__init__(kernel)
        plain = self._cache_file
        self._cache_file = _CheckedFile(
            cache_path=self._cache_path,
            filename_base=plain._index_name.removesuffix(".nbi"),
            source_stamp=stamp_sources(kernel),
        )
        self._claim = _Claim(Path(self._cache_path) / CLAIMS, f"{kernel.__module__}.{kernel.__qualname__}")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, None if it has to be compiled."""
        found = self._look(sig, target_context)
        if found is None:
            self._claim.wait()
            found = self._look(sig, target_context)  # somebody else may have compiled it meanwhile
            if found is not None:
                self._claim.give_up()
        return found

    def _look(self, sig: Any, target_context: Any) -> Any:
        try:
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)
        except Exception:  # pickles raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it where that is possible."""
        self._save(sig, data)
        self._claim.give_up()

    def _save(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a damaged index
            with suppress(OSError):
                self.flush()


class _Claim:
    """That this process compiles a kernel. It ends with the process at the latest."""

    _files: ClassVar[dict[Path, int]] = {}  # open until the process ends: closing one gives up all claims in it

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") // 2

    def wait(self) -> bool:
        """Claim the kernel; whether somebody else had it until now."""
        until, had_to = time.monotonic() + PATIENCE, False
        while time.monotonic() < until:
            try:
                self._lock(taken=True)
                break
            except BlockingIOError:
                had_to = True
                time.sleep(0.02)
            except (ImportError, OSError):  # no such locks here: then both compile it
                break
        return had_to

    def give_up(self) -> None:
        """Let others have it."""
        with suppress(ImportError, OSError):
            self._lock(taken=False)

    def _lock(self, *, taken: bool) -> None:
        import fcntl

        if self.path not in self._files:
            self._files[self.path] = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        kind = fcntl.LOCK_EX | fcntl.LOCK_NB if taken else fcntl.LOCK_UN
        fcntl.lockf(self._files[self.path], kind, 1, self.place)


def stamp_sources(loop: Any) -> bytes:
    """A digest of the files of a loop, of all kernels it calls, directly or not, and of what compiles them."""
    found, todo = {loop}, [loop]
    while todo:
        here = todo.pop()
        for name in here.__code__.co_names:
            called = getattr(here.__globals__.get(name), "loop", None)
            if called is not None and called not in found:
                found.add(called)
                todo.append(called)
    files = [*sorted({each.__code__.co_filename for each in found}), *COMPILER]
    return hashlib.sha256(b"".join(_digest_file(file) for file in files)).digest()


@cache
def _digest_file(file: str) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()
