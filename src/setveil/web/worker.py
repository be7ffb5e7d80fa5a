"""A child process of the page: takes orders as JSON lines, answers with progress and a result.

All work on data happens here, so the page always answers at once, and a task is stopped by killing its process. An
order is ``{"task": NAME, "given": {…}}``; answers are ``{"stage": …, "share": …}`` while it works, then
``{"result": …}`` or ``{"problem": …, "kind": …}``. The child ends with the page.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from typing import Any, TextIO

from setveil.errors import SetveilError, speaking_of_options, unheard_warnings

GIVES_WAY = "--gives-way"  # for long work: whatever the page does goes first
NICER = 5
BETWEEN = 0.1  # seconds between two reports of progress


class Answers:
    """Writes answers; progress no more often than a person can see."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.last = (0.0, "")

    def __call__(self, answer: dict[str, Any]) -> None:
        self.out.write(json.dumps(answer) + "\n")
        self.out.flush()

    def progress(self, stage: str, share: float | None) -> None:
        """The ``progress`` of every workflow."""
        now = time.monotonic()
        if stage != self.last[1] or now - self.last[0] >= BETWEEN:
            self.last = now, stage
            self({"stage": stage, "share": share})


def main() -> None:
    """Work until the page hangs up."""
    if GIVES_WAY in sys.argv:
        os.nice(NICER)
    answers = Answers(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # whatever is printed by accident does not end up among the answers
    orders: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    from setveil.web.tasks import Tasks

    tasks = Tasks(answers.progress)
    while True:
        order = json.loads(orders.get())
        with speaking_of_options():  # the page knows them as the names of its fields
            answer = _answer(tasks, order["task"], order["given"])
        answers(answer)


def _listen(orders: queue.Queue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(0)  # the page is gone, and nobody waits for what is being done


def _answer(tasks: Any, task: str, given: dict[str, Any]) -> dict[str, Any]:
    try:
        with unheard_warnings() as notes:
            result = getattr(tasks, f"do_{task}")(**given)
        return {"result": result, "notes": list(dict.fromkeys(notes))}
    except SetveilError as problem:
        return {"problem": str(problem), "kind": type(problem).__name__}
    except MemoryError:
        return {
            "problem": "Out of memory. Try a smaller m, another algorithm, or a larger machine.",
            "kind": "MemoryError",
        }
    except OSError as problem:
        return {"problem": f"{problem.strerror or type(problem).__name__}.", "kind": "OSError"}
    except Exception as problem:
        if os.environ.get("SETVEIL_VERBOSE"):
            raise
        return {"problem": f"Internal error ({type(problem).__name__}).", "kind": "internal"}


if __name__ == "__main__":
    main()
