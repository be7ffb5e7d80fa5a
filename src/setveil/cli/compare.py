"""``setveil compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import note_first_run, progress_bar, read_data, say, say_json, table


@app.command(epilog="Example: setveil compare baskets.csv -o comparison --hierarchy taxonomy.csv")
@o.reads_data
def compare(
    input: o.Input,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="Folder of the results; run again to continue.")
    ],
    grid: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The settings: a TOML file of [[grid]] blocks. Default: a built-in grid."),
    ] = None,
    hierarchy: o.Hierarchy = None,
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    sensitive: o.Sensitive = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Number of settings that run at the same time. Default: one per core."),
    ] = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Run many settings and compare risk with loss; shows the best settings."""
    from setveil.models.parameters import Items
    from setveil.workflows.compare import compare as run_all
    from setveil.workflows.policies import check_request

    note_first_run()
    data = read_data(input, reading)
    source = o.hierarchy_source(hierarchy, hierarchy_format, hierarchy_columns, input)
    check_request(data, source, sensitive)
    with progress_bar() as progress:
        found = run_all(
            input,
            grid,
            output,
            hierarchy=source,
            sensitive=None if sensitive is None else Items().parse(sensitive),
            read_options=reading,
            processes=processes,
            progress=progress,
        )
    if json:
        front = {row["id"] for row in found.rows if row["pareto"]}
        points = [{"id": p.id, "policy": p.policy.to_toml(), "pareto": p.id in front, **p.result} for p in found]
        say_json({"input": data.facts(), "points": points})
        return
    for header, rows in found.tables():
        table(header, rows)
    n_failed = sum(not point.is_ok for point in found)
    others = "" if not n_failed else "; the page lists the others with the reason"
    say(f"{len(found) - n_failed} of {len(found)} settings gave a release{others}.")
    say(f"Page: {output / 'compare.html'}, table: {output / 'results.csv'}")
