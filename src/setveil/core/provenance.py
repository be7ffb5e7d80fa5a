"""How data was read: from what, as what, and on what evidence. Travels with the data, so that everybody can say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from setveil.errors import times

ROLE_WORDS = {
    "known": "known columns", "sensitive": "sensitive columns", "carry": "published unchanged", "drop": "dropped",
}  # fmt: skip

VISITS = "records are visits, not people"  # a doubt, to follow "but"


@dataclass(frozen=True)
class TableForm:
    """How the text of a table stands: as it was said, or as reading it showed."""

    delimiter: str | None = None  # None: the commonest in its first line
    has_header: bool = True
    encoding: str | None = None  # None: UTF-8, or what the bytes tell
    is_stripped: bool = False  # blanks around labels do not count


class ReadColumn(NamedTuple):
    """A column whose values come with the records, one per person."""

    place: int  # from 0
    name: str
    role: str


@dataclass(frozen=True)
class Interpretation:
    """Which cells of an input are read, as the reader decided; what a cell says is not part of it.

    Enough for a second reader, which shares no code with the first, to read the same input.
    """

    container: str = ""  # the layout of the file: delimited text, lines, json, parquet; "object" for Python objects
    shape: str = ""  # the layout of its rows: that of the file, or of the table in a Parquet or JSON file or a frame
    path: str | None = None  # of the file; None for standard input and objects
    delimiter: str = ","
    has_header: bool = True
    encoding: str = "utf-8"
    ends_in_carriage_returns: bool = False
    is_workbook: bool = False  # an Excel workbook: one sheet is a table of comma-separated text
    sheet: str | None = None  # its name; None if only one has cells
    n_columns: int = 0
    id_position: int | None = None  # a column from 0
    item_positions: tuple[int, ...] = ()
    id_key: str = ""  # of records in JSON; empty if they have no ids
    item_key: str = ""
    has_words: bool = False  # SPMF lines of names, baskets with weights
    split: str | None = None
    strip: bool = False
    missing: str | None = None
    columns: tuple[ReadColumn, ...] = ()
    missing_person: str | None = None
    per_person: str | None = None


@dataclass(frozen=True)
class SecondReading:
    """What came of reading the input again with the verifier's own reader."""

    seconds: float
    rows_compared: int = 0
    rows: int = 0  # of the input, as far as they were counted
    entries_compared: int = 0
    totals_compared: bool = True  # the number of records and the support of every item
    not_compared: str = ""  # why there was nothing to compare
    columns_not_compared: tuple[str, ...] = ()  # known, sensitive and carried ones: read once only

    def to_dict(self) -> dict[str, Any]:
        """For the record of a run."""
        if self.not_compared:
            return {"compared": False, "reason": self.not_compared}
        return {
            "compared": True,
            "rows_compared": self.rows_compared,
            "rows": self.rows,
            "entries_compared": self.entries_compared,
            "all": self.rows_compared == self.rows and not self.columns_not_compared,
            **({"totals_compared": self.totals_compared} if self.rows_compared < self.rows else {}),
            **({"columns_not_compared": list(self.columns_not_compared)} if self.columns_not_compared else {}),
        }


@dataclass(frozen=True)
class Reading:
    """What a reader understood; ``sentence`` says it to people, ``to_dict`` to programs."""

    name: str  # of the file without its folder, or the kind of object
    layout: str  # fimi, long, wide, …
    kind: str  # the layout in words
    detected_from: str  # the evidence: an option, the header, the extension, …
    id_column: str = ""  # where people come from; empty if every row or line is one
    item_column: str = ""  # where items come from
    unused: tuple[str, ...] = ()  # columns that were left out
    notes: tuple[str, ...] = ()  # whatever else was decided
    encoding: str = "utf-8"
    sha256: str | None = None  # of the file as it lies there; None for objects
    n_bytes: int | None = None
    warnings: tuple[str, ...] = ()  # what the reader warned of
    doubts: tuple[str, ...] = ()  # what puts every guarantee in question, to follow "but"
    form: TableForm = TableForm()  # for whoever reads other columns of the same file
    interpretation: Interpretation | None = None  # for whoever reads the same cells again
    second: SecondReading | None = None  # if that was done
    has_several: bool = False  # items come from several columns, which ``item_column`` lists
    columns: tuple[tuple[str, str], ...] = ()  # name and role of every other column with a stated role

    def sentence(self, n_records: int, n_items: int, n_occurrences: int) -> str:
        """One line: what was read, how many people, items and entries, and why it was read so."""
        parts = [
            times(n_records, *(("visit", "visits") if VISITS in self.doubts else ("person", "people")))
            + _of(self.id_column),
            times(n_items, "item") + _of(self.item_column, self.has_several),
            times(n_occurrences, "entry", "entries"),
        ]
        said = [", ".join(parts), *self._stated(), *self.notes]
        if self.unused:
            said.append(f"not used: {_some(self.unused)}")
        found = self.detected_from
        is_set = found == "--item" or found.startswith("--format")
        evidence = f" ({'set by' if is_set else 'detected from'} {found})" if found else ""
        return f"Read {self.name} as {self.kind}{evidence}: {'; '.join(said)}."

    def _stated(self) -> list[str]:
        """The columns by role."""
        by_role: dict[str, list[str]] = {}
        for name, role in self.columns:
            by_role.setdefault(role, []).append(name)
        return [f"{ROLE_WORDS[role]}: {_some(tuple(by_role[role]))}" for role in ROLE_WORDS if role in by_role]

    def to_dict(self) -> dict[str, Any]:
        """The same for ``--json``; what does not apply is None."""
        return {
            "name": self.name,
            "layout": self.layout,
            "kind": self.kind,
            "detected_from": self.detected_from,
            "id_column": self.id_column or None,
            "item_column": self.item_column or None,
            "columns": dict(self.columns),
            "not_used": list(self.unused),
            "notes": list(self.notes),
            "encoding": self.encoding,
            "sha256": self.sha256,
            "bytes": self.n_bytes,
        }


def _of(column: str, are_several: bool = False) -> str:
    if not column or column.startswith("column "):  # by number
        return f" ({column})" if column else ""
    return f" (columns {column})" if are_several else f' (column "{column}")'


def _some(names: tuple[str, ...], limit: int = 10) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"
