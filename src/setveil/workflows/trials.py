"""Try candidates, measure each and rank them: portfolios, hierarchies from the data, suggestions and comparisons.

A trial has a result, or the reason why there is none. ``try_each`` runs candidates here, one after the other, and
shares the time left among those still to come. ``try_in_processes`` gives each a process of its own with limits of time
and memory, and keeps every result in a file: a search that was stopped goes on where it ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Generic, TypeVar

from setveil.core.progress import Progress, no_progress
from setveil.errors import CancelledError, InfeasibleError, SetveilError
from setveil.io.releases.folders import write_whole

Candidate = TypeVar("Candidate")
Result = TypeVar("Result")

OUT_OF_TIME = "not tried: the time limit is reached"
TOOK_LONGER = "took longer than"


@dataclass(frozen=True)
class Trial(Generic[Candidate, Result]):
    """A candidate and what came of it."""

    candidate: Candidate
    result: Result | None = None
    problem: SetveilError | None = None  # why there is no result
    reason: str = ""  # the same in words


def try_each(
    candidates: Sequence[Candidate],
    attempt: Callable[[Candidate, Callable[[], bool]], Result],
    name: Callable[[Candidate], str],
    *,
    progress: Progress = no_progress,
    refused: tuple[type[SetveilError], ...] = (InfeasibleError,),
    deadline: float = inf,
) -> Iterator[Trial[Candidate, Result]]:
    """Carry out one trial after the other.

    Args:
        candidates: what to try, in this order.
        attempt: makes and measures a candidate; its second argument returns True when its share of the time is over.
        name: what the progress display calls a candidate.
        progress: called with a stage name and a fraction between 0 and 1.
        refused: errors that end a trial; others end the search.
        deadline: by ``time.monotonic``; candidates that come later are not tried.
    """
    for number, candidate in enumerate(candidates):
        started = time.monotonic()
        if started >= deadline:
            yield Trial(candidate, reason=OUT_OF_TIME)
            continue
        progress(f"trying {name(candidate)}", number / len(candidates))
        end = started + (deadline - started) / (len(candidates) - number)
        try:
            yield Trial(candidate, attempt(candidate, _is_past(end)))
        except CancelledError as problem:
            if time.monotonic() <= end:  # the user stops the whole search
                raise
            yield Trial(candidate, problem=problem, reason=f"{TOOK_LONGER} {time.monotonic() - started:.0f} s")
        except refused as problem:
            yield Trial(candidate, problem=problem, reason=str(problem))


def _is_past(end: float) -> Callable[[], bool]:
    return lambda: time.monotonic() > end


def best_of(
    trials: Iterable[Trial[Candidate, Result]],
    loss: Callable[[Result], Any],
    note: Callable[[Trial[Candidate, Result]], None] = lambda trial: None,
) -> tuple[Candidate, Result]:
    """The candidate with the lowest loss, the first of equals, and its result; other results are not kept.

    ``note`` is called with each trial. If no trial has a result, the last problem ends the search with its error.
    """
    best: tuple[Any, Candidate, Result] | None = None
    problem: SetveilError = InfeasibleError("there is no candidate to try.")
    for trial in trials:
        note(trial)
        problem = trial.problem or problem
        if trial.result is not None and (best is None or loss(trial.result) < best[0]):
            best = loss(trial.result), trial.candidate, trial.result
    if best is None:
        raise problem
    return best[1:]


# -- in processes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """What one process may use."""

    seconds: float
    memory_mb: int


@dataclass(frozen=True)
class Job:
    """One trial in a process: a module that prints one JSON object, what it is asked, and the file for its answer."""

    module: str
    order: Mapping[str, Any]
    target: Path


def try_in_processes(
    jobs: Sequence[Job],
    processes: int,
    limits: Limits,
    read: Callable[[str], dict[str, Any] | None],
    progress: Progress = no_progress,
) -> None:
    """Keep ``processes`` processes busy until every job has an answer; jobs that have one are not run again.

    Each process has one kernel thread. ``read`` checks the text of an answer and returns None if it is damaged.
    """
    waiting = [job for job in jobs if kept_answer(job.target, read) is None]
    n_all, running = len(jobs), list[_Process]()
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                running.append(_Process(waiting.pop(0), limits, read))
            for process in list(running):
                if process.is_over():
                    running.remove(process)
            n_done = n_all - len(waiting) - len(running)
            progress(f"{n_done} of {n_all} settings", n_done / n_all)
            time.sleep(0.05)
    finally:
        for process in running:
            process.stop()


def kept_answer(target: Path, read: Callable[[str], dict[str, Any] | None]) -> dict[str, Any] | None:
    """The answer of an earlier run; None if there is none, or if its file is damaged."""
    try:
        return read(target.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


class _Process:
    """One job in a process of its own."""

    def __init__(self, job: Job, limits: Limits, read: Callable[[str], dict[str, Any] | None]) -> None:
        self.target, self.limits, self.read = job.target, limits, read
        self.started = time.monotonic()
        self.peak_mb = 0.0
        environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
        bounds = {"seconds": limits.seconds, "memory_mb": limits.memory_mb, "parent": os.getpid()}
        command = [sys.executable, "-P", "-m", job.module, json.dumps({**job.order, **bounds})]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
        )

    def is_over(self) -> bool:
        """Look once; write the answer if the process has ended or had to be stopped."""
        if self.process.poll() is None:
            self.peak_mb = max(self.peak_mb, _resident_mb(self.process.pid))
            if self.peak_mb > self.limits.memory_mb:
                return self._end({"status": "memory", "reason": f"grew beyond {self.limits.memory_mb:,} MB"})
            if time.monotonic() - self.started > self.limits.seconds:
                return self._end({"status": "time", "reason": f"{TOOK_LONGER} {self.limits.seconds:g} s"})
            return False
        answer = self.read(self.process.stdout.read() if self.process.stdout else "")
        if answer is not None:
            return self._end(answer)
        return self._end({"status": "failed", "reason": f"the process ended with code {self.process.returncode}"})

    def _end(self, answer: dict[str, Any]) -> bool:
        self.stop()
        answer["peak_mb"] = max(self.peak_mb, answer.get("peak_mb", 0.0))
        write_whole(self.target, json.dumps(answer, sort_keys=True))
        return True

    def stop(self) -> None:
        """End the process if it has not ended by itself."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def _resident_mb(process: int) -> float:
    """Resident size in MB, 0 where the system does not tell."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0
