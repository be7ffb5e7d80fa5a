"""``verify_folder`` in a process of its own, with limits on memory, processor time and clock.

A folder may come from anyone, and readers of text, JSON and Parquet can be made to work for hours or to take all the
memory of a machine. The command line therefore never opens such a folder itself: it starts ``python -m
setveil.workflows.bounded``, listens to it, and ends it when a limit is met. Then the answer is that the folder cannot
be verified, with the limit. Starting the process takes about a tenth of a second.

Messages come through a pipe, one JSON object per line, so that nothing in them is run. The library's ``verify_folder``
works in the process of its caller, with the same limits on the sizes of files and on time, but not on memory.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from setveil import errors
from setveil.workflows.limits import memory_for, out_of_time, seconds_for

if TYPE_CHECKING:  # whoever only listens loads no NumPy
    from setveil.core import Dataset
    from setveil.core.progress import Progress

GRACE = 1.0  # seconds to start, and to end in order
NEARLY_ALL = 0.7  # of the memory: whatever goes wrong then goes wrong for want of more
PAUSE = 0.1  # seconds between two messages about progress


@dataclass(frozen=True)
class Listener:
    """Receives what the check has to say before it ends."""

    progress: Progress = lambda stage, share: None
    read: Callable[[str], None] = lambda summary: None  # how the original was read, in one line
    warn: Callable[[str], None] = lambda text: None
    compiling: Callable[[], None] = lambda: None  # the first run of its kind takes longer


@dataclass(frozen=True)
class Request:
    """What to check, and with what."""

    folder: str  # or the archive of one
    original: str | None = None
    time_limit: float | None = None
    engine: str = "local"
    master: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    signers: str | None = None  # a file of trusted keys
    unpack_into: str | None = None  # where the files of an archive go


class BoundedCheck:
    """``with BoundedCheck(request) as check: answer = check.answer(listener)``; the process ends with the block."""

    def __init__(self, request: Request) -> None:
        folder, original = Path(request.folder), Path(request.original or "")
        self.unpacked = TemporaryDirectory(prefix="setveil-") if folder.is_file() else None
        if self.unpacked is not None:
            request = replace(request, unpack_into=self.unpacked.name)
        self.seconds = seconds_for(folder) if request.time_limit is None else request.time_limit
        self.end = time.monotonic() + self.seconds + GRACE
        self.memory = memory_for(folder, original if request.original else None)
        if request.engine != "local" or request.original == "-":  # Java reserves more than it uses; a pipe has no size
            self.memory = 0
        # A group of its own: the process and what it starts end together. Whoever types the original in needs the
        # terminal, though.
        self.is_group = request.original != "-"
        is_loud = request.engine != "local" or "SETVEIL_VERBOSE" in os.environ
        task = json.dumps([vars(request), self.seconds, self.memory])
        listening, speaking = os.pipe()
        self.pipe = open(listening, "rb", buffering=0)  # noqa: SIM115 (closed by __exit__)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "setveil.workflows.bounded", str(speaking), task],
                pass_fds=[speaking],
                stdout=subprocess.DEVNULL,
                stderr=None if is_loud else subprocess.DEVNULL,
                process_group=0 if self.is_group else None,
            )
        finally:
            os.close(speaking)

    def __enter__(self) -> BoundedCheck:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL) if self.is_group else self.process.kill()
        self.process.wait()
        self.pipe.close()
        if self.unpacked is not None:
            self.unpacked.cleanup()

    def answer(self, listener: Listener) -> dict[str, Any]:
        """The result of ``verify_folder`` as JSON; its errors are passed on."""
        try:
            answer = _listen(self.pipe, listener, self.end)
            if answer is not None and self.unpacked is not None:
                answer = _without_folder(answer, self.unpacked.name)
            return answer or _cannot_tell(self._why_it_ended(self.process.wait(GRACE)))
        except (TimeoutError, subprocess.TimeoutExpired):
            return _cannot_tell(out_of_time(self.seconds))

    def _why_it_ended(self, status: int) -> str:
        if status == -signal.SIGXCPU:
            return out_of_time(self.seconds)
        most = f"more than {self.memory >> 20:,} MB" if self.memory else "too much"
        return f"checking the files takes {most} of memory."


def _without_folder(answer: dict[str, Any], folder: str) -> dict[str, Any]:
    """The answer about an archive: where its files were unpacked helps nobody."""
    lines = ("problems", "cannot_be_checked", "notes")
    return {**answer, **{name: [line.replace(f"{folder}/", "") for line in answer[name]] for name in lines}}


def _listen(pipe: IO[bytes], listener: Listener, end: float) -> dict[str, Any] | None:
    """What the check answers; None if it ends without a word. TimeoutError when time is up."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if not selector.select(max(end - time.monotonic(), 0)):
                raise TimeoutError
            received = os.read(pipe.fileno(), 1 << 16)
            if not received:
                return None
            *lines, rest = (rest + received).split(b"\n")
            for line in lines:
                kind, value = json.loads(line)
                if kind == "answer":
                    return dict(value)
                _hear(kind, value, listener)


def _hear(kind: str, value: Any, listener: Listener) -> None:
    match kind:
        case "progress":
            listener.progress(*value)
        case "read":
            listener.read(value)
        case "warning":
            listener.warn(value)
        case "compiling":
            listener.compiling()
        case "error":
            raise getattr(errors, value[0])(value[1])
        case _:  # a fault of setveil: it is reported by its name, with -v by where it happened
            raise type(value[0], (Exception,), {})(value[1])


def _cannot_tell(why: str) -> dict[str, Any]:
    return {
        "input": None,
        "holds": None,
        "problems": [],
        "cannot_be_checked": [why],
        "claim": None,
        "reason": "",
        "sentence": "",
        "publisher_says": {},
        "notes": [],
        "nothing_left": "",
        "guessing": "",
        "visits": "",
        "signature": None,
    }


# -- in the process of its own ----------------------------------------------------------------------------------------


def main(descriptor: int, text: str) -> None:
    """Check a folder within the limits, and say what was found."""
    import gc
    import traceback

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this ends it
    gc.set_threshold(200_000, 20, 100)
    given, seconds, memory = json.loads(text)
    request = Request(**given)
    pipe = open(descriptor, "wb", buffering=0)  # noqa: SIM115 (until the end)

    def say(kind: str, value: Any) -> None:
        pipe.write(json.dumps([kind, value]).encode() + b"\n")

    try:
        with errors.speaking_of_options():
            _limit(seconds, memory)
            say("answer", _check(request, say))
    except BrokenPipeError:  # nobody listens any more
        os._exit(1)
    except (MemoryError, RecursionError):
        os._exit(1)  # reported by the parent process
    except errors.SetveilError as problem:
        say("error", [type(problem).__name__, str(problem)])
    except Exception as problem:
        if memory and _peak() > NEARLY_ALL * memory:  # a library that cannot be loaded, a thread that cannot start
            os._exit(1)
        from setveil.workflows.cluster import spark_reason

        said = spark_reason(problem)
        if said:
            say("error", ["SetveilError", said])
        else:
            say("fault", [type(problem).__name__, traceback.format_exc()])


def _limit(seconds: float, memory: int) -> None:
    import resource

    most = int(min((seconds + GRACE) * (os.cpu_count() or 1) + 1, 2**31))
    with suppress(ValueError, OSError):  # where a limit cannot be set, the clock is still watched
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _peak() -> int:
    """The most address space this process has had, in bytes; 0 where that is unknown."""
    with suppress(OSError, ValueError), open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmPeak"))
    return 0


def _check(request: Request, say: Callable[[str, Any], None]) -> dict[str, Any]:
    import warnings

    from setveil.arrays.compiling import call_before_compiling
    from setveil.workflows.cluster import check_engine, read_path
    from setveil.workflows.folder import owners_reading
    from setveil.workflows.handover import unpack_release
    from setveil.workflows.inputs import Original, read_original
    from setveil.workflows.recheck import verify_folder
    from setveil.workflows.visits import find_visits

    call_before_compiling(lambda: say("compiling", None))

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, errors.SetveilWarning):
            say("warning", str(message))

    warnings.simplefilter("always", errors.SetveilWarning)
    warnings.showwarning = show
    last = 0.0

    def progress(stage: str, share: float | None) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            say("progress", [stage, share])

    data: Dataset | None = None
    original: Dataset | Original | None = None
    folder = Path(request.folder)
    if request.unpack_into is not None:
        folder = unpack_release(folder, request.unpack_into)
    if request.original is not None:
        progress("reading the original", None)
        options = {**owners_reading(folder), **request.reading}
        if check_engine(request.engine, request.master):
            data = original = read_path(request.original, request.master, options)
        else:
            visits = find_visits(folder, request.original, request.reading)
            original = read_original(request.original, **(options if visits is None else visits.reading))
            original = original._replace(visits=visits)
            data = original.data
        say("read", data.summary())
    found = verify_folder(
        folder,
        original,
        time_limit=request.time_limit,
        progress=progress,
        engine=request.engine,
        master=request.master,
        signers=request.signers,
    )
    verdict = found.verdict
    claim = None if verdict is None else {key: getattr(verdict, key) for key in ("holds", "witness", "support")}
    return {
        "input": None if data is None else data.facts(),
        "holds": found.holds,
        "problems": found.problems,
        "cannot_be_checked": found.unchecked,
        "claim": claim,
        "reason": "" if verdict is None else verdict.reason,
        "sentence": found.sentence,
        "publisher_says": dict(found.publisher_says),
        "notes": found.notes,
        "nothing_left": found.nothing_left,
        "guessing": found.guessing,
        "visits": found.visits,
        "signature": None if found.signature is None else found.signature.to_dict(),
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
    sys.stderr.flush()
    os._exit(0)  # taking the interpreter apart costs as much as a small check
