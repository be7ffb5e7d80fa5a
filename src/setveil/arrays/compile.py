"""The one decorator for kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from setveil.arrays.cache import choose_cache_folder

UNNEEDED = (
    "scipy.linalg",
    "coverage",
    "yaml",
)  # a BLAS, the coverage of compiled code, a settings file: no kernel needs them


def _import_numba() -> Any:
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
    return numba


numba = _import_numba()
Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Compile on first call, without the GIL; cached on disk if that is possible."""
    dispatcher = numba.njit(nogil=True)(kernel)
    with suppress(RuntimeError, OSError):  # if no cache folder is writable: compile in memory, every time
        from setveil.kernel_cache import KernelCache

        dispatcher._cache = KernelCache(kernel)
    return cast(Kernel, dispatcher)


def call_before_compiling(tell: Callable[[], None]) -> None:
    """Call ``tell`` once, when a kernel really has to be compiled and is not found on disk."""
    from numba.core import event

    class Once(event.Listener):
        def on_start(self, started: Any) -> None:
            event.unregister("numba:compile", self)
            tell()

        def on_end(self, ended: Any) -> None:
            """Nothing to say."""

    event.register("numba:compile", Once())
