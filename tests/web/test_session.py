"""Sessions and data sets without a browser: policies, runs of each data set, work at the same time, processes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.errors import InputError
from setveil.report.words import short_percent
from setveil.web import children
from setveil.web import texts as t
from setveil.web.children import Child, TaskError
from setveil.web.dataset import Dataset
from setveil.web.elements import in_fields
from setveil.web.runs import Run
from setveil.web.session import Session
from setveil.web.steps.risk import of_100
from setveil.web.tasks import FIGURES, best_figures
from setveil.web.workspace import COPIES, Workspace
from setveil.workflows.explore import overview
from setveil.workflows.policies import make_policy


@pytest.fixture
def session(tmp_path: Any) -> Iterator[Session]:
    with Workspace(tmp_path) as workspace:
        made = Session(workspace)
        yield made
        made.close()


@pytest.fixture
def dataset(session: Session) -> Dataset:
    return session.dataset


def finished(dataset: Dataset, *colours: str) -> Run:
    """A run that is done, with lights of these colours."""
    dataset.n_runs += 1
    run = Run(dataset.n_runs, dataset.policy(), "", dataset.new_folder(), Child(), "", state="done")
    run.result = {"lights": [{"question": "?", "colour": c, "answer": "", "sentence": ""} for c in colours]}
    dataset.runs.append(run)
    return run


def test_everything_that_can_be_chosen_becomes_a_policy(dataset: Dataset) -> None:
    assert make_policy(dataset.policy()).algorithm.options == {"effort": "fast"}
    dataset.form.model, dataset.algorithm, dataset.accepts_guessable = "degree", "cahd", True
    dataset.form.enter("sensitive", ["hiv"])
    policy = make_policy(dataset.policy())
    assert policy.output.accept_guessable
    assert policy.algorithm.options == {}
    assert policy.model.given() == {"p": 5, "sensitive": ["hiv"]}
    dataset.form.model, dataset.algorithm, dataset.accepts_guessable = "constraints", None, False
    dataset.form.enter("constraints", [["a", "b"]])
    assert "utility_rest" not in make_policy(dataset.policy()).model.given()  # there are no groups yet
    dataset.form.enter("utility", [["a"], ["b", "c"]])
    given = make_policy(dataset.policy()).model.given()
    assert given["constraints"] == [["a", "b"]]
    assert given["utility"] == [["a"], ["b", "c"]]
    assert given["utility_rest"] == "free"
    for model in ("k-anonymity", "coherence"):
        dataset.form.model = model
        assert make_policy(dataset.policy()).model.given()["sensitive"] == ["hiv"]


def test_steps_notice_what_they_show_and_nothing_else(dataset: Dataset) -> None:
    dataset.touch()
    before = dict(dataset.versions)
    dataset.touch("risk", "run")
    assert {step for step in t.STEPS if dataset.versions[step] != before[step]} == {"risk", "run"}


def test_work_at_the_same_time_is_shown_until_the_last_is_done(dataset: Dataset) -> None:
    with dataset.working("first", "risk"):
        with dataset.working("second", "protect") as progress:
            progress("counting", 0.5)
            assert dataset.busy == t.STAGE_SHARE.format(stage="counting", percent=50)
            raise TaskError("a problem")
        assert dataset.busy == "first"
        assert dataset.problems == {"protect": "a problem"}
    assert dataset.busy == ""
    with dataset.working("again", "protect"):
        assert not dataset.problems  # what is tried again is no longer wrong


async def wait_for(dataset: Dataset) -> None:
    while dataset.busy or dataset._works:
        await asyncio.gather(*dataset._works)
    await dataset.child.end()


@pytest.fixture
def files(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two files, and nobody gets ready for runs."""
    for name, n in (("one", 50), ("two", 60)):
        (tmp_path / name).write_text("".join(f"{n % 3} {3 + n % 5}\n" for n in range(n)))

    async def not_now(self: Dataset) -> None:
        """Nobody runs anything here."""

    monkeypatch.setattr(Dataset, "_get_ready", not_now)
    return tmp_path


def test_a_file_that_is_replaced_while_it_is_read_is_forgotten(session: Session, files: Any) -> None:
    async def both() -> None:
        first = session.open(session.dataset, files / "one", "one")
        await asyncio.sleep(0)  # it has asked its process
        second = session.open(first, files / "two", "two")
        await wait_for(second)
        await first.child.end()

    asyncio.run(both())
    (dataset,) = session.datasets
    assert not dataset.problems
    assert dataset.read is not None
    assert dataset.read["facts"]["records"] == 60


def test_runs_belong_to_their_data_set(session: Session, files: Any) -> None:
    async def both() -> None:
        first = session.open(session.dataset, files / "one", "one")
        await wait_for(first)
        finished(first, "good")
        second = session.open(first, files / "two", "two")
        await wait_for(second)
        assert second.done() == []
        assert [dataset.name for dataset in session.datasets] == ["one", "two"]
        finished(second, "good")
        again = session.read_again(second, {"format": "fimi"})  # other records: another data set
        assert again is not second
        assert (again.path, again.done()) == (second.path, [])
        await wait_for(again)
        assert session.read_again(again, {}) is again  # no run is there yet
        await wait_for(again)
        assert [len(dataset.done()) for dataset in session.datasets] == [1, 1, 0]
        kept = first.runs[0].folder
        assert session.remove(second) is again
        assert session.find(second.number) is None
        assert kept.exists()
        assert not second.folder.exists()
        assert (files / "two").exists()  # a file that was opened by its path is not ours

    asyncio.run(both())


def test_a_red_run_is_not_proposed_for_hand_over_and_needs_a_reason(dataset: Dataset) -> None:
    only = finished(dataset, "good", "bad", "good")
    assert dataset.to_hand_over() is only  # there is no other
    assert only.needs_reason
    fine = finished(dataset, "good", "care", "good")
    finished(dataset, "good", "good", "bad")
    assert dataset.to_hand_over() is fine
    assert not fine.needs_reason
    dataset.handed_over = only.number
    assert dataset.to_hand_over() is only  # it was chosen
    only.policy["about"] = {"reason": "for the ethics committee"}
    assert only.is_red
    assert not only.needs_reason


def test_a_process_that_needs_too_much_memory_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "SHARE_OF_MEMORY", 1e-9)  # nothing may be used

    async def ask() -> None:
        child = Child()
        try:
            await child.ask("find_items", {"text": "x"})
        finally:
            await child.end()

    with pytest.raises(TaskError, match="more memory"):
        asyncio.run(ask())


def test_an_answer_nobody_waits_for_is_not_given_to_the_next_question() -> None:
    async def both() -> Any:
        child = Child()
        await child.ask("wake")
        first = asyncio.ensure_future(child.ask("policy", {"policy": {"model": {"name": "km", "k": 5, "m": 2}}}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # it is asked
        first.cancel()
        found, _ = await child.ask("wake")
        await child.end()
        return found

    assert asyncio.run(both()) is None


def test_a_process_nobody_needs_any_more_is_not_started_again() -> None:
    async def ask() -> None:
        child = Child()
        child.replace()  # as a run does that is cancelled before its process is ready
        await child.ask("find_items", {"text": "x"})

    with pytest.raises(TaskError) as raised:
        asyncio.run(ask())
    assert raised.value.kind == "replaced"


def test_options_are_shown_as_fields() -> None:
    shown = in_fields("for other columns use --id-column NAME and --item-column NAME, or --no-such NAME")
    fields = (t.OPTIONS["id_column"], t.OPTIONS["item_column"])
    assert shown == "for other columns use “{}” and “{}”, or --no-such NAME".format(*fields)
    assert in_fields("Set --per-person first, last or most.") == "Set “Value per person”: first, last or most."
    assert in_fields("use --algorithm or --missing drop.") == "use “Algorithm” or “Words for missing values”: drop."
    assert in_fields("kept apart (--hierarchy icd10cm).") == "kept apart (“Hierarchy”: icd10cm)."


def test_a_proposal_is_run_with_the_options_it_was_tried_with(dataset: Dataset) -> None:
    dataset.choose_algorithm("trim", {"raising": "none"})
    assert make_policy(dataset.policy()).algorithm.options == {"raising": "none"}
    dataset.choose_algorithm("aa")
    assert make_policy(dataset.policy()).algorithm.options == {}


def test_the_best_figure_of_a_row_is_marked_only_where_runs_differ() -> None:
    rows: list[dict[str, Any]] = [dict.fromkeys(FIGURES, 0.5) for _ in range(3)]
    assert best_figures(rows) == {}
    rows[0]["exact_ratio"], rows[1]["exact_ratio"], rows[2]["exact_ratio"] = 0.9, 0.4, None
    rows[1]["avg_re"] = 0.1
    assert best_figures(rows) == {"exact_ratio": "90 %", "avg_re": "10 %"}
    rows[0]["avg_re"] = rows[2]["avg_re"] = 0.1004  # looks the same, so nothing is better
    assert best_figures(rows) == {"exact_ratio": "90 %"}


def test_a_share_of_100_people_is_neither_none_nor_all_unless_it_is() -> None:
    assert [of_100(share) for share in (0.0, 0.001, 0.866, 0.999, 1.0)] == ["0", t.FEWER, "87", t.NEARLY, "100"]
    shares = (None, 0.0, 0.00001, 0.0031, 0.054, 0.77, 0.996, 0.9999, 1.0)
    figures = ["–", "0 %", "below 0.01 %", "0.31 %", "5.4 %", "77 %", "99.6 %", "above 99.9 %", "100 %"]
    assert [short_percent(share) for share in shares] == figures


def test_an_overview_names_what_is_common_and_rare() -> None:
    data = sv.Transactions.from_lists([["milk", "bread"]] * 6 + [["milk", "rare"], []])
    found = overview(data)
    assert found["common"] == [("milk", 7), ("bread", 6), ("rare", 1)]
    assert (found["rare_items"], found["shortest"], found["median_length"], found["longest"]) == (1, 2, 2.0, 2)
    empty = overview(sv.Transactions.from_lists([[], []]))
    assert (empty["common"], empty["median_length"], empty["longest"]) == ([], 0.0, 0)


class FullDisk:
    """An upload that finds no room."""

    name = "people.csv"

    async def save(self, path: Path) -> None:
        path.write_bytes(b"half of")
        raise OSError(28, "No space left on device")


def test_uploads_are_bounded_by_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace(tmp_path) as workspace:
        session = Session(workspace)
        before = sorted(workspace.folder.iterdir())
        upload: Any = FullDisk()
        with pytest.raises(InputError, match="No space left"):
            asyncio.run(session.receive(upload, "input"))
        with pytest.raises(InputError, match="No space left"):
            asyncio.run(session.receive_folder([upload]))
        assert sorted(workspace.folder.iterdir()) == before  # nothing half-made stays
        assert session.uploads == {}
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000 * COPIES))
        assert workspace.max_upload(10_000) == 1000
        assert workspace.max_upload(500) == 500
        session.close()
