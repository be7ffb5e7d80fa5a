"""``setveil roles``."""

from __future__ import annotations

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import remark, say, say_json, table


@app.command(epilog="Example: setveil roles visits.csv")
@o.reads_data
def roles(input: o.Input, reading: o.Reading = o.NOTHING, json: o.Json = False) -> None:
    """Propose a role for every column of a table: person, item, known, sensitive or drop, each with its reason."""
    import setveil
    from setveil.report.words import percent

    found = setveil.roles(input, **reading)
    if json:
        say_json(found.to_dict())
        return
    rows = [
        (one.name, one.role, f"{one.n_values:,}", percent(one.missing), percent(one.unique), one.code_system or "-",
         one.hierarchy or "-", one.looks_like.partition(" (")[0])
        for one in found.columns
    ]  # fmt: skip
    header = ("column", "role", "values", "missing", "unique", "code system", "hierarchy", "looks like")
    table(header, rows)
    if found.is_partial:
        remark(f"Only the first {found.proposal.n_rows:,} rows were looked at.")
    say("\nReasons:")
    for one in found.columns:
        shown = f" Most frequent: {', '.join(one.examples)}." if one.examples else ""
        say(f"  {one.name}: {one.role}. {one.reason}{shown}")
    if found.questions:
        say("\nQuestions:")
        for question in found.questions:
            say(f"  {question}")
    if found.commands:
        say("\nProposed command:" if len(found.commands) == 1 else "\nCommands, the proposed one first:")
        for command in found.commands:
            say(f"  {command}")
