"""``setveil help TOPIC``: pages of the documentation, on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.app import app
from setveil.cli.console import say

WITH_THE_WHEEL = Path(__file__).parent / "topics"  # where the wheel has them
IN_THE_SOURCES = Path(__file__).parents[3] / "docs"


@app.command(epilog="Example: setveil help threat-model")
def help(
    context: typer.Context,
    topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="A page. Without it all pages are listed.")
    ] = None,
) -> None:
    """Read a page of the documentation: what is protected, which files are read, what the figures mean."""
    from setveil.errors import InputError, one_line

    pages = topics()
    if topic is None:
        say("setveil help TOPIC shows one of these; setveil COMMAND --help lists the options of a command.\n")
        for name, page in pages.items():
            say(f"  {name:<26}{_title(page)}")
        return
    start: Any = context.find_root().command
    if topic not in pages and topic in start.commands:
        raise InputError(f'"{topic}" is a command, not a page; its options are shown by setveil {topic} --help.')
    if topic not in pages:
        raise InputError(f'no page "{one_line(topic)}"; `setveil help` lists the pages.')
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(pages[topic].read_text(encoding="utf-8"), hyperlinks=False))


def topics() -> dict[str, Path]:
    """The pages by name."""
    folder = WITH_THE_WHEEL if WITH_THE_WHEEL.is_dir() else IN_THE_SOURCES
    found = [*folder.glob("*.md"), *folder.glob("howto/*.md")]
    return {page.stem: page for page in sorted(found, key=lambda page: page.stem)}


def _title(page: Path) -> str:
    with page.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()
