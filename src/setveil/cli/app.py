"""The command ``setveil``: modules of commands add theirs when they are imported."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="setveil",
    help="Make transaction data (one set of items per person) safe to publish, verify it, and show the cost.",
    epilog="Example: setveil anonymize baskets.csv -o out --model km -k 5 -m 2 --hierarchy taxonomy.csv",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def group_of(name: str, help: str, example: str) -> typer.Typer:
    """A command with commands of its own."""
    group = typer.Typer(name=name, help=help, epilog=f"Example: {example}", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group)
    return group
