"""Options that several commands share, with their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Input = Annotated[
    str,
    typer.Argument(metavar="INPUT", help="Transactions: a file in any layout, plain or .gz, or - for standard input."),
]
Format = Annotated[
    str | None, typer.Option("--format", help="fimi, spmf, long, basket, jsonl or parquet; detected otherwise.")
]
Delimiter = Annotated[str | None, typer.Option(help="Field delimiter of long and basket files.")]
IdColumn = Annotated[str | None, typer.Option(help="Column of record ids in long files with more than two columns.")]
ItemColumn = Annotated[str | None, typer.Option(help="Column of items in long files with more than two columns.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

Model = Annotated[str | None, typer.Option(help="km, k-anonymity, constraints, degree or coherence.")]
K = Annotated[int | None, typer.Option("-k", help="Records that must share what an attacker may know.")]
M = Annotated[str | None, typer.Option("-m", help='km: items an attacker may know, or "all".')]
L = Annotated[int | None, typer.Option("-l", help="k-anonymity: distinct sensitive items per class.")]
P = Annotated[int | None, typer.Option("-p", help="degree: one in P; coherence: items an attacker may know.")]
H = Annotated[
    float | None, typer.Option("-H", help="coherence: largest share of records with one sensitive item, in percent.")
]
Sensitive = Annotated[
    str | None, typer.Option(help="Sensitive items: a file with one per line, or a,b,c; globs and @subtree:NAME work.")
]
Constraints = Annotated[str | None, typer.Option(help="Privacy constraints: a file with one itemset per line.")]
Utility = Annotated[str | None, typer.Option(help="Utility constraints: a file with one group of items per line.")]
UtilityRest = Annotated[
    str | None, typer.Option(help="Items in no utility group: keep (as they are) or free (one more group).")
]
MaxSuppressed = Annotated[float | None, typer.Option(help="Largest share of items that may be suppressed, in percent.")]
Hierarchy = Annotated[
    str | None, typer.Option(help="A hierarchy file, fanout:5, fanout:5:even, levels:4, prefix:1,3,4 or auto.")
]
UnknownItems = Annotated[
    str | None, typer.Option(help="Items missing from the hierarchy: error, or root to put them below the root.")
]
Seed = Annotated[int | None, typer.Option(help="Seed of everything random.")]


def read_options(
    format: str | None, delimiter: str | None, id_column: str | None, item_column: str | None
) -> dict[str, Any]:
    """Reading options as the readers take them; a tab may be written as the word tab or as a backslash and t."""
    tab = delimiter in ("tab", "\\t")
    return {
        "format": format,
        "delimiter": "\t" if tab else delimiter,
        "id_column": id_column,
        "item_column": item_column,
    }


def numbers_of(text: str) -> tuple[int, ...]:
    """``1,2,3`` as numbers of known items."""
    from setveil.errors import InputError

    if not all(part.strip().isdigit() and int(part) > 0 for part in text.split(",")):
        raise InputError(f'--known takes numbers of items, as in 1,2,3,4, not "{text}".')
    return tuple(int(part) for part in text.split(","))


def listed(items: str | None) -> str | list[str] | None:
    """What ``--sensitive`` says: a file as it is, labels as a list."""
    if items is None or Path(items).is_file():
        return items
    return [label.strip() for label in items.split(",") if label.strip()]


def model_section(
    name: str | None = None,
    k: int | None = None,
    m: str | None = None,
    l: int | None = None,  # noqa: E741 - the literature's letter
    p: int | None = None,
    h: float | None = None,
    sensitive: str | None = None,
    constraints: str | None = None,
    utility: str | None = None,
    utility_rest: str | None = None,
    max_suppressed: float | None = None,
) -> dict[str, Any]:
    """What the command line says about the model, as the policy's section; only what was given."""
    given = {
        "name": name,
        "k": k,
        "m": int(m) if m is not None and m.isdigit() else m,
        "l": l,
        "p": p,
        "h": h,
        "sensitive": listed(sensitive),
        "constraints": constraints,
        "utility": utility,
        "utility_rest": utility_rest,
        "max_suppressed": max_suppressed,
    }
    return {key: value for key, value in given.items() if value is not None}
