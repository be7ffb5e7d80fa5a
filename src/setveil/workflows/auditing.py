"""A first look at a data set: how it is read, what its columns are used for, doubts, and the risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setveil.core.tables import Table, html_of_rows
from setveil.errors import collected_warnings
from setveil.risk import RiskTable
from setveil.workflows.assess import KNOWN, risk
from setveil.workflows.inputs import as_dataset


@dataclass(frozen=True, repr=False)
class Audit:
    """What ``audit`` found; prints as a page of text."""

    summary: str  # how the data was read
    columns: Table  # name and role of each column
    warnings: tuple[str, ...]
    risk: RiskTable

    def __repr__(self) -> str:
        parts = [self.summary, str(self.columns) if self.columns else "", *self.warnings, str(self.risk)]
        return "\n\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        rows = [{"finding": text} for text in (self.summary, *self.warnings)]
        columns = html_of_rows("Columns", self.columns.rows) if self.columns else ""
        return html_of_rows("Audit", rows) + columns + self.risk._repr_html_()


def audit(data: Any, **options: Any) -> Audit:
    """Look at data before anonymizing it: how it is read, the role of each column, doubts, and the risk.

    Nothing is written.

    Args:
        data: anything that ``read`` takes.
        options: roles and other options of ``read``.

    Returns:
        Summary, columns, warnings and risk; prints as text.

    Raises:
        InputError: the data cannot be read.

    Examples:
        >>> import setveil as sv
        >>> rows = [{"patient": 1, "code": "A", "age": 30}, {"patient": 2, "code": "A", "age": 40}]
        >>> found = sv.audit(rows, known=["age"])
        >>> [(row["column"], row["role"]) for row in found.columns]
        [('patient', 'person'), ('code', 'item'), ('age', 'known')]
        >>> found.risk["singled_out"][0]
        1.0
    """
    with collected_warnings() as notes:
        records = as_dataset(data, **options)
    reading = records.reading
    rows = []
    if reading is not None:
        stated = [(reading.id_column, "person"), (reading.item_column, "item"), *reading.columns]
        stated += [(name, "not used") for name in reading.unused]
        rows = [{"column": name, "role": role} for name, role in stated if name]
    return Audit(records.summary(), Table(rows, "Columns"), tuple(notes), risk(records, known=KNOWN, inference=False))
