"""Run: progress by stage, cancel, several at a time; each with its lights and figures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from nicegui import ui

from setveil.errors import SetveilError
from setveil.web import texts as t
from setveil.web.elements import (
    Text,
    about_visits,
    bullets,
    button,
    drawing,
    heading,
    in_fields,
    lights,
    paragraph,
    problem,
    sentence,
    sentences,
    shown,
    small_lights,
    table,
    warnings,
)
from setveil.web.runs import BAD, Run
from setveil.web.steps.outcome import cut_picture, examples, losses
from setveil.workflows.pictures import seconds

if TYPE_CHECKING:
    from setveil.web.page import Page

MOVE = 0.25  # seconds between two looks at the progress


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset
    if dataset.runs:
        heading(t.RUN_NEXT)
    try:
        Text("p", dataset.form.privacy_model().guarantee(), "sentence")
        default = t.ALGORITHM_SEVERAL if dataset.form.tries_several() else t.RUN_DEFAULT
        algorithm = dataset.algorithm or default
        paragraph(t.RUN_WITH.format(algorithm=algorithm, hierarchy=_hierarchy_name(page)), "soft")

        def start() -> None:
            dataset.start_run()
            page.go("run")

        button(t.RUN_START if not dataset.runs else t.RUN_ANOTHER, start, main=not dataset.runs)
    except SetveilError as reason:
        problem(sentence(shown(str(reason), 300)))
        button(t.GO_TO.format(step=t.STEPS["protect"][0]), lambda: page.go("protect"))
    running = [run for run in dataset.runs if run.state == "running"]
    for run in reversed(running):
        _card(page, run)
    ended = [run for run in dataset.runs if run.state != "running"]
    if ended:
        _ended(page, ended)


def _ended(page: Page, runs: list[Run]) -> None:
    """The run that the address names, else the latest; and a way to the others."""
    shown_run = next((run for run in runs if str(run.number) == page.part), runs[-1])
    if len(runs) > 1:
        with ui.element("nav").classes("way") as way:
            way.props["aria-label"] = t.RUNS_ALL
            for run in runs:
                name = t.RUN_NAME.format(number=run.number)
                made = button("", lambda run=run: page.go("run", str(run.number)), name=name)
                made.props["aria-pressed"] = "true" if run is shown_run else "false"
                with made:
                    Text("span", name)
                    small_lights(run.lights)
    _card(page, shown_run)


def _card(page: Page, run: Run) -> None:
    with ui.element("section").classes("card run") as card:
        card.props["aria-label"] = t.RUN_NAME.format(number=run.number)
        red = [t.LIGHT.format(**light).lower() for light in run.lights if light["colour"] == BAD]
        Text("h2", "; ".join([t.RUN_HEADING[run.state].format(number=run.number), *red]))
        {"running": _running, "done": _done}.get(run.state, _failed)(page, run)


def _hierarchy_name(page: Page) -> str:
    dataset = page.dataset
    source = dataset.hierarchy_source()
    return t.HIERARCHY_UNUSED if source is None else shown(dataset.hierarchy_name or source.rpartition("/")[2])


def _running(page: Page, run: Run) -> None:
    paragraph(run.guarantee)
    bar = ui.linear_progress(value=0, show_value=False).props("rounded size=14px")
    bar.props["aria-label"] = t.PROGRESS
    words = Text("p", "", "soft").props("role=status")

    def move() -> None:
        bar.props("indeterminate") if run.share is None else bar.props(remove="indeterminate")
        bar.value = round(run.share or 0, 3)
        spent, left = time.monotonic() - run.started, run.remaining()
        stage = t.RUN_STAGE.format(stage=run.stage or t.STARTING, seconds=spent)
        words.text = stage if left is None else stage + t.RUN_LEFT.format(seconds=left)

    move()
    ui.timer(MOVE, move)

    def cancel() -> None:
        page.dataset.cancel(run)
        page.refresh()

    button(t.CANCEL, cancel, name=t.CANCEL_RUN.format(number=run.number))


def _failed(page: Page, run: Run) -> None:
    paragraph(run.guarantee)
    if run.problem:
        problem(sentence(shown(in_fields(run.problem), 600)))
        paragraph(t.INFEASIBLE_NOTE if run.is_infeasible else t.FAILED_NOTE, "soft")
        button(t.RUN_CHANGE, lambda: page.go("protect"))


def _done(page: Page, run: Run) -> None:
    result = run.result

    def hand_over() -> None:
        page.dataset.handed_over = run.number
        page.go("handover")

    paragraph(run.guarantee)
    about_visits(page.dataset)
    lights(result["lights"], level=3, with_reasons=False)
    if result["advice"]:
        Text("h3", t.ADVICE)
        bullets([shown(in_fields(line), 500) for line in result["advice"]])
    warnings([page.dataset.by_name(line) for line in result["warnings"]])
    with ui.element("div").classes("row-of-buttons"):
        if run.is_red:
            button(t.RUN_CHANGE, lambda: page.go("protect"))
        button(t.STEPS["handover"][0], hand_over, name=t.HANDOVER_RUN.format(number=run.number))
        ui.link(t.REPORT_INTERNAL, f"{run.address}/report/internal", new_tab=True)
        Text("span", t.RUN_TOOK.format(seconds=seconds(run.seconds)), "soft")
    cut_picture(result)
    if result["examples"]:
        Text("h3", t.EXAMPLES_TITLE)
        examples(result["examples"])
    with ui.expansion(t.REASONS_OF_LIGHTS):
        for light in result["lights"]:
            Text("h3", t.LIGHT.format(**light))
            bullets(sentences(shown(light["sentence"], 2000)), "soft")
    if result["losses"]:
        with ui.expansion(t.LOSSES_TITLE):
            losses(result["losses"])
    with ui.expansion(t.FIGURES), ui.element("div").classes("halves"):
        with ui.element("section"):
            drawing(result["chart"])
            with ui.element("p").classes("key drawn"):
                Text("span", t.KEY_BEFORE, "b")
                Text("span", t.KEY_AFTER, "a")
                if result["has_reach"]:
                    with ui.element("span"):
                        ui.element("span").classes("swatch reach")
                        Text("span", t.KEY_REACH)
        with ui.element("section"):
            table(t.FIGURES, (t.COST, ""), result["metrics"], n_numbers=1)
    with ui.expansion(t.NOT_PROTECTED):
        bullets(result["not_protected"], "soft")
