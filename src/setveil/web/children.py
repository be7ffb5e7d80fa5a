"""The page's side of its child processes: start, ask, watch, stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from setveil.web import texts as t
from setveil.web.worker import GIVES_WAY

WATCH = 0.5  # seconds between two looks at the memory
SHARE_OF_MEMORY = 0.8
LONGEST_ANSWER = 1 << 27


ENDED = "ended"  # the kind of a TaskError whose process ended by itself, or was killed from outside


class TaskError(Exception):
    """A task ended without a result; its words are meant for people."""

    def __init__(self, words: str, kind: str = "") -> None:
        super().__init__(words)
        self.kind = kind


class Child:
    """One process; answers one question at a time. One that ``gives_way`` leaves the processor to the page."""

    def __init__(self, *, gives_way: bool = False) -> None:
        self._arguments = [GIVES_WAY] if gives_way else []
        self._process: asyncio.subprocess.Process | None = None
        self._busy = asyncio.Lock()
        self._fate = ""  # why it was stopped
        self._is_replaced = False
        self.n_starts = 0
        self._watch: asyncio.Task[None] | None = None

    async def ask(
        self,
        task: str,
        given: dict[str, Any] | None = None,
        progress: Callable[[str, float | None], None] | None = None,
    ) -> tuple[Any, list[str]]:
        """The result of a task and what the user should know about it; TaskError where it has none.

        Whoever asks may go away: the answer is then taken off the line all the same, so that the next question gets
        its own.
        """
        exchange = asyncio.ensure_future(self._exchange(task, given, progress))
        exchange.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left to see it
        return await asyncio.shield(exchange)

    async def _exchange(
        self, task: str, given: dict[str, Any] | None, progress: Callable[[str, float | None], None] | None
    ) -> tuple[Any, list[str]]:
        async with self._busy:
            if self._is_replaced:  # nobody waits for this answer either
                raise TaskError(self._fate, "replaced")
            process = await self._started()
            assert process.stdin
            assert process.stdout
            try:
                process.stdin.write(json.dumps({"task": task, "given": given or {}}).encode() + b"\n")
                await process.stdin.drain()
                while line := await process.stdout.readline():
                    answer = json.loads(line)
                    if "stage" in answer:
                        if progress:
                            progress(answer["stage"], answer["share"])
                    elif "problem" in answer:
                        raise TaskError(answer["problem"], answer["kind"])
                    else:
                        return answer["result"], answer["notes"]
            except (OSError, ValueError):
                pass
            self.stop(self._fate or t.CHILD_ENDED)
            await process.wait()  # else the next question might still go to it
            kind = "replaced" if self._is_replaced else ENDED if self._fate == t.CHILD_ENDED else "stopped"
            raise TaskError(self._fate, kind)

    @property
    def has_ended(self) -> bool:
        """Whether its process was started and is gone; the next question starts another one."""
        return self._process is not None and self._process.returncode is not None

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._fate = ""
            self.n_starts += 1
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "setveil.web.worker",
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=None if os.environ.get("SETVEIL_VERBOSE") else asyncio.subprocess.DEVNULL,
                start_new_session=True,
                limit=LONGEST_ANSWER,
            )
            self._watch = asyncio.create_task(self._watch_memory(self._process))
        return self._process

    async def _watch_memory(self, process: asyncio.subprocess.Process) -> None:
        most = SHARE_OF_MEMORY * os.sysconf("SC_PHYS_PAGES")
        while process.returncode is None:
            if _resident_pages(process.pid) > most:
                self.stop(t.CHILD_TOO_LARGE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), WATCH)

    def replace(self) -> None:
        """End it because nobody needs its answers any more; that is no problem to tell."""
        self._is_replaced = True
        self.stop()

    def stop(self, fate: str = "") -> None:
        """End it at once, with everything it started."""
        self._fate = self._fate or fate or t.CHILD_STOPPED
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def end(self) -> None:
        """End it, and wait until it is gone."""
        self.stop()
        if self._process is not None:
            await self._process.wait()
        if self._watch is not None:
            await self._watch


def _resident_pages(process: int) -> int:
    """Pages in memory, 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
