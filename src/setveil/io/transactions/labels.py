"""Numbers for labels and ids that lie in a byte buffer, without a Python object per occurrence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core.row_order import bounds_of
from setveil.core.transactions import LARGE, Layout, Transactions
from setveil.core.vocabulary import Vocabulary, ascending
from setveil.errors import name_some, times, warn
from setveil.io.formats.base import SeenIds
from setveil.io.source import one_line
from setveil.io.transactions.cells import NOBODY

LOOKED_AT = 50_000  # ids that are remembered for the guards
MANY = 1 << 16  # pieces, or words of text, for which it is worth loading a compiled loop
WORD = 8  # bytes

Scalar = TypeVar("Scalar", bound=np.generic)


class Tokens(NamedTuple):
    """Pieces of a buffer."""

    buffer: NDArray[np.uint8]
    starts: NDArray[np.int64]
    lengths: NDArray[np.integer]

    def pick(self, which: NDArray[np.integer] | NDArray[np.bool_] | slice) -> Tokens:
        """Some of the pieces."""
        return Tokens(self.buffer, self.starts[which], self.lengths[which])

    def text(self, number: int) -> bytes:
        """One piece."""
        start = int(self.starts[number])
        return self.buffer[start : start + int(self.lengths[number])].tobytes()

    def texts(self) -> list[bytes]:
        """All pieces."""
        raw = self.buffer.tobytes()
        starts, ends = self.starts.tolist(), (self.starts + self.lengths).tolist()
        return [raw[start:end] for start, end in zip(starts, ends, strict=True)]


def tokens_of(texts: list[bytes]) -> Tokens:
    """Pieces from Python's own."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    starts = np.zeros(len(texts), dtype=np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    return Tokens(np.frombuffer(b"".join(texts), dtype=np.uint8), starts, lengths)


class Numbered(NamedTuple):
    """Pieces numbered among themselves, -1 for an empty one, and the text of each number."""

    numbers: NDArray[np.int32]
    texts: list[bytes]


def number_apart(tokens: Tokens, first: int = 0, step: int = 1) -> Numbered:
    """Numbers for the pieces ``first``, ``first + step``, …, for ``Labels.merge``; chunks can do this side by side."""
    if _are_few(tokens):
        return _number_few(tokens.pick(slice(first, None, step)))
    from setveil.arrays.tokens import number_texts

    numbers, positions = number_texts(
        tokens.buffer, tokens.starts, tokens.lengths.astype(np.int64, copy=False), first, step
    )
    return Numbered(numbers, tokens.pick(positions).texts())


def _are_few(tokens: Tokens) -> bool:
    return max(len(tokens.starts), len(tokens.buffer) // WORD) < MANY


def _number_few(tokens: Tokens) -> Numbered:
    known: dict[bytes, int] = {}
    numbers = [known.setdefault(text, len(known)) if text else -1 for text in tokens.texts()]
    return Numbered(np.array(numbers, dtype=np.int32), list(known))


class Labels:
    """Item labels, numbered as they come; chunk by chunk."""

    def __init__(self) -> None:
        self.number_of: dict[bytes, int] = {}

    def number(self, tokens: Tokens) -> NDArray[np.int32]:
        """The number of each piece, int32[pieces]."""
        return self.merge(number_apart(tokens))

    def merge(self, apart: Numbered) -> NDArray[np.int32]:
        """The numbers of pieces that were numbered among themselves, -1 for empty ones."""
        return self.numbers_of(apart.texts)[apart.numbers]

    def numbers_of(self, texts: list[bytes]) -> NDArray[np.int32]:
        """The number of each text, and -1 behind them for an empty piece."""
        known = self.number_of
        return np.array([*(known.setdefault(text, len(known)) for text in texts), -1], dtype=np.int32)

    def texts(self) -> list[str]:
        return [label.decode() for label in self.number_of]


class Rows(NamedTuple):
    """Which record each row of an input belongs to; records in order of first appearance."""

    of_row: NDArray[np.int64]
    n_records: int
    ids: tuple[str, ...] | None = None  # if they are kept
    seen: SeenIds | None = None  # where rows have ids
    nobody: Mapping[str, int] = MappingProxyType(
        {}
    )  # the record of rows with an empty id, or with a word in place of an id
    first_empty: str = ""  # where the first row with an empty id stands


class Ids:
    """Record ids, row by row; rows of one id need not be adjacent."""

    def __init__(self) -> None:
        self._known = Labels()
        self._numbers: list[NDArray[np.int32]] = []  # [rows]
        self.first_empty = ""  # where the first row without id stands

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def add(self, ids: Numbered) -> None:
        """The ids of some more rows."""
        if (ids.numbers < 0).any():  # an empty id is a text like any other here
            ids = Numbered(np.where(ids.numbers < 0, len(ids.texts), ids.numbers).astype(np.int32), [*ids.texts, b""])
        self._numbers.append(self._known.merge(ids))

    def rows(self, keep_texts: bool) -> Rows:
        """The records of all rows."""
        of_row = joined(self._numbers, np.int32).astype(np.int64)
        number_of = self._known.number_of
        nobody = {word: number_of[word.encode()] for word in ("", *sorted(NOBODY)) if word.encode() in number_of}
        n_rows = {word: int((of_row == record).sum()) for word, record in nobody.items() if word}
        first = frozenset(text.decode() for text in islice(number_of, LOOKED_AT))
        ids = tuple(self._known.texts()) if keep_texts else None
        return Rows(of_row, len(number_of), ids, SeenIds(first, n_rows), nobody, self.first_empty)


def assemble(
    records: NDArray[np.int64],
    numbers: NDArray[np.int32],
    n_records: int,
    labels: list[str],
    layout: Layout,
    ids: tuple[str, ...] | None = None,
) -> Transactions:
    """Transactions from (record, label number) pairs in any order."""
    vocabulary, rank = _ranked(labels)
    return Transactions.from_pairs(records, rank[numbers], n_records, vocabulary, ids, layout)


def assemble_rows(
    lengths: NDArray[np.integer], numbers: NDArray[np.int32], labels: list[str], layout: Layout
) -> Transactions:
    """Transactions from the label numbers of one record after the other, -1 for no label."""
    indptr = bounds_of(lengths)
    return _over_labels(indptr, numbers, labels, layout)


def assemble_records(rows: Rows, numbers: NDArray[np.int32], labels: list[str], layout: Layout) -> Transactions:
    """Transactions from the label number of each row, -1 for no label."""
    lengths = np.bincount(rows.of_row, minlength=rows.n_records)
    if (rows.of_row[1:] < rows.of_row[:-1]).any():  # the rows of a record are not adjacent
        numbers = numbers[np.argsort(rows.of_row, kind="stable")]
    return replace(assemble_rows(lengths, numbers, labels, layout), ids=rows.ids)


def _over_labels(
    indptr: NDArray[np.int64], numbers: NDArray[np.int32], labels: list[str], layout: Layout
) -> Transactions:
    """Rows of label numbers in any order, repeats and -1 allowed, over the vocabulary of the labels. ``numbers`` are
    overwritten where they are many.
    """
    vocabulary, rank = _ranked(labels)
    target = np.append(rank, np.int32(-1))
    if len(numbers) <= LARGE:
        return Transactions(indptr, numbers, vocabulary, layout=layout).recode(target, vocabulary)
    from setveil.arrays.rows import renumber_rows_into

    return Transactions(*renumber_rows_into(indptr, numbers, target, numbers), vocabulary, layout=layout)


def _ranked(labels: list[str]) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The vocabulary of some labels, and the number each has there."""
    ordered = ascending(labels)
    vocabulary = Vocabulary.presorted(ordered)
    return vocabulary, vocabulary.numbers(labels)


def is_proper(text: str) -> bool:
    """Whether every layout can hold the text: no NUL, no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def warn_about_blanks(labels: Sequence[str]) -> None:
    """Labels that differ in surrounding white space only are kept apart; the user should know."""
    padded_labels = [label for label in labels if label[:1].isspace() or label[-1:].isspace()]
    if padded_labels:
        known = set(labels)
        doubtful = [label for label in padded_labels if label.strip() in known]
        if doubtful:
            warn(
                f"{times(len(doubtful), 'label differs', 'labels differ')} from another one in white space only: "
                f"{name_some(map(one_line, doubtful), 3)}. They stay different; --strip removes white space."
            )


def joined(parts: list[NDArray[Scalar]], dtype: type[Scalar]) -> NDArray[Scalar]:
    """One array from none or many, which are given up."""
    end = sum(map(len, parts))
    whole = np.empty(end, dtype=dtype)
    while parts:  # one after the other, so that all are never there twice
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole
