"""``setveil demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli.anonymize import show
from setveil.cli.console import note_first_run, progress_bar, remark, say

OWN_FOLDER = Path("demo-out")  # only here an earlier release is replaced: another folder may hold somebody's own


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil demo")(demo)


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Folder to publish.")] = OWN_FOLDER,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release.")] = False,
) -> None:
    """The whole flow on bundled data: 5,000 invented baskets with a taxonomy, k=5, m=2; offline, in seconds."""
    from setveil.workflows import pipeline, policies, samples

    note_first_run()
    baskets, taxonomy = samples.demo_files()
    command = f"setveil anonymize {baskets.name} -o {output} --model km -k 5 -m 2 --hierarchy {taxonomy.name}"
    say(f"The data: 5,000 invented baskets, one record per shopper.\n$ {command}")
    policy = policies.make_policy({"model": {"name": "km", "k": 5, "m": 2}, "hierarchy": {"source": str(taxonomy)}})
    with progress_bar() as progress:
        force = force or output == OWN_FOLDER
        outcome = pipeline.run(policy, str(baskets), output, force=force, progress=progress, tell=remark)
    show(outcome, json=False)
    say(f"Check it again, as a recipient would: setveil verify {output}")
