"""``setveil algorithms``."""

from __future__ import annotations

from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.console import say, say_json, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil algorithms aa")(algorithms)


def algorithms(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One algorithm, with its options.")] = None,
    json: o.Json = False,
) -> None:
    """The algorithms: which model each enforces, its paper, how it scales, its options."""
    import inspect

    import setveil
    from setveil.algorithms import find

    if name is None:
        entries = setveil.algorithms()
        if json:
            say_json(
                {
                    "algorithms": [
                        {
                            "name": e.name,
                            "models": e.models,
                            "tier": e.tier,
                            "paper": e.paper,
                            "scales": e.scales,
                            "hierarchy": e.hierarchy,
                            "summary": e.summary,
                            "guessable": e.guessable,
                        }
                        for e in entries
                    ]
                }
            )
            return
        names = max(len(entry.name) for entry in entries) + 2
        models = max(len(", ".join(entry.models)) for entry in entries) + 2
        for entry in entries:
            needs = "; needs a hierarchy" if entry.hierarchy == "required" else ""
            say(f"{entry.name:{names}}{', '.join(entry.models):{models}}{entry.summary}")
            guessable = "; guessable: needs --accept-guessable" if entry.guessable else ""
            say(f"{'':{names + models}}{entry.tier}; {entry.paper}; scaling: {entry.scales}{needs}{guessable}")
        say(
            "\nThe first algorithm listed for a model is its default. For km several are tried, and the one with the "
            "lowest loss is used."
        )
        say("`setveil algorithms NAME` shows the options of one algorithm.")
        return
    entry = find(name)
    text, choices = entry.documentation(), entry.options()
    if json:
        say_json(
            {
                "name": entry.name,
                "models": entry.models,
                "paper": entry.paper,
                "scales": entry.scales,
                "guessable": entry.guessable,
                "options": [vars(c) for c in choices],
                "text": text,
            }
        )
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
