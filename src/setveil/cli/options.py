"""Options that several commands share, with their help."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Input = Annotated[
    str,
    typer.Argument(metavar="INPUT", help="Transactions: a file in any layout, plain or .gz, or - for standard input."),
]
_FORMATS = "fimi, spmf, long, wide, onehot, table, basket, gmt, arff, jsonl, json or parquet"
Format = Annotated[str | None, typer.Option("--format", help=f"Layout: {_FORMATS}; detected otherwise.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates the fields of a table; tab for a tab.")]
IdColumn = Annotated[str | None, typer.Option(help="Column of record ids: a name, or a number from 1.")]
ItemColumn = Annotated[str | None, typer.Option(help="Column of items in long tables: a name, or a number from 1.")]
ItemColumns = Annotated[
    str | None, typer.Option(help='Columns of items in wide and one-hot tables, as in "dx*" or a,b,c.')
]
Split = Annotated[str | None, typer.Option(help='What separates the items of a cell that holds a list, as "|".')]
Missing = Annotated[
    str | None,
    typer.Option(help='What words such as "?" or "NA" mean in the cells of a table: drop (absent) or value.'),
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line of the table is a row.")]
Strip = Annotated[bool, typer.Option("--strip", help="Take blanks off labels.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of the text, as latin-1; UTF-8 otherwise.")]
AsTheyAre = Annotated[
    bool, typer.Option("--labels-as-they-are", help="Do not refuse labels that look like a slip (lists, ids, text).")
]
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
HierarchyFormat = Annotated[
    str | None,
    typer.Option(
        help="Format of the hierarchy file: csv, edges, amnesia, amnesia-json, nodes, paths, indented or "
        "mesh; detected otherwise."
    ),
]
HierarchyColumns = Annotated[
    str | None,
    typer.Option(
        metavar="LEAF,…,TOP",
        help="Columns that hold the hierarchy, in the --hierarchy file or, without one, in the input itself.",
    ),
]
UnknownItems = Annotated[
    str | None, typer.Option(help="Items missing from the hierarchy: error, or root to put them below the root.")
]
Engine = Annotated[str, typer.Option(help="Where the work is done: local, or spark for data on a cluster.")]
Master = Annotated[str | None, typer.Option(metavar="URL", help="Spark's master: local[2], or spark://HOST:7077.")]
Seed = Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of everything random.")]


Reading = Mapping[str, Any]  # what was said about reading the input, as ``setveil.read`` takes it
NOTHING: Reading = {}
_READING: dict[str, tuple[Any, Any]] = {
    "format": (Format, None),
    "delimiter": (Delimiter, None),
    "id_column": (IdColumn, None),
    "item_column": (ItemColumn, None),
    "item_columns": (ItemColumns, None),
    "split": (Split, None),
    "missing": (Missing, None),
    "no_header": (NoHeader, False),
    "strip": (Strip, False),
    "encoding": (Encoding, None),
    "labels_as_they_are": (AsTheyAre, False),
}


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading; it gets those that were given as its parameter ``reading``."""
    signature = inspect.signature(command)
    told_of = get_type_hints(command, include_extras=True)
    others = [
        parameter.replace(annotation=told_of[parameter.name])
        for parameter in signature.parameters.values()
        if parameter.name != "reading"
    ]
    kind = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, kind, default=default, annotation=told) for name, (told, default) in _READING.items()
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        reading = {name: given.pop(name) for name in _READING}
        command(**given, reading={name: value for name, value in reading.items() if value not in (None, False)})

    shown: Any = run
    shown.__signature__ = signature.replace(parameters=[*others, *added])
    shown.__annotations__ = {parameter.name: parameter.annotation for parameter in (*others, *added)}
    return run


def hierarchy_source(
    hierarchy: str | None, format: str | None, columns: str | None, input: str | None = None
) -> str | None:
    """What the three options about the hierarchy say, as one text."""
    from setveil.core.hierarchy_sources import is_built_hierarchy, source_of
    from setveil.errors import InputError

    if columns is not None and hierarchy is None and input in (None, "-"):
        raise InputError("--hierarchy-columns: name the table with --hierarchy; standard input can be read once only.")
    if (format or columns) and hierarchy is not None and is_built_hierarchy(hierarchy):
        raise InputError(
            f"--hierarchy {hierarchy} is built, not read; leave out --hierarchy-format and --hierarchy-columns."
        )
    if format is not None and hierarchy is None:
        raise InputError("--hierarchy-format is about a file; name it with --hierarchy.")
    return source_of(hierarchy, format, columns, input or "")


MOST_KNOWN = 1000  # items of a person


def numbers_of(text: str) -> tuple[int, ...]:
    """``1,2,3`` as numbers of known items."""
    from setveil.errors import InputError, one_line

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 and 0 < int(part) <= MOST_KNOWN for part in parts):
        raise InputError(
            f'--known takes numbers of items from 1 to {MOST_KNOWN:,}, as in 1,2,3,4, not "{one_line(text)}".'
        )
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
        "m": int(m) if m is not None and re.fullmatch("[0-9]{1,18}", m) else m,
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
