"""The parts all steps are made of. Labels and names from outside are shown as text, through ``shown``."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from setveil.errors import one_line
from setveil.io.formats.registry import FORMATS
from setveil.io.options import READING
from setveil.web import texts as t

if TYPE_CHECKING:
    from setveil.web.dataset import Dataset

for field_class in (ui.input, ui.number, ui.select, ui.textarea):  # one look for all fields
    field_class.default_props("outlined dense")
ui.expansion.default_props("dense")

MAIN = "no-caps unelevated text-color=on-primary"  # the look of the main button
VALUES = {*FORMATS, *(word for option in READING.values() for word in option.words)}  # that messages give to options
EXPLAINED = re.compile(r": |, for example | \(")  # where a label begins to explain itself


class Text(TextElement):
    """An HTML element that holds text and nothing else."""

    def __init__(self, tag: str, text: str, classes: str = "") -> None:
        super().__init__(tag=tag, text=text)
        if classes:
            self.classes(classes)

    def _text_to_model_text(self, text: str) -> None:
        super()._text_to_model_text(text.replace(" %", "\N{NO-BREAK SPACE}%"))  # a figure stays with its unit


def shown(label: Any, limit: int = 60) -> str:
    """A label from outside as people may see it: nothing in it that a screen would obey."""
    return one_line(str(label), limit)


def sentence(words: str) -> str:
    """Words with a capital letter."""
    return words[:1].upper() + words[1:]


def sentences(text: str) -> list[str]:
    """One per line, where a text says much."""
    parts = re.split(r"(?<=\.) (?=[A-Z0-9])|; (?!of )(?![^(]*\))", text)
    return [sentence(part if part.endswith(".") else f"{part}.") for part in parts if part]


def in_fields(message: str) -> str:
    """A message of the command line, which names options, with the names of the page's fields instead."""
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)(?: (?:NAME\b|(?=([\w:,]+\)|[\w-]+))))?", _field, message)


def _field(found: re.Match[str]) -> str:
    label, following = t.OPTIONS.get(found[1].replace("-", "_")), found[2]
    if label is None:
        return found[0]
    field = f"“{EXPLAINED.split(label)[0]}”"
    has_value = following is not None and (following.endswith(")") or following in VALUES)  # as in (--algorithm trim)
    return field if following is None else f"{field}: " if has_value else f"{field} "


def paragraph(text: str, classes: str = "") -> Text:
    """A paragraph."""
    return Text("p", text, classes)


def heading(text: str) -> Text:
    """A heading inside a step."""
    return Text("h2", text)


def card_title(text: str, level: int = 2) -> Text:
    """The heading of a card; its level follows what stands above it, its look does not."""
    return Text(f"h{level}", text, "title")


def bullets(lines: Sequence[str], classes: str = "") -> None:
    """A list."""
    with ui.element("ul").classes(classes):
        for line in lines:
            Text("li", line)


def problem(text: str) -> Text:
    """What went wrong; screen readers announce it at once."""
    return Text("p", text, "problem").props("role=alert")


def about_visits(dataset: Dataset) -> None:
    """Models and reports speak of people; where records are visits, that is said beside it."""
    if dataset.read and dataset.read["are_visits"]:
        paragraph(t.ABOUT_VISITS, "note")


def warnings(notes: Sequence[str]) -> None:
    """Warnings, each in a paragraph of its own."""
    for note in notes:
        paragraph(shown(in_fields(note), 600), "problem")


def drawing(svg: str) -> ui.html:
    """A chart; the chart drawer escapes all text in it."""
    return ui.html(svg, sanitize=False).classes("drawn")


def button(text: str, act: Callable[..., Any], *, main: bool = False, name: str = "") -> ui.button:
    """A button; ``name`` is for screen readers where the text alone is ambiguous."""
    made = ui.button(text, on_click=act).props(MAIN if main else "no-caps outline")
    if name:
        made.props["aria-label"] = name
    return made


def empty(text: str, step: str, act: Callable[[], Any]) -> None:
    """What a step shows that has nothing to show yet: a sentence, and the button that leads to where it begins."""
    with ui.element("section").classes("empty"):
        paragraph(text)
        button(t.GO_TO.format(step=step), act, main=True)


Cell = str | Callable[[], object]  # text, or a function that builds the content


def table(
    caption: str, header: Sequence[Cell], rows: Sequence[Sequence[Cell]], *, n_numbers: int = 0, classes: str = ""
) -> None:
    """A small table; the last ``n_numbers`` columns hold numbers."""
    first_number = len(header) - n_numbers
    with ui.element("div").classes(f"scroll {classes}").props("tabindex=0 role=region") as region:
        region.props["aria-label"] = caption
        with ui.element("table"):
            Text("caption", caption, "hidden-from-eyes")
            with ui.element("thead"), ui.element("tr"):
                for number, cell in enumerate(header):
                    _cell("th", cell, "n" if number >= first_number else "").props("scope=col")
            with ui.element("tbody"):
                for row in rows:
                    with ui.element("tr"):
                        for number, cell in enumerate(row):
                            _cell("td", cell, "n" if number >= first_number else "")


def _cell(tag: str, cell: Cell, classes: str) -> Text:
    made = Text(tag, cell if isinstance(cell, str) else "", classes)
    if not isinstance(cell, str):
        with made:
            cell()
    return made


Lights = Sequence[Mapping[str, str]]
SIGNS = {"good": "✓", "care": "!", "bad": "✕"}  # colour is never the only difference


def lights(answers: Lights, *, level: int, with_reasons: bool = True) -> None:
    """The lights of a release: guarantee, residual risk, utility. Their headings are of this level."""
    with ui.element("div").classes("drawn"), ui.element("ul").classes("lights"):
        for light in answers:
            with ui.element("li").classes(light["colour"]):
                Text(f"h{level}", light["question"])
                Text("p", light["answer"], "answer")
                if with_reasons:
                    Text("p", shown(light["sentence"], 600), "why")


def small_lights(answers: Lights) -> None:
    """The lights in one line, for places that only name a run."""
    with ui.element("ul").classes("small-lights"):
        for light in answers:
            words = t.LIGHT.format(question=light["question"], answer=light["answer"])
            with ui.element("li").classes(light["colour"]) as place:
                place.props["title"] = words
                Text("span", SIGNS[light["colour"]]).props("aria-hidden=true")
                Text("span", words, "hidden-from-eyes")


def lights_in_words(answers: Lights) -> str:
    """The lights as text, for choices."""
    return t.LIGHT_AND.join(t.LIGHT.format(question=light["question"], answer=light["answer"]) for light in answers)


BODY = '<circle cx="7" cy="5" r="3.6"/><path d="M1.5 21v-5.5a5.5 5.5 0 0 1 11 0V21z"/>'


def crowd(n: int) -> None:
    """A picture of ``n`` people, at most 40."""
    n_drawn = min(n, 40)
    people = "".join(
        f'<g transform="translate({15 * (place % 20)},{26 * (place // 20)})">{BODY}</g>' for place in range(n_drawn)
    )
    height = 26 * -(-n_drawn // 20)
    ui.html(
        f'<svg viewBox="0 0 300 {height}" width="300" height="{height}" aria-hidden="true">{people}</svg>',
        sanitize=False,
    ).classes("crowd")


PEOPLE = ("found", "findable", "hidden-in-crowd")  # singled out by any items, by the most revealing ones, not at all


def person(css: str, x: int = 0, y: int = 0) -> str:
    """One person, as SVG; the three kinds differ in their outline, not only in their colour."""
    mark = '<circle class="mark" cx="7" cy="16" r="1.8"/>' if css == PEOPLE[1] else ""
    drawn = f'<g class="{css}" transform="translate({x},{y})">{BODY}{mark}</g>'
    return drawn if x or y else f'<svg viewBox="0 0 14 23" width="14" height="23" aria-hidden="true">{drawn}</svg>'


def people(n_found: int, n_findable: int, name: str) -> None:
    """A hundred people: the first ``n_found`` are singled out, and up to ``n_findable`` can be."""
    drawn = "".join(
        person(
            PEOPLE[0 if place < n_found else 1 if place < n_findable else 2],
            2 + 15 * (place % 20),
            2 + 25 * (place // 20),
        )
        for place in range(100)
    )
    made = ui.html(f'<svg viewBox="0 0 302 126" role="img" aria-label="{name}">{drawn}</svg>', sanitize=False)
    made.classes("people")


class Slider(Element):
    """The browser's own slider, which keyboards and screen readers know."""

    def __init__(self, name: str, low: float, high: float, step: float, value: float) -> None:
        super().__init__("input")
        self.props(f"type=range min={low} max={high} step={step} value={value}").props["aria-label"] = name

    def show(self, value: float | None) -> None:
        """Move it; beyond its ends it stays at the end."""
        if value is not None:
            self.props["value"] = value
            self.update()

    def on_slide(self, change: Callable[[float], Any]) -> None:
        """Call ``change`` with the value at every move."""
        self.on("input", lambda event: change(event.args), js_handler="(e) => emit(Number(e.target.value))")


class Tick(Element):
    """The browser's own check box: hundreds of them stay quick."""

    def __init__(self, name: str, *, value: bool = False) -> None:
        super().__init__("input")
        self.props("type=checkbox").props["aria-label"] = name
        if value:
            self.props("checked")

    def on_tick(self, change: Callable[[bool], Any]) -> None:
        """Call ``change`` with whether it is ticked."""
        self.on("change", lambda event: change(bool(event.args)), js_handler="(e) => emit(e.target.checked)")


class Choice(Element):
    """The browser's own list to choose from: a hundred of them stay quick, and it opens where there is room."""

    def __init__(self, name: str, choices: Mapping[str, str], value: str, change: Callable[[str], Any]) -> None:
        super().__init__("select")
        self.classes("choice").props["aria-label"] = name
        self.value, self.change = value, change
        self.props["value"] = value
        with self:
            for key, words in choices.items():
                Text("option", words).props["value"] = key
        self.on("change", lambda event: self._take(str(event.args)), js_handler="(e) => emit(e.target.value)")

    def choose(self, value: str) -> None:
        """As if somebody chose it."""
        self._take(value)
        self.update()

    def _take(self, value: str) -> None:
        self.value = self.props["value"] = value
        self.change(value)


class ItemPicker:
    """Find items of a data set by label or name, choose some, or all below a group of the hierarchy.

    ``change`` is called after every change of the choice; ``take_group`` gets the items of a group, which are chosen
    unless it is given.
    """

    def __init__(
        self,
        label: str,
        chosen: list[str],
        dataset: Dataset,
        change: Callable[[], Any],
        *,
        with_groups: bool = True,
        take_group: Callable[[list[str]], Any] | None = None,
    ) -> None:
        self.label, self.chosen, self.dataset, self.change = label, chosen, dataset, change
        self.with_groups, self.take_group = with_groups, take_group or self._choose_all
        self.found: Sequence[tuple[str, int]] = []
        self.groups: Sequence[tuple[str, list[str]]] = []
        with ui.element("div").classes("picker"):
            self.field = ui.input(label=label).props("clearable autocomplete=off")
            self.field.on_value_change(self._look)
            self.field.on("keydown.enter", self._take_first)
            self.results = ui.element("ul").classes("chips results")
            self.picked = ui.element("ul").classes("chips picked")
            self.picked.props["aria-label"] = t.CHOSEN.format(label=label)
            self.results.props["aria-label"] = t.FOUND.format(label=label)
            self.rest = ui.element("div")
        self._show()

    async def _look(self) -> None:
        typed = self.field.value
        text = (typed or "").strip()
        found = [pair for pair in await self.dataset.find_items(text) if pair[0] not in self.chosen] if text else []
        groups = await self.dataset.find_groups(text) if text and self.with_groups else []
        if typed == self.field.value:  # else the answer to a later text follows
            self.found, self.groups = found, groups
            self._show()

    async def _take_first(self) -> None:
        await self._look()
        if self.found:
            await self._toggle(self.found[0][0])

    async def _toggle(self, item: str) -> None:
        if item in self.chosen:
            self.chosen.remove(item)
            await self._changed()
        else:
            self.chosen.append(item)
            await self._done()

    async def _take_group(self, items: list[str]) -> None:
        self.take_group(items)
        await self._done()

    def _choose_all(self, items: list[str]) -> None:
        self.chosen += [item for item in items if item not in self.chosen]

    async def _remove_all(self) -> None:
        self.chosen.clear()
        await self._changed()

    async def _done(self) -> None:
        self.found, self.groups = [], []
        self.field.value = ""
        await self._changed()

    async def _changed(self) -> None:
        self._show()
        answer = self.change()
        if isinstance(answer, Awaitable):
            await answer

    def _show(self) -> None:
        for place in (self.results, self.picked, self.rest):
            place.clear()
        with self.results:
            for item, support in self.found[:12]:
                with ui.element("li"):
                    words = t.ITEM_SUPPORT.format(item=self.dataset.shown(item), support=support)
                    button(words, lambda item=item: self._toggle(item), name=t.ADD_ITEM.format(item=shown(item)))
            for label, items in self.groups[:6]:
                with ui.element("li"):
                    words = t.GROUP_ITEMS.format(label=self.dataset.shown(label), n=len(items))
                    button(words, lambda items=items: self._take_group(items), name=t.ADD_ITEM.format(item=words))
        with self.picked:
            for item in self.chosen[: t.N_CHIPS]:
                with ui.element("li"):
                    name = t.REMOVE_ITEM.format(item=shown(item))
                    made = button(self.dataset.shown(item), lambda item=item: self._toggle(item), name=name)
                    made.props("icon-right=close")
        with self.rest:
            if len(self.chosen) > t.N_CHIPS:
                paragraph(t.AND_MORE.format(n=len(self.chosen) - t.N_CHIPS), "soft")
                button(t.REMOVE_ALL.format(n=len(self.chosen)), self._remove_all)
