"""Every format by name: those of setveil, one line each, and those of other packages.

Another package adds a format through an entry point of the group ``setveil.formats`` whose value is a ``Format``. All
lists of formats, in messages, options, policies and pages, are made from here.
"""

from __future__ import annotations

from setveil.errors import InputError, UncheckedError, name_option, one_line
from setveil.io.formats.arff import ARFF
from setveil.io.formats.base import Entries, Format, Plan
from setveil.io.formats.basket import BASKET
from setveil.io.formats.fimi import FIMI
from setveil.io.formats.gmt import GMT
from setveil.io.formats.grids import ONEHOT, TABLE, WIDE
from setveil.io.formats.json import JSON
from setveil.io.formats.jsonl import JSONL
from setveil.io.formats.long import LONG
from setveil.io.formats.parquet import PARQUET
from setveil.io.formats.spmf import SPMF
from setveil.plugins import foreign

# First lines are shown to one format after the other, in this order: whatever is no SPMF may be FIMI. Formats of other
# packages come last, so that no package changes how a file is read that setveil knows.
FORMATS: dict[str, Format] = {}
for _format in (
    LONG, WIDE, ONEHOT, TABLE, BASKET, JSONL, JSON, PARQUET, GMT, ARFF, SPMF, FIMI, *foreign("formats")
):  # fmt: skip
    FORMATS.setdefault(_format.name, _format)
WRITTEN: dict[str, Format] = {name: format for name, format in FORMATS.items() if format.write is not None}
name_option("format", " ".join(FORMATS))
name_option("to", " ".join(WRITTEN))


def format_named(name: str) -> Format:
    """A format by its name as a user wrote it."""
    return _find(name, FORMATS)


def written_format(name: str) -> Format:
    """The same for a format that can be written."""
    return _find(name, WRITTEN)


def certified_format(name: str) -> Format:
    """The format that a certificate names."""
    if name not in WRITTEN:
        raise UncheckedError(f'format "{one_line(name)}" is not installed here; install the package that has it.')
    return WRITTEN[name]


def words_for(layout: str) -> str:
    """What a layout is called in sentences: a format, or the lists of a Python object."""
    return FORMATS[layout].words if layout in FORMATS else "lists of items"


def is_grid(layout: str | None) -> bool:
    """Whether a table of this layout has one row per record and items in several columns."""
    return layout in FORMATS and FORMATS[layout].cells is not None


def entries_of(plan: Plan) -> Entries | None:
    """How the entries of an input are written; None for lists of a Python object."""
    if plan.layout not in FORMATS:
        return None
    return FORMATS[plan.layout].entries or (FORMATS[plan.shape].entries if plan.shape in FORMATS else "list")


def listed(formats: dict[str, Format], last: str = "or") -> str:
    """``a, b or c``."""
    *most, final = formats
    return f"{', '.join(most)} {last} {final}"


def _find(name: str, known: dict[str, Format]) -> Format:
    found = known.get(name.lower())
    if found is None:
        raise InputError(f'unknown format "{one_line(name)}"; choose one of {", ".join(known)}.')
    return found
