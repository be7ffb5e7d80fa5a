"""``setveil verify``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import announce_compiling, progress_bar, read_data, remark, say, say_json, warn

WORDS = {True: "verified", False: "not verified", None: "cannot be verified"}
EXIT_CODES = {True: 0, False: 1, None: 5}


@app.command(epilog="Examples: setveil verify out --original baskets.csv;  setveil verify any.csv --model km -k 5 -m 2")
@o.reads_data
@o.takes_model
def verify(
    place: Annotated[
        str,
        typer.Argument(
            metavar="OUT|ZIP|FILE",
            help="A release folder, its archive (.zip) or its address (s3://bucket/out), or any transaction file with "
            "--model.",
        ),
    ],
    original: Annotated[str | None, typer.Option(help="The original input: adds the checks that need it.")] = None,
    all_violations: Annotated[bool, typer.Option("--all-violations", help="List every minimal violation.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Largest number of violations to list.")] = 1000,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, metavar="SECONDS", help="Time limit; by default it grows with the size of the folder."),
    ] = None,
    signers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keys that you trust (allowed_signers of OpenSSH): says who signed."),
    ] = None,
    model: o.Model = o.NOTHING,
    engine: o.Engine = "local",
    master: o.Master = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Verify a release folder, or audit any file. Nothing on disk is changed.

    Exit code 0: verified. 1: not verified. 5: cannot be verified here, because only the owner has what is needed, or
    because a limit on time, memory or file size was reached.
    """
    from setveil.errors import InputError, UncheckedError, one_line

    target, is_address = Path(place), "://" in place
    if is_address or target.is_dir() or (target.suffix.lower() == ".zip" and target.is_file()):
        _refuse_internal(target)
        if model:
            raise InputError(f"{target}: is a release folder, which states its guarantee itself; remove --model, -k, …")
        if all_violations:
            raise InputError(f"{target}: is a release folder; --all-violations is for a file and --model.")
        from setveil.workflows.outputs import local_copy

        with local_copy(place, master or "local[*]" if engine == "spark" else None) as folder:
            answer = _check_folder(folder, original, time_limit, engine, master, reading, signers)
        _show_folder(place, answer, json)
        raise typer.Exit(EXIT_CODES[answer["holds"]])
    from setveil.workflows import recheck
    from setveil.workflows.cluster import check_engine

    if check_engine(engine, master):
        raise InputError(f"{target}: on Spark only release folders are verified; use --engine local.")
    if not target.exists() and str(target) != "-":
        raise InputError(f"{target}: there is no such file or folder; name a release folder, or a file and --model.")
    if "name" not in model:
        raise InputError(f"{target}: to audit a file, set the privacy model, as in --model km -k 5 -m 2.")
    if original is not None:
        raise InputError(f"{target}: --original is compared with a release folder; this is a file. Omit it.")
    if signers is not None:
        raise InputError(f"{target}: --signers is for a release folder, which has a certificate; this is a file.")
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
        say(_answer(but) if verdict.holds else f"{WORDS[False]}: {verdict.reason}")
        for found in violations:
            say(f"{found.support}\t{', '.join(map(one_line, found.itemset))}")
        if all_violations and len(violations) == limit:
            say(f"the first {limit:,} violations; increase --limit for more.")
    raise typer.Exit(0 if verdict.holds else 1)


def _refuse_internal(target: Path) -> None:
    """Whoever names the confidential folder means the release beside it."""
    from setveil.errors import InputError

    name = Path(os.path.abspath(target)).name  # noqa: PTH100 (links stay as they are)
    if name.endswith(".internal") and not (target / "certificate.json").exists():
        public = target.with_name(name.removesuffix(".internal"))
        raise InputError(f"{target}: is the confidential folder of a release; verify the release: {public}")


def _check_folder(
    target: Path,
    original: str | None,
    time_limit: float | None,
    engine: str,
    master: str | None,
    reading: o.Reading,
    signers: Path | None,
) -> dict[str, Any]:
    """The folder may come from anyone: it is checked in a process with limits."""
    from setveil.workflows.bounded import BoundedCheck, Listener, Request

    trusted = None if signers is None else os.fspath(signers)
    request = Request(os.fspath(target), original, time_limit, engine, master, reading, trusted)
    with BoundedCheck(request) as check, progress_bar() as progress:
        return check.answer(Listener(progress, remark, warn, announce_compiling))


def _show_folder(target: str, answer: Mapping[str, Any], json: bool) -> None:
    if json:
        shown = "input holds problems cannot_be_checked claim sentence publisher_says visits notes signature"
        say_json({name: answer[name] for name in shown.split()})
        return
    holds, nothing_left = answer["holds"], answer["nothing_left"]
    but = nothing_left or ("attackers can guess who has a sensitive item" if answer["guessing"] else "")
    but = but or ("records are visits, not people" if answer["visits"] else "")
    say(f"{target}: {_answer(but) if holds else WORDS[holds]}")
    if holds:
        say(answer["sentence"])
    for problem in answer["problems"]:
        say(f"- {problem}")
    if answer["claim"] is not None and not answer["claim"]["holds"]:
        say(f"- {answer['reason']}")
    for line in answer["cannot_be_checked"]:
        say(f"- {WORDS[None]}: {line}")
    for line in answer["notes"] if not holds else [note for note in answer["notes"] if note != nothing_left]:
        say(f"note: {line}")
    if holds is not False and answer["publisher_says"]:
        say(f"stated by the publisher, not verified: {_publisher_statements(answer['publisher_says'])}")


def _answer(but: str) -> str:
    """A guarantee that is met by publishing the same for everybody, or with groups that can be guessed, is not called
    verified without a remark.
    """
    return f"{WORDS[True]}, but {but}" if but else WORDS[True]


def _publisher_statements(publisher_says: Any) -> str:
    made = f"made by setveil {publisher_says['setveil']} with {publisher_says['algorithm']}."
    return " ".join([made, *publisher_says.get("not_protected", ())])
