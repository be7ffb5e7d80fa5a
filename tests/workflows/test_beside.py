"""A second process compiles while the first run does."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from setveil import kernels
from setveil.algorithms.km.trim import Trim
from setveil.core import Transactions
from setveil.models import KmAnonymity, PrivacyDegree
from setveil.workflows import beside
from setveil.workflows.beside import compiling_beside, expect
from setveil.workflows.portfolio import EFFORTS, YARDSTICKS, certain, planned


class Helper:
    """In place of a process."""

    def __init__(self, command: tuple[str, ...], **_: Any) -> None:
        self.command, self.ended, self.stdin, self.heard = command, False, self, b""
        HELPERS.append(self)

    def write(self, line: bytes) -> None:
        self.heard += line

    def flush(self) -> None:
        """Said at once."""

    def close(self) -> None:
        """Nothing more is said."""

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


@pytest.mark.parametrize("is_known_before", [False, True])
@pytest.mark.parametrize("n_processors", [1, 2])
def test_a_helper_begins_with_the_first_kernel_and_ends_with_the_run(
    n_processors: int, is_known_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "available_threads", lambda: n_processors)
    told: list[str] = []
    expect("km", ["aa"], True)  # outside a run nobody listens
    with pytest.raises(KeyboardInterrupt), compiling_beside(lambda: told.append("compiling")):
        assert not told and not HELPERS  # nothing has to be compiled yet
        if is_known_before:
            expect("km", ["trim"], True)
        assert kernels._tell is not None
        kernels._tell()
        if not is_known_before:
            assert not any(helper.heard for helper in HELPERS)
            expect("km", ["trim"], True)
        assert all(helper.heard == b"km tree trim\n" for helper in HELPERS)
        expect("km", ["trim", "aa"], True)
        assert len(HELPERS) == n_processors - 1
        assert not any(helper.ended for helper in HELPERS)
        raise KeyboardInterrupt
    assert told == ["compiling"]
    assert all(helper.ended for helper in HELPERS)
    kernels._tell()
    assert len(HELPERS) == n_processors - 1  # none after the run
    for helper in HELPERS:
        assert helper.command == (sys.executable, "-P", "-m", "setveil.workflows.warm", "--beside")
        assert helper.heard == b"km tree trim\nkm tree trim aa\n"


def test_a_helper_that_has_ended_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Helper, line: bytes) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(beside, "available_threads", lambda: 2)
    monkeypatch.setattr(Helper, "write", fail)
    with compiling_beside(lambda: None):
        assert kernels._tell is not None
        kernels._tell()
        expect("km", ["aa"], True)
    assert [helper.ended for helper in HELPERS] == [True]


def test_what_will_run() -> None:
    data, km = Transactions.from_lists([["a", "b"]] * 5), KmAnonymity(k=2, m=2)
    assert planned(data, km, None, {}, False) == ["trim", "pcta+"]
    assert planned(data, km, None, {"effort": "fast"}, False) == ["trim"]
    assert planned(data, km, None, {}, True) == ["trim", "optimal", "pcta+", "aa+refine"]
    assert planned(data, km, "aa", {"tree_order": "leaves"}, True) == ["aa"]
    assert planned(data, PrivacyDegree(p=4, sensitive=["a"]), None, {}, False) == ["blocks"]


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("yardstick", YARDSTICKS)
@pytest.mark.parametrize("has_hierarchy", [False, True])
def test_what_will_run_whatever_the_data_are(effort: str, yardstick: str, has_hierarchy: bool) -> None:
    data, options = Transactions.from_lists([["a", "b"]] * 5), {"effort": effort, "yardstick": yardstick}
    assert planned(data, KmAnonymity(k=2, m=2), None, options, has_hierarchy)[0] == certain("km", None)
    assert certain("km", "aa") == "aa"
    assert certain("degree", None) == "blocks"


@pytest.mark.parametrize(
    ("plans", "done"),
    [
        (["km tree trim", "km tree trim trim aa+refine"], ["trim", "publishing", "aa+refine"]),
        (["km tree trim", "km tree trim pcta+ aa+refine"], ["trim", "publishing", "pcta+", "aa+refine"]),
        (["km tree aa", "km tree aa"], ["aa", "publishing"]),
        ([], []),  # the run has ended
    ],
)
def test_the_helper_begins_with_what_is_certain(
    plans: list[str], done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.workflows import warm

    log: list[str] = []

    def anonymize(data: Transactions, model: object, name: str, hierarchy: str | None) -> None:
        assert hierarchy == (None if name == "pcta+" else "fanout:2")
        log.append(name)

    monkeypatch.setattr(warm, "anonymize", anonymize)
    monkeypatch.setattr(warm, "_warm_publishing", lambda data, release: log.append("publishing"))
    monkeypatch.setattr(Trim, "compile_longest", lambda: None)
    warm.warm_beside(plans)
    assert log == done
