"""The risk before anonymization: how many people a few known items single out, and the same tried by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from setveil.web import texts as t
from setveil.web.children import TaskError
from setveil.web.elements import ItemPicker, Text, button, drawing, heading, paragraph, shown, table, warnings

if TYPE_CHECKING:
    from setveil.web.page import Page


def build(page: Page) -> None:
    """The step."""
    dataset, risk = page.dataset, page.dataset.risk
    if risk is None:
        paragraph(t.ASSESSING if dataset.busy else t.NOT_ASSESSED)
        return
    warnings(dataset.notes)  # figures look safe where the file was read wrongly
    with ui.element("div").classes("halves"):
        with ui.element("section"):
            heading(t.CURVE_TITLE)
            drawing(risk["chart"])
            rows = [
                (str(row["known"]), _percent(row["singled_out"]), _percent(row["mean_inverse_support"]))
                for row in risk["rows"]
            ]
            table(t.CURVE_TABLE, t.CURVE_HEADER, rows, n_numbers=2)
            if not all(row["exact"] for row in risk["rows"]):
                paragraph(t.SAMPLED, "soft")
        with ui.element("section"):
            _try_it(page)
            heading(t.RAREST_TITLE)
            if risk["rarest"]:
                paragraph(t.RAREST_NOTE)
                rare = [(" + ".join(shown(item, 40) for item in items), f"{n:,}") for items, n in risk["rarest"]]
                table(t.RAREST_TITLE, t.RAREST_HEADER, rare, n_numbers=1)
            else:
                paragraph(t.RAREST_NONE)
    with ui.element("div").classes("halves"):
        for title, chart in ((t.SUPPORTS_TITLE, "supports"), (t.LENGTHS_TITLE, "lengths")):
            with ui.element("section"):
                heading(title)
                drawing(risk[chart])
    button(t.NEXT.format(step=t.STEPS["protect"][0]), lambda: page.go("protect"), main=True)


def _try_it(page: Page) -> None:
    dataset = page.dataset
    heading(t.TRY_TITLE)
    paragraph(t.TRY_NOTE)

    async def count() -> None:
        if not dataset.known:
            answer.text = ""
            return
        try:
            n, _ = await dataset.child.ask("fitting", {"labels": dataset.known})
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
