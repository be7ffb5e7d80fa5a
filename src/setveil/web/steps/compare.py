"""Compare the runs: risk against loss, with the Pareto front; chosen runs side by side, down to single records."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web.children import TaskError
from setveil.web.elements import (
    Cell,
    Text,
    bullets,
    button,
    drawing,
    empty,
    in_fields,
    paragraph,
    problem,
    shown,
    small_lights,
    table,
)
from setveil.web.runs import Run
from setveil.web.steps.outcome import cut_picture, examples, losses

if TYPE_CHECKING:
    from setveil.web.page import Page

AT_FIRST = 2  # runs side by side until the user chooses
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
        empty(t.COMPARE_NONE, t.STEPS["run"][0], lambda: page.go("run"))
        return
    _Comparison(page, runs)


class _Comparison:
    """All runs in the plane of risk and loss, their figures beside it, and the chosen ones next to each other."""

    def __init__(self, page: Page, runs: list[Run]) -> None:
        self.dataset, self.runs = page.dataset, runs
        numbers = [run.number for run in runs]
        self.chosen = [number for number in self.dataset.compared if number in numbers] or numbers[-AT_FIRST:]
        self.choices: dict[int, ui.button] = {}
        self.opened: set[int] = set()  # runs whose details are shown
        self.overview = ui.element("div").classes("halves comparison")
        self.columns = ui.element("div").classes("columns")
        self.show()
        ui.timer(0.05, self._draw, once=True)

    def choose(self, number: int) -> None:
        """Show a run side by side with the others, or take it away."""
        chosen = self.chosen
        if number in self.choices:
            self.chosen = [n for n in chosen if n != number] if number in chosen else [*chosen, number]
            self.dataset.compared = self.chosen  # from now on, later runs do not change it
            self.show()
            self._press()

    def show(self) -> None:
        """The chosen runs next to each other."""
        for number, made in self.choices.items():
            made.props["aria-pressed"] = "true" if number in self.chosen else "false"
            made.update()
        self.columns.clear()
        with self.columns:
            for run in self.runs:
                if run.number in self.chosen:
                    self._details(run)

    def _details(self, run: Run) -> None:
        """What a run did, folded until somebody asks; it stays open while other runs are chosen."""

        def fold(event: Any) -> None:
            (self.opened.add if event.value else self.opened.discard)(run.number)

        title = t.COMPARE_ONE.format(number=run.number)
        with ui.expansion(title, value=run.number in self.opened, on_value_change=fold):
            _one(run)

    def _press(self) -> None:
        ui.run_javascript(SHOW_PRESSED.format(chosen=sorted(self.chosen)))

    async def _draw(self) -> None:
        given = [
            {"number": run.number, "policy": run.policy, "figures": {**run.result["figures"], "seconds": run.seconds}}
            for run in self.runs
        ]
        self.overview.clear()
        with self.overview:
            try:
                found = await self.dataset.answer("compare", {"runs": given})
            except TaskError as reason:
                problem(shown(reason, 300))
                return
            has_groups = any(row["figures"]["kl"] != UNKNOWN for row in found["rows"])
            with ui.element("section").classes("runs"):
                self._chart(found, has_groups)
            with ui.element("section"):
                self._table(found["rows"], found["best"])
            self.show()
            self._press()

    def _chart(self, found: dict[str, Any], has_groups: bool) -> None:
        if not found["chart"]:
            paragraph(t.COMPARE_NO_CHART)
            return
        chart = drawing(found["chart"])
        for event in ("click", "keydown"):
            chart.on(event, lambda event: self.choose(event.args), js_handler=PRESSED)
        with ui.element("p").classes("key drawn"):
            for swatch, name in found["key"]:
                ui.html(swatch, sanitize=False, tag="span")
                Text("span", shown(name))
        with ui.expansion(t.COMPARE_READ):
            bullets([*t.COMPARE_HOW, *(t.COMPARE_HOW_GROUPS if has_groups else ())])

    def _table(self, rows: list[dict[str, Any]], best: dict[str, str]) -> None:
        """A column per run: its lights, its setting, and the figures that one of the runs has, the best of each row
        marked.
        """
        by_number = {run.number: run for run in self.runs}
        shown_as = {key: {row["figures"][key] for row in rows} for key in t.COMPARE_COLUMNS}
        figures = {key: name for key, name in t.COMPARE_COLUMNS.items() if shown_as[key] != {UNKNOWN}}

        def of_runs(build: Callable[[dict[str, Any]], object]) -> list[Cell]:
            return [partial(build, row) for row in rows]

        settings = {row["number"]: self._words(by_number[row["number"]], row["name"]) for row in rows}
        first = settings[rows[0]["number"]]
        common = [word for word in first if len(rows) > 1 and all(word in words for words in settings.values())]
        own = {number: [word for word in words if word not in common] for number, words in settings.items()}
        cells: list[list[Cell]] = [
            [t.LIGHTS, *of_runs(lambda row: small_lights(by_number[row["number"]].lights))],
            *([[t.SETTING, *of_runs(lambda row: _setting(own[row["number"]]))]] if any(own.values()) else []),
            *(
                [name, *of_runs(partial(_figure, key, best, is_same=len(shown_as[key]) == 1 < len(rows)))]
                for key, name in figures.items()
            ),
            [t.COMPARE_REPORT, *of_runs(lambda row: _report(by_number[row["number"]]))],
        ]
        header: list[Cell] = ["", *of_runs(self._choice)]
        table(t.COMPARE_TABLE, header, cells, n_numbers=len(rows))
        if common:
            paragraph(t.COMPARE_COMMON.format(setting=shown(", ".join(common), 120)), "soft")

    def _words(self, run: Run, setting: str) -> list[str]:
        """A setting, its hierarchy under the name that people know."""
        source = str(run.policy["hierarchy"]["source"] or "")
        file = source.rpartition("/")[2]
        known = self.dataset.uploads.get(source, t.HIERARCHY_CHANGED if self._is_own(source) else file)
        return [known if word == file else word for word in setting.split()]

    def _is_own(self, source: str) -> bool:
        return source.startswith(f"{self.dataset.workspace.folder}/")

    def _choice(self, row: dict[str, Any]) -> None:
        number = row["number"]
        self.choices[number] = button(t.RUN_NAME.format(number=number), lambda: self.choose(number))
        if row["is_best"]:
            Text("span", " ★")


def _setting(words: list[str]) -> None:
    """The words of a setting in which it differs from another run."""
    with ui.element("span").classes("setting"):
        for word in words:
            Text("mark", shown(word, 40))
            Text("span", " ")


def _figure(key: str, best: dict[str, str], row: dict[str, Any], *, is_same: bool) -> None:
    figure = row["figures"][key]
    if is_same:
        Text("span", figure, "soft same")
    elif figure == best.get(key):
        Text("strong", figure)
        Text("span", t.COMPARE_BEST, "hidden-from-eyes")
    else:
        Text("span", figure)


def _report(run: Run) -> None:
    link = ui.link(t.COMPARE_OPEN, f"{run.address}/report/internal", new_tab=True)
    link.props["aria-label"] = t.REPORT_OF.format(number=run.number)


def _one(run: Run) -> None:
    """One run, down to examples of single records."""
    result = run.result
    paragraph(result["guarantee"])
    cut_picture(result, hint="", level=2)
    table(t.FIGURES, (t.COST, ""), result["metrics"], n_numbers=1)
    if result["losses"]:
        Text("h2", t.LOSSES_TITLE, "title")
        losses(result["losses"])
    if result["examples"]:
        Text("h2", t.EXAMPLES_TITLE, "title")
        examples(result["examples"])
    bullets([shown(in_fields(line), 500) for line in result["advice"][:2]], "soft")
