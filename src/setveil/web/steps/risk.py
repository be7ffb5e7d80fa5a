"""The risk before anonymization: how many people a few known items single out, and the same tried by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web.children import TaskError
from setveil.web.elements import (
    PEOPLE,
    ItemPicker,
    Slider,
    Text,
    button,
    drawing,
    heading,
    paragraph,
    people,
    person,
    sentence,
    shown,
    table,
    warnings,
)
from setveil.workflows.pictures import short_percent

if TYPE_CHECKING:
    from setveil.web.dataset import Dataset
    from setveil.web.page import Page

CHANCE = "mean_inverse_support"
N_EXAMPLES = 12  # of what leads to one person


def build(page: Page) -> None:
    """The step."""
    dataset, risk = page.dataset, page.dataset.risk
    if risk is None:
        paragraph(t.ASSESSING if dataset.busy else t.NOT_ASSESSED)
        return
    warnings(dataset.notes)  # figures look safe where the file was read wrongly
    with ui.element("div").classes("halves"):
        with ui.element("section"):
            _People(page, risk)
        with ui.element("section"):
            _try_it(page, risk)
            _examples(page, risk)
    title = t.CURVE_TABLE.format(who=sentence(_who(dataset)["many"]))
    with ui.expansion(title), ui.element("div").classes("halves"):
        with ui.element("section"):
            drawing(risk["chart"])
        with ui.element("section"):
            rows = [
                (str(row["known"]), *(short_percent(row[name]) for name in ("singled_out", "below_k", CHANCE)))
                for row in risk["rows"]
            ]
            table(title, t.CURVE_HEADER, rows, n_numbers=3)
            if not all(row["exact"] for row in risk["rows"]):
                paragraph(t.SAMPLED, "soft")


def _examples(page: Page, risk: dict[str, Any]) -> None:
    """Knowledge that leads to one person, to be tried with one click."""
    dataset = page.dataset

    def try_these(values: dict[str, str], items: list[str]) -> None:
        dataset.known[:], dataset.known_values = items, dict(values)
        page.refresh()

    found = [*risk["rare_people"], *risk["rarest"]][:N_EXAMPLES]
    heading(t.RAREST_TITLE.format(**_who(dataset)))
    paragraph((t.RAREST_NOTE if found else t.RAREST_NONE).format(**_who(dataset)))
    with ui.element("ul").classes("chips"):
        for values, items in found:
            known = [
                t.VALUE_OF.format(column=shown(name, 20), value=shown(value, 20)) for name, value in values.items()
            ]
            words = " + ".join([*known, *map(dataset.shown, items)])
            with ui.element("li"):
                button(
                    words,
                    lambda values=values, items=items: try_these(values, items),
                    name=t.TRY_THESE.format(items=words),
                )


class _People:
    """Of a hundred people, those whom an attacker singles out; sliders and boxes say what is known."""

    def __init__(self, page: Page, risk: dict[str, Any]) -> None:
        self.dataset, self.risk, self.who = page.dataset, risk, _who(page.dataset)
        heading(t.PEOPLE_TITLE)
        self.sentence = Text("p", "", "sentence").props("aria-live=polite")
        self.picture = ui.element("div")
        with ui.element("ul").classes("legend people-key"):
            for css, words in zip(PEOPLE, t.PEOPLE_KEY, strict=True):
                with ui.element("li"):
                    drawing(person(css))
                    Text("span", words)
        with ui.element("fieldset").classes("sliding"):
            Text("legend", t.PEOPLE_KNOWS)
            for name in risk["values"]:
                ui.checkbox(
                    shown(name, 40),
                    value=name in self.dataset.known_columns,
                    on_change=lambda event, name=name: self._choose(name, is_known=event.value),
                ).props("dense")
            self.label = Text("label", "")
            numbers = [row["known"] for row in risk["rows"]]
            least = 0 if risk["values"] else min(numbers)
            known = max(min(self.dataset.n_known, max(numbers)), least)
            slider = Slider(t.PEOPLE_SLIDER_NAME, least, max(numbers), 1, known)
            slider.on_slide(self._slide)
        self.worst = Text("p", "")
        self.all = Text("p", "", "soft")
        self.dataset.n_known = known
        self.show()

    async def _choose(self, name: str, *, is_known: bool) -> None:
        chosen = [*self.dataset.known_columns, name] if is_known else self.dataset.known_columns
        dataset = self.dataset
        dataset.known_columns = [one for one in self.risk["values"] if one in chosen and (is_known or one != name)]
        key = tuple(dataset.known_columns)
        if key and key not in dataset.risk_of:
            self.sentence.text = t.ASSESSING
            numbers = [row["known"] for row in self.risk["rows"]]
            given = {"columns": list(key), "known": numbers}
            rows = await dataset.ask(t.ASSESSING, "risk", "risk_with_columns", **given)
            if rows is not None:
                dataset.risk_of[key] = rows
        self.show()

    def _slide(self, known: float) -> None:
        self.dataset.n_known = int(known)
        self.show()

    def show(self) -> None:
        """The picture for what is known."""
        columns, number = self.dataset.known_columns, self.dataset.n_known
        rows = self.dataset.risk_of.get(tuple(columns), []) if columns else self.risk["rows"]
        row = next((row for row in rows if row["known"] == number), None)
        items = t.N_ITEMS[number == 1].format(n=number)
        known = [*(shown(name, 40) for name in columns), *([items] if number else [])]
        knows = t.AND.join(filter(None, [", ".join(known[:-1]), *known[-1:]]))
        self.label.text = t.PEOPLE_SLIDER.format(n=number, **self.who)
        self.picture.clear()
        self.worst.text = self.all.text = ""
        if not known:
            self.sentence.text = t.PEOPLE_NOTHING
            return
        average, worst = (row["singled_out"], row["below_k"]) if row else (None, None)
        if average is None or worst is None or row is None:
            self.sentence.text = t.PEOPLE_NONE.format(items=items, **self.who)
            return
        worst = max(average, worst)  # a search in a sample may give up
        base = t.PEOPLE_WITH.format(items=items) if number else ""
        self.sentence.text = t.PEOPLE_SENTENCE.format(base=base, knows=knows, n=of_100(average), **self.who)
        if number:
            self.worst.text = t.PEOPLE_WORST.format(n=of_100(worst), **self.who)
            shares = [short_percent(share * row["share_of_records"]) for share in (average, worst)]
            self.all.text = t.PEOPLE_ALL.format(share=shares[0], worst=shares[1], **self.who)
        with self.picture:
            people(
                round(100 * average),
                round(100 * worst),
                t.PEOPLE_PICTURE.format(n=of_100(average), worst=of_100(worst), **self.who),
            )


def _who(dataset: Dataset) -> dict[str, str]:
    """What records are: people, or visits."""
    return dict(zip(("one", "many"), t.ONE_AND_MANY[bool(dataset.read and dataset.read["are_visits"])], strict=True))


def of_100(share: float) -> str:
    """A share as a number of 100 people, which is neither none nor all unless it is exactly that."""
    n = round(100 * share)
    return t.FEWER if n == 0 < share else t.NEARLY if n == 100 and share < 1 else str(n)


def _try_it(page: Page, risk: dict[str, Any]) -> None:
    """Look for a neighbour: values of columns and items that somebody may know, and how many people match."""
    dataset = page.dataset
    heading(t.TRY_TITLE.format(**_who(dataset)))
    paragraph(t.TRY_NOTE.format(**_who(dataset)))

    async def count() -> None:
        if not dataset.known and not dataset.known_values:
            answer.text = ""
            return
        try:
            n = await dataset.answer("fitting", {"labels": dataset.known, "values": dataset.known_values})
        except TaskError as problem:
            answer.text = shown(problem, 300)
            return
        answer.text = t.FITTING[min(n, 2)].format(n=n, **_who(dataset))
        answer.classes(replace="fits " + ("bad" if n == 1 else "care" if 1 < n < 5 else "good"))

    async def choose(name: str, value: str | None) -> None:
        if value is None:
            dataset.known_values.pop(name, None)
        else:
            dataset.known_values[name] = value
        await count()

    if risk["values"]:
        with ui.element("div").classes("fields"):
            for name, values in risk["values"].items():
                choices = {value: shown(value, 40) for value in values}
                select = ui.select(choices, value=dataset.known_values.get(name), label=shown(name, 40), clearable=True)
                select.on_value_change(lambda event, name=name: choose(name, event.value))
                select.props("options-dense")
    ItemPicker(t.TRY_LABEL, dataset.known, dataset, count, with_groups=False)
    answer = Text("p", "", "fits").props("role=status")
    if dataset.known or dataset.known_values:
        ui.timer(0.05, count, once=True)
