"""``setveil apply``."""

from __future__ import annotations

from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.anonymize import show
from setveil.cli.app import app
from setveil.cli.console import note_first_run, progress_bar, remark
from setveil.io.formats.registry import WRITTEN, listed


@app.command(epilog="Example: setveil apply release-2025 people-2026.csv -o release-2026")
@o.reads_data
def apply(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Folder or address of an earlier recoding.")],
    input: o.Input,
    output: Annotated[str, typer.Option("-o", "--output", metavar="OUT", help="Folder to publish, or an address.")],
    unknown_items: Annotated[
        str, typer.Option(help="Items that the earlier release does not know: error, or suppress.")
    ] = "error",
    to: Annotated[str | None, typer.Option(help=f"Layout to write: {listed(WRITTEN)}; the input's otherwise.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release.")] = False,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Publish new people with the recoding of an earlier release, so that both releases have the same categories."""
    from setveil.workflows.apply import apply_folder

    note_first_run()
    with progress_bar() as progress:
        outcome = apply_folder(
            old, input, output, unknown_items=unknown_items, to=to, force=force, progress=progress, tell=remark,
            **reading,
        )  # fmt: skip
    show(outcome, json)
