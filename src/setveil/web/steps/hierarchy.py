"""The hierarchy: none, built or from a file; looked through, changed by hand with undo, saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web import texts_hierarchy as h
from setveil.web.elements import (
    Text,
    Tick,
    button,
    card_title,
    heading,
    in_fields,
    paragraph,
    problem,
    shown,
    table,
)
from setveil.web.steps.outcome import cut_picture
from setveil.web.uploads import uploader

if TYPE_CHECKING:
    from setveil.web.dataset import Dataset
    from setveil.web.page import Page

FOLDED, UNFOLDED = "chevron_right", "expand_more"  # icons
# A node is dragged onto a category: the numbers of both go to the page.
DRAGGING = {
    "dragstart": """(event) => {
  const node = event.target.closest('[data-node]');
  if (node) event.dataTransfer.setData('text/plain', node.dataset.node);
}""",
    "dragover": "(event) => { if (event.target.closest('[data-target]')) event.preventDefault(); }",
}
DROPPED = """(event) => {
  const target = event.target.closest('[data-target]'), node = event.dataTransfer.getData('text/plain');
  if (!target || !/^[0-9]+$/.test(node) || node === target.dataset.target) return;
  event.preventDefault();
  emit([Number(node), Number(target.dataset.target)]);
}"""


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset

    def look() -> None:
        if dataset.tree is not None:
            _Browser(page)
        elif dataset.hierarchy:
            source, name = dataset.hierarchy, dataset.hierarchy_name
            paragraph(h.HIERARCHY_IN_USE.format(name=_name(dataset)))
            button(h.HIERARCHY_SHOW.format(name=_name(dataset)), lambda: _load(dataset, source, name))
        else:
            paragraph(h.HIERARCHY_EMPTY, "soft")

    paragraph(h.HIERARCHY_USE[dataset.hierarchy_use()])
    page.add_part(lambda: _sources(page), lambda: (dataset.n_trees, [*dataset.faults]))
    page.add_part(look, lambda: (dataset.n_trees, dataset.tree is None, dataset.names))


def _name(dataset: Dataset) -> str:
    return shown(dataset.hierarchy_name or (dataset.hierarchy or "").rpartition("/")[2])


def _load(dataset: Dataset, source: str, name: str, *, is_file: bool = False) -> None:
    async def load() -> None:
        dataset.faults = (await dataset.ask(t.BUILDING, "hierarchy", "faults", path=source) or []) if is_file else []
        dataset.touch("hierarchy")
        if "hierarchy" in dataset.problems or any(severity == "error" for severity, *_ in dataset.faults):
            return
        tree = await dataset.ask(t.BUILDING, "hierarchy", "tree", source=source)
        if tree is not None:
            dataset.tree, dataset.hierarchy, dataset.hierarchy_name = tree, source, name
            dataset.preview = None
            dataset.n_trees += 1
            dataset.touch("hierarchy")

    dataset.begin(load())


def _sources(page: Page) -> None:
    """Where a hierarchy may come from; folded where there is one."""
    dataset = page.dataset
    if dataset.hierarchy and not dataset.faults:
        with ui.expansion(h.HIERARCHY_OTHER):
            _choices(page)
    else:
        _choices(page)


def _choices(page: Page) -> None:
    dataset = page.dataset

    def none() -> None:
        dataset.tree = dataset.hierarchy = None
        dataset.hierarchy_name = ""
        page.refresh()

    if dataset.hierarchy and dataset.hierarchy_use() == "optional":
        button(h.HIERARCHY_NONE, none)
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            card_title(h.HIERARCHY_BUILD)
            proposed = ui.element("div")
            button(h.HIERARCHY_AUTO, lambda: _load(dataset, "auto", ""))
            fanout = ui.number(label=h.HIERARCHY_FANOUT, value=5, min=2, max=1000)
            _made_of(fanout, lambda: _load(dataset, f"fanout:{int(fanout.value or 5)}", ""))
            _systems(dataset, proposed)
            prefix = ui.input(label=h.HIERARCHY_PREFIX, value="1,3")
            _made_of(prefix, lambda: _load(dataset, f"prefix:{(prefix.value or '1').strip()}", ""))
        with ui.element("section").classes("card"):
            card_title(h.HIERARCHY_FILE)
            uploader(page, t.DROP_HERE, "hierarchy", lambda path, name: _load(dataset, str(path), name, is_file=True))
            paragraph(h.HIERARCHY_FILE_NOTE, "soft")
    if dataset.faults:
        _faults(dataset.faults)


def _systems(dataset: Dataset, proposed: ui.element) -> None:
    """Code systems bring their own categories; the one that fits is proposed first, in a place of its own."""
    others = ui.element("div")

    def show() -> None:
        found = dataset.systems
        proposed.clear()
        others.clear()
        if found is None:
            return
        with proposed if found["found"] else others:
            if found["words"]:
                paragraph(shown(in_fields(found["words"]), 400), "note")
            choices = found["systems"]
            first = found["found"] or next(iter(choices))
            select = ui.select(choices, value=first, label=h.HIERARCHY_SYSTEM)
            with ui.element("div").classes("inline") as line:
                select.move(line)
                button(
                    h.HIERARCHY_MAKE,
                    lambda: _load(dataset, str(select.value), choices[str(select.value)]),
                    main=bool(found["found"]) and dataset.tree is None,
                    name=h.HIERARCHY_MAKE_OF.format(label=h.HIERARCHY_SYSTEM),
                )

    async def ask() -> None:
        dataset.systems = await dataset.ask(t.BUILDING, "hierarchy", "systems")
        show()

    show() if dataset.systems else ui.timer(0.05, ask, once=True)


def _made_of(field: ui.number | ui.input, build: Callable[[], None]) -> None:
    """A field and the button that builds what it says; Enter in the field does so, too."""
    with ui.element("div").classes("inline") as line:
        field.on("keydown.enter", build)
        field.move(line)
        button(h.HIERARCHY_MAKE, build, name=h.HIERARCHY_MAKE_OF.format(label=field.props["label"]))


def _faults(faults: list[Any]) -> None:
    """What is wrong with the file, each in its place."""
    is_refused = any(severity == "error" for severity, *_ in faults)
    with ui.element("section").classes("faults"):
        problem(h.FAULTS_REFUSED) if is_refused else paragraph(h.FAULTS_TAKEN, "note")
        rows = [
            ("" if line is None else str(line), shown(text, 120), shown(message, 300))
            for _, line, text, message in faults
        ]
        table(h.FAULTS_TITLE, h.FAULTS_HEADER, rows)


class _Browser:
    """The tree, one group at a time: thousands of items stay quick, because only what is open is sent."""

    def __init__(self, page: Page) -> None:
        self.page, self.dataset = page, page.dataset
        self.marked: dict[int, str] = {}  # chosen nodes and their labels; they stay chosen while one looks elsewhere
        tree = self._tree()
        heading(h.HIERARCHY_TITLE.format(name=_name(self.dataset)))
        paragraph(h.HIERARCHY_FACTS.format(**tree), "soft")
        with ui.element("div").classes("tree"):
            with ui.element("section"):
                self.field = ui.input(label=h.HIERARCHY_SEARCH).props("clearable debounce=250")
                self.field.on_value_change(self._search)
                self.found = ui.element("ul").classes("nodes")
                self.place = ui.element("div").classes("place")
            with ui.element("section"):
                with ui.expansion(h.HIERARCHY_EDIT):  # stays as it is while the tree is walked through
                    self.edits = ui.element("div")
                self.naming = ui.expansion(h.NAMES_TITLE)
                self.naming.on_value_change(self._show_names)
                with self.naming:
                    self.names = ui.element("div")
        with ui.element("section").classes("previewed"):
            heading(h.PREVIEW_TITLE)
            paragraph(h.PREVIEW_NOTE, "soft")
            button(h.PREVIEW_SHOW, self._preview)
            self.previewed = ui.element("div")
        self.place.on("drop", self._drop, js_handler=DROPPED)
        for event, handler in DRAGGING.items():
            self.place.on(event, js_handler=handler)
        self._show()
        self._show_preview()

    async def _preview(self) -> None:
        """Try the chosen guarantee with this hierarchy."""
        self.dataset.preview = None
        self._show_preview()
        policy = self.dataset.policy()
        found = await self.dataset.ask(h.PREVIEWING, "hierarchy", "preview", policy=policy)
        self.dataset.preview = found and {**found, "policy": policy}
        self._show_preview()

    def _show_preview(self) -> None:
        found = self.dataset.preview
        self.previewed.clear()
        if not found or found["policy"] != self.dataset.policy():  # another guarantee was chosen since
            return
        with self.previewed:
            counts = found["items"]
            fates = [words.format(n=counts[name]) for name, words in h.PREVIEW_ITEMS.items() if counts[name]]
            paragraph(h.PREVIEW_FATES.format(fates=t.LIGHT_AND.join(fates)), "result")
            if found["purity"]:
                paragraph(h.PREVIEW_PURITY.format(share=found["purity"]), "soft")
            cut_picture(found)
            if found["categories"]:
                rows = [
                    (self.dataset.shown(label, 60), f"{size:,}", f"{n:,}") for label, size, n in found["categories"]
                ]
                table(h.PREVIEW_TITLE, (*h.PREVIEW_HEADER, self._many()), rows, n_numbers=2)
                rest = found["n_categories"] - len(rows)
                if rest:
                    paragraph(t.AND_MORE.format(n=rest), "soft")

    def _many(self) -> str:
        """What records are: people, or visits."""
        return t.ONE_AND_MANY[bool(self.dataset.read and self.dataset.read["are_visits"])][1]

    def _tree(self) -> dict[str, Any]:
        assert self.dataset.tree is not None
        return self.dataset.tree

    async def _ask(self, task: str, **given: Any) -> None:
        """Ask for another view of the tree and show it; problems are shown above."""
        tree = await self.dataset.ask(t.BUILDING, "hierarchy", task, **given)
        if tree is not None:
            self.dataset.tree = tree
        self._show()

    async def _search(self) -> None:
        text = (self.field.value or "").strip()
        nodes = await self.dataset.ask(t.BUILDING, "hierarchy", "find_nodes", text=text) if text else []
        self.found.clear()
        with self.found:
            for node in nodes or []:
                names = [*(shown(label, 24) for label in node["way"][1:]), self.dataset.shown(node["label"])]
                words = " › ".join(names)
                with ui.element("li"):
                    number = node["number"] if node["n_children"] else None
                    if number is None:
                        Text("span", h.NODE_ITEM.format(label=words, support=node["support"]))
                    else:
                        button(words, lambda number=number: self._ask("node", node=number))

    def _show(self) -> None:
        tree = self._tree()
        self.place.clear()
        here = tree["path"][-1]
        with self.place:
            with ui.element("nav").classes("way") as way:
                way.props["aria-label"] = h.HIERARCHY_PATH
                for node in tree["path"]:
                    button(
                        self.dataset.shown(node["label"]), lambda number=node["number"]: self._ask("node", node=number)
                    )
            with ui.element("ul").classes("nodes"):
                for node in tree["children"]:
                    self._child(node)
            rest = tree["n_children"] - tree["start"] - len(tree["children"])
            with ui.element("div").classes("row-of-buttons"):
                if tree["start"]:
                    before = max(tree["start"] - tree["n_shown"], 0)
                    button(h.HIERARCHY_BEFORE, lambda: self._ask("node", node=here["number"], start=before))
                if rest > 0:
                    start = tree["start"] + len(tree["children"])
                    button(h.HIERARCHY_MORE.format(n=rest), lambda: self._ask("node", node=here["number"], start=start))
        self._show_edits(here)

    def _child(self, node: dict[str, Any]) -> None:
        label, number = self.dataset.shown(node["label"], 60), node["number"]
        with ui.element("li"):
            with ui.element("div").classes("node").props("draggable=true") as row:
                row.props["data-node"] = number
                if node["n_children"]:
                    row.props["data-target"] = number
                if node["n_children"]:
                    fold = button(
                        "", lambda: self._unfold(node, fold, below), name=h.HIERARCHY_UNFOLD.format(label=label)
                    )
                    fold.props(f"flat dense icon={FOLDED}").props["aria-expanded"] = "false"
                tick = Tick(h.HIERARCHY_TICK.format(label=label), value=number in self.marked)
                tick.on_tick(lambda is_ticked: self._mark(node, is_ticked))
                if node["n_children"]:
                    name = h.HIERARCHY_OPEN.format(label=label)
                    button(label, lambda: self._ask("node", node=number), name=name).props("flat dense")
                    items = t.N_ITEMS[node["n_items"] == 1].format(n=node["n_items"])
                    Text("span", h.NODE_GROUP.format(items=items, support=node["support"]), "soft")
                else:
                    Text("span", h.NODE_ITEM.format(label=label, support=node["support"]))
            below = ui.element("div")

    async def _unfold(self, node: dict[str, Any], fold: ui.button, below: ui.element) -> None:
        """Show what is in a group below it, or take it away."""
        is_open = fold.props["aria-expanded"] == "true"
        tree = None if is_open else await self.dataset.ask(t.BUILDING, "hierarchy", "node", node=node["number"])
        below.clear()
        if tree is not None:
            with below:
                with ui.element("ul").classes("nodes"):
                    for child in tree["children"]:
                        self._child(child)
                rest = tree["n_children"] - len(tree["children"])
                if rest > 0:
                    paragraph(h.HIERARCHY_REST.format(n=rest, label=shown(node["label"], 40)), "soft")
        fold.props["icon"] = FOLDED if tree is None else UNFOLDED
        fold.props["aria-expanded"] = "false" if tree is None else "true"
        fold.update()

    def _mark(self, node: dict[str, Any], is_marked: bool) -> None:
        if is_marked:
            self.marked[node["number"]] = node["label"]
        else:
            self.marked.pop(node["number"], None)
        self._show_marked()

    def _show_marked(self) -> None:
        """What is chosen; the rest of the form stays, with what is typed there."""
        chosen = ", ".join(shown(label, 30) for label in [*self.marked.values()][: t.N_CHIPS])
        self.chosen.text = h.HIERARCHY_CHOSEN.format(labels=chosen) if chosen else h.HIERARCHY_MOVE_HOW
        self.mover.set_enabled(bool(self.marked))

    async def _drop(self, event: Any) -> None:
        """A node was dragged onto a category."""
        node, target = (int(number) for number in event.args)
        await self._edit("move", {"number": target}, [*self.marked] if node in self.marked else [node])

    def _show_edits(self, here: dict[str, Any]) -> None:
        tree = self._tree()
        self.edits.clear()
        with self.edits:
            self.chosen = paragraph("", "soft").props("role=status")
            with ui.element("div").classes("inline"):
                name = ui.input(label=h.HIERARCHY_NAME)
                button(
                    h.HIERARCHY_RENAME.format(label=shown(here["label"], 30)),
                    lambda: self._edit("rename", here, name.value or ""),
                )
                button(h.HIERARCHY_MERGE, lambda: self._group("merge", here, name.value or ""))
                if len(tree["path"]) > 1:
                    button(h.HIERARCHY_SPLIT, lambda: self._group("split", here, name.value or ""))
            with ui.element("div").classes("inline"):
                words = h.HIERARCHY_MOVE.format(label=shown(here["label"], 30))
                self.mover = button(words, lambda: self._edit("move", here, [*self.marked]))
                if len(tree["path"]) > 1:
                    words = h.HIERARCHY_DISSOLVE.format(label=shown(here["label"], 30))
                    button(words, lambda: self._edit("dissolve", here, None))
            with ui.element("div").classes("inline"):
                if tree["n_steps"]:
                    button(h.HIERARCHY_UNDO, self._undo)
                button(h.HIERARCHY_SAVE, self._save)
        self._show_marked()

    async def _show_names(self) -> None:
        """Groups that were built have no names; people give them."""
        if not self.naming.value:
            return
        found = await self.dataset.ask(t.BUILDING, "hierarchy", "unnamed")
        self.names.clear()
        with self.names:
            if not found or not found["n_all"]:
                paragraph(h.NAMES_NONE, "soft")
                return
            paragraph(h.NAMES_NOTE.format(n=found["n_all"]), "soft")
            for group in found["groups"]:
                self._name_field(group)

    def _name_field(self, group: dict[str, Any]) -> None:
        items = ", ".join(self.dataset.shown(item, 24) for item in group["items"])
        words = items + (t.MORE if group["n_items"] > len(group["items"]) else "")
        with ui.element("div").classes("inline"):
            field = ui.input(label=h.NAME_OF.format(items=words))
            button(
                h.NAME_GIVE,
                lambda: self._edit("rename", group, field.value or ""),
                name=h.NAME_GIVE_TO.format(label=shown(group["label"], 40)),
            )

    async def _edit(self, edit: str, node: dict[str, Any], given: Any) -> None:
        await self._ask("edit", edit=edit, node=node["number"], given=given)
        if "hierarchy" in self.dataset.problems:
            return
        self.marked = {}  # the tree that was made has other numbers
        self._show()
        await self._use()
        await self._show_names()

    async def _group(self, edit: str, here: dict[str, Any], label: str) -> None:
        await self._edit(edit, here, {"nodes": [*self.marked], "label": label})

    async def _undo(self) -> None:
        self.marked = {}
        await self._ask("undo")
        await self._use()
        await self._show_names()

    async def _use(self) -> None:
        """What was changed by hand is what runs use."""
        path = self.page.session.workspace.new_folder() / "hierarchy.csv"
        await self.dataset.answer("save_tree", {"path": str(path)})
        self.dataset.hierarchy, self.dataset.hierarchy_name = str(path), t.HIERARCHY_CHANGED
        self.dataset.preview = None
        self._show_preview()

    async def _save(self) -> None:
        path = self.page.session.workspace.new_folder() / "hierarchy.csv"
        await self.dataset.answer("save_tree", {"path": str(path)})
        ui.download.content(Path(path).read_bytes(), "hierarchy.csv", "text/csv")
