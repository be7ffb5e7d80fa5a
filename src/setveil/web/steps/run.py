"""Run: progress by stage, cancel, several at a time; the verdict of each stays."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from nicegui import ui

from setveil.errors import SetveilError
from setveil.web import texts as t
from setveil.web.elements import (
    Text,
    bullets,
    button,
    card_title,
    drawing,
    in_fields,
    lights,
    paragraph,
    problem,
    shown,
    table,
    warnings,
)
from setveil.web.session import Run

if TYPE_CHECKING:
    from setveil.web.page import Page

MOVE = 0.25  # seconds between two looks at the progress


def build(page: Page) -> None:
    """The step."""
    session = page.session
    try:
        Text("p", session.promise().guarantee(), "sentence")
        usual = t.WAY_SEVERAL if session.model == "km" else t.RUN_USUAL
        paragraph(t.RUN_WITH.format(way=session.algorithm or usual, tree=_tree_words(page)), "soft")

        def start() -> None:
            session.start_run()
            page.refresh()

        button(t.RUN_START if not session.runs else t.RUN_ANOTHER, start, main=True)
    except SetveilError as reason:
        problem(shown(str(reason), 300))
        button(t.NEXT.format(step=t.STEPS["protect"][0]), lambda: page.go("protect"))
    for run in reversed(session.runs):
        with ui.element("section").classes("card run") as card:
            card.props["aria-label"] = t.RUN_NAME.format(number=run.number)
            Text("h2", t.RUN_HEADING[run.state].format(number=run.number))
            {"running": _running, "done": _done}.get(run.state, _failed)(page, run)


def _tree_words(page: Page) -> str:
    session = page.session
    source = session.tree_source()
    return t.TREE_UNUSED if source is None else shown(session.hierarchy_name or source.rpartition("/")[2])


def _running(page: Page, run: Run) -> None:
    paragraph(run.guarantee)
    bar = ui.linear_progress(value=0, show_value=False).props("rounded size=14px")
    bar.props["aria-label"] = t.PROGRESS
    words = Text("p", "", "soft").props("role=status")

    def move() -> None:
        bar.props("indeterminate") if run.share is None else bar.props(remove="indeterminate")
        bar.value = round(run.share or 0, 3)
        spent, left = time.monotonic() - run.started, run.remaining()
        told = t.RUN_STAGE.format(stage=run.stage or t.STARTING, seconds=spent)
        words.text = told if left is None else told + t.RUN_LEFT.format(seconds=left)

    move()
    ui.timer(MOVE, move)

    def cancel() -> None:
        page.session.cancel(run)
        page.refresh()

    button(t.CANCEL, cancel, name=t.CANCEL_RUN.format(number=run.number))


def _failed(page: Page, run: Run) -> None:
    paragraph(run.guarantee)
    if run.problem:
        problem(shown(in_fields(run.problem), 600))
        paragraph(t.INFEASIBLE_NOTE if run.is_infeasible else t.FAILED_NOTE, "soft")


def _done(page: Page, run: Run) -> None:
    result = run.result
    lights(result["lights"], level=3)
    if result["advice"]:
        with ui.expansion(t.ADVICE, value=False).props("dense"):
            bullets([shown(line, 500) for line in result["advice"]])
    warnings([page.session.by_name(line) for line in result["warnings"]])
    with ui.expansion(t.FIGURES, value=run is page.session.runs[-1]).props("dense"):
        with ui.element("div").classes("halves"):
            with ui.element("section"):
                drawing(result["chart"])
                with ui.element("p").classes("key drawn"):
                    Text("span", t.KEY_BEFORE, "b")
                    Text("span", t.KEY_AFTER, "a")
                    if result["has_promise"]:
                        with ui.element("span"):
                            ui.element("span").classes("swatch promised")
                            Text("span", t.KEY_PROMISED)
            with ui.element("section"):
                table(t.FIGURES, (t.COST, ""), result["metrics"], n_numbers=1)
        card_title(t.NOT_PROTECTED, 3)
        bullets(result["not_protected"], "soft")
    paragraph(t.RUN_TOOK.format(seconds=run.seconds), "soft")
    with ui.element("div").classes("row-of-buttons"):
        ui.link(t.REPORT_INTERNAL, f"/run/{run.number}/report/internal", new_tab=True)
        button(t.STEPS["handover"][0], lambda: page.go("handover"), name=t.HANDOVER_RUN.format(number=run.number))
