"""``setveil hierarchy build|check|convert|systems``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.app import group_of
from setveil.cli.console import note, progress_bar, read_data, say, say_json

_Target = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the hierarchy.")]
_Layout = Annotated[str, typer.Option("--to", help="csv (leaf to root), edges, amnesia or amnesia-json.")]
# Spellings of earlier versions: still understood, with a word about the new one, and not shown.
_OldFormat = Annotated[str | None, typer.Option("--from", hidden=True)]
_OldHow = Annotated[str | None, typer.Option("--how", hidden=True)]


group = group_of(
    "hierarchy",
    "Build, check and convert hierarchies.",
    "setveil hierarchy check taxonomy.csv --data baskets.csv",
)


@group.command(epilog="Example: setveil hierarchy build baskets.csv --hierarchy fanout:5 -o tree.csv")
@o.reads_data
def build(
    input: o.Input,
    output: _Target,
    hierarchy: Annotated[
        str | None,
        typer.Option(help="icd10 or another code system, fanout:D, levels:N, prefix:1,3,4 or auto (the default)."),
    ] = None,
    to: _Layout = "csv",
    how: _OldHow = None,
    reading: o.Reading = o.NOTHING,
) -> None:
    """Build a hierarchy over the items of a data set."""
    from setveil.workflows.hierarchy import resolve_hierarchy
    from setveil.workflows.outputs import refuse_overwriting_input

    refuse_overwriting_input(input, output)
    data = read_data(input, reading)
    source = _renamed("--how", how, "--hierarchy", hierarchy) or "auto"
    with progress_bar() as progress:
        tree = resolve_hierarchy(source, data, progress=progress)
    assert tree is not None
    tree.to_file(str(output), to)
    say(f"{tree!r} written to {output}")


@group.command(epilog="Example: setveil hierarchy check taxonomy.csv --data baskets.csv")
@o.reads_data
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A hierarchy file.")],
    data: Annotated[str | None, typer.Option(help="Transactions whose items the hierarchy must cover.")] = None,
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    old_format: _OldFormat = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """List everything that is wrong with a hierarchy. Exit code 2 if it cannot be used."""
    import setveil

    format = _renamed("--from", old_format, "--hierarchy-format", hierarchy_format)
    options: dict[str, Any] = {"format": format, "columns": _columns(hierarchy_columns)}
    vocabulary = None
    if data is not None:
        vocabulary = read_data(data, reading).vocabulary
    else:
        options |= _about_the_file(reading)
    problems = setveil.check_hierarchy(file, vocabulary, **options)
    if json:
        say_json({"problems": [vars(problem) for problem in problems]})
    else:
        for problem in problems:
            say(f"{problem.severity}: {problem}")
        if not problems:
            say(f"{file}: {setveil.Hierarchy.from_file(str(file), **options)!r}, no problems found")
    raise typer.Exit(2 if any(problem.severity == "error" for problem in problems) else 0)


@group.command(epilog="Example: setveil hierarchy convert taxonomy.csv -o edges.csv --to edges")
def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A hierarchy file.")],
    output: _Target,
    to: _Layout = "csv",
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    old_format: _OldFormat = None,
) -> None:
    """Write a hierarchy in another format."""
    import setveil
    from setveil.workflows.outputs import refuse_overwriting_input

    refuse_overwriting_input(file, output)
    format = _renamed("--from", old_format, "--hierarchy-format", hierarchy_format)
    tree = setveil.Hierarchy.from_file(str(file), format=format, columns=_columns(hierarchy_columns))
    tree.to_file(str(output), to)
    say(f"{tree!r} written to {output}")


@group.command(epilog="Example: setveil hierarchy systems icd10 --code E11.9")
def systems(
    name: Annotated[str | None, typer.Argument(metavar="[SYSTEM]", help="Show its chapters and blocks.")] = None,
    code: Annotated[str | None, typer.Option(help="Show the groups of one code.")] = None,
    json: o.Json = False,
) -> None:
    """List the code systems that --hierarchy knows, or the chapters and blocks of one."""
    from setveil.workflows.code_systems import describe_system, list_systems

    found = list_systems() if name is None else describe_system(name, code)
    if json:
        say_json(found)
    else:
        for row in found["rows"]:
            say("  " * row["depth"] + row["text"])


def _renamed(old: str, given: str | None, new: str, value: str | None) -> str | None:
    """What an option says under its name or its old one."""
    if given is None:
        return value
    note(f"warning: {old} is now called {new}.")
    return given if value is None else value


def _about_the_file(reading: o.Reading) -> dict[str, Any]:
    """Without data the options of reading are about the hierarchy, as far as they can be."""
    from setveil.errors import InputError

    known = {"delimiter", "encoding", "strip", "no_header"}
    for name in reading:
        if name not in known:
            raise InputError(f"--{name.replace('_', '-')} is about transactions; set --data, or remove it.")
    options = {name: value for name, value in reading.items() if name != "no_header"}
    return {**options, "header": False} if reading.get("no_header") else options


def _columns(listed: str | None) -> list[str] | None:
    return None if listed is None else listed.split(",")
