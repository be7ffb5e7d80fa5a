"""Lists that a guarantee is about: items, itemsets such as combinations or groups, and rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.models import Parameter
from setveil.models.parameters import Items, Itemsets
from setveil.models.rule_anonymity import Rules, as_rule
from setveil.web import texts as t
from setveil.web.elements import ItemPicker, button, heading, paragraph

if TYPE_CHECKING:
    from setveil.web.page import Page


def item_list(page: Page, parameter: Parameter, change: Callable[[], Any]) -> None:
    """A list of items or itemsets. Optional itemsets are folded until there are some."""
    made, kind = page.dataset.form.listed(parameter), parameter.kind
    name = parameter.name.replace("_", " ").capitalize()
    if isinstance(kind, Items):
        title = t.LIST_ITEMS.format(name=name)
        _heading(title, parameter)
        search = t.LIST_SEARCH.format(title=title.lower())
        ItemPicker(search, made, page.dataset, change)
        return
    if isinstance(kind, Rules):
        _heading(name, parameter)
        _lines(made, t.LIST_LINES.format(title=name.lower()), kind.range, change)
        return
    are_groups = isinstance(kind, Itemsets) and kind.are_groups
    title = t.LIST_GROUPS.format(name=name) if are_groups else name
    if parameter.is_required:
        _heading(title, parameter)
        _itemsets(page, made, title, are_groups)
    else:
        with ui.expansion(title, value=bool(made)):
            paragraph(parameter.label, "soft")
            _itemsets(page, made, title, are_groups)


def _heading(title: str, parameter: Parameter) -> None:
    heading(title)
    paragraph(parameter.label if parameter.label != parameter.name else parameter.help, "soft")


def _lines(made: list[Any], label: str, help: str, change: Callable[[], Any]) -> None:
    """Rules as text, one per line."""

    def take(text: str | None) -> None:
        made[:] = [line.strip() for line in (text or "").splitlines() if line.strip()]
        change()

    lines = [one if isinstance(one, str) else str(as_rule(one)) for one in made]
    field = ui.textarea(label=label, value="\n".join(lines))
    field.props("autogrow debounce=250").classes("wide").on_value_change(lambda event: take(event.value))
    paragraph(t.ALLOWED.format(range=help), "soft")


def _itemsets(page: Page, made: list[list[str]], title: str, are_groups: bool) -> None:
    """Itemsets, one after the other. Where they are not groups, a category adds one itemset for each of its items."""
    some: list[str] = []

    def add(itemsets: list[list[str]]) -> None:
        new = [items for items in itemsets if items and items not in made]
        made.extend(new)
        if new:
            page.refresh()

    def one_of(group: list[str]) -> None:
        add([[*some, item] for item in group if item not in some])

    search = t.SET_SEARCH.format(title=title.lower())
    take_group = None if are_groups else one_of
    ItemPicker(search, some, page.dataset, lambda: None, take_group=take_group)
    button(t.SET_ADD.format(title=title.lower()), lambda: add([list(some)]))
    _chosen(page, made, title)


def _chosen(page: Page, lists: list[list[str]], label: str) -> None:
    """The itemsets that were made; a click removes one."""

    def remove(items: list[str]) -> None:
        lists.remove(items)
        page.refresh()

    with ui.element("ul").classes("chips picked") as place:
        place.props["aria-label"] = t.CHOSEN.format(label=label)
        for items in lists[: t.N_CHIPS]:
            words = " + ".join(page.dataset.shown(item, 30) for item in items[:6]) + (t.MORE if len(items) > 6 else "")
            with ui.element("li"):
                made = button(words, lambda items=items: remove(items), name=t.REMOVE_ITEM.format(item=words))
                made.props("icon-right=close")
    if len(lists) > t.N_CHIPS:
        paragraph(t.AND_MORE.format(n=len(lists) - t.N_CHIPS), "soft")
    if len(lists) > 1:

        def clear() -> None:
            lists.clear()
            page.refresh()

        button(t.REMOVE_ALL.format(n=len(lists)), clear)
