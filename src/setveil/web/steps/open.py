"""Open a file: drop it, give its path, or take the sample; see how it was read, and correct it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from setveil.errors import SetveilError
from setveil.io.formats.registry import FORMATS
from setveil.io.options import READING
from setveil.web import texts as t
from setveil.web.elements import (
    Text,
    bullets,
    button,
    card_title,
    drawing,
    heading,
    in_fields,
    paragraph,
    shown,
    table,
    uploader,
    warnings,
)
from setveil.web.guard import MAX_UPLOAD, MEGABYTE

if TYPE_CHECKING:
    from setveil.web.dataset import Dataset
    from setveil.web.page import Page

FIELDS = tuple(option.name for option in READING.values() if not option.is_switch and option.name != "format")
ROLES = ("id_column", "item_column", "item_columns")
UNUSED = "unused"
MAX_COLUMNS = 60  # of a table whose roles are shown one by one
SWITCHES = tuple(option.name for option in READING.values() if option.is_switch)


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset
    if dataset.read is not None:
        _read(page)
    if dataset.path is not None and not dataset.is_reading:
        _correct(page)
    if dataset.read is not None:
        button(t.NEXT.format(step=t.STEPS["risk"][0]), lambda: page.go("risk"), main=True)
    _choose(page)


def _choose(page: Page) -> None:
    dataset = page.dataset

    def open_file(path: Path, name: str, **given: Any) -> None:
        page.show_dataset(page.session.open(page.dataset, path, name, **given))

    async def receive(event: events.UploadEventArguments) -> None:
        open_file(await page.session.receive(event.file, "input"), shown(event.file.name))

    def too_large() -> None:
        dataset.problem = t.TOO_LARGE.format(megabytes=MAX_UPLOAD // MEGABYTE)

    def open_path() -> None:
        path = Path((field.value or "").strip()).expanduser()
        if not path.is_file():
            field.error = t.NO_SUCH_FILE.format(path=shown(path, 200))
            return
        open_file(path.absolute(), shown(path.name))

    def open_sample(*, with_tour: bool = False) -> None:
        from setveil.workflows.samples import demo_files

        page.session.is_touring = with_tour
        baskets, taxonomy = demo_files()
        open_file(baskets, baskets.name, hierarchy=str(taxonomy))

    level = 2 if dataset.path is None else 3
    if dataset.path is not None:
        _datasets(page)
        heading(t.OPEN_ANOTHER)
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            card_title(t.DROP_TITLE, level)
            uploader(t.DROP_HERE, MAX_UPLOAD, receive, too_large, main=dataset.read is None)
            paragraph(t.DROP_NOTE.format(megabytes=MAX_UPLOAD // MEGABYTE), "soft")
        with ui.element("section").classes("card"):
            card_title(t.PATH_TITLE, level)
            field = ui.input(label=t.PATH_LABEL).props("outlined dense")
            field.on("keydown.enter", open_path)
            button(t.PATH_OPEN, open_path)
            paragraph(t.PATH_NOTE, "soft")
        with ui.element("section").classes("card"):
            card_title(t.SAMPLE_TITLE, level)
            paragraph(t.SAMPLE_NOTE)
            with ui.element("div").classes("row-of-buttons"):
                button(t.SAMPLE_OPEN, lambda: open_sample(), main=dataset.read is None)
                button(t.TOUR_START, lambda: open_sample(with_tour=True))


def _datasets(page: Page) -> None:
    """The data sets that are open, each with its runs: return to one, or remove it."""

    def remove(dataset: Dataset) -> None:
        following = page.session.remove(dataset)
        page.show_dataset(following if dataset is page.dataset else page.dataset)

    heading(t.DATASETS)
    with ui.element("ul").classes("datasets"):
        for dataset in page.session.datasets:
            name = dataset.title()
            with ui.element("li"):
                Text("span", name, "which")
                Text("span", t.DATASET_RUNS.format(n=len(dataset.runs)), "soft")
                if dataset is not page.dataset:
                    button(
                        t.DATASET_SHOW,
                        lambda dataset=dataset: page.show_dataset(dataset),
                        name=f"{t.DATASET_SHOW}: {name}",
                    )
                button(t.DATASET_REMOVE, lambda dataset=dataset: remove(dataset), name=f"{t.DATASET_REMOVE}: {name}")


def _read(page: Page) -> None:
    """What the data is, at a glance; then how it was read, and ten records."""
    read = page.dataset.read
    assert read is not None
    facts: dict[str, Any] = read["facts"]
    found: dict[str, Any] = read["overview"]
    warnings(page.dataset.notes)
    heading(t.OVERVIEW)
    figures = {
        "people": (f"{facts['records']:,}", ""),
        "items": (f"{facts['items']:,}", ""),
        "length": (f"{found['median_length']:g}", t.LENGTH_RANGE.format(low=found["shortest"], high=found["longest"])),
        "rare": (f"{found['rare_items']:,}", ""),
    }
    with ui.element("dl").classes("figures tiles"):
        for name, (figure, more) in figures.items():
            with ui.element("div"):
                Text("dt", t.OVERVIEW_FIGURES[name].format(n=found["rare_below"]))
                Text("dd", figure)
                if more:
                    Text("dd", more, "soft")
    with ui.element("div").classes("thirds"):
        for title, chart in ((t.LENGTHS_TITLE, "lengths"), (t.SUPPORTS_TITLE, "supports")):
            with ui.element("section"):
                Text("h3", title)
                drawing(read[chart])
        with ui.element("section"):
            Text("h3", t.COMMON_TITLE)
            n_people = max(facts["records"], 1)
            common = [(shown(item, 40), f"{n:,}", f"{n / n_people:.0%}") for item, n in found["common"]]
            table(t.COMMON_TITLE, t.COMMON_HEADER, common, n_numbers=2)
    heading(t.HOW_READ)
    Text("p", shown(in_fields(facts["summary"]), 600), "result")
    bullets(_roles(facts))
    rows = [
        [shown(name, 30), ", ".join(shown(item, 40) for item in items[:20]) + (t.MORE if len(items) > 20 else "")]
        for name, items in read["records"]
    ]
    with ui.expansion(t.PREVIEW, value=True).props("dense"):
        table(t.PREVIEW, (t.PERSON, t.ITEMS), rows)  # by number: ids are not kept


def _roles(facts: dict[str, Any]) -> list[str]:
    """The columns and what they are used for."""
    lines = []
    if facts.get("id_column"):
        lines.append(t.ROLE_ID.format(column=shown(facts["id_column"])))
    if facts.get("item_column"):
        lines.append(t.ROLE_ITEM.format(column=shown(facts["item_column"])))
    if facts.get("not_used"):
        lines.append(t.ROLE_UNUSED.format(columns=", ".join(shown(name, 30) for name in facts["not_used"])))
    if facts.get("empty_records"):
        lines.append(t.EMPTY_RECORDS.format(n=facts["empty_records"]))
    return lines


def _correct(page: Page) -> None:
    """Fields to read the file in another way."""
    dataset = page.dataset
    wrong = dataset.read is None
    roles: dict[int, Any] = {}
    with ui.expansion(t.CORRECT.format(name=dataset.name), value=wrong).classes("correct").props("dense"):
        paragraph(t.CORRECT_NOTE, "soft")
        has_table = 1 < len(dataset.columns) <= MAX_COLUMNS
        if has_table:
            roles = _columns(dataset.columns)
        with ui.element("div").classes("fields"):
            choices = {"": t.DETECT, **{name: format.shown for name, format in FORMATS.items()}}
            format = ui.select(choices, value=dataset.options.get("format", ""), label=t.OPTIONS["format"])
            format.props("outlined dense")
            fields = {
                name: ui.input(label=t.OPTIONS[name], value=_text(dataset.options.get(name, ""))).props(
                    "outlined dense"
                )
                for name in FIELDS
                if not (has_table and name in ROLES)
            }
        switches = {name: ui.checkbox(t.OPTIONS[name], value=dataset.options.get(name, False)) for name in SWITCHES}

        def reread() -> None:
            given: dict[str, Any] = {name: field.value for name, field in fields.items()}
            given |= {"format": format.value, **{name: switch.value for name, switch in switches.items()}}
            if has_table and given["delimiter"] == dataset.options.get("delimiter", ""):  # the same columns
                given |= {name: dataset.options[name] for name in ROLES if name in dataset.options}
            chosen = [(column[0], roles[place].value) for place, column in enumerate(dataset.columns) if roles]
            try:
                if chosen != [(name, role or UNUSED) for name, role, _ in dataset.columns]:  # else as it was detected
                    layout = given["format"] or (dataset.read or {}).get("facts", {}).get("layout")
                    given = {
                        **{name: given[name] for name in given if name not in ROLES},
                        **_role_options(chosen, layout),
                    }
            except SetveilError as reason:
                dataset.problem = str(reason)
                return
            options = {name: value for name, value in given.items() if value}
            page.show_dataset(page.session.read_again(dataset, options))

        button(t.READ_AGAIN, reread, main=wrong)


def _role_options(chosen: list[tuple[str, str]], layout: str | None) -> dict[str, Any]:
    from setveil.workflows.explore import options_of_roles

    return options_of_roles(chosen, layout)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _columns(columns: list[Any]) -> dict[int, Any]:
    """The columns of a table with their roles; the fields that change them, by place."""
    fields: dict[int, Any] = {}
    with ui.element("div").classes("scroll").props("tabindex=0 role=region") as region:
        region.props["aria-label"] = t.COLUMNS
        with ui.element("table").classes("roles"):
            Text("caption", t.COLUMNS, "hidden-from-eyes")
            with ui.element("thead"), ui.element("tr"):
                for name in t.COLUMNS_HEADER:
                    Text("th", name).props("scope=col")
            with ui.element("tbody"):
                for place, (name, role, cells) in enumerate(columns):
                    with ui.element("tr"):
                        Text("td", shown(name, 40))
                        Text("td", ", ".join(shown(cell, 24) for cell in cells), "soft")
                        with ui.element("td"):
                            field = ui.select(t.ROLES, value=role or UNUSED).props("outlined dense")
                            field.props["aria-label"] = t.ROLE_OF.format(column=shown(name, 40))
                            fields[place] = field
    return fields
