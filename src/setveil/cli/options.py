"""Options that several commands share, with their help."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from setveil.report.profiles import PROFILES

Input = Annotated[
    str,
    typer.Argument(metavar="INPUT", help="Transactions: a file in any layout, plain or .gz, or - for standard input."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

Sensitive = Annotated[
    str | None,
    typer.Option(help="Sensitive items: a file with one per line, or a,b,c; patterns or @subtree:NAME."),
]
Hierarchy = Annotated[
    str | None,
    typer.Option(
        help="A hierarchy file, a code system (icd10, icd9cm, atc …), fanout:5, levels:4, prefix:1,3,4 or auto."
    ),
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
        help="Columns of the hierarchy, in the --hierarchy file or, without one, in the input.",
    ),
]
UnknownItems = Annotated[
    str | None, typer.Option(help="Items missing from the hierarchy: error, or root to put them below the root.")
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|THRESHOLD",
        help=f"Threshold of residual risk: {', '.join(PROFILES)}, a share such as 0.05, or a number of people.",
    ),
]
Environment = Annotated[
    str | None, typer.Option(help="Who can obtain the data: public, agreement (data use agreement) or secure.")
]
Engine = Annotated[str, typer.Option(help="Where the data is processed: local, or spark for data on a cluster.")]
Master = Annotated[str | None, typer.Option(metavar="URL", help="Spark's master: local[2], or spark://HOST:7077.")]
Seed = Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of all random numbers.")]


Reading = Mapping[str, Any]  # what was said about reading the input, as ``setveil.read`` takes it
Model = Mapping[str, Any]  # what was said about the privacy model: the section of a policy
NOTHING: Mapping[str, Any] = {}


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading; it gets those that were given as its parameter ``reading``."""

    def collect(given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if value not in (None, False, [])}

    return _with_options(command, "reading", _options_of_reading(), collect)


@functools.cache
def _options_of_reading() -> dict[str, tuple[Any, Any]]:
    """The same for all commands: annotation and default of each."""
    from setveil.io.formats.registry import FORMATS, listed
    from setveil.io.options import READING

    options: dict[str, tuple[Any, Any]] = {}
    for name, option in READING.items():
        kind: Any = list[str] | None if option.is_repeated else bool if option.is_switch else str | None
        default = False if option.is_switch else None
        shown = typer.Option(option.flag, help=option.help.format(formats=listed(FORMATS)))
        options[name] = (Annotated[kind, shown], default)
    return options


def takes_model(command: Callable[..., None], only: str | None = None) -> Callable[..., None]:
    """Give a command the options of all privacy models, or of one, as the models declare them.

    It gets what was given as its parameter ``model``: the section of a policy.
    """
    from setveil.models import MODELS, PARAMETERS

    choice = Annotated[str | None, typer.Option(help=f"Privacy model: {', '.join(MODELS)}.")]
    options: dict[str, tuple[Any, Any]] = {} if only else {"model": (choice, None)}
    for name, by_model in PARAMETERS.items():
        shown = {model: one for model, one in by_model.items() if only in (None, model)}
        if shown:
            options[name] = (_option_of(shown), ... if only and shown[only].is_required else None)

    def collect(given: dict[str, Any]) -> dict[str, Any]:
        chosen = only or given.pop("model")
        section: dict[str, Any] = {} if chosen is None else {"name": chosen}
        for name, text in given.items():
            if text is not None:
                declared = PARAMETERS[name].get(chosen) or next(iter(PARAMETERS[name].values()))
                section[name] = declared.kind.parse(text)
        return section

    return _with_options(command, "model", options, collect)


def _option_of(by_model: Mapping[str, Any]) -> Any:
    """One option for the parameters of the same name that several models declare."""
    helps: dict[str, list[str]] = {}
    for model, parameter in by_model.items():
        helps.setdefault(parameter.help, []).append(model)
    text = " ".join(f"{', '.join(models)}: {help}" for help, models in helps.items())
    flags = dict.fromkeys(parameter.flag for parameter in by_model.values())
    return Annotated[str | None, typer.Option(*flags, help=text)]


def _with_options(
    command: Callable[..., None],
    parameter: str,
    options: Mapping[str, tuple[Any, Any]],
    collect: Callable[[dict[str, Any]], dict[str, Any]],
) -> Callable[..., None]:
    """A command with more options in place of one parameter, which gets what ``collect`` makes of their values."""
    kind = inspect.Parameter.KEYWORD_ONLY
    hints = get_type_hints(command, include_extras=True)
    added = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]
    shown_parameters: list[inspect.Parameter] = []
    for each in inspect.signature(command).parameters.values():
        own = each.replace(kind=kind, annotation=hints.get(each.name, each.annotation))
        shown_parameters += added if each.name == parameter else [own]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        collected = collect({name: given.pop(name) for name in options})
        command(**given, **{parameter: collected})

    shown: Any = run
    shown.__signature__ = inspect.Signature(shown_parameters)
    shown.__annotations__ = {each.name: each.annotation for each in shown_parameters}
    return run


def hierarchy_source(
    hierarchy: str | None, format: str | None, columns: str | None, input: str | None = None
) -> str | None:
    """What the three options about the hierarchy say, as one text."""
    from setveil.errors import InputError
    from setveil.io.hierarchies.sources import is_built_hierarchy, source_of

    if columns is not None and hierarchy is None and input in (None, "-"):
        raise InputError("--hierarchy-columns: name the table with --hierarchy; standard input can be read once only.")
    if (format or columns) and hierarchy is not None and is_built_hierarchy(hierarchy):
        raise InputError(
            f"--hierarchy {hierarchy} is built, not read; remove --hierarchy-format and --hierarchy-columns."
        )
    if format is not None and hierarchy is None:
        raise InputError("--hierarchy-format is about a file; set --hierarchy FILE.")
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
