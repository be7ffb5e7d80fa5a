"""Say what to protect: a promise in plain words, its numbers, sensitive items, the purpose; or a proposal that was
tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

import setveil as sv
from setveil.errors import SetveilError
from setveil.web import texts as t
from setveil.web.elements import Slider, Text, bullets, button, crowd, heading, paragraph, shown
from setveil.web.promise_pictures import picture_of
from setveil.web.session import EFFORT, MODELS, PARAMETERS, TAKES_SENSITIVE
from setveil.web.steps.lists import constraints, sensitive_items

if TYPE_CHECKING:
    from setveil.web.page import Page

RANGES = {
    "k": (2, 50, 1),
    "m": (1, 5, 1),
    "p": (2, 20, 1),
    "l": (1, 10, 1),
    "h": (5, 95, 5),
    "max_suppressed": (0, 50, 1),
}
WITH_FRACTIONS = ("h", "max_suppressed")


def build(page: Page) -> None:
    """The step."""
    session = page.session
    _proposals(page)
    heading(t.MODEL_TITLE)
    _models(page)
    with ui.element("div").classes("halves"):
        with ui.element("section"):
            heading(t.NUMBERS_TITLE)
            sentence = _Sentence(page)
            _numbers(page, sentence)
            if session.model in TAKES_SENSITIVE:
                sensitive_items(page, sentence.say)
            if session.model == "constraints":
                constraints(page)
        with ui.element("section").classes("promise"):
            sentence.build()
    _ways(page)
    step = "run" if session.tree_use() == "none" else "hierarchy"
    button(t.NEXT.format(step=t.STEPS[step][0]), lambda: page.go(step), main=True)


def _models(page: Page) -> None:
    """The promises to choose from, each with its picture."""

    def choose(model: str) -> None:
        session = page.session
        session.model, session.algorithm, session.accepts_guessable = model, None, False
        page.refresh()
        ui.run_javascript("document.querySelector('.models input:checked').focus()")

    with ui.element("fieldset").classes("models"):
        Text("legend", t.MODEL_TITLE, "hidden-from-eyes")
        for name in MODELS:
            with ui.element("label").classes("model"):
                box = ui.element("input").props(f"type=radio name=model value={name}")
                box.props["aria-label"] = t.MODELS[name]
                if name == page.session.model:
                    box.props("checked")
                box.on("change", lambda name=name: choose(name))
                ui.html(picture_of(name), sanitize=False).classes("picture")
                Text("span", t.MODELS[name])


class _Sentence:
    """The promise as it is set now, said anew with every change."""

    def __init__(self, page: Page) -> None:
        self.session = page.session

    def build(self) -> None:
        heading(t.PROMISE_TITLE)
        self.text = Text("p", "", "sentence").props("aria-live=polite")
        self.picture = ui.element("div")
        self.who = ui.element("div")
        self.say()

    def say(self) -> None:
        self.picture.clear()
        self.who.clear()
        try:
            model = self.session.promise()
        except SetveilError as problem:
            self.text.text = shown(str(problem), 300)
            return
        self.text.text = model.guarantee()
        with self.picture:
            crowd(model.crowd)
        with self.who:
            attacker = model.attacker()
            with ui.element("dl").classes("attacker"):
                for name, value in zip(t.ATTACKER, attacker, strict=True):
                    Text("dt", name)
                    Text("dd", value)
            with ui.expansion(t.NOT_PROTECTED).props("dense"):
                bullets(model.not_protected())


def _numbers(page: Page, sentence: _Sentence) -> None:
    session = page.session
    for name in PARAMETERS[session.model]:
        words = t.NUMBERS[session.model, name]
        low, high, step = RANGES[name]
        value = session.parameters[name]

        def change(event: Any, name: str = name) -> None:
            if event.value is not None:
                session.parameters[name] = float(event.value) if name in WITH_FRACTIONS else int(event.value)
                sentence.say()

        with ui.element("div").classes("number"):
            Text("label", words)
            is_all = value == "all"
            slider = Slider(words, low, high, step, high if is_all else value)
            number = ui.number(value=None if is_all else value, min=low, max=10_000, step=step).props("outlined dense")
            number.props["aria-label"] = words
            number.on_value_change(change)
            number.on_value_change(lambda event, slider=slider: slider.show(event.value))
            slider.on_slide(number.set_value)
            if is_all:
                slider.props("disabled")
                number.disable()
        if session.model == "km" and name == "m":

            def everything(event: Any) -> None:
                session.parameters["m"] = "all" if event.value else 2
                page.refresh()

            ui.checkbox(t.M_ALL, value=is_all, on_change=everything)


def _ways(page: Page) -> None:
    """Which algorithm keeps the promise; most people leave it alone."""
    session = page.session
    entries = [entry for entry in sv.algorithms() if session.model in entry.models]
    usual = t.WAY_SEVERAL if session.model == "km" else t.WAY_USUAL.format(name=entries[0].name)
    choices = {"": usual, **{entry.name: f"{entry.name}: {entry.summary}" for entry in entries}}

    def change(event: Any) -> None:
        session.algorithm, session.accepts_guessable = event.value or None, False
        page.refresh()

    def change_effort(event: Any) -> None:
        session.effort = event.value

    def accept(event: Any) -> None:
        session.accepts_guessable = event.value

    is_open = session.algorithm is not None or session.effort != EFFORT
    with ui.expansion(t.WAY_TITLE, value=is_open).props("dense"):
        select = ui.select(choices, value=session.algorithm or "", label=t.WAY_LABEL, on_change=change)
        select.props("outlined dense").classes("wide")
        if session.tries_several():
            select = ui.select(t.EFFORTS, value=session.effort, label=t.EFFORT_LABEL, on_change=change_effort)
            select.props("outlined dense").classes("wide")
        if any(entry.name == session.algorithm and entry.guessable for entry in entries):
            paragraph(t.GUESSABLE_NOTE.format(name=session.algorithm), "problem")
            ui.checkbox(t.GUESSABLE, value=session.accepts_guessable, on_change=accept)


def _proposals(page: Page) -> None:
    session = page.session

    def ask() -> None:
        session.begin(session.suggest())

    def take(choice: dict[str, Any]) -> None:
        session.model, session.algorithm = choice["model"], choice["algorithm"]
        for name, value in choice["parameters"].items():
            if name in RANGES:
                session.parameters[name] = value
        if choice["hierarchy"] != session.hierarchy:
            session.hierarchy, session.hierarchy_name, session.tree = choice["hierarchy"], "", None
        page.refresh()

    def change(event: Any) -> None:
        session.purpose = event.value

    paragraph(t.SUGGEST_NOTE)
    with ui.element("div").classes("inline"):
        ui.select(t.PURPOSES, value=session.purpose, label=t.PURPOSE, on_change=change).props("outlined dense")
        button(t.SUGGEST, ask)
    if session.proposals is None:
        return
    heading(t.SUGGESTED)
    with ui.element("div").classes("cards"):
        for number, choice in enumerate(session.proposals):
            with ui.element("section").classes("card"):
                Text("h3", shown(choice["role"], 300) if number else t.PROPOSAL)
                bullets([shown(line, 400) for line in choice["words"]])
                button(t.TAKE, lambda choice=choice: take(choice), name=f"{t.TAKE}: {choice['guarantee']}")
