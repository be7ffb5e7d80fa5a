"""``setveil measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.console import say_json, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil measure baskets.csv out --json")(measure)


def measure(
    input: o.Input,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A release folder.")],
    format: o.Format = None,
    delimiter: o.Delimiter = None,
    id_column: o.IdColumn = None,
    item_column: o.ItemColumn = None,
    json: o.Json = False,
) -> None:
    """What a release cost, compared with the original."""
    import setveil
    from setveil.report.words import METRICS, figure, put
    from setveil.workflows import folder

    data = setveil.read(input, **o.read_options(format, delimiter, id_column, item_column))
    metrics = folder.measure_folder(data, out)
    if json:
        say_json(metrics)
        return
    table(
        ("cost", ""),
        [
            (put(name, METRICS), figure(value))
            for name, value in metrics.items()
            if name in METRICS and value is not None
        ],
    )
