"""``setveil compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.console import note_first_run, progress_bar, say, say_json, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil compare baskets.csv --grid grid.toml -o comparison")(compare)


def compare(
    input: o.Input,
    grid: Annotated[Path, typer.Option(metavar="FILE", help="What to compare: a TOML file of [[grid]] blocks.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="Folder of the results; run again to go on.")
    ],
    processes: Annotated[int | None, typer.Option(help="How many settings at a time; one per core otherwise.")] = None,
    format: o.Format = None,
    delimiter: o.Delimiter = None,
    id_column: o.IdColumn = None,
    item_column: o.ItemColumn = None,
    json: o.Json = False,
) -> None:
    """Run many settings and see which ones are worth it: risk against loss, with the front nothing beats."""
    from setveil.report.words import figure, percent
    from setveil.workflows.compare import compare as run_all
    from setveil.workflows.compare import pareto_front, read_grid

    note_first_run()
    with progress_bar() as progress:
        reading = o.read_options(format, delimiter, id_column, item_column)
        points = run_all(input, read_grid(grid), output, read_options=reading, processes=processes, progress=progress)
    front = pareto_front(points)
    if json:
        say_json(
            {
                "points": [
                    {"id": p.id, "policy": p.policy.to_toml(), "pareto": p.id in front, **p.result} for p in points
                ]
            }
        )
        return
    best = sorted((p for p in points if p.id in front), key=lambda p: p.result["mean_chance"])
    rows = [
        (_told(p), percent(p.result["mean_chance"]), figure(p.result["avg_re"]), figure(p.result.get("ncp")))
        for p in best
    ]
    table(("settings no other beats", "mean chance", "query error", "NCP"), rows)
    failed = [p for p in points if not p.is_ok]
    say(
        f"{len(points) - len(failed)} of {len(points)} settings gave a release{'' if not failed else '; the others are listed with their reason'}."
    )
    say(f"Page: {output / 'compare.html'}, table: {output / 'results.csv'}")


def _told(point: object) -> str:
    policy = point.policy  # type: ignore[attr-defined]
    told = [f"{name}={value}" for name, value in policy.model.given().items() if isinstance(value, int | float | str)]
    algorithm = point.result.get("algorithm") or policy.algorithm.name or ""  # type: ignore[attr-defined]
    return " ".join([algorithm, *told, policy.hierarchy.source or ""]).strip()
