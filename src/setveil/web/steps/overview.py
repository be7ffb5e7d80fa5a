"""Overview: what the data is, in ten seconds, and whom the release is for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.report.profiles import DEFAULT, ENVIRONMENTS, PROFILES
from setveil.web import texts as t
from setveil.web.elements import (
    Text,
    button,
    drawing,
    heading,
    in_fields,
    paragraph,
    problem,
    sentence,
    shown,
    table,
    warnings,
)
from setveil.web.uploads import uploader
from setveil.workflows.pictures import short_percent
from setveil.workflows.proposals import PURPOSES

if TYPE_CHECKING:
    from setveil.web.dataset import Dataset
    from setveil.web.page import Page

MOST_LISTED = 20  # items of a record


def build(page: Page) -> None:
    """The step; names of codes may come later, and whom the release is for is asked meanwhile."""
    dataset, read = page.dataset, page.dataset.read
    assert read is not None
    page.add_part(lambda: _profile(dataset, read), lambda: dataset.names)
    page.add_part(lambda: _purpose(dataset))
    page.add_part(lambda: _records(dataset, read), lambda: dataset.names)
    page.add_part(lambda: _names(page), lambda: dataset.names_list)


def _profile(dataset: Dataset, read: dict[str, Any]) -> None:
    """What the data is."""
    if dataset.reopening:
        problem(dataset.reopening)
    warnings(dataset.notes)
    one, many = t.ONE_AND_MANY[read["are_visits"]]
    for question in dataset.questions:
        paragraph(shown(in_fields(question), 600), "note")
    _figures(read, one, many)
    with ui.element("div").classes("thirds"):
        for title, chart in ((t.LENGTHS_TITLE, "lengths"), (t.SUPPORTS_TITLE, "supports")):
            with ui.element("section"):
                Text("h2", title.format(one=one))
                drawing(read[chart])
        with ui.element("section"):
            Text("h2", t.COMMON_TITLE)
            n_people = max(read["facts"]["records"], 1)
            common = [
                (dataset.shown(item), f"{n:,}", short_percent(n / n_people)) for item, n in read["overview"]["common"]
            ]
            table(t.COMMON_TITLE, [name.format(many=many) for name in t.COMMON_HEADER], common, n_numbers=2)
    if read["columns"]:
        heading(t.KNOWN_COLUMNS)
        table(t.KNOWN_COLUMNS, t.KNOWN_COLUMNS_HEADER, [_column(found) for found in read["columns"]], n_numbers=2)


def _figures(read: dict[str, Any], one: str, many: str) -> None:
    facts, found = read["facts"], read["overview"]
    figures = {
        "records": (f"{facts['records']:,}", ""),
        "items": (f"{facts['items']:,}", ""),
        "length": (f"{found['median_length']:g}", t.LENGTH_RANGE.format(low=found["shortest"], high=found["longest"])),
        "rare": (f"{found['rare_items']:,}", ""),
    }
    if facts.get("empty_records"):
        figures["empty"] = (f"{facts['empty_records']:,}", "")
    with ui.element("dl").classes("figures tiles"):
        for name, (figure, more) in figures.items():
            with ui.element("div"):
                Text("dt", t.OVERVIEW_FIGURES[name].format(n=found["rare_below"], one=one, many=many))
                Text("dd", figure)
                if more:
                    Text("dd", more, "soft")


def _purpose(dataset: Dataset) -> None:
    """Whom the release is for and what it is compared with: asked once, used by proposals, lights and assessment."""
    heading(t.PURPOSE_TITLE)
    paragraph(t.PURPOSE_NOTE, "soft")
    receivers = {name: sentence(ENVIRONMENTS[purpose.environment].words) for name, purpose in PURPOSES.items()}
    profiles = {"": t.PROFILE_NONE.format(k=DEFAULT.k), **{name: found.words for name, found in PROFILES.items()}}

    def change(name: str, value: str | None) -> None:
        setattr(dataset, name, value)
        dataset.forget_proposals()

    with ui.element("div").classes("fields two"):
        receiver = ui.select(receivers, value=dataset.purpose, label=t.PURPOSE)
        receiver.on_value_change(lambda event: change("purpose", event.value))
        profile = ui.select(profiles, value=dataset.profile or "", label=t.PROFILE)
        profile.on_value_change(lambda event: change("profile", event.value or None))
        recipient = ui.input(label=t.RECIPIENT, value=dataset.recipient)
        recipient.on_value_change(lambda event: setattr(dataset, "recipient", (event.value or "").strip()))
        purpose = ui.input(label=t.ABOUT["purpose"], value=dataset.about.get("purpose", ""))
        purpose.on_value_change(lambda event: dataset.about.update(purpose=(event.value or "").strip()))


def _column(found: dict[str, Any]) -> tuple[str, str, str, str, str]:
    role = t.ROLES.get(found["role"], found["role"]).partition(":")[0]
    common = ", ".join(f"{shown(value, 24)} ({n:,})" for value, n in found["common"])
    return shown(found["name"], 40), role, common, f"{found['values']:,}", f"{found['missing']:,}"


def _records(dataset: Dataset, read: dict[str, Any]) -> None:
    facts = read["facts"]
    heading(t.HOW_READ)
    Text("p", shown(in_fields(facts["summary"]), 4000), "result")
    rows = [
        [
            shown(name, 30),
            ", ".join(map(dataset.shown, items[:MOST_LISTED])) + (t.MORE if len(items) > MOST_LISTED else ""),
        ]
        for name, items in read["records"]
    ]
    with ui.expansion(t.PREVIEW, value=True):
        table(t.PREVIEW, (t.ONE_AND_MANY[read["are_visits"]][0], t.ITEMS), rows)  # by number: ids are not kept


def _names(page: Page) -> None:
    """A list of codes with descriptions, which stand beside the codes from then on."""
    dataset = page.dataset

    with ui.expansion(t.CODE_NAMES, value=dataset.names_list is not None):
        paragraph(t.CODE_NAMES_NOTE, "soft")
        if dataset.names_list is not None:
            paragraph(t.CODE_NAMES_TAKEN.format(name=shown(dataset.uploads.get(dataset.names_list, ""))), "result")
            button(t.CODE_NAMES_NONE, lambda: dataset.take_names(None))
        uploader(page, t.DROP_HERE, "names", lambda path, _: dataset.take_names(str(path)))
