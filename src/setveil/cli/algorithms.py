"""``setveil algorithms``."""

from __future__ import annotations

from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import say, say_json, table


@app.command(epilog="Example: setveil algorithms aa")
def algorithms(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One algorithm, with its options.")] = None,
    json: o.Json = False,
) -> None:
    """The algorithms: which model each enforces, its paper, how it scales, its options."""
    import inspect

    import setveil
    from setveil.algorithms import PORTFOLIO, find

    if name is None:
        entries = setveil.algorithms()
        if json:
            shown = ("name", "models", "tier", "paper", "scales", "hierarchy", "summary", "guessable")
            say_json({"algorithms": [{name: row[name] for name in shown} for row in entries.records()]})
            return
        names = max(len(entry.name) for entry in entries) + 2
        models = max(len(", ".join(entry.models)) for entry in entries) + 2
        for entry in entries:
            needs = "; needs a hierarchy" if entry.hierarchy == "required" else ""
            say(f"{entry.name:{names}}{', '.join(entry.models):{models}}{entry.summary}")
            guessable = "; guessable: needs --accept-guessable" if entry.guessable else ""
            say(f"{'':{names + models}}{entry.tier}; {entry.paper}; scaling: {entry.scales}{needs}{guessable}")
        say(
            "\nThe first algorithm listed for a model is its default. "
            f"For {', '.join(PORTFOLIO)} several are tried, and the one with the lowest loss is used."
        )
        say("`setveil algorithms NAME` shows the options of one algorithm.")
        return
    entry = find(name)
    text, choices = entry.documentation(), entry.options()
    if json:
        facts = {name: getattr(entry, name) for name in ("name", "models", "paper", "scales", "guessable")}
        say_json({**facts, "options": [vars(choice) for choice in choices], "text": text})
        return
    say(
        f"{entry.name}: {entry.summary}\nmodels: {', '.join(entry.models)}   paper: {entry.paper}   "
        f"scales: {entry.scales}\n"
    )
    say(inspect.cleandoc(text))
    if choices:
        say("")
        table(
            ("option", "default", "may be", "meaning"),
            [(c.name, str(c.default), c.allowed, c.text) for c in choices],
        )
