"""Words for "missing" in the cells of a table: ``?``, ``NA``, ``NULL``, ``unknown``, …

Only the owner of the data knows what they mean. ``--missing drop`` makes such cells absent, as if they were empty;
``--missing value`` makes them ordinary values. Without either they are an error that names the column and the count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import AnyDataset
from setveil.errors import InputError, name_some, times, warn
from setveil.io.options import ReadOptions
from setveil.io.source import one_line
from setveil.io.transactions.labels import Numbered

WORDS = frozenset(
    {"?", "-", "--", ".", "NA", "N/A", "n/a", "#N/A", "<NA>", "None", "\\N"}
    | {spelt for word in ("null", "unknown", "missing") for spelt in (word, word.upper(), word.capitalize())}
)
FEW = 20  # rows; below, a word may be chance
NOT_A_NUMBER = frozenset({"NaN", "nan", "NAN"})  # labels, unless the owner says what words for "missing" mean


class MissingCells:
    """What becomes of cells that hold a word for "missing", and how many there are."""

    def __init__(self, options: ReadOptions, is_stripped: bool = False, like: MissingCells | None = None) -> None:
        self.rule = options.missing
        self._is_stripped = is_stripped or options.strip  # then white space alone is an empty cell
        # Of (column, word), and what could mean "missing" and is read as a value; ``like`` reports both.
        self._counts: Counter[tuple[str, str]] = Counter() if like is None else like._counts
        self._values: set[str] = set() if like is None else like._values

    def take(self, cells: Numbered, column: str) -> Numbered:
        """The cells of a column: words for "missing" counted, and emptied unless they are values."""
        if self.rule == "value":
            return cells
        is_missing = self._are_missing([text.decode() for text in cells.texts])
        if not is_missing.any():
            return cells
        numbers = np.append(np.where(is_missing, -1, np.cumsum(~is_missing) - 1), -1).astype(np.int32)
        n_cells = np.bincount(cells.numbers[cells.numbers >= 0], minlength=len(is_missing))
        for place in np.flatnonzero(is_missing).tolist():
            self._counts[column, cells.texts[place].decode().strip()] += int(n_cells[place])
        return Numbered(
            numbers[cells.numbers], [text for text, left in zip(cells.texts, ~is_missing, strict=True) if left]
        )

    def take_labels(self, data: AnyDataset, column: str) -> AnyDataset:
        """The same for labels of records, which may be parts of cells."""
        if self.rule == "value":
            return data
        is_missing = self._are_missing(data.vocabulary)
        if not is_missing.any():
            return data
        for item in np.flatnonzero(is_missing).tolist():
            self._counts[column, data.vocabulary[item].strip()] += int(data.supports[item])
        return data.keep_items(~is_missing) if self.rule == "drop" else data

    def _are_missing(self, texts: Iterable[str]) -> NDArray[np.bool_]:
        words = [text.strip() for text in texts]
        wanted = WORDS | NOT_A_NUMBER if self.rule == "drop" else WORDS
        if self.rule is None:
            self._values |= NOT_A_NUMBER.intersection(words)
        return np.array([word in wanted or not (word or self._is_stripped) for word in words], dtype=bool)

    def report(self, where: str, n_rows: int) -> tuple[str, ...]:
        """What to say about the cells that became absent; an error if nobody said what their words mean."""
        if self._values and not self._counts and n_rows >= FEW:
            warn(
                f'{where}: {name_some(sorted(self._values))} is read as a value. Does it mean "missing"? Use '
                "--missing drop."
            )
        if not self._counts:
            return ()
        total = sum(self._counts.values())
        words = name_some(sorted({_shown(word) for _, word in self._counts}), 5)
        if self.rule == "drop":
            return (f"absent: {times(total, 'cell')} with {words}",)
        columns = sorted({column for column, _ in self._counts})
        column = max(columns, key=lambda name: sum(self._counts[key] for key in self._counts if key[0] == name))
        word, count = max(
            ((word, count) for (name, word), count in self._counts.items() if name == column),
            key=lambda found: (found[1], found[0]),
        )
        others = f" ({times(total, 'cell')} with {words} in all)" if total > count else ""
        in_column = f'column "{one_line(column, 40)}": ' if column else ""
        raise InputError(
            f'{where}: {in_column}"{_shown(word)}" in {times(count, "cell")}{others}. Does "{_shown(word)}" mean '
            '"missing"? Use --missing drop. Is it a value like any other? Use --missing value.'
        )


def _shown(word: str) -> str:
    return word or "white space alone"
