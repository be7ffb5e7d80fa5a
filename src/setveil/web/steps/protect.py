"""Choose a guarantee: the privacy model, its parameters, sensitive items; or a proposal that was tried and verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

import setveil as sv
from setveil.errors import SetveilError
from setveil.web import texts as t
from setveil.web.dataset import EFFORT, MODELS, PARAMETERS, TAKES_SENSITIVE
from setveil.web.elements import Slider, Text, bullets, button, crowd, heading, paragraph, shown
from setveil.web.model_pictures import picture_of
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
    dataset = page.dataset
    _proposals(page)
    heading(t.MODEL_TITLE)
    _models(page)
    with ui.element("div").classes("halves"):
        with ui.element("section"):
            heading(t.NUMBERS_TITLE)
            sentence = _Sentence(page)
            _numbers(page, sentence)
            if dataset.model in TAKES_SENSITIVE:
                sensitive_items(page, sentence.show)
            if dataset.model == "constraints":
                constraints(page)
        with ui.element("section").classes("guarantee"):
            sentence.build()
    _algorithms(page)
    step = "run" if dataset.hierarchy_use() == "none" else "hierarchy"
    button(t.NEXT.format(step=t.STEPS[step][0]), lambda: page.go(step), main=True)


def _models(page: Page) -> None:
    """The privacy models to choose from, each with its picture."""

    def choose(model: str) -> None:
        dataset = page.dataset
        dataset.model, dataset.algorithm, dataset.accepts_guessable = model, None, False
        page.refresh()
        ui.run_javascript("document.querySelector('.models input:checked').focus()")

    with ui.element("fieldset").classes("models"):
        Text("legend", t.MODEL_TITLE, "hidden-from-eyes")
        for name in MODELS:
            with ui.element("label").classes("model"):
                box = ui.element("input").props(f"type=radio name=model value={name}")
                box.props["aria-label"] = t.MODELS[name]
                if name == page.dataset.model:
                    box.props("checked")
                box.on("change", lambda name=name: choose(name))
                ui.html(picture_of(name), sanitize=False).classes("picture")
                Text("span", t.MODELS[name])


class _Sentence:
    """The guarantee as it is set now, updated with every change."""

    def __init__(self, page: Page) -> None:
        self.dataset = page.dataset

    def build(self) -> None:
        heading(t.GUARANTEE_TITLE)
        self.text = Text("p", "", "sentence").props("aria-live=polite")
        self.picture = ui.element("div")
        self.who = ui.element("div")
        self.show()

    def show(self) -> None:
        self.picture.clear()
        self.who.clear()
        try:
            model = self.dataset.privacy_model()
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
    dataset = page.dataset
    for name in PARAMETERS[dataset.model]:
        words = t.NUMBERS[dataset.model, name]
        low, high, step = RANGES[name]
        value = dataset.parameters[name]

        def change(event: Any, name: str = name) -> None:
            if event.value is not None:
                dataset.parameters[name] = float(event.value) if name in WITH_FRACTIONS else int(event.value)
                sentence.show()

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
        if dataset.model == "km" and name == "m":

            def everything(event: Any) -> None:
                dataset.parameters["m"] = "all" if event.value else 2
                page.refresh()

            ui.checkbox(t.M_ALL, value=is_all, on_change=everything)


def _algorithms(page: Page) -> None:
    """The algorithm that enforces the model; most people keep the default."""
    dataset = page.dataset
    entries = [entry for entry in sv.algorithms() if dataset.model in entry.models]
    default = t.ALGORITHM_SEVERAL if dataset.model == "km" else t.ALGORITHM_DEFAULT.format(name=entries[0].name)
    choices = {"": default, **{entry.name: f"{entry.name}: {entry.summary}" for entry in entries}}

    def change(event: Any) -> None:
        dataset.algorithm, dataset.accepts_guessable = event.value or None, False
        page.refresh()

    def change_effort(event: Any) -> None:
        dataset.effort = event.value

    def accept(event: Any) -> None:
        dataset.accepts_guessable = event.value

    is_open = dataset.algorithm is not None or dataset.effort != EFFORT
    with ui.expansion(t.ALGORITHM_TITLE, value=is_open).props("dense"):
        select = ui.select(choices, value=dataset.algorithm or "", label=t.ALGORITHM_LABEL, on_change=change)
        select.props("outlined dense").classes("wide")
        if dataset.tries_several():
            select = ui.select(t.EFFORTS, value=dataset.effort, label=t.EFFORT_LABEL, on_change=change_effort)
            select.props("outlined dense").classes("wide")
        if any(entry.name == dataset.algorithm and entry.guessable for entry in entries):
            paragraph(t.GUESSABLE_NOTE.format(name=dataset.algorithm), "problem")
            ui.checkbox(t.GUESSABLE, value=dataset.accepts_guessable, on_change=accept)


def _proposals(page: Page) -> None:
    dataset = page.dataset

    def ask() -> None:
        dataset.begin(dataset.suggest())

    def take(choice: dict[str, Any]) -> None:
        dataset.model, dataset.algorithm = choice["model"], choice["algorithm"]
        for name, value in choice["parameters"].items():
            if name in RANGES:
                dataset.parameters[name] = value
        if choice["hierarchy"] != dataset.hierarchy:
            dataset.hierarchy, dataset.hierarchy_name, dataset.tree = choice["hierarchy"], "", None
        page.refresh()

    def change(event: Any) -> None:
        dataset.purpose = event.value

    paragraph(t.SUGGEST_NOTE)
    with ui.element("div").classes("inline"):
        ui.select(t.PURPOSES, value=dataset.purpose, label=t.PURPOSE, on_change=change).props("outlined dense")
        button(t.SUGGEST, ask)
    if dataset.proposals is None:
        return
    heading(t.SUGGESTED)
    with ui.element("div").classes("cards"):
        for number, choice in enumerate(dataset.proposals):
            with ui.element("section").classes("card"):
                Text("h3", shown(choice["role"], 300) if number else t.PROPOSAL)
                bullets([shown(line, 400) for line in choice["words"]])
                button(t.TAKE, lambda choice=choice: take(choice), name=f"{t.TAKE}: {choice['guarantee']}")
