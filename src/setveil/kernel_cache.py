"""Compiled kernels kept on disk: a comfort that must never be in the way.

Whatever is wrong with the cache (damaged, full, not writable, left by another version) costs compiling in memory,
nothing else. Data files carry a checksum: machine code with a flipped bit would not raise an error but do anything.
A kernel has the kernels it calls compiled into it, wherever they stand: it is stamped with the sources of all of them,
and of what compiles them.
"""

from __future__ import annotations

import hashlib
import pickle
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.runtime.nrt import rtsys

MARK = b"setveil kernel\n"
COMPILER = [str(Path(__file__).with_name(name)) for name in ("kernel_lowering.py", "kernel_parts.py")]


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
        super().__init__(kernel)
        plain = self._cache_file
        self._cache_file = _CheckedFile(
            cache_path=self._cache_path,
            filename_base=plain._index_name.removesuffix(".nbi"),
            source_stamp=stamp_sources(kernel),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, None if it has to be compiled."""
        try:
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)
        except Exception:  # pickles raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it where that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a damaged index
            with suppress(OSError):
                self.flush()


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
