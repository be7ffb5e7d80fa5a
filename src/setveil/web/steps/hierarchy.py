"""The hierarchy: none, built or from a file; looked through, changed by hand with undo, saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from setveil.web import texts as t
from setveil.web.elements import Text, Tick, button, card_title, heading, paragraph, problem, shown, table, uploader
from setveil.web.guard import MAX_UPLOAD, MEGABYTE

if TYPE_CHECKING:
    from setveil.web.page import Page


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset
    paragraph(t.HIERARCHY_USE[dataset.hierarchy_use()])
    _sources(page)
    if dataset.tree is None:
        if dataset.hierarchy:
            button(t.HIERARCHY_SHOW.format(name=_name(page)), lambda: _load(page, dataset.hierarchy or "auto", ""))
    else:
        _Browser(page)


def _name(page: Page) -> str:
    return shown(page.dataset.hierarchy_name or (page.dataset.hierarchy or "").rpartition("/")[2])


def _load(page: Page, source: str, name: str, *, is_file: bool = False) -> None:
    dataset = page.dataset

    async def load() -> None:
        dataset.faults = (await dataset.ask(t.BUILDING, "hierarchy", "faults", path=source) or []) if is_file else []
        dataset.touch("hierarchy")
        if "hierarchy" in dataset.problems or any(severity == "error" for severity, *_ in dataset.faults):
            return
        tree = await dataset.ask(t.BUILDING, "hierarchy", "tree", source=source)
        if tree is not None:
            dataset.tree, dataset.hierarchy, dataset.hierarchy_name = tree, source, name
            dataset.touch("hierarchy")

    dataset.begin(load())


def _sources(page: Page) -> None:
    dataset = page.dataset

    async def receive(event: events.UploadEventArguments) -> None:
        path = await page.session.receive(event.file, "hierarchy")
        _load(page, str(path), shown(event.file.name), is_file=True)

    def too_large() -> None:
        dataset.problems["hierarchy"] = t.TOO_LARGE.format(megabytes=MAX_UPLOAD // MEGABYTE)

    def none() -> None:
        dataset.tree = dataset.hierarchy = None
        dataset.hierarchy_name = ""
        page.refresh()

    if dataset.hierarchy and dataset.hierarchy_use() == "optional":
        button(t.HIERARCHY_NONE, none)
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            card_title(t.HIERARCHY_BUILD)
            button(t.HIERARCHY_AUTO, lambda: _load(page, "auto", ""))
            fanout = ui.number(label=t.HIERARCHY_FANOUT, value=5, min=2, max=1000)
            _made_of(fanout, lambda: _load(page, f"fanout:{int(fanout.value or 5)}", ""))
            prefix = ui.input(label=t.HIERARCHY_PREFIX, value="1,3")
            _made_of(prefix, lambda: _load(page, f"prefix:{(prefix.value or '1').strip()}", ""))
        with ui.element("section").classes("card"):
            card_title(t.HIERARCHY_FILE)
            uploader(t.DROP_HERE, MAX_UPLOAD, receive, too_large, main=False)
            paragraph(t.HIERARCHY_FILE_NOTE, "soft")
    if dataset.faults:
        _faults(dataset.faults)


def _made_of(field: ui.number | ui.input, build: Callable[[], None]) -> None:
    """A field and the button that builds what it says; Enter in the field does so, too."""
    with ui.element("div").classes("inline") as line:
        field.props("outlined dense").on("keydown.enter", build)
        field.move(line)
        button(t.HIERARCHY_MAKE, build, name=t.HIERARCHY_MAKE_OF.format(label=field.props["label"]))


def _faults(faults: list[Any]) -> None:
    """What is wrong with the file, each in its place."""
    is_refused = any(severity == "error" for severity, *_ in faults)
    with ui.element("section").classes("faults"):
        problem(t.FAULTS_REFUSED if is_refused else t.FAULTS_TAKEN)
        rows = [
            ("" if line is None else str(line), shown(text, 120), shown(message, 300))
            for _, line, text, message in faults
        ]
        table(t.FAULTS_TITLE, t.FAULTS_HEADER, rows)


class _Browser:
    """The tree, one group at a time: thousands of items stay quick, because only what is open is sent."""

    def __init__(self, page: Page) -> None:
        self.page, self.dataset = page, page.dataset
        self.ticked: dict[int, Tick] = {}
        self.inside: dict[int, list[int]] = {}  # of groups that are unfolded
        tree = self._tree()
        heading(t.HIERARCHY_TITLE.format(name=_name(page)))
        paragraph(t.HIERARCHY_FACTS.format(**tree), "soft")
        self.field = ui.input(label=t.HIERARCHY_SEARCH).props("outlined dense clearable debounce=250")
        self.field.on_value_change(self._search)
        self.found = ui.element("ul").classes("nodes")
        self.place = ui.element("div").classes("place")
        with ui.expansion(t.HIERARCHY_EDIT).props("dense"):  # stays as it is while the tree is walked through
            self.edits = ui.element("div")
        self.naming = ui.expansion(t.NAMES_TITLE).props("dense")
        self.naming.on_value_change(self._show_names)
        with self.naming:
            self.names = ui.element("div")
        self._show()

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
                words = " › ".join([*(shown(label, 24) for label in node["way"][1:]), shown(node["label"], 40)])
                with ui.element("li"):
                    number = node["number"] if node["n_children"] else None
                    if number is None:
                        Text("span", t.NODE_ITEM.format(label=words, support=node["support"]))
                    else:
                        button(words, lambda number=number: self._ask("node", node=number))

    def _show(self) -> None:
        tree = self._tree()
        self.ticked, self.inside = {}, {}
        self.place.clear()
        here = tree["path"][-1]
        with self.place:
            with ui.element("nav").classes("way") as way:
                way.props["aria-label"] = t.HIERARCHY_PATH
                for node in tree["path"]:
                    button(shown(node["label"], 40), lambda number=node["number"]: self._ask("node", node=number))
            with ui.element("ul").classes("nodes"):
                for node in tree["children"]:
                    self._child(node)
            rest = tree["n_children"] - tree["start"] - len(tree["children"])
            with ui.element("div").classes("row-of-buttons"):
                if tree["start"]:
                    before = max(tree["start"] - tree["n_shown"], 0)
                    button(t.HIERARCHY_BEFORE, lambda: self._ask("node", node=here["number"], start=before))
                if rest > 0:
                    start = tree["start"] + len(tree["children"])
                    button(t.HIERARCHY_MORE.format(n=rest), lambda: self._ask("node", node=here["number"], start=start))
        self._show_edits(here)

    def _child(self, node: dict[str, Any]) -> None:
        label, number = shown(node["label"], 60), node["number"]
        with ui.element("li"):
            with ui.element("div").classes("node"):
                if node["n_children"]:
                    fold = button(
                        "▸", lambda: self._unfold(node, fold, below), name=t.HIERARCHY_UNFOLD.format(label=label)
                    )
                    fold.props("flat dense").props["aria-expanded"] = "false"
                self.ticked[number] = Tick(t.HIERARCHY_TICK.format(label=label))
                if node["n_children"]:
                    name = t.HIERARCHY_OPEN.format(label=label)
                    button(label, lambda: self._ask("node", node=number), name=name).props("flat dense")
                    Text("span", t.NODE_GROUP.format(n=node["n_items"], support=node["support"]), "soft")
                else:
                    Text("span", t.NODE_ITEM.format(label=label, support=node["support"]))
            below = ui.element("div")

    async def _unfold(self, node: dict[str, Any], fold: ui.button, below: ui.element) -> None:
        """Show what is in a group below it, or take it away."""
        is_open = fold.props["aria-expanded"] == "true"
        tree = None if is_open else await self.dataset.ask(t.BUILDING, "hierarchy", "node", node=node["number"])
        for child in self.inside.pop(node["number"], ()):
            self._forget(child)
        below.clear()
        if tree is not None:
            self.inside[node["number"]] = [child["number"] for child in tree["children"]]
            with below:
                with ui.element("ul").classes("nodes"):
                    for child in tree["children"]:
                        self._child(child)
                rest = tree["n_children"] - len(tree["children"])
                if rest > 0:
                    paragraph(t.HIERARCHY_REST.format(n=rest, label=shown(node["label"], 40)), "soft")
        fold.text = "▸" if tree is None else "▾"
        fold.props["aria-expanded"] = "false" if tree is None else "true"
        fold.update()

    def _forget(self, number: int) -> None:
        """What is folded away is no longer chosen."""
        self.ticked.pop(number, None)
        for child in self.inside.pop(number, ()):
            self._forget(child)

    def _show_edits(self, here: dict[str, Any]) -> None:
        tree = self._tree()
        self.edits.clear()
        with self.edits:
            with ui.element("div").classes("inline"):
                name = ui.input(label=t.HIERARCHY_NAME).props("outlined dense")
                button(
                    t.HIERARCHY_RENAME.format(label=shown(here["label"], 30)),
                    lambda: self._edit("rename", here, name.value or ""),
                )
                button(t.HIERARCHY_MERGE, lambda: self._group("merge", here, name.value or ""))
                if len(tree["path"]) > 1:
                    button(t.HIERARCHY_SPLIT, lambda: self._group("split", here, name.value or ""))
            with ui.element("div").classes("inline"):
                target = ui.input(label=t.HIERARCHY_TARGET).props("outlined dense")
                button(t.HIERARCHY_MOVE, lambda: self._move(target.value or ""))
                if len(tree["path"]) > 1:
                    words = t.HIERARCHY_DISSOLVE.format(label=shown(here["label"], 30))
                    button(words, lambda: self._edit("dissolve", here, None))
            with ui.element("div").classes("inline"):
                if tree["n_steps"]:
                    button(t.HIERARCHY_UNDO, self._undo)
                button(t.HIERARCHY_SAVE, self._save)

    async def _show_names(self) -> None:
        """Groups that were built have no names; people give them."""
        if not self.naming.value:
            return
        found = await self.dataset.ask(t.BUILDING, "hierarchy", "unnamed")
        self.names.clear()
        with self.names:
            if not found or not found["n_all"]:
                paragraph(t.NAMES_NONE, "soft")
                return
            paragraph(t.NAMES_NOTE.format(n=found["n_all"]), "soft")
            for group in found["groups"]:
                self._name_field(group)

    def _name_field(self, group: dict[str, Any]) -> None:
        items = ", ".join(shown(item, 24) for item in group["items"])
        words = items + (t.MORE if group["n_items"] > len(group["items"]) else "")
        with ui.element("div").classes("inline"):
            field = ui.input(label=t.NAME_OF.format(items=words)).props("outlined dense")
            button(
                t.NAME_GIVE,
                lambda: self._edit("rename", group, field.value or ""),
                name=t.NAME_GIVE_TO.format(label=shown(group["label"], 40)),
            )

    def _chosen(self) -> list[int]:
        return [number for number, box in self.ticked.items() if box.value]

    async def _edit(self, edit: str, node: dict[str, Any], given: Any) -> None:
        await self._ask("edit", edit=edit, node=node["number"], given=given)
        await self._use()
        await self._show_names()

    async def _group(self, edit: str, here: dict[str, Any], label: str) -> None:
        await self._edit(edit, here, {"nodes": self._chosen(), "label": label})

    async def _move(self, label: str) -> None:
        found = await self.dataset.ask(t.BUILDING, "hierarchy", "find_nodes", text=label) or []
        groups = [node for node in found if node["n_children"] and node["label"].strip() == label.strip()]
        chosen = self._chosen()
        if len(groups) != 1 or len(chosen) != 1:
            self.dataset.problems["hierarchy"] = t.HIERARCHY_MOVE_HOW
            return
        await self._edit("move", {"number": chosen[0]}, groups[0]["number"])

    async def _undo(self) -> None:
        await self._ask("undo")
        await self._use()
        await self._show_names()

    async def _use(self) -> None:
        """What was changed by hand is what runs use."""
        path = self.page.session.workspace.new_folder() / "hierarchy.csv"
        await self.dataset.answer("save_tree", {"path": str(path)})
        self.dataset.hierarchy, self.dataset.hierarchy_name = str(path), t.HIERARCHY_CHANGED

    async def _save(self) -> None:
        path = self.page.session.workspace.new_folder() / "hierarchy.csv"
        await self.dataset.answer("save_tree", {"path": str(path)})
        ui.download.content(Path(path).read_bytes(), "hierarchy.csv", "text/csv")
