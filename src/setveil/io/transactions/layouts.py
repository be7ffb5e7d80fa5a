"""The layouts by name, what may be said about reading them, and what a look at a file decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from setveil.errors import InputError, one_line

WRITTEN = ("fimi", "spmf", "long", "basket", "jsonl", "parquet")
NAMES = ("fimi", "spmf", "long", "wide", "onehot", "table", "basket", "gmt", "arff", "jsonl", "json", "parquet")
TABLES = ("long", "wide", "onehot", "table", "basket")  # fields between delimiters
WITH_IDS = ("long", "wide", "onehot", "table", "gmt", "jsonl", "json", "parquet")
DELIMITERS = ",;\t|"
MISSING_RULES = ("drop", "value")
RATINGS = "::"  # two characters where all others are one

KINDS = {
    "fimi": "numbers per line",
    "spmf": "SPMF lines",
    "long": "long table",
    "wide": "wide table",
    "onehot": "one-hot table",
    "table": "table of column=value",
    "basket": "baskets",
    "gmt": "gene sets",
    "arff": "ARFF",
    "jsonl": "JSON lines",
    "json": "JSON",
    "parquet": "Parquet",
    "lists": "lists of items",
}


@dataclass(frozen=True)
class ReadOptions:
    """Everything a user may say about reading; ``None`` and ``False`` mean not said."""

    format: str | None = None
    delimiter: str | None = None
    id_column: str | None = None  # a name, or a number from 1
    item_column: str | None = None
    item_columns: tuple[str, ...] = ()  # names or globs
    split: str | None = None
    missing: str | None = None  # drop or value: what words for "missing" in the cells of a table mean
    no_header: bool = False
    strip: bool = False
    encoding: str | None = None
    labels_as_they_are: bool = False
    keep_ids: bool = False

    def checked(self) -> ReadOptions:
        """The same with layout and delimiter as the readers know them; nonsense is refused."""
        if self.split == "":
            raise InputError('--split "": give what stands between the items of a cell, such as "|".')
        if self.missing not in (None, *MISSING_RULES):
            raise InputError(f'--missing takes {" or ".join(MISSING_RULES)}, not "{one_line(str(self.missing))}".')
        if self.item_column is not None and self.item_columns:
            raise InputError("--item-column names one column, --item-columns several; leave one out.")
        return replace(
            self,
            format=None if self.format is None else check_format(self.format),
            delimiter=None if self.delimiter is None else check_delimiter(self.delimiter),
            missing=self.missing or ("value" if self.labels_as_they_are else None),
        )

    def check_for(self, layout: str) -> None:
        """Refuse what the layout has no use for."""
        if self.delimiter is not None and layout not in TABLES:
            raise InputError(f"--delimiter is for {_listed(TABLES)} layouts, not for {layout}; leave it out.")
        if self.no_header and layout not in ("long", "wide", "onehot", "table"):
            raise InputError(f"--no-header is for tables, and {layout} has no header; leave it out.")
        if self.item_columns and layout not in ("wide", "onehot", "table", "arff", "parquet"):
            raise InputError(f"--item-columns is for wide, onehot and table layouts, not for {layout}; leave it out.")
        if layout not in WITH_IDS:
            for option, given in (
                ("--id-column", self.id_column is not None),
                ("--item-column", self.item_column is not None and layout != "arff"),
                ("--keep-ids", self.keep_ids),
            ):
                if given:
                    raise InputError(f"{option} needs a layout with ids, and {layout} has none; leave it out.")


class SeenIds(NamedTuple):
    """What a reader of rows remembers of their ids, for the guards."""

    first: frozenset[str]  # a bounded number of different ones
    nobody: Mapping[str, int]  # words that stand for no id at all, and how many rows have them


@dataclass(frozen=True)
class Plan:
    """What a look at the first lines decided, and why."""

    layout: str
    told_by: str
    delimiter: str = ","
    names: tuple[str, ...] = ()  # of the columns of a table
    has_header: bool = True
    id_place: int | None = None
    item_places: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = ""  # in words, where the layout alone does not say it
    n_rows: int = 0  # of a long table; of baskets that are all equally long, their cells; 0 if nobody counted
    ids: SeenIds | None = None  # of a long table
    is_header_doubtful: bool = False  # the first line is said to name columns, and nothing shows it
    is_split: bool = False  # cells that hold lists are taken apart already
    is_table: bool = False  # read cell by cell, so that cells can be empty or say "missing"
    shape: str = ""  # of the table in a Parquet or JSON file, where ``layout`` names the file's

    @property
    def unused(self) -> tuple[str, ...]:
        """The columns that are not read."""
        used = {self.id_place, *self.item_places}
        return tuple(self._name(place) for place in range(len(self.names)) if place not in used)

    @property
    def id_name(self) -> str:
        """The column of the ids in words; empty where every row is a record."""
        return "" if self.id_place is None else self._name(self.id_place)

    @property
    def item_name(self) -> str:
        """The columns of the items in words."""
        if len(self.item_places) > 2:
            return f"{self._name(self.item_places[0])} to {self._name(self.item_places[-1])}"
        return " and ".join(map(self._name, self.item_places))

    def _name(self, place: int) -> str:
        name = self.names[place]
        return f"column {place + 1}" if not name or (name == str(place + 1) and not self.has_header) else name


def check_format(format: str, known: tuple[str, ...] = NAMES) -> str:
    """A layout's name as the user wrote it."""
    name = format.lower()
    if name not in known:
        raise InputError(f'unknown format "{format}"; choose one of {", ".join(known)}.')
    return name


def check_delimiter(delimiter: str) -> str:
    """One character as the user wrote it (``\\t`` and ``tab`` stand for a tab), or the ``::`` of rating files."""
    character = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if character == RATINGS:
        return character
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0' or character.isalnum():
        raise InputError(f"--delimiter {delimiter!r}: give one character, such as , or ; or \\t.")
    return character


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}"
