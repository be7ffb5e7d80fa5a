"""What became of the data in one run: the picture of its items, its largest losses, single records before and after."""

from __future__ import annotations

from itertools import compress
from typing import Any

from nicegui import ui

from setveil.web import texts as t
from setveil.web.elements import Text, button, card_title, drawing, paragraph, shown, table
from setveil.workflows.pictures import short_percent

N_ITEMS = 6  # of a combination that is shown

# Blocks that have a label are buttons: a click, Enter or the space bar gives the words of a block to the page.
PRESSED = """(event) => {
  const block = event.target.closest('.block');
  if (!block || (event.type === 'keydown' && event.key !== ' ' && event.key !== 'Enter')) return;
  event.preventDefault();
  for (const other of block.ownerSVGElement.querySelectorAll('.chosen')) other.classList.remove('chosen');
  block.classList.add('chosen');
  emit(block.querySelector('title').textContent);
}"""
AS_BUTTONS = """for (const block of document.querySelectorAll('.pressable .block:has(text)')) {
  block.setAttribute('role', 'button');
  block.setAttribute('tabindex', '0');
}
for (const drawn of document.querySelectorAll('.pressable svg')) drawn.setAttribute('role', 'group');"""


def cut_picture(result: dict[str, Any], *, hint: str = t.CUT_PRESS, level: int = 3) -> None:
    """The hierarchy with what is published of it; a block says what it covers when it is pressed."""
    if not result["picture"]:
        return
    card_title(t.CUT_TITLE, level)
    with ui.element("div").classes("scroll").props("tabindex=0 role=region") as region:
        region.props["aria-label"] = t.CUT_TITLE
        picture = drawing(result["picture"]).classes("pressable")
    with ui.element("ul").classes("legend"):
        for css, words in result["legend"]:
            with ui.element("li"):
                ui.element("span").classes(f"swatch cut-{css}")  # Quasar hides what is called "hidden"
                Text("span", words)
    pressed = Text("p", hint, "soft").props("aria-live=polite")

    def show(event: Any) -> None:
        pressed.text = shown(event.args, 600)
        pressed.classes(remove="soft")

    for event in ("click", "keydown"):
        picture.on(event, show, js_handler=PRESSED)
    ui.run_javascript(f"setTimeout(() => {{ {AS_BUTTONS} }}, 100)")


def examples(found: list[dict[str, Any]]) -> None:
    """A few records before and after; they are sent to the browser only when somebody asks for them."""
    paragraph(t.EXAMPLES_NOTE, "soft")
    place = ui.element("div")

    def show() -> None:
        place.clear()
        with place:
            table(t.EXAMPLES_TITLE, t.EXAMPLES_HEADER, [_example(example) for example in found])

    with place:
        with ui.element("div").classes("blurred").props("aria-hidden=true"):
            for width in (62, 48, 71):
                ui.element("div").style(f"width: {width}%")
        button(t.EXAMPLES_SHOW, show)


def losses(found: list[Any]) -> None:
    """The largest losses; shares and causes only where the algorithm reports them."""
    rows = [
        (shown(label), what, "" if share is None else short_percent(share), _cause(*cause))
        for label, what, share, cause in found
    ]
    known = [True, True, any(share is not None for _, _, share, _ in found), any(cause[0] for *_, cause in found)]
    table(t.LOSSES_TITLE, [*compress(t.LOSSES_HEADER, known)], [[*compress(row, known)] for row in rows])


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
    words = shown(item["label"])
    if item["mark"]:
        return t.EXAMPLE_MARKS[item["mark"]].format(item=words)
    return words if item["size"] <= 1 else t.EXAMPLE_SET.format(item=words, n=item["size"])
