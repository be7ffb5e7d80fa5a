"""``setveil constraints generate|rules|check``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.app import group_of
from setveil.cli.console import note_first_run, progress_bar, read_data, say, say_json

group = group_of(
    "constraints",
    "Generate and check lists of constraints and rules.",
    "setveil constraints check patients.csv --constraints visits.txt --utility groups.txt -k 5",
)


@group.command(
    epilog="Example: setveil constraints generate baskets.csv --how support --low 1 --high 4 -m 2 -o rare.txt"
)
@o.reads_data
def generate(
    input: o.Input,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the constraints.")],
    how: Annotated[
        str, typer.Option(help="occurring, pgen, support, visits, or PR1 … PR9 (random sets of the literature).")
    ],
    k: Annotated[int, typer.Option("-k", help="pgen: records that fewer than K records contain.")] = 5,
    m: Annotated[int, typer.Option("-m", help="occurring, support: largest size.")] = 2,
    low: Annotated[int, typer.Option(help="support: smallest support.")] = 1,
    high: Annotated[int, typer.Option(help="support: largest support.")] = 4,
    n: Annotated[int | None, typer.Option("-n", help="PR1 … PR9: number of constraints.")] = None,
    seed: o.Seed = None,
    reading: o.Reading = o.NOTHING,
) -> None:
    """Write privacy constraints made from data: what an attacker might know."""
    from setveil.workflows import constraints
    from setveil.workflows.outputs import refuse_overwriting_input

    refuse_overwriting_input(input, output)
    data = read_data(input, reading)
    with progress_bar() as progress:
        count = constraints.generate(
            data.rows, output, how, k=k, m=m, low=low, high=high, n=n, seed=seed or 0, progress=progress
        )
    say(f"{count:,} constraints written to {output}")


@group.command(epilog="Example: setveil constraints rules patients.csv --sensitive B20,F20 -p 2 -o rules.txt")
@o.reads_data
def rules(
    input: o.Input,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the rules.")],
    sensitive: Annotated[
        str, typer.Option(help="Sensitive items: a file with one per line, or a,b,c; patterns or @subtree:NAME.")
    ],
    p: Annotated[int, typer.Option("-p", min=1, help="Largest number of public items that an attacker knows.")] = 2,
    hierarchy: o.Hierarchy = None,
    reading: o.Reading = o.NOTHING,
) -> None:
    """Write sensitive rules made from data, for --model rules: every combination of up to P public items that occurs,
    with every sensitive item.
    """
    from setveil.workflows import constraints
    from setveil.workflows.outputs import refuse_overwriting_input

    refuse_overwriting_input(input, output)
    data = read_data(input, reading)
    with progress_bar() as progress:
        count = constraints.generate_rules(data.rows, output, sensitive, p=p, hierarchy=hierarchy, progress=progress)
    say(f"{count:,} rules written to {output}")


@group.command(
    epilog="Example: setveil constraints check patients.csv --constraints visits.txt --utility groups.txt -k 5"
)
@o.reads_data
@partial(o.takes_model, only="constraints")
def check(
    input: o.Input,
    model: o.Model,
    hierarchy: o.Hierarchy = None,
    hierarchy_format: o.HierarchyFormat = None,
    hierarchy_columns: o.HierarchyColumns = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Which constraints are satisfied already, which contradict the utility groups, and whether the request can be met.
    Exit 3 if not.
    """
    from dataclasses import asdict

    from setveil.errors import InfeasibleError, name_some
    from setveil.workflows import constraints as lists

    note_first_run()
    with progress_bar():
        data = read_data(input, reading)
        found = lists.check(data.rows, model, o.hierarchy_source(hierarchy, hierarchy_format, hierarchy_columns, input))
    if json:
        say_json({"input": data.facts(), **asdict(found)})
    else:
        say(f"{found.n_constraints:,} constraints: {found.met:,} are met already, {found.open:,} need protection.")
        if found.unknown:
            say(f"Items that do not occur in the data: {name_some(found.unknown)}; constraints with them are met.")
        for contradiction in found.contradictions[:20]:
            say(
                f"- {', '.join(contradiction.constraint)}: even with each utility group published as one category it "
                f"occurs in {contradiction.support:,} records, fewer than {model['k']}; an item must be suppressed."
            )
        if len(found.contradictions) > 20:
            say(f"… and {len(found.contradictions) - 20:,} more")
        if found.least_suppressed:
            say(f"At least {found.least_suppressed:,} items must be suppressed; {found.most_suppressed:,} are allowed.")
        verdict = {
            True: "The constraints can be met.",
            False: "The constraints cannot be met.",
            None: "No contradiction was found.",
        }
        say(verdict[found.feasible])
    if found.feasible is False:
        raise InfeasibleError(found.reason, found.items)
