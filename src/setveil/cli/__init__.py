"""The command line. Loading it takes a moment, in which Ctrl-C ends as quietly as it does later on."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType


def _leave_at_once(number: int, frame: FrameType | None) -> None:
    os.write(2, b"setveil: cancelled; nothing was written.\n")
    os._exit(130)


def is_loaded() -> None:
    """Ctrl-C is an exception again."""
    if signal.getsignal(signal.SIGINT) is _leave_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_loading() -> None:
    """Ctrl-C ends the process at once."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, _leave_at_once)


is_loading()

# Libraries that are loaded later look at these. NumPy's linear algebra, of which little is used, would start threads
# that wait by turning in circles; Pydantic would look for plugins in all installed packages, and none has a say in a
# policy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
