"""``setveil demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli.anonymize import show
from setveil.cli.app import app
from setveil.cli.console import note_first_run, progress_bar, say, table

OWN_FOLDER = Path("demo-out")  # only here an earlier release is replaced: another folder may hold somebody's own


@app.command(epilog="Example: setveil demo")
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Folder to publish.")] = OWN_FOLDER,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release.")] = False,
) -> None:
    """A decision on bundled data: the risk of 5,000 invented baskets, three candidates, the one to publish; offline."""
    from setveil.report.words import percent
    from setveil.workflows import deciding, pipeline

    note_first_run()
    with progress_bar() as progress:
        decision = deciding.decide_demo(progress)
    say("The data: 5,000 invented baskets, one record per shopper. Attackers know a few items that a person bought.\n")
    say("1. Risk of the original data")
    table(
        ("most identifying items known", "people singled out, of all people"),
        [(str(known), percent(share)) for known, share in enumerate(decision.raw, start=1)],
    )
    say(f"\n2. Candidates, compared with the profile {decision.profile.words}")
    table(
        (
            "candidate",
            "guarantee",
            "residual risk",
            "singled out, of all people",
            "utility",
            "mean error of pair counts",
            "",
        ),
        [row.cells() for row in decision.rows],
    )
    for row in decision.rows:
        say(f"{row.letter}: {row.reason}")
    say(f"\n3. The release that a careful owner would publish: candidate {decision.chosen.letter}")
    say(f"$ {decision.command(str(output))}\n")
    with progress_bar() as progress:
        force = force or output == OWN_FOLDER
        outcome = pipeline.run(decision.chosen.policy, decision.source, output, force=force, progress=progress)
    show(outcome, json=False)
    say(f"Verify it, as a recipient would: setveil verify {output}")
