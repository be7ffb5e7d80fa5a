"""Compare the runs: risk against loss, with the front that nothing beats; chosen ones side by side, down to records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web.children import TaskError
from setveil.web.elements import Text, bullets, button, drawing, lights, paragraph, problem, shown, table
from setveil.web.session import Run

if TYPE_CHECKING:
    from setveil.web.page import Page

AT_FIRST = 2  # runs side by side until somebody chooses


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
            _overview(found)

    ui.timer(0.05, draw, once=True)
    _side_by_side(page, runs)


def _overview(found: dict[str, Any]) -> None:
    """All runs: the chart and the table."""
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
    table(t.COMPARE_TABLE, (t.RUN, t.SETTING, *t.COMPARE_COLUMNS.values()), rows, n_numbers=len(t.COMPARE_COLUMNS))
    paragraph(t.COMPARE_NOTE, "soft")


def _side_by_side(page: Page, runs: list[Run]) -> None:
    """The chosen runs next to each other."""
    session = page.session
    numbers = [run.number for run in runs]
    session.compared = [number for number in session.compared if number in numbers] or numbers[-AT_FIRST:]

    def choose(number: int) -> None:
        chosen = session.compared
        session.compared = [n for n in chosen if n != number] if number in chosen else [*chosen, number]
        show()

    Text("h2", t.SIDE_BY_SIDE)
    paragraph(t.SIDE_BY_SIDE_NOTE, "soft")
    with ui.element("div").classes("row-of-buttons"):
        choices = {
            number: button(t.RUN_NAME.format(number=number), lambda number=number: choose(number)) for number in numbers
        }
    place = ui.element("div").classes("columns")

    def show() -> None:
        for number, made in choices.items():
            made.props["aria-pressed"] = "true" if number in session.compared else "false"
            made.update()
        place.clear()
        with place:
            for run in runs:
                if run.number in session.compared:
                    with ui.element("section").classes("card") as card:
                        card.props["aria-label"] = t.RUN_NAME.format(number=run.number)
                        _one(run)

    show()


def _one(run: Run) -> None:
    """One run, down to what became of single records."""
    result = run.result
    Text("h3", t.RUN_NAME.format(number=run.number))
    paragraph(result["guarantee"])
    lights(result["lights"], with_reasons=False)
    table(t.FIGURES, (t.COST, ""), result["metrics"], n_numbers=1)
    if result["picture"]:
        Text("h4", t.CUT_TITLE)
        with ui.element("div").classes("scroll").props("tabindex=0 role=region") as region:
            region.props["aria-label"] = t.CUT_TITLE
            drawing(result["picture"])
        with ui.element("ul").classes("legend"):
            for css, words in result["legend"]:
                with ui.element("li"):
                    ui.element("span").classes(f"swatch {css}")
                    Text("span", words)
    if result["losses"]:
        Text("h4", t.LOSSES_TITLE)
        rows = [
            (shown(label), what, _share(share), _cause(cause, n)) for label, what, share, cause, n in result["losses"]
        ]
        table(t.LOSSES_TITLE, t.LOSSES_HEADER, rows)
    if result["examples"]:
        Text("h4", t.EXAMPLES_TITLE)
        paragraph(t.EXAMPLES_NOTE, "soft")
        table(t.EXAMPLES_TITLE, t.EXAMPLES_HEADER, [_example(example) for example in result["examples"]])
    bullets(result["advice"][:2], "soft")
    ui.link(t.REPORT_OF.format(number=run.number), f"/run/{run.number}/report/internal", new_tab=True)


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _cause(items: list[str], support: int | None) -> str:
    if not items:
        return t.LOSS_UNKNOWN
    words = " + ".join(shown(item, 40) for item in items)
    return words if support is None else t.LOSS_CAUSE.format(items=words, n=support)


def _example(example: dict[str, Any]) -> tuple[str, str]:
    """A record before and after, in words: what was removed and added is said, not only coloured."""
    before = [_marked(item) for item in example["before"]]
    after = [_marked(item) for item in example["after"]] or [t.EXAMPLE_EMPTY]
    group = example["group"]
    if group is not None:
        counts = ", ".join(f"{shown(label, 40)}: {count:,}" for label, count in group["counts"]) or t.EXAMPLE_NO_SECRET
        after.append(t.EXAMPLE_GROUP.format(n=group["size"], counts=counts))
    return ", ".join(before), ", ".join(after)


def _marked(item: dict[str, Any]) -> str:
    words = shown(item["label"], 40)
    if item["mark"]:
        return t.EXAMPLE_MARKS[item["mark"]].format(item=words)
    return words if item["size"] <= 1 else t.EXAMPLE_SET.format(item=words, n=item["size"])
