"""Small results as tables: numbers as numbers, filtered by name, as frames, and as HTML in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.core.deferred import call
from setveil.errors import InputError, one_line

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class Tabular(ABC):
    """What every table of results can do."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """The rows as plain values."""

    def to_polars(self) -> pl.DataFrame:
        """The rows as a Polars frame."""
        import polars as pl

        return pl.DataFrame(self.records(), infer_schema_length=None)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError("to_pandas() needs pandas; pip install pandas.") from None
        return pd.DataFrame(self.records())

    def filter(self, keep: Callable[[Mapping[str, Any]], bool] | None = None, **wanted: Any) -> Table:
        """The rows that a function keeps, or whose columns have the wanted values.

        Args:
            keep: called with a row; True keeps it.
            wanted: a value per column, or a list of values; a column that holds several values needs one of them.

        Examples:
            >>> sv.algorithms().filter(models="degree", tier="recommended")["name"]
            ['blocks']
            >>> len(sv.algorithms().filter(lambda row: row["scales"] == "counts")) > 0
            True
        """
        rows = self.records()
        for name in wanted:
            if rows and name not in rows[0]:
                raise InputError(f'there is no column "{one_line(name)}"; there is {", ".join(rows[0])}.')
        return Table([row for row in rows if (keep is None or keep(row)) and _has(row, wanted)])


def _has(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    for name, value in wanted.items():
        values = {value} if isinstance(value, str) or not isinstance(value, Iterable) else set(value)
        cell = row[name]
        if not values & (set(cell) if isinstance(cell, tuple | list) else {cell}):
            return False
    return True


@dataclass(frozen=True, repr=False)
class Table(Tabular):
    """Rows of plain values.

    Examples:
        >>> from setveil.core.tables import Table
        >>> table = Table([{"known": 1, "share": 0.25}, {"known": 2, "share": 0.5}])
        >>> table["share"], table[1]["known"], len(table)
        ([0.25, 0.5], 2, 2)
    """

    rows: list[dict[str, Any]]
    title: str = ""

    def records(self) -> list[dict[str, Any]]:
        """The rows as plain values."""
        return [dict(row) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, place: int | str) -> Any:
        """A row by its number, or a column by its name."""
        return [row[place] for row in self.rows] if isinstance(place, str) else self.rows[place]

    def __repr__(self) -> str:
        return text_of_rows(self.rows)

    def _repr_html_(self) -> str:
        return html_of_rows(self.title, self.rows)


def text_of_rows(rows: list[dict[str, Any]]) -> str:
    """Aligned columns, numbers at the right."""
    if not rows:
        return "no rows"
    names = list(rows[0])
    cells = [names, *([_shown(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
    is_number = [all(isinstance(row[name], int | float) for row in rows) for name in names]
    return "\n".join(
        "  ".join(
            f"{cell:>{width}}" if right else f"{cell:<{width}}"
            for cell, width, right in zip(line, widths, is_number, strict=True)
        ).rstrip()
        for line in cells
    )


def html_of_rows(title: str, rows: list[dict[str, Any]]) -> str:
    """A card with a table."""
    header = list(rows[0]) if rows else ["no rows"]
    return str(call("card", title, header=header, rows=[[_shown(row[name]) for name in header] for row in rows]))


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
