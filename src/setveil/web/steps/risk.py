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
    shown,
    table,
    warnings,
)

if TYPE_CHECKING:
    from setveil.web.page import Page

CHANCE = "mean_inverse_support"


def build(page: Page) -> None:
    """The step."""
    dataset, risk = page.dataset, page.dataset.risk
    if risk is None:
        paragraph(t.ASSESSING if dataset.busy else t.NOT_ASSESSED)
        return

    def try_these(items: list[str]) -> None:
        dataset.known[:] = items
        page.refresh()

    warnings(dataset.notes)  # figures look safe where the file was read wrongly
    with ui.element("div").classes("halves"):
        with ui.element("section"):
            _People(page, risk["rows"])
            heading(t.CURVE_TITLE)
            drawing(risk["chart"])
            with ui.expansion(t.CURVE_TABLE).props("dense"):
                rows = [
                    (str(row["known"]), *(_percent(row[name]) for name in ("singled_out", "below_k", CHANCE)))
                    for row in risk["rows"]
                ]
                table(t.CURVE_TABLE, t.CURVE_HEADER, rows, n_numbers=3)
            if not all(row["exact"] for row in risk["rows"]):
                paragraph(t.SAMPLED, "soft")
        with ui.element("section"):
            _try_it(page)
            heading(t.RAREST_TITLE)
            paragraph(t.RAREST_NOTE if risk["rarest"] else t.RAREST_NONE)
            with ui.element("ul").classes("chips"):
                for items, _ in risk["rarest"]:
                    with ui.element("li"):
                        words = " + ".join(shown(item, 40) for item in items)
                        button(words, lambda items=items: try_these(items), name=t.TRY_THESE.format(items=words))


class _People:
    """Of a hundred people, those whom a few known items single out; a slider says how many items are known."""

    def __init__(self, page: Page, rows: list[dict[str, Any]]) -> None:
        self.dataset = page.dataset
        self.rows = {row["known"]: row for row in rows}
        known = min(self.dataset.n_known, max(self.rows))
        heading(t.PEOPLE_TITLE)
        self.sentence = Text("p", "", "sentence").props("aria-live=polite")
        self.picture = ui.element("div")
        with ui.element("ul").classes("legend people-key"):
            for css, words in zip(PEOPLE, t.PEOPLE_KEY, strict=True):
                with ui.element("li"):
                    drawing(person(css))
                    Text("span", words)
        with ui.element("div").classes("sliding"):
            self.label = Text("label", "")
            slider = Slider(t.PEOPLE_SLIDER_NAME, min(self.rows), max(self.rows), 1, known)
            slider.on_slide(self.show)
        self.worst = Text("p", "")
        self.all = Text("p", "", "soft")
        self.show(known)

    def show(self, known: float) -> None:
        """The picture for so many known items."""
        self.dataset.n_known = number = int(known)
        row, items = self.rows[number], t.N_ITEMS[number == 1].format(n=number)
        self.label.text = t.PEOPLE_SLIDER.format(n=number)
        self.picture.clear()
        average, worst = row["singled_out"], row["below_k"]
        if average is None or worst is None:
            self.sentence.text, self.worst.text, self.all.text = t.PEOPLE_NONE.format(items=items), "", ""
            return
        worst = max(average, worst)  # a search in a sample may give up
        self.sentence.text = t.PEOPLE_SENTENCE.format(items=items, n=of_100(average))
        self.worst.text = t.PEOPLE_WORST.format(n=of_100(worst))
        shares = [_percent(share * row["share_of_records"]) for share in (average, worst)]
        self.all.text = t.PEOPLE_ALL.format(share=shares[0], worst=shares[1])
        with self.picture:
            people(
                round(100 * average),
                round(100 * worst),
                t.PEOPLE_PICTURE.format(n=of_100(average), worst=of_100(worst)),
            )


def of_100(share: float) -> str:
    """A share as a number of 100 people, which is neither none nor all unless it is exactly that."""
    n = round(100 * share)
    return t.FEWER if n == 0 < share else t.NEARLY if n == 100 and share < 1 else str(n)


def _try_it(page: Page) -> None:
    dataset = page.dataset
    heading(t.TRY_TITLE)
    paragraph(t.TRY_NOTE)

    async def count() -> None:
        if not dataset.known:
            answer.text = ""
            return
        try:
            n = await dataset.answer("fitting", {"labels": dataset.known})
        except TaskError as problem:
            answer.text = shown(problem, 300)
            return
        answer.text = t.FITTING[min(n, 2)].format(n=n)
        answer.classes(replace="fits " + ("bad" if n == 1 else "care" if 1 < n < 5 else "good"))

    ItemPicker(t.TRY_LABEL, dataset.known, dataset.find_items, count)
    answer = Text("p", "", "fits").props("role=status")
    if dataset.known:
        ui.timer(0.05, count, once=True)


def _percent(share: float | None) -> str:
    from setveil.workflows.pictures import percent

    return percent(share)
