"""Compare the runs: risk against loss, with the Pareto front; chosen runs side by side, down to single records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web.children import TaskError
from setveil.web.dataset import Run
from setveil.web.elements import (
    Text,
    bullets,
    button,
    drawing,
    in_fields,
    lights,
    paragraph,
    problem,
    shown,
    small_lights,
    table,
)

if TYPE_CHECKING:
    from setveil.web.page import Page

AT_FIRST = 2  # runs side by side until the user chooses
N_ITEMS = 6  # of a combination that is shown
UNKNOWN = "–"  # a figure that a run does not have


# Marks of the chart are buttons: a click, Enter or the space bar gives the run's number to the page.
PRESSED = """(event) => {
  const mark = event.target.closest('a');
  if (!mark || (event.type === 'keydown' && event.key !== ' ')) return;
  event.preventDefault();
  emit(Number(mark.getAttribute('href').slice(2)));
}"""
SHOW_PRESSED = """for (const mark of document.querySelectorAll('.runs svg a')) {{
  mark.setAttribute('role', 'button');
  mark.setAttribute('aria-pressed', {chosen}.includes(Number(mark.getAttribute('href').slice(2))));
}}"""


def build(page: Page) -> None:
    """The step."""
    runs = page.dataset.done()
    if not runs:
        paragraph(t.COMPARE_NONE)
        button(t.NEXT.format(step=t.STEPS["run"][0]), lambda: page.go("run"), main=True)
        return
    _Comparison(page, runs)


class _Comparison:
    """All runs in the plane of risk and loss, and the chosen ones next to each other."""

    def __init__(self, page: Page, runs: list[Run]) -> None:
        self.dataset, self.runs = page.dataset, runs
        numbers = [run.number for run in runs]
        dataset = page.dataset
        dataset.compared = [number for number in dataset.compared if number in numbers] or numbers[-AT_FIRST:]
        self.overview = ui.element("div")
        Text("h2", t.SIDE_BY_SIDE)
        paragraph(t.SIDE_BY_SIDE_NOTE, "soft")
        with ui.element("div").classes("row-of-buttons"):
            self.choices = {run.number: self._choice(run) for run in runs}
        self.columns = ui.element("div").classes("columns")
        self.show()
        ui.timer(0.05, self._draw, once=True)

    def _choice(self, run: Run) -> ui.button:
        with ui.element("div").classes("named-run"):
            made = button(t.RUN_NAME.format(number=run.number), lambda: self.choose(run.number))
            small_lights(run.lights)
        return made

    def choose(self, number: int) -> None:
        """Show a run side by side with the others, or take it away."""
        chosen = self.dataset.compared
        if number in self.choices:
            self.dataset.compared = [n for n in chosen if n != number] if number in chosen else [*chosen, number]
            self.show()
            self._press()

    def show(self) -> None:
        """The chosen runs next to each other."""
        for number, made in self.choices.items():
            made.props["aria-pressed"] = "true" if number in self.dataset.compared else "false"
            made.update()
        self.columns.clear()
        with self.columns:
            for run in self.runs:
                if run.number in self.dataset.compared:
                    with ui.element("section").classes("card") as card:
                        card.props["aria-label"] = t.RUN_NAME.format(number=run.number)
                        _one(run)

    def _press(self) -> None:
        ui.run_javascript(SHOW_PRESSED.format(chosen=sorted(self.dataset.compared)))

    async def _draw(self) -> None:
        given = [{"number": run.number, "policy": run.policy, "figures": run.result["figures"]} for run in self.runs]
        self.overview.clear()
        with self.overview:
            try:
                found, _ = await self.dataset.child.ask("compare", {"runs": given})
            except TaskError as reason:
                problem(shown(reason, 300))
                return
            has_groups = any(row["reconstruction"] != UNKNOWN for row in found["rows"])
            if found["chart"]:
                self._chart(found, has_groups)
            self._table(found["rows"], has_groups)

    def _chart(self, found: dict[str, Any], has_groups: bool) -> None:
        with ui.element("div").classes("halves"):
            with ui.element("section").classes("runs"):
                chart = drawing(found["chart"])
                for event in ("click", "keydown"):
                    chart.on(event, lambda event: self.choose(event.args), js_handler=PRESSED)
            with ui.element("section"):
                with ui.element("p").classes("key drawn"):
                    for swatch, name in found["key"]:
                        ui.html(swatch, sanitize=False, tag="span")
                        Text("span", shown(name))
                bullets([*t.COMPARE_HOW, *([t.COMPARE_HOW_GROUPS] if has_groups else [])])
        self._press()

    def _table(self, rows: list[dict[str, Any]], has_groups: bool) -> None:
        """All runs with their lights, and the figures that one of them has."""
        columns = {key: name for key, name in t.COMPARE_COLUMNS.items() if any(row[key] != UNKNOWN for row in rows)}
        by_number = {run.number: run for run in self.runs}
        cells = [
            (
                f"{t.RUN_NAME.format(number=row['number'])}{' ★' if row['is_best'] else ''}",
                lambda row=row: small_lights(by_number[row["number"]].lights),
                shown(row["name"], 80),
                *(row[key] for key in columns),
            )
            for row in rows
        ]
        header = (t.RUN, t.LIGHTS, t.SETTING, *columns.values())
        table(t.COMPARE_TABLE, header, cells, n_numbers=len(columns))
        paragraph(t.COMPARE_NOTE + (t.COMPARE_NOTE_GROUPS if has_groups else ""), "soft")


def _one(run: Run) -> None:
    """One run, down to examples of single records."""
    result = run.result
    Text("h3", t.RUN_NAME.format(number=run.number))
    paragraph(result["guarantee"])
    lights(result["lights"], level=4, with_reasons=False)
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
    with ui.expansion(t.FIGURES).props("dense"):
        table(t.FIGURES, (t.COST, ""), result["metrics"], n_numbers=1)
    if result["losses"]:
        with ui.expansion(t.LOSSES_TITLE).props("dense"):
            _losses(result["losses"])
    if result["examples"]:
        with ui.expansion(t.EXAMPLES_TITLE).props("dense"):
            paragraph(t.EXAMPLES_NOTE, "soft")
            table(t.EXAMPLES_TITLE, t.EXAMPLES_HEADER, [_example(example) for example in result["examples"]])
    bullets([shown(in_fields(line), 500) for line in result["advice"][:2]], "soft")
    ui.link(t.REPORT_OF.format(number=run.number), f"{run.address}/report/internal", new_tab=True)


def _losses(losses: list[Any]) -> None:
    """The largest losses; shares only where the algorithm reports them."""
    has_shares = any(share is not None for _, _, share, _ in losses)
    rows = [
        (shown(label), what, *([_share(share)] if has_shares else []), _cause(*cause))
        for label, what, share, cause in losses
    ]
    table(t.LOSSES_TITLE, [name for place, name in enumerate(t.LOSSES_HEADER) if has_shares or place != 2], rows)


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _cause(kind: str, items: list[str], n: int | None) -> str:
    words = " + ".join(shown(item, 40) for item in items[:N_ITEMS]) + (t.MORE if len(items) > N_ITEMS else "")
    return t.LOSS_CAUSES[kind].format(items=words, n=n or 0)


def _example(example: dict[str, Any]) -> tuple[str, str]:
    """A record before and after; suppressed and added items are named, not only coloured."""
    before = [_marked(item) for item in example["before"]]
    after = [_marked(item) for item in example["after"]] or [t.EXAMPLE_EMPTY]
    group = example["group"]
    if group is not None:
        counts = (
            ", ".join(f"{shown(label, 40)}: {count:,}" for label, count in group["counts"]) or t.EXAMPLE_NOT_SENSITIVE
        )
        after.append(t.EXAMPLE_GROUP.format(n=group["size"], counts=counts))
    return ", ".join(before), ", ".join(after)


def _marked(item: dict[str, Any]) -> str:
    words = shown(item["label"], 40)
    if item["mark"]:
        return t.EXAMPLE_MARKS[item["mark"]].format(item=words)
    return words if item["size"] <= 1 else t.EXAMPLE_SET.format(item=words, n=item["size"])
