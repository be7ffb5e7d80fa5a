"""Several runs at once, in threads, executors and child processes: nothing of one shows in another."""

from __future__ import annotations

import asyncio
import multiprocessing
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import setveil as sv

RECORDS = [["a", "b"], ["a", "b", "c"], ["b", "c"], ["a", "c"], ["a", "b"], ["c"]] * 4


def run(stranger: str) -> tuple[list[set[str]], tuple[str, ...]]:
    constraints = [["a"], [stranger]]
    release = sv.anonymize(RECORDS, "constraints", k=2, constraints=constraints)
    assert release.record is not None
    return release.transactions(), release.record.warnings


def run_in_child(stranger: str, answers: object) -> None:
    warnings.simplefilter("ignore")
    answers.put(run(stranger))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*not in the data:setveil.SetveilWarning")
def test_threads_keep_their_warnings_apart_and_leave_the_filters_alone() -> None:
    run("nobody")  # imports have added filters of their own by now
    before = list(warnings.filters)
    strangers = [f"stranger {number}" for number in range(24)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(run, strangers))
    assert list(warnings.filters) == before
    for stranger, (records, notes) in zip(strangers, found, strict=True):
        assert records == found[0][0]
        assert [stranger in note for note in notes if "not in the data" in note] == [True]


@pytest.mark.filterwarnings("ignore:.*not in the data:setveil.SetveilWarning")
def test_runs_in_the_executor_of_an_event_loop_are_the_same() -> None:
    async def both() -> list[tuple[list[set[str]], tuple[str, ...]]]:
        return await asyncio.gather(*(asyncio.to_thread(run, name) for name in ("x1", "x2")))

    first, second = asyncio.run(both())
    assert first[0] == second[0]
    assert "x1" in first[1][0]
    assert "x2" in second[1][0]


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:.*not in the data:setveil.SetveilWarning")
def test_runs_in_child_processes_are_the_same(method: str) -> None:
    here = run("nobody")  # loops are compiled and threads started here before the child begins
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    child = context.Process(target=run_in_child, args=("nobody", answers))
    child.start()
    try:
        assert answers.get(timeout=120) == here
    finally:
        child.join(timeout=30)
        child.kill()


def test_a_warning_points_at_the_line_of_the_caller() -> None:
    with pytest.warns(sv.SetveilWarning, match="not in the data") as caught:
        run("nobody")
    assert {warning.filename for warning in caught} == {__file__}
