"""The first run on a machine: a second process compiles what the run needs later, while it compiles what it needs
now.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from setveil.arrays.threads import available_threads
from setveil.kernels import call_before_compiling

COMMAND = (sys.executable, "-P", "-m", "setveil.workflows.warm", "--beside")


class _Helper:
    """The second process, as soon as something has to be compiled; it is told what the run is going to do."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.plans = ""

    def begin(self) -> None:
        nothing = subprocess.DEVNULL
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing)
        self.hand_over()

    def hand_over(self) -> None:
        if self.process is not None and self.plans:
            assert self.process.stdin is not None
            with suppress(OSError):  # it has ended: the run compiles everything
                self.process.stdin.write(self.plans.encode())
                self.process.stdin.flush()
            self.plans = ""

    def end(self) -> None:
        if self.process is not None:
            assert self.process.stdin is not None
            self.process.terminate()
            with suppress(OSError):
                self.process.stdin.close()
            self.process.wait()


_helper: _Helper | None = None


@contextmanager
def compiling_beside(tell: Callable[[], None]) -> Iterator[None]:
    """As soon as something has to be compiled, call ``tell`` and start a second process.

    A run reads, looks at the risk, tries its algorithms, the last one listed first, and publishes. The second process
    begins with the first one listed and with publishing, so they meet in the middle, and each finds on disk what the
    other has compiled. With one processor there is nothing to gain.
    """
    global _helper
    helper = _helper = _Helper()

    def begin() -> None:
        tell()
        if available_threads() > 1:
            helper.begin()

    call_before_compiling(begin)
    try:
        yield
    finally:
        call_before_compiling(tell)  # who compiles after the run gets no helper: nobody would end it
        _helper = None
        helper.end()


def expect(model: str, algorithms: Sequence[str], has_hierarchy: bool) -> None:
    """Say what a run is going to do, as soon as that is known, and again as more is: algorithms as they are listed."""
    if _helper is not None:
        _helper.plans += " ".join([model, "tree" if has_hierarchy else "no-tree", *algorithms]) + "\n"
        _helper.hand_over()
