"""The first run on a machine: a second process compiles what the run needs later, while it compiles what it needs
now.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setveil.algorithms import PORTFOLIO, default_for
from setveil.arrays.threads import available_threads
from setveil.kernels import call_before_compiling

if TYPE_CHECKING:
    from setveil.policy.schema import Policy


FIRST_TRIED = "trim"  # where several algorithms run


def algorithms_of(policy: Policy) -> list[str]:
    """What a policy will run, as far as it is known beforehand."""
    if policy.algorithm.name:
        return [policy.algorithm.name]
    return [FIRST_TRIED if policy.model.name in PORTFOLIO else default_for(policy.model.name).name]


@contextmanager
def compiling_beside(algorithms: Sequence[str], tell: Callable[[], None]) -> Iterator[None]:
    """As soon as something has to be compiled, call ``tell`` and begin with these algorithms in a second process.

    A run looks at the risk first and anonymizes then; ``warm`` does it the other way round, so they meet in the middle,
    and each finds on disk what the other has compiled. With one processor there is nothing to gain.
    """
    helpers: list[subprocess.Popen[bytes]] = []

    def begin() -> None:
        tell()
        if available_threads() > 1:
            command = [sys.executable, "-P", "-m", "setveil.workflows.warm", *algorithms]
            nothing = subprocess.DEVNULL
            helpers.append(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing))

    call_before_compiling(begin)
    try:
        yield
    finally:
        call_before_compiling(tell)  # who compiles after the run gets no helper: nobody would end it
        for helper in helpers:
            helper.terminate()
            helper.wait()
