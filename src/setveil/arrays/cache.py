"""Where compiled kernels are kept between runs. Imports nothing, so that asking is cheap."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


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
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        os.environ["NUMBA_CACHE_DIR"] = str(Path(base) / "setveil" / "numba")
