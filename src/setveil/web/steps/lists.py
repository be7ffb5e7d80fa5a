"""Lists of items that a guarantee is about: sensitive items, combinations, and groups that must not be mixed."""

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
    dataset = page.dataset
    heading(t.SENSITIVE_TITLE)
    paragraph(t.SENSITIVE_NOTE[dataset.model], "soft")
    ItemPicker(t.SENSITIVE_LABEL, dataset.sensitive, dataset.find_items, change, dataset.find_groups)


def constraints(page: Page) -> None:
    """Combinations that an attacker may know, and groups of items that must not be mixed."""
    dataset = page.dataset
    heading(t.CONSTRAINTS_TITLE)
    paragraph(t.CONSTRAINTS_NOTE, "soft")
    some: list[str] = []

    def add(combinations: list[list[str]]) -> None:
        new = [items for items in combinations if items and items not in dataset.constraints]
        dataset.constraints += new
        if new:
            page.refresh()

    def one_of(group: list[str]) -> None:
        add([[*some, item] for item in group if item not in some])

    ItemPicker(t.CONSTRAINTS_LABEL, some, dataset.find_items, lambda: None, dataset.find_groups, one_of)
    button(t.CONSTRAINTS_ADD, lambda: add([list(some)]))
    _chosen(page, dataset.constraints, t.CONSTRAINTS_TITLE)
    with ui.expansion(t.UTILITY_TITLE, value=bool(dataset.utility)).props("dense"):
        _utility(page)


def _utility(page: Page) -> None:
    dataset = page.dataset
    paragraph(t.UTILITY_NOTE, "soft")
    some: list[str] = []
    ItemPicker(t.UTILITY_LABEL, some, dataset.find_items, lambda: None, dataset.find_groups)

    def add() -> None:
        if some:
            dataset.utility.append(list(some))
            page.refresh()

    def change(event: Any) -> None:
        dataset.utility_rest = event.value

    button(t.UTILITY_ADD, add)
    _chosen(page, dataset.utility, t.UTILITY_TITLE)
    ui.select(t.UTILITY_RESTS, value=dataset.utility_rest, label=t.UTILITY_REST, on_change=change).props(
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
