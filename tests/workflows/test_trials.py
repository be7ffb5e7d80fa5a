"""Trying candidates: results and reasons, ties, the time budget, cancellation."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable

import pytest

from setveil.errors import CancelledError, InfeasibleError, InputError
from setveil.workflows.trials import OUT_OF_TIME, best_of, try_each


def loss_of(candidate: str, _: object) -> tuple[float, str]:
    if candidate == "impossible":
        raise InfeasibleError("no way")
    return {"good": 0.1, "equal": 0.1}.get(candidate, 0.7), candidate


def test_the_lowest_loss_wins_the_first_of_equals_and_refusals_are_noted() -> None:
    stages: list[tuple[str, float | None]] = []
    noted: list[tuple[str, str]] = []
    trials = try_each(
        ["bad", "impossible", "good", "equal"],
        loss_of,
        str.upper,
        progress=lambda stage, share: stages.append((stage, share)),
    )
    best = best_of(trials, lambda result: result[0], lambda trial: noted.append((trial.candidate, trial.reason)))
    assert best == ("good", (0.1, "good"))
    assert noted == [("bad", ""), ("impossible", "no way"), ("good", ""), ("equal", "")]
    assert stages == [("trying BAD", 0.0), ("trying IMPOSSIBLE", 0.25), ("trying GOOD", 0.5), ("trying EQUAL", 0.75)]


def test_the_last_problem_is_raised_where_nothing_works() -> None:
    with pytest.raises(InfeasibleError, match="no way"):
        best_of(try_each(["impossible"], loss_of, str), lambda result: result[0])


def test_other_errors_end_the_search() -> None:
    def wrong(candidate: str, _: object) -> float:
        raise InputError("wrong data")

    with pytest.raises(InputError, match="wrong data"):
        list(try_each(["one", "two"], wrong, str))
    trials = list(try_each(["one", "two"], wrong, str, refused=(InfeasibleError, InputError)))
    assert [trial.reason for trial in trials] == ["wrong data", "wrong data"]


def work_until_stopped(candidate: str, is_over: Callable[[], bool]) -> str:
    """Work that takes for ever unless it is told to stop."""
    while candidate == "endless":
        if is_over():
            raise CancelledError("stopped")
        time.sleep(0.005)
    return candidate


def test_the_time_left_is_shared_and_late_candidates_are_not_tried() -> None:
    candidates = ["endless", "quick", "endless"]
    started = time.monotonic()
    trials = list(try_each(candidates, work_until_stopped, str, deadline=started + 0.3))
    assert [trial.result for trial in trials] == [None, "quick", None]
    assert "took longer" in trials[0].reason and "took longer" in trials[2].reason
    assert time.monotonic() - started >= 0.3  # the last one got what the quick one left
    late = list(try_each(candidates, work_until_stopped, str, deadline=started))
    assert [trial.reason for trial in late] == [OUT_OF_TIME] * 3


def test_a_user_who_stops_it_stops_the_whole_search() -> None:
    def stopped(candidate: str, _: object) -> str:
        raise CancelledError("stopped on request")

    with pytest.raises(CancelledError):
        list(try_each(["one", "two"], stopped, str, deadline=time.monotonic() + 60))


def test_only_the_best_result_is_kept_in_memory() -> None:
    class Heavy:
        def __init__(self, loss: float) -> None:
            self.loss = loss

    alive: list[weakref.ref[Heavy]] = []

    def attempt(loss: float, _: object) -> Heavy:
        gc.collect()
        assert sum(one() is not None for one in alive) <= 2
        made = Heavy(loss)
        alive.append(weakref.ref(made))
        return made

    best, kept = best_of(try_each([0.4, 0.3, 0.2, 0.5, 0.6], attempt, str), lambda result: result.loss)
    assert best == kept.loss == 0.2
