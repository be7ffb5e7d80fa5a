"""``python -m experiments NAME``: run the papers' experiments again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.console import note_first_run, progress, say, say_json, table
from setveil.errors import InputError, SetveilError


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME|all", help="Experiments (001-fig9), papers (001), or all; nothing: list them."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", envvar="SETVEIL_DATA", help="Folder with the data sets (BMS1.dat.gz and others)."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Where reproduction.md and its pictures go; what an earlier run wrote there is replaced.",
        ),
    ] = Path(),
    json: o.Json = False,
) -> None:
    """Run the experiments of the papers again: figures drawn, the papers' numbers beside ours.

    The page holds the experiments of this run only; `all` makes the whole page.
    """
    if not names or names == ["list"]:
        show_experiments(json)
        return
    from experiments.catalogue import choose
    from experiments.page import count
    from experiments.runner import reproduce as run

    choose(names)
    if data is None:
        raise InputError("reproduce needs the data sets; name their folder with --data DIR.")
    note_first_run()
    with progress() as report:
        results = run(names, data, output, report)
    page = output / "reproduction.md"
    if json:
        say_json({"experiments": [result.as_dict() for result in results], "page": str(page)})
        return
    rows = [
        (result.experiment.name, *map(str, count(result)))
        if result.outcome
        else (result.experiment.name, "not run", "", "")
        for result in results
    ]
    table(("experiment", "agree", "disagree", "not comparable"), rows)
    for result in results:
        if not result.outcome:
            say(f"{result.experiment.name} was not run: {result.reason}")
    say(f"Page: {page}")


def show_experiments(json: bool) -> None:
    """What can be asked for."""
    from experiments.catalogue import choose

    known = choose(["all"])
    if json:
        say_json(
            {
                "experiments": [
                    {"name": e.name, "title": e.title, "setting": e.setting, "needs": list(e.needs)} for e in known
                ]
            }
        )
        return
    width = max(len(e.name) for e in known)
    for e in known:
        say(f"{e.name:{width}}  {e.title}" + (f" ({', '.join(e.needs)})" if e.needs else ""))


if __name__ == "__main__":
    try:
        typer.run(reproduce)
    except SetveilError as problem:
        raise SystemExit(f"experiments: {problem}") from None
