"""``setveil generate quest|patients``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli.app import group_of
from setveil.cli.console import progress_bar, say
from setveil.io.formats.registry import WRITTEN, listed

_Target = Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the records.")]
_Layout = Annotated[str | None, typer.Option("--to", help=f"Layout to write: {listed(WRITTEN)}.")]
_Seed = Annotated[int, typer.Option(help="Seed of the random numbers; the same seed gives the same bytes.")]


group = group_of(
    "generate",
    "Make synthetic data with a seed.",
    "setveil generate quest -D 100000 -T 10 -I 4 -o T10I4D100K.dat",
)


@group.command(epilog="Example: setveil generate quest -D 100000 -T 10 -I 4 -o T10I4D100K.dat")
def quest(
    output: _Target,
    d: Annotated[int, typer.Option("-D", min=0, max=10**9, help="Number of baskets.")] = 100_000,
    t: Annotated[float, typer.Option("-T", help="Mean number of items per basket.")] = 10,
    i: Annotated[float, typer.Option("-I", help="Mean number of items per pattern.")] = 4,
    n: Annotated[int, typer.Option("-N", help="Number of items.")] = 1000,
    patterns: Annotated[int, typer.Option("-L", help="Number of patterns.")] = 2000,
    to: _Layout = None,
    seed: _Seed = 0,
) -> None:
    """Market baskets made of patterns that people tend to buy whole (Agrawal and Srikant 1994)."""
    from setveil.workflows import samples

    with progress_bar() as progress:
        count = samples.generate_quest(output, to or "fimi", progress, D=d, T=t, I=i, N=n, L=patterns, seed=seed)
    say(f"{count:,} baskets written to {output}")


@group.command(
    epilog="Example: setveil generate patients -n 5000 -o patients.csv --hierarchy codes.csv --sensitive sensitive.txt"
)
def patients(
    output: _Target,
    n: Annotated[int, typer.Option("-n", min=0, max=10**9, help="Number of patients.")] = 10_000,
    visits: Annotated[bool, typer.Option("--visits", help="One record per visit instead of one per patient.")] = False,
    columns: Annotated[
        bool, typer.Option("--columns", help="Also write age, sex, region and month of admission of each patient.")
    ] = False,
    hierarchy: Annotated[Path | None, typer.Option(help="Also write the hierarchy of codes.")] = None,
    sensitive: Annotated[Path | None, typer.Option(help="Also write the sensitive codes, one per line.")] = None,
    groups: Annotated[Path | None, typer.Option(help="Also write the disease groups, as utility constraints.")] = None,
    to: _Layout = None,
    seed: _Seed = 0,
) -> None:
    """Patients with diagnosis codes: invented, with age, sex and comorbidity behind them."""
    from setveil.workflows import samples

    samples.check_outputs(output, hierarchy, sensitive, groups)
    with progress_bar() as progress:
        count = samples.generate_patients(
            output, to or "long", progress, n=n, visits=visits, columns=columns, seed=seed
        )
    say(f"{count:,} records written to {output}")
    for what, path in (("hierarchy", hierarchy), ("sensitive", sensitive), ("groups", groups)):
        if path is not None:
            samples.write_patients_companion(what, path)
            say(f"{what} written to {path}")
