"""``setveil anonymize``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.console import note_first_run, progress_bar, remark, say, say_json, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil anonymize baskets.csv -o out --model km -k 5 -m 2 --hierarchy taxonomy.csv")(
        anonymize
    )


@o.reads_data
def anonymize(
    input: o.Input,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="Folder to publish; OUT.internal appears beside it.")
    ],
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
    algorithm: Annotated[
        str | None, typer.Option(help="See `setveil algorithms`; the model's default otherwise.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="N=V", help="An option of the algorithm; may be repeated.")
    ] = None,
    effort: Annotated[
        str | None, typer.Option(help="km without --algorithm: how much to try, fast, normal or best.")
    ] = None,
    yardstick: Annotated[
        str | None,
        typer.Option(help="km without --algorithm: what should lose least, counts, ncp, itemsets or entries."),
    ] = None,
    hierarchy: o.Hierarchy = None,
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    unknown_items: o.UnknownItems = None,
    policy: Annotated[Path | None, typer.Option(help="A policy file; options given here override it.")] = None,
    domain: Annotated[
        str | None, typer.Option(help="A public list of all items that could occur, one per line.")
    ] = None,
    seed: o.Seed = None,
    to: Annotated[str | None, typer.Option(help="Layout to write; the input's otherwise.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release.")] = False,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Keep the input's record order (it is published then).")
    ] = False,
    keep_ids: Annotated[bool, typer.Option("--keep-ids", help="Keep record ids (they are published then).")] = False,
    safe_csv: Annotated[
        bool, typer.Option("--safe-csv", help="Put ' before labels that a spreadsheet could take for a formula.")
    ] = False,
    publish_constraints: Annotated[
        bool, typer.Option("--publish-constraints", help="Publish the constraint lists too.")
    ] = False,
    accept_guessable: Annotated[
        bool, typer.Option("--accept-guessable", help="Publish groups whose sensitive records can be guessed.")
    ] = False,
    engine: o.Engine = "local",
    master: o.Master = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Make a release, verify it, and publish it with certificate and report."""
    from setveil.errors import InputError
    from setveil.workflows import pipeline, policies

    given: dict[str, Any] = {
        "model": o.model_section(model, k, m, l, p, h, sensitive, constraints, utility, utility_rest, max_suppressed),
        "algorithm": {"name": algorithm, "options": {**_pairs(option or []), **_portfolio(effort, yardstick)}},
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
        },
        "seed": seed,
    }
    if policy is None and model is None:
        raise InputError(
            "say which promise to keep: --model km|k-anonymity|constraints|degree|coherence, or --policy FILE."
        )
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
            tell=remark,
        )
    show(outcome, json)


def _portfolio(effort: str | None, yardstick: str | None) -> dict[str, str]:
    """The options of the default for km."""
    given = {"effort": effort, "yardstick": yardstick}
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
    """Verdict, risk before and after, cost, and where everything is."""
    from setveil.report.words import figure, percent, told

    before, after = (part.to_dict() for part in (outcome.risk_before, outcome.risk_after))
    if json:
        say_json(
            {
                "input": outcome.release.record.data.facts(),
                "out": str(outcome.path),
                "internal": str(outcome.internal),
                "verified": outcome.verdict.holds,
                "headline": outcome.headline,
                "lights": {light.question: [light.colour, light.answer, light.sentence] for light in outcome.lights},
                "advice": list(outcome.advice),
                "achieved": dict(outcome.achieved),
                "metrics": dict(outcome.metrics),
                "risk": {"before": before, "after": after},
                "seconds": dict(outcome.seconds),
                "details": {
                    k: v for k, v in outcome.release.details.items() if isinstance(v, int | float | str | bool)
                },
            }
        )
        return
    _, _, but = outcome.headline.partition(", but ")
    say(f"Verified{', but ' + but if but else ''}: {outcome.release.record.model.guarantee()}")
    for light in outcome.lights:
        say(
            f"{light.question + ':':<14}{light.answer}. "
            f"{light.sentence if light.question != 'The promise' else ''}".rstrip()
        )
    for line in outcome.advice:
        say(f"Advice: {line}")
    rows = [
        (
            str(was["known"]),
            percent(was["singled_out"]),
            percent(now["singled_out"]),
            percent(was["mean_inverse_support"]),
            percent(now["mean_inverse_support"]),
        )
        for was, now in zip(before["rows"], after["rows"], strict=True)
    ]
    table(("known items", "singled out before", "after", "mean chance before", "after"), rows)
    table(("cost", ""), [(words, figure(value)) for words, value in told(outcome.metrics)])
    details = outcome.release.details
    if details.get("left_out_records"):
        say(f"Left out:  {details['left_out_records']:,} records whose items are all sensitive")
    if details.get("implied_occurrences"):
        say(f"Left out:  {details['implied_occurrences']:,} sensitive entries that public items give away")
    say(f"Published: {outcome.path}")
    say(f"Report:    {outcome.internal / 'report.html'} (internal), {outcome.path / 'report.html'} (public)")
