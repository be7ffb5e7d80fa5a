"""Several runs at once, in threads, executors and child processes: nothing of one shows in another."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.workflows import forecast

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
    context: Any = multiprocessing.get_context(method)
    answers = context.Queue()
    child = context.Process(target=run_in_child, args=("nobody", answers))
    child.start()
    try:
        assert answers.get(timeout=120) == here
    finally:
        child.join(timeout=30)
        child.kill()


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.filterwarnings("ignore:.*not in the data:setveil.SetveilWarning")
def test_runs_of_joblib_are_the_same(backend: str) -> None:
    import joblib

    with joblib.parallel_config(backend, n_jobs=2):
        assert joblib.Parallel()(joblib.delayed(run)("nobody") for _ in range(2)) == [run("nobody")] * 2


def test_the_library_is_sent_to_other_processes_by_its_name() -> None:
    """joblib sends a function of a notebook with what it uses, ``sv`` above all."""
    for thing in (sv, sv.verify, sv.anonymize):
        assert pickle.loads(pickle.dumps(thing)) is thing


def test_arguments_in_the_wrong_order_are_named(tmp_path: Path) -> None:
    model, policy = (
        sv.KmAnonymity(k=2, m=1),
        sv.Policy.from_dict({"schema": 1, "model": {"name": "km", "k": 2, "m": 1}}),
    )
    for first in (model, policy, "km"):
        with pytest.raises(sv.InputError, match=r"the data first, then the model"):
            sv.anonymize(first, RECORDS)  # type: ignore[arg-type]
    with pytest.raises(sv.InputError, match=r"the release first, then the folder"):
        sv.publish(tmp_path / "out", sv.anonymize(RECORDS, model, "aa", "fanout:2"))  # type: ignore[arg-type]


def test_ctrl_c_in_a_compiled_loop_is_a_keyboard_interrupt() -> None:
    def interrupted(stage: str, share: float | None) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as inner:
            raise SystemError("of a compiled function") from inner

    with pytest.raises(KeyboardInterrupt):
        sv.anonymize(RECORDS, "km", k=2, m=1, algorithm="aa", hierarchy="fanout:2", progress=interrupted)


def test_the_log_tells_what_happened_and_nothing_of_the_data(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "setveil")
    records = [["secret item", "b"], ["secret item", "b"]]
    sv.anonymize(records, "km", k=2, m=2)
    with pytest.raises(sv.InfeasibleError):
        sv.anonymize(records, "km", k=3, m=2)
    told = caplog.text
    assert "read 2 records, 2 items, 4 entries" in told
    assert "anonymize took" in told and "anonymize ended with InfeasibleError" in told
    assert "secret" not in told


def test_what_does_not_fit_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.dat").write_text("1 2\n1 2\n")
    monkeypatch.setattr(forecast, "LARGE", 4)
    monkeypatch.setattr(forecast, "free_memory", lambda: 1e8)
    with pytest.raises(sv.InputError, match=r"x.dat: reading needs about 0.2 GB and 0 s; 0.1 GB are free"):
        sv.read(tmp_path / "x.dat")
    with pytest.raises(sv.InputError, match=r"8 entries: \w+ needs about"):
        sv.anonymize([["a", "b"]] * 4, "km", k=2, m=1, algorithm="trim")
    monkeypatch.setenv(forecast.OFF, "1")
    assert sv.read(tmp_path / "x.dat").n_records == 2
    monkeypatch.undo()
    free = forecast.free_memory()
    assert free is None or free > 1e6


def test_a_warning_points_at_the_line_of_the_caller() -> None:
    with pytest.warns(sv.SetveilWarning, match="not in the data") as caught:
        run("nobody")
    assert {warning.filename for warning in caught} == {__file__}
