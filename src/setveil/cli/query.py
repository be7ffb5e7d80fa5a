"""``setveil query``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.console import say, say_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil query out --sensitive HIV --with smoker,male --without child")(query)


def query(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A release folder of groups with sensitive counts.")],
    sensitive: Annotated[str, typer.Option(help="The sensitive item to count.")],
    with_items: Annotated[str, typer.Option("--with", help="Items the records must have, as in a,b.")] = "",
    without: Annotated[str, typer.Option(help="Items the records must not have, as in c,d.")] = "",
    json: o.Json = False,
) -> None:
    """Estimate from a grouping how many records have a sensitive item together with some items and without others."""
    import setveil
    from setveil.errors import InputError

    wanted, unwanted = (
        tuple(part.strip() for part in text.split(",") if part.strip()) for text in (with_items, without)
    )
    release = setveil.open_release(out)
    if not isinstance(release, setveil.Grouping):
        raise InputError(f"{out}: holds no groups with sensitive counts; query answers questions on those only.")
    answer = setveil.query(release, sensitive, wanted, unwanted)
    if json:
        say_json({"estimate": answer.estimate, "low": answer.low, "high": answer.high})
        return
    say(f"about {answer.estimate:,.1f} records; certainly between {answer.low:,} and {answer.high:,}")
