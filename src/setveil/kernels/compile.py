"""The one decorator for kernels."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def _choose_cache_folder() -> None:
    """Point Numba at a folder it can write to, before Numba is imported; without one kernels compile in memory."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    beside = Path(__file__).parent / "__pycache__"
    try:
        beside.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=beside):
            return  # Numba's own default works
    except OSError:
        pass
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    os.environ["NUMBA_CACHE_DIR"] = os.path.join(base, "setveil", "numba")


_choose_cache_folder()

import numba  # noqa: E402 - the cache folder is chosen first


def compiled(kernel: Kernel) -> Kernel:
    """Compile on first call, without the GIL; cached on disk if that is possible."""
    try:
        return cast(Kernel, numba.njit(cache=True, nogil=True)(kernel))
    except RuntimeError:  # no cache folder is writable: compile in memory, every time
        return cast(Kernel, numba.njit(cache=False, nogil=True)(kernel))
