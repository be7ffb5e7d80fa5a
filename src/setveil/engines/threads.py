"""How many processors there are to use."""

from __future__ import annotations

import os


def available_threads() -> int:
    """Processors this process may use; ``NUMBA_NUM_THREADS`` lowers it, as for parallel kernels."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(available, int(wanted)) if wanted.isdigit() and int(wanted) > 0 else available
