"""The one decorator for kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from setveil.kernels.cache import choose_cache_folder

choose_cache_folder()

import numba  # noqa: E402 - the cache folder is chosen first

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Compile on first call, without the GIL; cached on disk if that is possible."""
    try:
        return cast(Kernel, numba.njit(cache=True, nogil=True)(kernel))
    except RuntimeError:  # no cache folder is writable: compile in memory, every time
        return cast(Kernel, numba.njit(cache=False, nogil=True)(kernel))
