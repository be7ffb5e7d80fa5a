"""Choose a guarantee: the privacy model, its parameters, sensitive items; or a proposal that was tried and verified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

import setveil as sv
from setveil.errors import SetveilError
from setveil.models import Parameter, make_model
from setveil.report.profiles import ENVIRONMENTS
from setveil.web import texts as t
from setveil.web.dataset import EFFORT, Dataset
from setveil.web.elements import (
    Slider,
    Text,
    bullets,
    button,
    crowd,
    drawing,
    heading,
    in_fields,
    lights,
    paragraph,
    sentence,
    sentences,
    shown,
)
from setveil.web.form import is_number, slider_of
from setveil.web.model_pictures import picture_of
from setveil.web.steps.lists import item_list
from setveil.workflows.proposals import PURPOSES

if TYPE_CHECKING:
    from setveil.web.page import Page

LONG = 2000  # characters of what a proposal rests on


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset
    marks: list[Callable[[], None]] = []  # shows which proposal is in use

    def propose() -> None:
        marks[:] = [_proposals(page)]
        marks[0]()
        heading(t.OWN_CHOICE if dataset.proposals else t.MODEL_TITLE)

    page.add_part(propose, lambda: (dataset.proposals, dataset.proposing is None, dataset.found_nothing))
    page.add_part(lambda: _choose(page, lambda: marks[0]()), lambda: dataset.names)


def _choose(page: Page, mark: Callable[[], None]) -> None:
    """The guarantee of one's own; ``mark`` is called when it changes."""
    _models(page)
    with ui.element("div").classes("halves"):
        with ui.element("section"):
            heading(t.NUMBERS_TITLE)
            guarantee = _Guarantee(page, mark)
            for parameter in page.dataset.form.parameters():
                _parameter(page, parameter, guarantee)
        with ui.element("section").classes("guarantee"):
            guarantee.build()
    _algorithms(page)


def _models(page: Page) -> None:
    """The privacy models to choose from, each with its picture."""

    def choose(model: str) -> None:
        dataset = page.dataset
        dataset.form.model = model
        dataset.choose_algorithm(None)
        page.refresh()
        ui.run_javascript("document.querySelector('.models input:checked').focus()")

    with ui.element("fieldset").classes("models"):
        Text("legend", t.MODEL_TITLE, "hidden-from-eyes")
        for kind in sv.models():
            with ui.element("label").classes("model") as place:
                box = ui.element("input").props("type=radio name=model")
                box.props["value"], box.props["aria-label"] = kind.name, kind.title
                refusal = page.dataset.form.refusal(kind)
                if refusal:
                    box.props("disabled")
                    place.classes("refused").props["title"] = in_fields(refusal)
                if kind.name == page.dataset.form.model:
                    box.props("checked")
                box.on("change", lambda name=kind.name: choose(name))
                ui.html(picture_of(kind.picture), sanitize=False).classes("picture")
                with ui.element("span"):
                    Text("span", kind.title)
                    if refusal:
                        paragraph(t.MODEL_REFUSES, "soft")


class _Guarantee:
    """The guarantee as it is set now, updated with every change."""

    def __init__(self, page: Page, mark: Callable[[], None]) -> None:
        self.dataset, self.mark = page.dataset, mark  # the proposal that is in use

    def build(self) -> None:
        heading(t.GUARANTEE_TITLE)
        self.text = Text("p", "", "sentence").props("aria-live=polite")
        self.picture = ui.element("div")
        self.who = ui.element("div")
        self.show()

    def show(self) -> None:
        self.mark()
        self.picture.clear()
        self.who.clear()
        try:
            model = self.dataset.form.privacy_model()
        except SetveilError as problem:
            self.text.text = sentence(shown(str(problem), 300))
            return
        self.text.text = model.guarantee()
        if model.crowd is not None:
            with self.picture:
                crowd(model.crowd)
        with self.who:
            attacker = model.attacker()
            with ui.element("dl").classes("attacker"):
                for name, value in zip(t.ATTACKER, attacker, strict=True):
                    Text("dt", name)
                    Text("dd", value)
            with ui.expansion(t.NOT_PROTECTED):
                bullets(model.not_protected())


def _parameter(page: Page, parameter: Parameter, guarantee: _Guarantee) -> None:
    """The field that its kind asks for: a list, a number with a slider, one of a few words, or text."""
    form, kind = page.dataset.form, parameter.kind
    if kind.is_list:
        item_list(page, parameter, guarantee.show)
        return

    def change(value: Any) -> None:
        if value is not None:
            form.enter(parameter.name, value)
            guarantee.show()

    words: tuple[str, ...] = getattr(kind, "words", ())
    if is_number(parameter):
        _number(page, parameter, change, words)
    elif words:
        choices: dict[str | None, str] = {None: t.NOT_SET} if parameter.default is None else {}
        choices |= {word: word for word in words}
        select = ui.select(choices, value=form.value(parameter), label=parameter.label)
        select.on_value_change(lambda event: form.enter(parameter.name, event.value))
        select.on_value_change(guarantee.show)
        select.classes("wide")
        paragraph(parameter.help, "soft")
    else:
        value = form.value(parameter)
        field = ui.input(label=parameter.label, value="" if value is None else str(value))
        field.on_value_change(lambda event: change(kind.parse((event.value or "").strip())))
        is_shown = "such as" in parameter.help  # an example says what is allowed
        paragraph(parameter.help if is_shown else f"{parameter.help} {t.ALLOWED.format(range=kind.range)}", "soft")


def _number(page: Page, parameter: Parameter, change: Callable[[Any], None], words: tuple[str, ...]) -> None:
    """A slider and a field for the same number, and a check box for each word that replaces it."""
    form, label, value = page.dataset.form, parameter.label, page.dataset.form.value(parameter)
    low, high = slider_of(parameter)
    is_word = isinstance(value, str)
    with ui.element("div").classes("number"):
        Text("label", label)
        slider = Slider(label, low, high, 1, high if is_word else value)
        number = ui.number(value=None if is_word else value, min=low, step=1)
        number.props["aria-label"] = label
        number.on_value_change(lambda event: change(event.value))
        number.on_value_change(lambda event: slider.show(event.value))
        slider.on_slide(number.set_value)
        if is_word:
            slider.props("disabled")
            number.disable()

    def choose(word: str, *, is_chosen: bool) -> None:
        form.enter(parameter.name, word if is_chosen else (low + high) // 2)
        page.refresh()

    for word in words:
        name = t.WORD_INSTEAD.format(word=word, name=parameter.name)
        box = ui.checkbox(name, value=value == word).props("dense")
        box.on_value_change(lambda event, word=word: choose(word, is_chosen=event.value))
    if words:
        paragraph(parameter.help, "soft")


def _algorithms(page: Page) -> None:
    """The algorithm that enforces the model; most people keep the default."""
    dataset = page.dataset
    entries = dataset.form.algorithms()
    if not entries:
        paragraph(t.ALGORITHM_NONE, "problem")
        return
    default = t.ALGORITHM_SEVERAL if dataset.form.tries_several() else t.ALGORITHM_DEFAULT.format(name=entries[0].name)
    choices = {"": default, **{entry.name: f"{entry.name}: {entry.summary}" for entry in entries}}

    def change(event: Any) -> None:
        dataset.choose_algorithm(event.value or None)
        page.refresh()

    def change_effort(event: Any) -> None:
        dataset.effort = event.value

    def accept(event: Any) -> None:
        dataset.accepts_guessable = event.value

    is_open = dataset.algorithm is not None or dataset.effort != EFFORT
    with ui.expansion(t.ALGORITHM_TITLE, value=is_open):
        select = ui.select(choices, value=dataset.algorithm or "", label=t.ALGORITHM_LABEL, on_change=change)
        select.classes("wide")
        if dataset.tries_several():
            select = ui.select(t.EFFORTS, value=dataset.effort, label=t.EFFORT_LABEL, on_change=change_effort)
            select.classes("wide")
        if any(entry.name == dataset.algorithm and entry.guessable for entry in entries):
            paragraph(t.GUESSABLE_NOTE.format(name=dataset.algorithm), "problem")
            ui.checkbox(t.GUESSABLE, value=dataset.accepts_guessable, on_change=accept)


def _proposals(page: Page) -> Callable[[], None]:
    """Suggested settings; gives what marks the one in use."""
    dataset = page.dataset
    buttons: list[tuple[ui.button, dict[str, Any]]] = []

    def mark() -> None:
        for made, choice in buttons:
            is_taken = _is_taken(dataset, choice)
            made.text = t.TAKEN if is_taken else t.TAKE
            made.props["aria-pressed"] = "true" if is_taken else "false"
            made.props["aria-label"] = f"{made.text}: {choice['guarantee']}"
            made.update()

    def ask() -> None:
        dataset.begin(dataset.suggest())

    def take(choice: dict[str, Any]) -> None:
        dataset.form.model = choice["model"]
        dataset.choose_algorithm(choice["algorithm"], choice["options"])
        for name, value in choice["parameters"].items():
            dataset.form.enter(name, value)
        if choice["hierarchy"] != dataset.hierarchy:
            dataset.hierarchy, dataset.hierarchy_name = choice["hierarchy"], choice["hierarchy_name"]
            dataset.tree = None
        page.refresh()

    def cancel() -> None:
        if dataset.proposing is not None:
            dataset.proposing.replace()

    paragraph(t.SUGGEST_NOTE)
    with ui.element("div").classes("inline"):
        button(t.SUGGEST, ask) if dataset.proposing is None else button(t.SUGGEST_CANCEL, cancel)
        paragraph(t.SUGGEST_FOR.format(purpose=ENVIRONMENTS[PURPOSES[dataset.purpose].environment].words), "soft")
    if dataset.found_nothing:
        paragraph(t.SUGGEST_OTHERWISE, "note")
        with ui.element("div").classes("row-of-buttons"):
            for step in ("overview", *(["columns"] if dataset.columns else [])):
                button(t.GO_TO.format(step=t.STEPS[step][0]), lambda step=step: page.go(step))
    if dataset.proposals is None:
        return mark
    heading(t.SUGGESTED)
    with ui.element("div").classes("cards"):
        for number, choice in enumerate(dataset.proposals["choices"]):
            with ui.element("section").classes("card proposal"):
                role = t.PROPOSAL if number == 0 else shown(choice["role"], 300)
                title = t.PROPOSAL_NAME.format(letter=choice["letter"], role=role)
                made = _proposal(choice, title, take, dataset.uploads, is_first=number == 0)
                buttons.append((made, choice))
    with ui.element("div").classes("halves"):
        if dataset.proposals["chart"]:
            with ui.element("section").classes("runs proposals"):
                drawing(dataset.proposals["chart"])
        with ui.element("section"):
            if dataset.proposals["chart"]:
                paragraph(f"{t.PLANE_NOTE} {t.PLANE_FLOOR}", "soft")
            for title, name in ((t.REASONS, "reasons"), (t.REJECTED, "rejected")):
                if dataset.proposals[name]:
                    with ui.expansion(title):
                        bullets([shown(in_fields(line), LONG) for line in dataset.proposals[name]])
    return mark


def _is_taken(dataset: Dataset, choice: dict[str, Any]) -> bool:
    """Whether everything is set as a proposal has it."""
    given = dataset.algorithm, dataset.algorithm_options, dataset.hierarchy
    if given != (choice["algorithm"], choice["options"], choice["hierarchy"]) or dataset.form.problem():
        return False
    return dataset.form.privacy_model() == make_model(choice["model"], choice["parameters"])


def _proposal(
    choice: dict[str, Any],
    title: str,
    take: Callable[[dict[str, Any]], None],
    names: Mapping[str, str],
    *,
    is_first: bool,
) -> ui.button:
    """What one gets: lights, two figures, the guarantee. How it is made is a detail; ``names`` are those of uploads."""
    Text("h3", title)
    lights(choice["lights"], level=4, with_reasons=False)
    with ui.element("dl").classes("figures"):
        for figure, words in choice["figures"]:
            with ui.element("div"):
                Text("dt", words)
                Text("dd", figure)
    Text("p", choice["guarantee"], "sentence")
    if choice["floor"]:
        paragraph(choice["floor"], "soft")
    if choice["warning"]:
        paragraph(shown(choice["warning"], 400), "problem")
    made = button(t.TAKE, lambda: take(choice), main=is_first)
    with ui.expansion(t.DETAILS):
        how = t.RUN_WITH.format(
            algorithm=shown(choice["algorithm"] or t.RUN_DEFAULT),
            hierarchy=shown(names.get(choice["hierarchy"]) or choice["hierarchy_name"] or t.HIERARCHY_UNUSED),
        )
        bullets([*(one for line in choice["details"] for one in sentences(shown(in_fields(line), LONG))), how])
    return made
