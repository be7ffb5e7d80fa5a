"""``setveil suggest``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.anonymize import show
from setveil.cli.console import note_first_run, progress_bar, read_data, say, say_json, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil suggest baskets.csv --hierarchy taxonomy.csv --run -o release")(suggest)


@o.reads_data
def suggest(
    input: o.Input,
    hierarchy: o.Hierarchy = None,
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    sensitive: o.Sensitive = None,
    run: Annotated[bool, typer.Option("--run", help="Do what is proposed.")] = False,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="With --run: the folder to publish.")
    ] = Path("release"),
    force: Annotated[bool, typer.Option("--force", help="With --run: replace an earlier release.")] = False,
    seed: o.Seed = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Look at the data and propose model, parameters, hierarchy and algorithm, with reasons and what it would cost."""
    from setveil.report.words import figure, percent
    from setveil.workflows import pipeline, policies
    from setveil.workflows.suggest import command_for, policy_for
    from setveil.workflows.suggest import suggest as propose

    note_first_run()
    hierarchy = o.hierarchy_source(hierarchy, hierarchy_format, hierarchy_columns, input)
    with progress_bar() as progress:
        data = read_data(input, reading)
        listed = policies.list_sensitive(sensitive, data, hierarchy) if sensitive else ()
        found = propose(data, hierarchy=hierarchy, sensitive=listed, seed=seed or 0, progress=progress)
    best = found.choices[0]
    if json:
        told = [
            {"policy": policy_for(c).to_toml(), "guarantee": c.guarantee, "reasons": list(c.reasons), "metrics": dict(c.metrics),
             "query_error": c.query_error, "command": command_for(input, c)}
            for c in found.choices
        ]  # fmt: skip
        say_json(
            {
                "input": data.facts(),
                "profile": vars(found.profile),
                "choices": told,
                "refused": list(found.refused),
                "sampled": found.is_sampled,
            }
        )
    else:
        p = found.profile
        say(
            f"{p.n_records:,} records, {p.n_items:,} items, {p.mean_length:.1f} items per record (longest {p.longest}); {percent(p.rare_items)} of the items are had by fewer than 5 people."
        )
        singled = ", ".join(f"{c}: {percent(share)}" for c, share in enumerate(p.singled_out, start=1))
        say(f"Singled out by so many known items: {singled}")
        say(f"\nProposal: {best.guarantee}")
        for reason in best.reasons:
            say(f"- {reason}")
        rows = [
            (
                c.algorithm,
                _told(c),
                figure(c.query_error),
                figure(c.metrics.get("ncp")),
                figure(c.metrics.get("il_ratio")),
                percent(c.singled_out[2]),
                f"{c.seconds:.1f}",
            )
            for c in found.choices
        ]
        table(("tried", "promise", "query error", "NCP", "IL", "3 items single out", "seconds"), rows)
        if found.is_sampled:
            say("Tried on a random sample; on all records the loss is usually lower.")
        say(f"\n$ {command_for(input, best, str(output))}")
    if run:
        with progress_bar() as progress:
            given = {"input": dict(reading)}
            policy = policy_for(best).model_copy(
                update={"input": policies.make_policy({**given, "model": {"name": "km"}}).input}
            )
            outcome = pipeline.run(policy, input, output, force=force, progress=progress)
        if not json:
            show(outcome, json=False)


def _told(choice: object) -> str:
    model = choice.policy.model  # type: ignore[attr-defined]
    told = [f"{name}={value}" for name, value in model.given().items() if isinstance(value, int | float | str)]
    return " ".join([model.name, *told])
