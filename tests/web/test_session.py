"""What a session decides and how it works, without a browser: policies, work at the same time, processes and memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from setveil.web import children
from setveil.web import texts as t
from setveil.web.children import Child, TaskError
from setveil.web.elements import in_fields
from setveil.web.dataset import Dataset, Run
from setveil.web.session import Session
from setveil.web.workspace import Workspace
from setveil.workflows.policies import make_policy


@pytest.fixture
def session(tmp_path: Any) -> Iterator[Session]:
    with Workspace(tmp_path) as workspace:
        made = Session(workspace)
        yield made
        made.close()


def test_everything_that_can_be_chosen_becomes_a_policy(session: Session) -> None:
    assert make_policy(session.policy()).algorithm.options == {"effort": "fast"}
    session.model, session.sensitive, session.algorithm, session.accepts_guessable = "degree", ["hiv"], "cahd", True
    policy = make_policy(session.policy())
    assert policy.output.accept_guessable
    assert policy.algorithm.options == {}
    assert policy.model.given() == {"p": 4, "sensitive": ["hiv"]}
    session.model, session.algorithm, session.accepts_guessable = "constraints", None, False
    session.constraints, session.utility = [["a", "b"]], [["a"], ["b", "c"]]
    given = make_policy(session.policy()).model.given()
    assert given["constraints"] == [["a", "b"]]
    assert given["utility"] == [["a"], ["b", "c"]]
    assert given["utility_rest"] == "free"
    for model in ("k-anonymity", "coherence"):
        session.model = model
        assert make_policy(session.policy()).model.given()["sensitive"] == ["hiv"]


def test_steps_notice_what_they_show_and_nothing_else(session: Session) -> None:
    session.touch()
    before = dict(session.versions)
    session.touch("danger", "run")
    assert {step for step in t.STEPS if session.versions[step] != before[step]} == {"danger", "run"}


def test_work_at_the_same_time_is_told_until_the_last_is_done(session: Session) -> None:
    with session.working("first"):
        with session.working("second") as progress:
            progress("counting", 0.5)
            assert session.busy == t.STAGE_SHARE.format(stage="counting", share=0.5)
            raise TaskError("a problem")
        assert session.busy == "first"
        assert session.problem == "a problem"
    assert session.busy == ""


def test_a_file_that_is_replaced_while_it_is_read_is_forgotten(
    session: Session, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text("".join(f"{n % 3} {3 + n % 5}\n" for n in range(50 if name == "one" else 60)))

    async def both() -> None:
        first = asyncio.create_task(session.open(tmp_path / "one", "one"))
        await asyncio.sleep(0)  # it has asked its process
        replaced = session.child
        await session.open(tmp_path / "two", "two")
        await first
        await replaced.end()
        await session.child.end()

    async def not_now() -> None:
        """Nobody runs anything here."""

    monkeypatch.setattr(session, "_get_ready", not_now)
    asyncio.run(both())
    assert session.problem == ""
    assert session.read is not None
    assert "60 people" in session.read["facts"]["summary"]


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


def test_a_process_nobody_needs_any_more_is_not_started_again() -> None:
    async def ask() -> None:
        child = Child()
        child.replace()  # as a run does that is cancelled before its process is ready
        await child.ask("find_items", {"text": "x"})

    with pytest.raises(TaskError) as raised:
        asyncio.run(ask())
    assert raised.value.kind == "replaced"


def test_options_are_told_as_fields() -> None:
    told = in_fields("for other columns use --id-column NAME and --item-column NAME, or --no-such NAME")
    fields = (t.OPTIONS["id_column"], t.OPTIONS["item_column"])
    assert told == "for other columns use “{}” and “{}”, or --no-such NAME".format(*fields)
