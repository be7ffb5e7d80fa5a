"""A column of a table with everything that its cells and its name show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from setveil.io.profiles import looks
from setveil.io.profiles.cells import CellColumn, CellTable
from setveil.io.profiles.relations import Dependence, dependence
from setveil.io.transactions.headers import rank_of_ids, rank_of_items, words_in

MOST_COMMON = 0.05  # of the rows; a value that more rows have identifies nobody
LEAST_VALUES = 20  # of a column that identifies people, unless its name says so
MANY_ROWS = 100  # below, one person may well have many of the rows
SHOWN_FROM = 10  # rows; rarer values are not shown
EXAMPLES = 3
KNOWN_WORDS = frozenset({
    "age", "sex", "gender", "race", "ethnicity", "region", "zip", "postcode", "postal", "plz", "city", "country",
    "state", "county", "district", "birth", "dob", "born", "marital", "occupation", "job", "education", "language",
    "nationality", "ward", "insurance", "residence",
})  # fmt: skip
AMOUNT_WORDS = frozenset({"purchase", "value"})  # items if they are labels
TIME_WORDS = frozenset({"time", "date", "timestamp", "datetime", "day"})
SENSITIVE_WORDS = frozenset({
    "income", "salary", "wage", "hiv", "religion", "outcome", "death", "died", "deceased", "readmitted", "expired",
    "expire", "sensitive", "orientation",
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class Facts:
    """A column and what it shows."""

    place: int
    cells: CellColumn  # words for "missing" are values
    name: str
    is_named: bool = True  # the table has a header

    @cached_property
    def values(self) -> CellColumn:
        """The cells without those that say "missing"."""
        return self.cells.present

    @cached_property
    def look(self) -> looks.Look:
        """What the values look like."""
        return looks.look_at(self.cells)

    @property
    def n_rows(self) -> int:
        return len(self.cells.numbers)

    @property
    def n_values(self) -> int:
        """Distinct values."""
        return len(self.values.texts)

    @cached_property
    def n_missing(self) -> int:
        """Rows whose cell is empty or says "missing"."""
        return self.values.n_empty

    @cached_property
    def n_unique(self) -> int:
        """Rows whose value no other row has."""
        return int((self.values.counts == 1).sum())

    @property
    def is_key(self) -> bool:
        """Whether no two rows share a value, and every row has one."""
        return self.n_values == self.n_rows > 1

    @property
    def id_rank(self) -> int:
        """How surely the name says that these are ids of people (3) or of visits (2)."""
        return rank_of_ids(self.name) if self.is_named and not self._is_amount else 0

    @property
    def item_rank(self) -> int:
        """How surely the name says that these are items."""
        return rank_of_items(self.name) if self.is_named and not self._is_amount else 0

    @property
    def _is_amount(self) -> bool:
        """Numbers under a name such as "Purchase", which labels and ids have, too."""
        return self.look.kind in (looks.WHOLE, looks.MEASURE) and words_in(self.name) <= AMOUNT_WORDS

    @property
    def is_said_known(self) -> bool:
        """Whether the name says that people know it of each other."""
        return self.is_named and bool(words_in(self.name) & KNOWN_WORDS)

    @property
    def is_said_sensitive(self) -> bool:
        """Whether the name says that it must not be learned."""
        return self.is_named and bool(words_in(self.name) & SENSITIVE_WORDS)

    @cached_property
    def is_unit(self) -> bool:
        """Whether it could identify people, or what they do."""
        kind = self.look.kind
        if kind in (looks.EMPTY, looks.CONSTANT, looks.LISTS) or self.look.system:
            return False
        if self.id_rank == 3 or (self.id_rank == 2 and self._tells_apart and self.item_rank < 3):
            return kind != looks.ANSWERS
        if kind not in (looks.ID, looks.WHOLE, looks.PEOPLE) or self.is_said_known:
            return False
        if self.is_named and words_in(self.name) & TIME_WORDS:
            return False
        if self.n_values < LEAST_VALUES or self.n_missing > 0.5 * self.n_rows:
            return False
        return self._tells_apart

    @property
    def _tells_apart(self) -> bool:
        return self.n_rows < MANY_ROWS or int(self.values.counts.max()) <= MOST_COMMON * self.n_rows

    def determines(self, other: Facts) -> Dependence:
        """How another column depends on this one."""
        return dependence(self.values, other.values)

    def examples(self) -> tuple[str, ...]:
        """The most frequent values, where they point to nobody: many rows share each."""
        if self.look.kind in (looks.PEOPLE, looks.TEXT):
            return ()
        order = np.lexsort((np.arange(self.n_values), -self.values.counts))[:EXAMPLES]
        return tuple(self.values.texts[place] for place in order if self.values.counts[place] >= SHOWN_FROM)

    def odd_letter(self) -> str:
        """A letter before some ids where nearly all others are digits, as of cancelled invoices; empty if none."""
        first = [text[0] for text in self.values.texts if re.fullmatch("[A-Za-z][0-9]+", text)]
        n_digits = sum(text.isdecimal() for text in self.values.texts)
        is_odd = first and len(set(first)) == 1 and n_digits >= 0.7 * self.n_values
        return first[0] if is_odd and len(first) + n_digits == self.n_values else ""


def facts_of(table: CellTable) -> list[Facts]:
    """All columns of a table."""
    return [Facts(place, column, column.name, table.has_header) for place, column in enumerate(table.columns)]
