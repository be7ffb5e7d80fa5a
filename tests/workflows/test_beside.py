"""A second process compiles while the first run does."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from setveil import kernels
from setveil.policy.schema import Policy
from setveil.workflows import beside
from setveil.workflows.beside import algorithms_of, compiling_beside


class Helper:
    """In place of a process."""

    def __init__(self, command: list[str], **_: Any) -> None:
        self.command, self.ended = command, False
        HELPERS.append(self)

    def terminate(self) -> None:
        self.ended = True

    def wait(self) -> int:
        return 0


HELPERS: list[Helper] = []


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    HELPERS.clear()
    monkeypatch.setattr(subprocess, "Popen", Helper)
    monkeypatch.setattr(kernels, "_tell", None)


@pytest.mark.parametrize("n_processors", [1, 2])
def test_a_helper_begins_with_the_first_kernel_and_ends_with_the_run(
    n_processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "available_threads", lambda: n_processors)
    told: list[str] = []
    with pytest.raises(KeyboardInterrupt), compiling_beside(["aa"], lambda: told.append("compiling")):
        assert not told and not HELPERS  # nothing has to be compiled yet
        assert kernels._tell is not None
        kernels._tell()
        assert len(HELPERS) == n_processors - 1
        assert not any(helper.ended for helper in HELPERS)
        raise KeyboardInterrupt
    assert told == ["compiling"]
    assert all(helper.ended for helper in HELPERS)
    kernels._tell()
    assert len(HELPERS) == n_processors - 1  # none after the run
    for helper in HELPERS:
        assert helper.command == [sys.executable, "-P", "-m", "setveil.workflows.warm", "aa"]


def test_what_a_policy_will_run() -> None:
    def named(model: dict[str, Any], algorithm: str | None = None) -> list[str]:
        parts: dict[str, Any] = {"schema": 1, "model": model}
        return algorithms_of(Policy.from_dict(parts | ({"algorithm": {"name": algorithm}} if algorithm else {})))

    assert named({"name": "km", "k": 2, "m": 2}) == ["trim"]
    assert named({"name": "km", "k": 2, "m": 2}, "aa") == ["aa"]
    assert named({"name": "degree", "p": 4, "sensitive": ["a"]}) == ["blocks"]
