"""``setveil measure``."""

from __future__ import annotations

from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import note, read_data, say, say_json, table
from setveil.errors import InputError, one_line


@app.command(epilog="Example: setveil measure baskets.csv out --json")
@o.reads_data
def measure(
    input: o.Input,
    out: Annotated[str, typer.Argument(metavar="OUT", help="A release folder, or its address.")],
    patterns: Annotated[
        str | None,
        typer.Option(help="Also compare frequent itemsets and rules, at these percentages of records, as in 5,1,0.2."),
    ] = None,
    engine: o.Engine = "local",
    master: o.Master = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """The utility of a release, compared with the original."""
    from setveil.report.words import figure, metric_lines
    from setveil.workflows import folder, recheck

    data = read_data(input, reading, engine, master)
    thresholds = None if patterns is None else _shares(patterns)
    metrics = folder.measure_folder(data, out)
    left = None if thresholds is None else folder.patterns_of_folder(data, out, thresholds)
    if json:
        say_json({"input": data.facts(), **metrics, **({} if left is None else {"patterns": left.to_dict()})})
        return
    n_published = metrics.get("n_published_items")
    if n_published in recheck.NOTHING_LEFT:
        note(f"warning: {recheck.NOTHING_LEFT[n_published]}")
    table(
        ("utility", ""),
        metric_lines(metrics),
    )
    if left is None:
        return
    say("\nFrequent itemsets in each view of the release:")
    table(
        ("in", "view", "original", "release", "precision", "recall", "support error"),
        [
            (
                f"{row.threshold:.2%}",
                row.view,
                figure(row.n_original),
                figure(row.n_release),
                *(_percent(share) for share in (row.precision, row.recall, row.support_error)),
            )
            for row in left.itemsets
        ],
    )
    say("\nRules with a confidence of one half or more:")
    table(
        ("in", "view", "original", "kept", "lost", "new"),
        [
            (f"{row.threshold:.2%}", row.view, *map(figure, (row.n_original, row.kept, row.lost, row.new)))
            for row in left.rules
        ],
    )
    if left.mining_loss:
        say("\nFrequent itemsets of all levels of the hierarchy (ML² and dML², see docs/metrics.md):")
        table(
            ("in", "itemsets", "lost", "ML²", "differential", "lost", "dML²"),
            [
                (
                    f"{row.threshold:.2%}",
                    *map(figure, (row.n_itemsets, row.n_lost)),
                    _percent(row.ml2),
                    *map(figure, (row.n_differential, row.n_differential_lost)),
                    _percent(row.dml2),
                )
                for row in left.mining_loss
            ],
        )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(part) / 100 for part in text.split(","))
    except ValueError:
        raise InputError(f'--patterns takes percentages, as in 5,1,0.2, not "{one_line(text, 60)}".') from None
    for share in shares:
        if not 0 < share <= 1:
            raise InputError(f"--patterns: {100 * share:g} % of the records; use more than 0 and at most 100.")
    return shares
