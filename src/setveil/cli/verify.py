"""``setveil verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.console import say, say_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Examples: setveil verify out --original baskets.csv;  setveil verify any.csv --model km -k 5 -m 2"
    )(verify)


def verify(
    target: Annotated[
        Path, typer.Argument(metavar="OUT|FILE", help="A release folder, or any transaction file with --model.")
    ],
    original: Annotated[str | None, typer.Option(help="The original input: adds the checks that need it.")] = None,
    all_violations: Annotated[bool, typer.Option("--all-violations", help="List every minimal violation.")] = False,
    limit: Annotated[int, typer.Option(help="How many violations to list at most.")] = 1000,
    model: o.Model = None,
    k: o.K = None,
    m: o.M = None,
    l: o.L = None,  # noqa: E741 - the literature's letter
    p: o.P = None,
    h: o.H = None,
    sensitive: o.Sensitive = None,
    constraints: o.Constraints = None,
    utility: o.Utility = None,
    utility_rest: o.UtilityRest = None,
    max_suppressed: o.MaxSuppressed = None,
    format: o.Format = None,
    delimiter: o.Delimiter = None,
    id_column: o.IdColumn = None,
    item_column: o.ItemColumn = None,
    json: o.Json = False,
) -> None:
    """Check a release folder again, or audit any file. Exit code 1 if the guarantee does not hold."""
    from setveil.errors import InputError
    from setveil.workflows import folder

    reading = o.read_options(format, delimiter, id_column, item_column)
    if target.is_dir():
        if model is not None:
            raise InputError(f"{target}: is a release folder, which says itself what it claims; leave out --model.")
        result = folder.verify_folder(target, original, **reading)
        _show_folder(target, result, json)
        raise typer.Exit(0 if result.holds else 1)
    if model is None:
        raise InputError(f"{target}: to audit a file say what must hold, as in --model km -k 5 -m 2.")
    section = o.model_section(model, k, m, l, p, h, sensitive, constraints, utility, utility_rest, max_suppressed)
    verdict, violations = folder.audit(target, section, limit if all_violations else 0, reading)
    if json:
        content: dict[str, Any] = {
            "holds": verdict.holds,
            "witness": verdict.witness,
            "support": verdict.support,
            "reason": verdict.reason,
        }
        if all_violations:
            content["violations"] = [{"itemset": list(found.itemset), "support": found.support} for found in violations]
        say_json(content)
    else:
        say("holds" if verdict.holds else f"does not hold: {verdict.reason}")
        for found in violations:
            say(f"{found.support}\t{', '.join(found.itemset)}")
        if all_violations and len(violations) == limit:
            say(f"the first {limit:,} violations; raise --limit for more.")
    raise typer.Exit(0 if verdict.holds else 1)


def _show_folder(target: Path, result: Any, json: bool) -> None:
    if json:
        verdict = result.verdict
        claim = (
            None
            if verdict is None
            else {"holds": verdict.holds, "witness": verdict.witness, "support": verdict.support}
        )
        say_json(
            {"holds": result.holds, "problems": list(result.problems), "claim": claim, "notes": list(result.notes)}
        )
        return
    say(f"{target}: {'holds' if result.holds else 'does not hold'}")
    guarantee = result.certificate.get("guarantee")
    if result.holds and isinstance(guarantee, str):
        say(guarantee)
    for problem in result.problems:
        say(f"- {problem}")
    if result.verdict is not None and not result.verdict.holds:
        say(f"- {result.verdict.reason}")
    for line in result.notes:
        say(f"note: {line}")
