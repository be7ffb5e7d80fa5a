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
