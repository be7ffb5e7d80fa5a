"""``setveil anonymize``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import note_first_run, progress_bar, read_data, remark, say, say_json, table, warn
from setveil.io.formats.registry import WRITTEN, listed


@app.command(epilog="Example: setveil anonymize baskets.csv -o out --model km -k 5 -m 2 --hierarchy taxonomy.csv")
@o.reads_data
@o.takes_model
def anonymize(
    input: o.Input,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Folder to publish, or an address (s3://bucket/out). OUT.internal, for internal use only, is written "
            "next to it; for an address, into the current folder.",
        ),
    ],
    model: o.Model = o.NOTHING,
    algorithm: Annotated[str | None, typer.Option(help="See `setveil algorithms`. Default: that of the model.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="N=V", help="An option of the algorithm; may be repeated.")
    ] = None,
    effort: Annotated[
        str | None, typer.Option(help="km without --algorithm: search effort, fast, normal or best.")
    ] = None,
    yardstick: Annotated[
        str | None,
        typer.Option(help="km without --algorithm: the loss to minimize, counts, ncp, itemsets or entries."),
    ] = None,
    prefer: Annotated[
        str | None, typer.Option(help="kkm: which losses weigh more: columns, items or balanced (both the same).")
    ] = None,
    accept_added: Annotated[
        bool,
        typer.Option(
            "--accept-added",
            help="km without --algorithm: also try an algorithm that adds items to records (weave).",
        ),
    ] = False,
    hierarchy: o.Hierarchy = None,
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    unknown_items: o.UnknownItems = None,
    names: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A list code,description: shown next to codes in codebook and reports."),
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="A policy file; options given here override it.")] = None,
    domain: Annotated[
        str | None, typer.Option(help="A public list of all items that could occur, one per line.")
    ] = None,
    seed: o.Seed = None,
    to: Annotated[str | None, typer.Option(help=f"Layout to write: {listed(WRITTEN)}; the input's otherwise.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release.")] = False,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Publish records in the order of the input.")
    ] = False,
    keep_ids: Annotated[bool, typer.Option("--keep-ids", help="Publish record ids.")] = False,
    safe_csv: Annotated[
        bool, typer.Option("--safe-csv", help="Put ' before labels that a spreadsheet could read as a formula.")
    ] = False,
    item_counts: Annotated[
        bool | None,
        typer.Option(
            "--item-counts/--no-item-counts",
            help="Also publish how many people have each generalized item, where that is safe. Default: yes.",
        ),
    ] = None,
    publish_constraints: Annotated[
        bool, typer.Option("--publish-constraints", help="Also publish the constraint lists.")
    ] = False,
    accept_guessable: Annotated[
        bool,
        typer.Option(
            "--accept-guessable", help="Publish groups in which attackers can guess who has a sensitive item."
        ),
    ] = False,
    profile: o.Profile = None,
    environment: o.Environment = None,
    sign: Annotated[
        str | None, typer.Option(metavar="KEY", help="Sign the certificate with a private key of OpenSSH.")
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="People of the population, in the layout of the input: journalist risk."),
    ] = None,
    engine: o.Engine = "local",
    master: o.Master = None,
    table_name: Annotated[
        str | None,
        typer.Option("--table", metavar="NAME", help="On Spark: also save the records as a table of the catalog."),
    ] = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Make a release, verify it, and publish it with certificate and report."""
    from setveil.errors import InputError
    from setveil.workflows import pipeline, policies

    given: dict[str, Any] = {
        "model": model,
        "algorithm": {
            "name": algorithm,
            "options": {**_pairs(option or []), **_shorthand(effort, yardstick, prefer, accept_added)},
        },
        "hierarchy": {
            "source": o.hierarchy_source(hierarchy, hierarchy_format, hierarchy_columns, input),
            "unknown_items": unknown_items,
        },
        "input": {**reading, "domain": domain},
        "output": {
            "to": to,
            "keep_order": keep_order or None,
            "keep_ids": keep_ids or None,
            "publish_constraints": publish_constraints or None,
            "accept_guessable": accept_guessable or None,
            "safe_csv": safe_csv or None,
            "item_counts": item_counts,
            "names": names,
        },
        "assessment": {"profile": profile, "environment": environment},
        "seed": seed,
    }
    if policy is None and "name" not in model:
        from setveil.models import MODELS

        raise InputError(f"choose a privacy model: --model {'|'.join(MODELS)}, or set --policy FILE.")
    decided = policies.make_policy(given, policy)
    note_first_run()
    with progress_bar() as progress:
        outcome = pipeline.run(
            decided,
            input,
            output,
            force=force,
            progress=progress,
            engine=engine,
            master=master,
            table=table_name,
            tell=remark,
            sign=sign,
            population=None if population is None else read_data(population, reading),
        )
    show(outcome, json)


def _shorthand(effort: str | None, yardstick: str | None, prefer: str | None, accept_added: bool) -> dict[str, Any]:
    """Options of default algorithms that have a flag of their own."""
    given = {"effort": effort, "yardstick": yardstick, "prefer": prefer, "accept_added": accept_added or None}
    return {name: value for name, value in given.items() if value is not None}


def _pairs(options: list[str]) -> dict[str, str]:
    from setveil.errors import InputError

    pairs = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f'--option takes NAME=VALUE, not "{text}".')
        pairs[name] = value
    return pairs


def show(outcome: Any, json: bool) -> None:
    """Verdict, residual risk, utility, and the paths of the files."""
    from setveil.errors import times
    from setveil.report.assessment import summary_of
    from setveil.report.figures import (
        inference_by_known,
        residual_of,
        unchanged_of,
        utility_of,
        worst_by_known,
        worst_inference,
    )
    from setveil.report.lights import GUARANTEE
    from setveil.report.words import metric_lines, percent

    before, after = (part.to_dict() for part in (outcome.risk_before, outcome.risk_after))
    facts = outcome.facts
    worst, inferred = residual_of(facts), worst_inference(facts.attacks)
    if json:
        say_json(
            {
                "input": (outcome.release.record.original or outcome.release.record.data).facts(),
                "out": str(outcome.path),
                "internal": str(outcome.internal),
                "verified": outcome.verdict.holds,
                "headline": outcome.headline,
                "assessment": summary_of(facts),
                "lights": {light.question: [light.colour, light.answer, light.sentence] for light in outcome.lights},
                "warnings": list(outcome.release.record.warnings),
                "advice": list(outcome.advice),
                "achieved": dict(outcome.achieved),
                "residual_risk": None if worst is None else worst.to_dict(),
                "inference": None if inferred is None else inferred.to_dict(),
                "utility": {**utility_of(facts.query_errors).to_dict(), "unchanged": unchanged_of(facts).share},
                "metrics": dict(outcome.metrics),
                "risk": {"before": before, "after": after},
                "seconds": dict(outcome.seconds),
                "details": {
                    k: v for k, v in outcome.release.details.items() if isinstance(v, int | float | str | bool)
                },
            }
        )
        return
    guarantee = outcome.release.record.model.guarantee()
    say(f"Verified: {guarantee[0].lower()}{guarantee[1:]}")
    for light in outcome.lights:
        if light.question == GUARANTEE:
            _, _, limits = light.sentence.partition(" Limits: ")
            if light.colour != "good":
                say(f"Guarantee: {light.answer}. {limits[:1].upper()}{limits[1:] or light.sentence}")
        else:
            say(f"{light.question}: {light.answer}. {light.sentence}")
    for line in outcome.release.record.warnings:  # those that were not said during the run
        warn(line)
    for line in outcome.advice:
        say(f"Advice: {line}")
    rows = [
        (
            str(row.known),
            percent(row.before_of_all),
            percent(row.of_all_people),
        )
        for row in worst_by_known(facts.attacks, facts.risk_after, facts.risk_before)
    ]
    table(("known items", "before", "after"), rows, title="Singled out by the worst attacker, of all people")
    inferences = inference_by_known(facts.attacks)
    if inferences:
        what, base = "further", "people with at least as many items"
        if inferences[0].is_named:
            what, base = "sensitive", f"{base} and a sensitive item"
        table(
            ("known items", "certain before", "after", "control", "above 50 % before", "after", "control"),
            [
                (
                    str(row.known),
                    *map(percent, (row.before, row.certain, row.control)),
                    *map(percent, (row.likely_before, row.likely, row.likely_control)),
                )
                for row in inferences
            ],
            title=f"Attacker sure of a {what} item, of {base}",
        )
    table(("utility", ""), metric_lines(outcome.metrics))
    details = outcome.release.details
    if facts.optimum:
        say(f"Optimality: {facts.optimum}")
    if details.get("left_out_records"):
        say(f"Suppressed: {times(details['left_out_records'], 'record')} without public items")
    say(f"Published:  {outcome.path}")
    say(f"Report:     {outcome.internal / 'report.html'} (internal), {outcome.path / 'report.html'} (public)")
    say(f"Assessment: {outcome.internal / 'assessment.html'} (internal, two pages to sign)")
