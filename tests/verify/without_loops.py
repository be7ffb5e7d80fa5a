"""Verifies release folders in a process in which no loop of ``setveil.arrays`` may run for the verifier.

Every function of ``setveil.arrays`` raises when anything in ``setveil.verify`` waits for it, whoever calls it in
between. ``core`` takes such loops for large data only; here all data is large. Readers of files may run them: what they
read is compared with the verifier's own reading.
"""

from __future__ import annotations

import inspect
import json
import pkgutil
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

import setveil.arrays
from setveil.arrays import compiling


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, not compiled, that refuses to work for the verifier."""

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        frame = inspect.currentframe()
        while frame is not None:
            name = str(frame.f_globals.get("__name__"))
            assert not name.startswith("setveil.verify"), f"{name} runs {function.__module__}.{function.__name__}"
            frame = frame.f_back
        return function(*arguments, **options)

    return checked


def guard_all() -> None:
    """All functions of ``setveil.arrays``, before other rooms import them."""
    compiling.compiled = guarded  # type: ignore[assignment]
    modules = [import_module(f"setveil.arrays.{one.name}") for one in pkgutil.iter_modules(setveil.arrays.__path__)]
    for module in modules:
        for name, value in vars(module).items():
            is_own = inspect.isfunction(value) and value.__module__ == module.__name__
            if is_own and not hasattr(value, "__wrapped__"):
                setattr(module, name, guarded(value))
    import_module("setveil.core.transactions").LARGE = 1


def told(answer: Any) -> list[Any]:
    """What ``verify`` answers."""
    return [answer.holds, answer.problems, answer.unchecked, answer.sentence, str(answer.verdict)]


if __name__ == "__main__":
    guard_all()
    from setveil.workflows.recheck import verify_folder

    asked = json.loads(sys.argv[1])
    print(json.dumps([told(verify_folder(folder, original, **options)) for folder, original, options in asked]))
