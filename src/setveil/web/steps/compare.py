"""Compare the runs: risk against loss, with the front that nothing beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from setveil.web import texts as t
from setveil.web.children import TaskError
from setveil.web.elements import Text, button, drawing, paragraph, problem, shown, table

if TYPE_CHECKING:
    from setveil.web.page import Page


def build(page: Page) -> None:
    """The step."""
    runs = page.session.done()
    if not runs:
        paragraph(t.COMPARE_NONE)
        button(t.NEXT.format(step=t.STEPS["run"][0]), lambda: page.go("run"), main=True)
        return
    place = ui.element("div")

    async def draw() -> None:
        given = [{"number": run.number, "policy": run.policy, "figures": run.result["figures"]} for run in runs]
        place.clear()
        with place:
            try:
                found, _ = await page.session.child.ask("compare", {"runs": given})
            except TaskError as reason:
                problem(shown(reason, 300))
                return
            if found["chart"]:
                drawing(found["chart"])
                with ui.element("p").classes("key drawn"):
                    for swatch, name in found["key"]:
                        ui.html(swatch, sanitize=False, tag="span")
                        Text("span", shown(name))
            rows = [
                (
                    f"{t.RUN_NAME.format(number=row['number'])}{' ★' if row['is_best'] else ''}",
                    shown(row["name"], 80),
                    *(row[key] for key in t.COMPARE_COLUMNS),
                )
                for row in found["rows"]
            ]
            table(
                t.COMPARE_TABLE, (t.RUN, t.SETTING, *t.COMPARE_COLUMNS.values()), rows, n_numbers=len(t.COMPARE_COLUMNS)
            )
            paragraph(t.COMPARE_NOTE, "soft")

    ui.timer(0.05, draw, once=True)
    paragraph(t.COMPARE_REPORTS)
    with ui.element("ul"):
        for run in runs:
            with ui.element("li"):
                words = t.REPORT_OF.format(number=run.number)
                ui.link(words, f"/run/{run.number}/report/internal", new_tab=True)
