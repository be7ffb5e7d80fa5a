"""``setveil verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.console import read_data, say, say_json

WORDS = {True: "holds", False: "does not hold", None: "cannot be checked here"}
EXIT_CODES = {True: 0, False: 1, None: 5}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        epilog="Examples: setveil verify out --original baskets.csv;  setveil verify any.csv --model km -k 5 -m 2"
    )(verify)


@o.reads_data
@o.takes_model
def verify(
    target: Annotated[
        Path, typer.Argument(metavar="OUT|FILE", help="A release folder, or any transaction file with --model.")
    ],
    original: Annotated[str | None, typer.Option(help="The original input: adds the checks that need it.")] = None,
    all_violations: Annotated[bool, typer.Option("--all-violations", help="List every minimal violation.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many violations to list at most.")] = 1000,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Give up after so long; for a folder its size decides otherwise."),
    ] = None,
    model: o.Model = o.NOTHING,
    engine: o.Engine = "local",
    master: o.Master = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Check a release folder again, or audit any file.

    Exit code 0: it holds. 1: it does not. 5: that cannot be told here, because only the owner has what is needed or
    time is up.
    """
    from setveil.errors import InputError, UncheckedError, one_line
    from setveil.workflows import recheck
    from setveil.workflows.cluster import check_engine

    if target.is_dir():
        if model:
            raise InputError(
                f"{target}: is a release folder, which says itself what it claims; leave out --model, -k, …"
            )
        if all_violations:
            raise InputError(f"{target}: is a release folder; --all-violations is for a file and --model.")
        data = None if original is None else read_data(original, reading, engine, master)
        result = recheck.verify_folder(target, data, time_limit=time_limit, engine=engine, master=master)
        _show_folder(target, result, None if data is None else data.facts(), json)
        raise typer.Exit(EXIT_CODES[result.holds])
    if check_engine(engine, master):
        raise InputError(f"{target}: on Spark only release folders are verified; use --engine local.")
    if not target.exists() and str(target) != "-":
        raise InputError(f"{target}: there is no such file or folder; give a release folder, or a file and --model.")
    if "name" not in model:
        raise InputError(f"{target}: to audit a file say what must hold, as in --model km -k 5 -m 2.")
    if original is not None:
        raise InputError(f"{target}: --original is held against a release folder; this is a file. Leave it out.")
    audited = read_data(target, reading)
    try:
        verdict, violations = recheck.audit(audited, model, limit if all_violations else 0, time_limit)
    except UncheckedError as problem:
        if json:
            say_json(
                {"input": audited.facts(), "holds": None, "witness": None, "support": None, "reason": str(problem)}
            )
            raise typer.Exit(problem.exit_code) from None
        raise
    if json:
        content: dict[str, Any] = {
            "input": audited.facts(),
            "holds": verdict.holds,
            "witness": verdict.witness,
            "support": verdict.support,
            "reason": verdict.reason,
        }
        if all_violations:
            content["violations"] = [{"itemset": list(found.itemset), "support": found.support} for found in violations]
        say_json(content)
    else:
        but = recheck.nothing_left(audited)
        say(_answer(but) if verdict.holds else f"does not hold: {verdict.reason}")
        for found in violations:
            say(f"{found.support}\t{', '.join(map(one_line, found.itemset))}")
        if all_violations and len(violations) == limit:
            say(f"the first {limit:,} violations; raise --limit for more.")
    raise typer.Exit(0 if verdict.holds else 1)


def _show_folder(target: Path, result: Any, input: dict[str, Any] | None, json: bool) -> None:
    if json:
        verdict = result.verdict
        claim = (
            None
            if verdict is None
            else {"holds": verdict.holds, "witness": verdict.witness, "support": verdict.support}
        )
        say_json(
            {
                "input": input,
                "holds": result.holds,
                "problems": list(result.problems),
                "cannot_be_checked": list(result.unchecked),
                "claim": claim,
                "sentence": result.sentence,
                "publisher_says": dict(result.publisher_says),
                "notes": list(result.notes),
            }
        )
        return
    but = result.nothing_left or ("who holds what can be guessed" if result.guessing else "")
    say(f"{target}: {_answer(but) if result.holds else WORDS[result.holds]}")
    if result.holds:
        say(result.sentence)
    for problem in result.problems:
        say(f"- {problem}")
    if result.verdict is not None and not result.verdict.holds:
        say(f"- {result.verdict.reason}")
    for line in result.unchecked:
        say(f"- cannot be checked here: {line}")
    for line in result.notes if not result.holds else [note for note in result.notes if note != result.nothing_left]:
        say(f"note: {line}")
    if result.holds is not False and result.publisher_says:
        say(f"the publisher says, not checked here: {_told(result.publisher_says)}")


def _answer(but: str) -> str:
    """A promise that is kept by saying the same of everybody, or by groups that tell, is not called kept without a
    word.
    """
    return f"{WORDS[True]}, but {but}" if but else WORDS[True]


def _told(publisher_says: Any) -> str:
    made = f"made by setveil {publisher_says['setveil']} with {publisher_says['algorithm']}."
    return " ".join([made, *publisher_says.get("not_protected", ())])
