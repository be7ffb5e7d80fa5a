"""Lists of items that a promise is about: sensitive ones, combinations, and groups that must not be mixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web.elements import ItemPicker, button, heading, paragraph, shown

if TYPE_CHECKING:
    from setveil.web.page import Page


def sensitive_items(page: Page, change: Callable[[], Any]) -> None:
    """Sensitive items, one by one or whole groups of the hierarchy."""
    session = page.session
    heading(t.SENSITIVE_TITLE)
    paragraph(t.SENSITIVE_NOTE[session.model], "soft")
    ItemPicker(t.SENSITIVE_LABEL, session.sensitive, session.find_items, change, session.find_groups)


def constraints(page: Page) -> None:
    """Combinations that somebody may know, and what must not be mixed to hide them."""
    session = page.session
    heading(t.CONSTRAINTS_TITLE)
    paragraph(t.CONSTRAINTS_NOTE, "soft")
    some: list[str] = []

    def add(combinations: list[list[str]]) -> None:
        new = [items for items in combinations if items and items not in session.constraints]
        session.constraints += new
        if new:
            page.refresh()

    def one_of(group: list[str]) -> None:
        add([[*some, item] for item in group if item not in some])

    ItemPicker(t.CONSTRAINTS_LABEL, some, session.find_items, lambda: None, session.find_groups, one_of)
    button(t.CONSTRAINTS_ADD, lambda: add([list(some)]))
    _chosen(page, session.constraints, t.CONSTRAINTS_TITLE)
    with ui.expansion(t.UTILITY_TITLE, value=bool(session.utility)).props("dense"):
        _utility(page)


def _utility(page: Page) -> None:
    session = page.session
    paragraph(t.UTILITY_NOTE, "soft")
    some: list[str] = []
    ItemPicker(t.UTILITY_LABEL, some, session.find_items, lambda: None, session.find_groups)

    def add() -> None:
        if some:
            session.utility.append(list(some))
            page.refresh()

    def change(event: Any) -> None:
        session.utility_rest = event.value

    button(t.UTILITY_ADD, add)
    _chosen(page, session.utility, t.UTILITY_TITLE)
    ui.select(t.UTILITY_RESTS, value=session.utility_rest, label=t.UTILITY_REST, on_change=change).props(
        "outlined dense"
    ).classes("wide")


def _chosen(page: Page, lists: list[list[str]], label: str) -> None:
    """The lists that were made; a click takes one back."""

    def remove(items: list[str]) -> None:
        lists.remove(items)
        page.refresh()

    with ui.element("ul").classes("chips picked") as place:
        place.props["aria-label"] = t.CHOSEN.format(label=label)
        for items in lists[: t.N_CHIPS]:
            words = " + ".join(shown(item, 30) for item in items[:6]) + (t.MORE if len(items) > 6 else "")
            with ui.element("li"):
                button(f"{words} ×", lambda items=items: remove(items), name=t.REMOVE_ITEM.format(item=words))
    if len(lists) > t.N_CHIPS:
        paragraph(t.AND_MORE.format(n=len(lists) - t.N_CHIPS), "soft")
    if len(lists) > 1:

        def clear() -> None:
            lists.clear()
            page.refresh()

        button(t.REMOVE_ALL.format(n=len(lists)), clear)
