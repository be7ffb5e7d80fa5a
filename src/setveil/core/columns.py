"""Columns besides the items: what else is known of each person, such as age, sex or region.

A column has one value per record. Values are strings, numbered in ascending order as items are; a missing value is a
value of its own. The columns of a release hold published values, and ``cover`` says which original values each covers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from setveil.core.hierarchy import Hierarchy
from setveil.core.itemsets import Itemsets
from setveil.core.naming import fresh_name
from setveil.core.vocabulary import Vocabulary

Role = Literal["known", "sensitive", "carry"]
SUPPRESSED = "*"  # the published value that covers all others, where no hierarchy has a name for it
MISSING = "missing"  # what an absent value is called, made different from all other values


@dataclass(frozen=True, eq=False)
class Column:
    """One value per record: ``values[codes[i]]`` is that of record ``i``."""

    name: str
    role: Role
    values: Vocabulary
    codes: NDArray[np.int32]  # [n_records]
    missing: str = ""  # the value that means "absent"; empty if every record has one
    hierarchy: Hierarchy | None = None  # whose leaves include all values; None: a value is published or suppressed
    cover: Itemsets | None = None  # of a release: [values] the original values that each published value covers
    unnamed: frozenset[str] = frozenset()  # published values that also cover others, which the files do not name

    @classmethod
    def of(cls, name: str, role: Role, cells: Sequence[str | None], hierarchy: Hierarchy | None = None) -> Column:
        """From one cell per record; None is missing."""
        present = {cell for cell in cells if cell is not None}
        missing = fresh_name(MISSING, present) if any(cell is None for cell in cells) else ""
        values = Vocabulary(present | {missing} if missing else present)
        codes = values.numbers(missing if cell is None else cell for cell in cells)
        return cls(name, role, values, codes, missing, hierarchy)

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many records have each value, int64[values]."""
        return np.bincount(self.codes, minlength=len(self.values)).astype(np.int64, copy=False)

    @cached_property
    def tree(self) -> Hierarchy:
        """Along which it is generalized: its hierarchy, or else every value directly below ``*``."""
        if self.hierarchy is not None:
            return self.hierarchy
        root = fresh_name(SUPPRESSED, set(self.values))
        return Hierarchy.from_parents([-1, *([0] * len(self.values))], [root, *self.values], derived_from_data=True)

    @cached_property
    def leaves(self) -> NDArray[np.int32]:
        """The leaf of ``tree`` of each value, int32[values]."""
        return self.tree.leaf_of_items(self.values, f'of column "{self.name}"')

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many original values each value covers, int64[values]; one of a column that is not generalized."""
        return np.ones(len(self.values), dtype=np.int64) if self.cover is None else np.diff(self.cover.indptr)

    def named_only(self) -> Column:
        """Without the names of covered values that only the data shows: those that no record has unchanged.

        That a value occurs at all can be what nobody may know. Names from a hierarchy that was given are public.
        """
        if self.cover is None or not self.tree.derived_from_data:
            return self
        names = self.cover.to_lists()
        shown = {value for value, covered in zip(self.values, names, strict=True) if covered == [value]}
        kept = [[name for name in covered if name in shown] for covered in names]
        unnamed = [value for value, old, new in zip(self.values, names, kept, strict=True) if len(new) < len(old)]
        cover, _ = Itemsets.from_lists(kept, Vocabulary(shown))
        return replace(self, cover=cover, unnamed=frozenset(unnamed), hierarchy=None)

    def with_used_values(self) -> Column:
        """Without values that no record has."""
        used = np.flatnonzero(self.counts)
        if len(used) == len(self.values):
            return self
        labels = [self.values[int(value)] for value in used]
        values = Vocabulary(labels)
        number = np.full(len(self.values), -1, dtype=np.int32)
        number[used] = values.numbers(labels)
        cover = None if self.cover is None else self.cover.select(used[np.argsort(number[used])])
        return replace(self, values=values, codes=number[self.codes], cover=cover)

    def relabelled(self, name: Callable[[str], str]) -> Column:
        """With other names for all values, published and original; ``name`` never gives one name twice."""
        labels = [name(value) for value in self.values]
        values = Vocabulary(labels)
        number = values.numbers(labels)
        cover = self.cover
        if cover is not None:
            domain = Vocabulary(map(name, cover.vocabulary))
            cover = cover.renumbered(domain.numbers(map(name, cover.vocabulary)), domain).select(np.argsort(number))
        unnamed = frozenset(map(name, self.unnamed))
        return replace(
            self, values=values, codes=number[self.codes].astype(np.int32), cover=cover, unnamed=unnamed, hierarchy=None
        )

    def to_list(self) -> list[str]:
        """The value of each record."""
        labels = self.values.labels
        return [labels[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a data set or release, in the order of the input."""

    columns: tuple[Column, ...]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(column.name for column in self.columns)

    def with_role(self, *roles: Role) -> Columns:
        """Only the columns with one of these roles."""
        return Columns(tuple(column for column in self.columns if column.role in roles))

    def named(self, names: Iterable[str]) -> Columns:
        """Only the columns with these names, in their order."""
        return Columns(tuple(self[name] for name in names))

    def select(self, records: NDArray[np.integer]) -> Columns:
        """The given records, in the given order."""
        return Columns(tuple(replace(column, codes=column.codes[records]) for column in self.columns))

    def replaced(self, columns: Iterable[Column]) -> Columns:
        """With other columns in place of those of the same name."""
        others = {column.name: column for column in columns}
        return Columns(tuple(others.get(column.name, column) for column in self.columns))

    def with_used_values(self) -> Columns:
        """Without values that no record has."""
        return Columns(tuple(column.with_used_values() for column in self.columns))

    def relabelled(self, name: Callable[[str], str]) -> Columns:
        """With other names for all values; ``name`` never gives one name twice."""
        return Columns(tuple(column.relabelled(name) for column in self.columns))

    def classes(self, n_records: int) -> NDArray[np.int64]:
        """The class of each record, int64[n_records]: records with equal values in all ``known`` columns.

        Classes are numbered 0, 1, … in lexicographic order of their values; without known columns there is one.
        """
        return self._classes if self.columns else np.zeros(n_records, dtype=np.int64)

    @cached_property
    def _classes(self) -> NDArray[np.int64]:
        number = np.zeros(len(self.columns[0].codes), dtype=np.int64)
        for column in self.with_role("known"):
            pairs = number * len(column.values) + column.codes  # below n_records * values, which int64 holds
            number = np.unique(pairs, return_inverse=True)[1].astype(np.int64, copy=False)
        return number
