"""Whole commands, measured from outside."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

SETVEIL = [sys.executable, "-c", "from setveil.cli.main import main; main()"]


def run_measured(command: list[str], stdout: Path, environment: dict[str, str]) -> tuple[int, float, float, str]:
    """Exit code, CPU seconds, peak resident megabytes and output of a command.

    Python keeps compiled modules, as after an installation: a shell that forbids it would add a third of a second.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with stdout.open("wb") as out:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1)]
        pid = os.posix_spawn(command[0], command, {**kept, **environment}, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    scale = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, in kilobytes elsewhere
    return os.waitstatus_to_exitcode(status), cpu, usage.ru_maxrss * scale / 1e6, stdout.read_text()


def run_timed(command: list[str], stdout: Path, environment: dict[str, str]) -> tuple[int, float, float, float]:
    """Exit code, seconds on the clock, CPU seconds and peak resident megabytes of a command."""
    started = time.perf_counter()
    status, cpu, megabytes, _ = run_measured(command, stdout, environment)
    return status, time.perf_counter() - started, cpu, megabytes
