"""``setveil suggest``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.anonymize import show
from setveil.cli.app import app
from setveil.cli.console import note, note_first_run, progress_bar, read_data, say, say_json


@app.command(epilog="Example: setveil suggest baskets.csv --hierarchy taxonomy.csv --run -o release")
@o.reads_data
def suggest(
    input: o.Input,
    purpose: Annotated[
        str,
        typer.Option(help="publish (for anyone), share (a known recipient) or internal (inside the organization)."),
    ] = "publish",
    hierarchy: o.Hierarchy = None,
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    sensitive: o.Sensitive = None,
    profile: o.Profile = None,
    seconds: Annotated[
        float, typer.Option(min=0, max=1e9, help="Time limit; a search that it ends early says so.")
    ] = 600.0,
    run: Annotated[bool, typer.Option("--run", help="Run the first proposal.")] = False,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="With --run: the folder to publish.")
    ] = Path("release"),
    force: Annotated[bool, typer.Option("--force", help="With --run: replace an earlier release.")] = False,
    seed: o.Seed = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Try settings on the data and propose up to three: guarantee, utility, residual risk, and the command of each."""
    from setveil.workflows import pipeline, policies
    from setveil.workflows.suggest import suggest as propose

    note_first_run()
    hierarchy = o.hierarchy_source(hierarchy, hierarchy_format, hierarchy_columns, input)
    with progress_bar() as progress:
        data = read_data(input, reading)
        listed = policies.check_request(data, hierarchy, sensitive)
        found = propose(
            data,
            purpose=purpose,
            hierarchy=hierarchy,
            sensitive=listed,
            profile=profile,
            seconds=seconds,
            seed=seed or 0,
            source=input,
            given={"sensitive": sensitive, "reading": reading},
            progress=progress,
            first=None if json else _first,
        )
    if json:
        shown = [
            {
                "role": choice.role,
                "policy": found.policy(choice).to_toml(),
                "words": choice.words(),
                "lights": {"Residual risk": choice.risk_colour, "Utility": choice.colour},
                "exact_ratio": choice.exact,
                "largest_set": choice.largest_set,
                "utility": choice.utility.to_dict(),
                "residual_risk": None if choice.residual is None else choice.residual.to_dict(),
                "sampled": choice.is_sampled,
                "command": found.command(choice, str(output)),
            }
            for choice in found.choices
        ]
        rejected = [{"setting": name, "why": why} for name, why in found.rejected]
        say_json(
            {
                "profile": vars(found.profile),
                "purpose": found.purpose.name,
                "reasons": list(found.reasons),
                "choices": shown,
                "rejected": rejected,
                "input": data.facts(),
            }
        )
    else:
        say(str(found))
    if run:
        with progress_bar() as progress:
            outcome = pipeline.run(found.policy(), input, output, force=force, progress=progress)
        if not json:
            say("")
            show(outcome, json=False)


def _first(choice: Any) -> None:
    """Show the first proposal while the search continues."""
    note(
        f"First proposal, tried on {choice.n_tried:,} people: {' '.join(choice.words()[:2])} Searching for a better "
        "one …"
    )
