"""``setveil measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.console import note, read_data, say_json, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil measure baskets.csv out --json")(measure)


@o.reads_data
def measure(
    input: o.Input,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A release folder.")],
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """What a release cost, compared with the original."""
    from setveil.report.words import figure, told
    from setveil.workflows import folder, recheck

    data = read_data(input, reading)
    metrics = folder.measure_folder(data, out)
    if json:
        say_json({"input": data.facts(), **metrics})
        return
    n_published = metrics.get("n_published_items")
    if n_published in recheck.NOTHING_LEFT:
        note(f"warning: {recheck.NOTHING_LEFT[n_published]}")
    table(
        ("cost", ""),
        [(words, figure(value)) for words, value in told(metrics)],
    )
