"""``setveil risk``."""

from __future__ import annotations

from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import note_first_run, progress_bar, read_data, say, say_json, table


@app.command(epilog="Example: setveil risk baskets.csv --known 1,2,3")
@o.reads_data
def risk(
    input: o.Input,
    known: Annotated[str, typer.Option(help="Numbers of known items, as in 1,2,3,4.")] = "1,2,3,4",
    k: Annotated[
        int,
        typer.Option(
            "-k", help="Report the share of records with a combination of items that fewer than K records have."
        ),
    ] = 5,
    sensitive: o.Sensitive = None,
    seed: o.Seed = None,
    engine: o.Engine = "local",
    master: o.Master = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Show how many people of the original data an attacker who knows a few items can single out."""
    import setveil
    from setveil.errors import name_some, times
    from setveil.report.words import figure, percent
    from setveil.workflows import policies

    numbers = o.numbers_of(known)
    note_first_run()
    with progress_bar() as progress:
        progress("reading", None)
        data = read_data(input, reading, engine, master)
        listed = policies.list_sensitive(sensitive, data) if sensitive else ()
        result = setveil.risk(data, known=numbers, k=k, sensitive=listed, seed=seed or 0, progress=progress)
    content = result.to_dict()
    if json:
        say_json({"input": data.facts(), "records": data.n_records, "items": data.n_items, "risk": content})
        return
    say(
        f"{times(data.n_records, 'person', 'people')}, {times(data.n_items, 'item')}, "
        f"{times(data.n_occurrences, 'entry', 'entries')}, {times(data.n_empty, 'empty record')}"
    )
    rows = [
        (
            str(row["known"]),
            figure(row["n_records"]),
            percent(row["singled_out"]),
            percent(None if row["singled_out"] is None else row["singled_out"] * row["share_of_records"]),
            percent(row["worst_singled_out"]),
            percent(row["mean_inverse_support"]),
            percent(row["max_inverse_support"]),
            percent(row["below_k"]),
        )
        for row in content["rows"]
    ]
    header = (
        "known items",
        "people with as many",
        "singled out",
        "of all people",
        "worst case, of all people",
        "mean probability",
        "highest probability",
        f"fewer than {k} match",
    )
    table(header, rows)
    columns = next((row["columns"] for row in content["rows"] if row.get("columns")), ())
    if columns:
        say(f"The attacker also knows the columns {name_some(columns)} of the person; 0: these alone.")
    say('Shares are of people with at least as many items, except "of all people" and the worst case.')
    say(f"Fewer than {k} match: some combination of as many of the person's items is in fewer than {k} records.")
    say("Singled out: what is known matches exactly one record. Probability: of picking the right record.")
    say("Worst case: up to that many items of every person are known, the most identifying ones; else random ones.")
    for row in content["rows"]:
        if row["note"]:
            say(f"{row['known']} known items: {row['note']}")
    if not content["inference"]:
        return
    what = "a sensitive item" if listed else "a further item"
    say(f"\nInference: of how many people the attacker becomes certain of {what}, or sure with more than 50 %")
    table(
        ("known items", "certain", "95 % interval", "control", "above 50 %", "control"),
        [
            (
                str(row["known"]),
                percent(row["certain"]["value"][0]),
                f"{percent(row['certain']['value'][1])} to {percent(row['certain']['value'][2])}",
                percent(row["certain"]["control"][0]),
                percent(row["likely"]["value"][0]),
                percent(row["likely"]["control"][0]),
            )
            for row in content["inference"]
        ],
    )
    base = "people with at least as many items" + (" and a sensitive item" if listed else "")
    say(f"Shares are of {base}, from samples. Control: people who are not in the data.")
