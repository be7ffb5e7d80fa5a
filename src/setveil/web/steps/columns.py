"""Columns: what each column of a table is, and how the file is read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.errors import SetveilError
from setveil.io.formats.registry import FORMATS, is_grid
from setveil.io.options import READING
from setveil.io.roles import OLDER, OPTION_OF, as_options
from setveil.web import texts as t
from setveil.web.elements import Choice, Text, button, empty, heading, in_fields, paragraph, shown, table, warnings
from setveil.workflows.pictures import short_percent

if TYPE_CHECKING:
    from setveil.web.page import Page

SAYS_ROLES = (*(option.name for option in READING.values() if option.is_role), *OLDER)
MANY = 10  # columns: the table scrolls inside itself
FAMILY = 3  # columns whose names differ in their number only, and more, get a role together
MAX_COLUMNS = 100  # of a table whose roles are chosen one by one
FIELDS = tuple(name for name in READING if not READING[name].is_switch and name not in ("format", *OLDER))
SWITCHES = tuple(name for name, option in READING.items() if option.is_switch)


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset
    if dataset.path is None:
        empty(t.NO_DATA_YET, t.STEPS["start"][0], lambda: page.go("start"))
        return
    if dataset.is_reading:
        return
    warnings(dataset.notes)
    if dataset.read is not None:
        Text("p", shown(in_fields(dataset.read["facts"]["summary"]), 4000), "result")
    _Reading(page)


class _Reading:
    """The roles of the columns, further options of reading, and the button that reads the file as they say."""

    def __init__(self, page: Page) -> None:
        self.page, self.dataset = page, page.dataset
        self.roles: dict[str, Choice] = {}
        self.trees: dict[str, Any] = {}
        self.families: dict[str, list[str]] = {}
        for column in self.dataset.columns:
            self.families.setdefault(_stem(column), []).append(column["key"])
        for question in self.dataset.questions:
            paragraph(shown(in_fields(question), 600), "note")
        has_table = 1 < len(self.dataset.columns) <= MAX_COLUMNS
        if has_table:
            self._table()
        elif self.dataset.read is not None:
            paragraph(t.NO_COLUMNS)
        is_enough = self.dataset.is_undecided and len(self.dataset.questions) == 1  # roles are all that is missing
        has_more = any(name not in SAYS_ROLES for name in self.dataset.options)
        with ui.expansion(t.CORRECT, value=has_more or (self.dataset.read is None and not is_enough)):
            self._options(has_table)
        with ui.element("div").classes("row-of-buttons"):
            button(t.READ_AGAIN, self._read, main=self.dataset.read is None or self.dataset.asks_for_roles())
            if self.dataset.read is None:
                button(t.OPEN_ANOTHER, lambda: page.go("start"))

    def _table(self) -> None:
        heading(t.COLUMNS)
        is_stated = self.dataset.read is not None and self.dataset.states_roles()
        paragraph(t.COLUMNS_STATED if is_stated else t.COLUMNS_NOTE, "soft")
        columns = self.dataset.columns
        cells = (_name, _values, self._role, _reason)
        rows = [[partial(cell, column) for cell in cells] for column in columns]
        table(t.COLUMNS, t.COLUMNS_HEADER, rows, classes="roles long" if len(columns) > MANY else "roles")

    def _role(self, column: dict[str, Any]) -> None:
        key, label = column["key"], _label(column)
        choices = {**({} if column["role"] else {"": ""}), **{role: t.ROLES.get(role, role) for role in OPTION_OF}}

        def change(role: str) -> None:
            tree.set_visibility(role == "known")

        self.roles[key] = Choice(t.ROLE_OF.format(column=label), choices, column["role"], change)
        self.trees[key] = tree = ui.input(label=t.COLUMN_TREE, value=column["hierarchy"])
        tree.props["aria-label"] = t.COLUMN_TREE_OF.format(column=label)
        change(column["role"])
        family = self.families[_stem(column)]
        if len(family) >= FAMILY and family[0] == key:
            words = t.COLUMN_SAME.format(n=len(family), stem=shown(_stem(column), 30))
            button(words, lambda: self._same(family))

    def _same(self, family: list[str]) -> None:
        """Give all columns of a family the role of the first."""
        for key in family[1:]:
            self.roles[key].choose(self.roles[family[0]].value)
            self.trees[key].value = self.trees[family[0]].value

    def _options(self, has_table: bool) -> None:
        paragraph(t.CORRECT_NOTE, "soft")
        given = self.dataset.options
        with ui.element("div").classes("fields"):
            formats = {"": t.DETECT, **{name: format.shown for name, format in FORMATS.items()}}
            self.fields: dict[str, Any] = {
                "format": ui.select(formats, value=given.get("format", ""), label=t.OPTIONS["format"])
            }
            for name in FIELDS:
                if (has_table and name in SAYS_ROLES) or (name == "sheet" and not self.dataset.sheets):
                    continue
                words = self.dataset.sheets if name == "sheet" else READING[name].words
                label = t.OPTIONS[name]
                value = _text(given.get(name, ""))
                self.fields[name] = (
                    ui.select({"": t.NOT_SET, **{word: word for word in words}}, value=value, label=label)
                    if words
                    else ui.input(label=label, value=value)
                )
        self.switches = {name: ui.checkbox(t.OPTIONS[name], value=given.get(name, False)) for name in SWITCHES}

    def _read(self) -> None:
        dataset = self.dataset
        fields: dict[str, Any] = {**self.fields, **self.switches}
        given = {name: field.value for name, field in fields.items() if field.value}
        layout = (dataset.read or {}).get("facts", {}).get("layout")
        try:
            given |= self._stated()
            if "item" in given and "format" not in given and is_grid(layout):
                given["format"] = layout  # its cells are no labels
        except SetveilError as reason:
            dataset.problems["columns"] = str(reason)
            return
        found = self.page.session.read_again(dataset, given)
        self.page.show_dataset(found, "columns")

    def _stated(self) -> dict[str, Any]:
        """The roles as options of reading; none where a table has none."""
        chosen: dict[str, dict[str, str]] = {}
        for key, field in self.roles.items():
            if field.value:
                tree = (self.trees[key].value or "").strip() if field.value == "known" else ""
                chosen[key] = {"role": field.value, "hierarchy": tree}
        return as_options(chosen)


def _stem(column: dict[str, Any]) -> str:
    """Its name without the number at its end."""
    return str(column["name"] or column["key"]).rstrip("0123456789")


def _label(column: dict[str, Any]) -> str:
    return shown(column["name"] or column["key"], 40)


def _name(column: dict[str, Any]) -> None:
    Text("strong", _label(column))
    paragraph(shown(column["looks_like"], 80), "soft")


def _values(column: dict[str, Any]) -> None:
    Text("span", ", ".join(shown(cell, 24) for cell in column["examples"]))
    paragraph(_facts(column), "soft")


def _reason(column: dict[str, Any]) -> None:
    Text("span", shown(column["reason"], 300), "soft")
    if column["question"]:
        paragraph(shown(in_fields(column["question"]), 300), "note")


def _facts(column: dict[str, Any]) -> str:
    """How many values it has; how many are missing, and unique, where there are such."""
    facts = [t.COLUMN_VALUES[column["n_values"] == 1].format(n=column["n_values"])]
    shares = {name: column[name] for name in t.COLUMN_SHARES if column[name]}
    facts += [t.COLUMN_SHARES[name].format(share=short_percent(share)) for name, share in shares.items()]
    return "; ".join(facts)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}={source}" for name, source in value.items())
    return value if isinstance(value, str) else ",".join(map(str, value))
