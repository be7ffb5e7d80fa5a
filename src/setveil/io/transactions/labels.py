"""Numbers for labels and ids that lie in a byte buffer, without a Python object per occurrence.

A text of up to eight bytes is its own 64-bit key (there are no NUL bytes); a longer one is hashed, and texts with
equal keys are compared byte by byte. So numbers are exact whatever the hash does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core.row_order import LARGE
from setveil.core.transactions import Layout, Transactions
from setveil.core.vocabulary import Vocabulary, ascending
from setveil.errors import name_some, times, warn
from setveil.io.formats.base import SeenIds
from setveil.io.source import one_line
from setveil.io.transactions.cells import NOBODY

WORD = 8  # bytes
RUNS_AT_ONCE = 1 << 20  # runs compared at a time
LOOKED_AT = 50_000  # runs of rows whose ids are remembered for the guards
MANY = 1 << 16  # pieces, or words of text, for which it is worth loading a compiled loop
_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(WORD + 1)], dtype=np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_NOBODY_KEYS = np.array([int.from_bytes(word.encode(), "little") for word in ("", *sorted(NOBODY))], dtype=np.uint64)

Scalar = TypeVar("Scalar", bound=np.generic)


class Tokens(NamedTuple):
    """Pieces of a buffer that has at least ``WORD`` bytes to spare at its end."""

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


def padded(chunk: bytes) -> NDArray[np.uint8]:
    """A buffer that words can be read from at any place."""
    return np.frombuffer(chunk + bytes(WORD), dtype=np.uint8)


def tokens_of(texts: list[bytes]) -> Tokens:
    """Pieces from Python's own."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    starts = np.zeros(len(texts), dtype=np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    return Tokens(padded(b"".join(texts)), starts, lengths)


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
    return Numbered(numbers, [tokens.text(place) for place in positions.tolist()])


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
        """The labels by number."""
        return [label.decode() for label in self.number_of]


class Runs(NamedTuple):
    """Rows that follow each other with the same id."""

    keys: NDArray[np.uint64]
    lengths: NDArray[np.int32]  # of the ids, in bytes
    n_rows: NDArray[np.int32]
    long: bytes  # text of the ids that do not fit into a key, one after the other
    last: bytes  # the last id


def find_id_runs(tokens: Tokens, first: int = 0, step: int = 1) -> Runs:
    """The runs of the ids ``first``, ``first + step``, …, for ``Ids.add_runs``; there must be an id at least."""
    ids = tokens.pick(slice(first, None, step))
    if _are_few(tokens):
        texts = ids.texts()
        heads = np.array([place for place, text in enumerate(texts) if not place or text != texts[place - 1]])
    else:
        from setveil.arrays.tokens import find_runs

        heads = find_runs(tokens.buffer, tokens.starts, tokens.lengths.astype(np.int64, copy=False), first, step)
    at = ids.pick(heads)
    is_long = at.lengths > WORD
    long = gather(at.pick(is_long)) if is_long.any() else b""
    n_rows = np.diff(heads, append=len(ids.starts)).astype(np.int32)
    return Runs(_keys(at), at.lengths.astype(np.int32), n_rows, long, at.text(-1))


class Records(NamedTuple):
    """Which record each run of rows belongs to; records in order of first appearance."""

    of_run: NDArray[np.int64]
    n_rows: NDArray[np.int32]  # [runs]
    n_records: int
    ids: tuple[str, ...] | None  # if they are kept
    seen: SeenIds
    nobody: dict[str, int]  # the record of rows with an empty id, or with a word in place of an id
    first_empty: str = ""  # where the first row with an empty id stands


class Ids:
    """Record ids, row by row; rows of one id need not be adjacent."""

    def __init__(self) -> None:
        self._keys: list[NDArray[np.uint64]] = []  # one entry per run of rows with the same id
        self._lengths: list[NDArray[np.int32]] = []
        self._n_rows: list[NDArray[np.int32]] = []
        self._long: list[bytes] = []  # text of the ids that do not fit into a key
        self._last = b""
        self.first_empty = ""  # where the first row without id stands

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, tokens: Tokens) -> None:
        """The ids of some more rows."""
        if len(tokens.starts):
            self.add_runs(find_id_runs(tokens))

    def add_runs(self, runs: Runs) -> None:
        """The ids of some more rows, whose runs are known."""
        keys, lengths, n_rows, long, last = runs
        first = self._last
        if (
            first and len(first) == lengths[0] and _begins_with(runs, first)
        ):  # the run goes on from one chunk to the next
            self._n_rows[-1][-1] += n_rows[0]
            keys, lengths, n_rows = keys[1:], lengths[1:], n_rows[1:]
            long = long[len(first) :] if len(first) > WORD else long
        self._last = last
        if len(keys):
            self._keys.append(keys)
            self._lengths.append(lengths)
            self._n_rows.append(n_rows)
            self._long.append(long)

    def number(self, keep_texts: bool) -> tuple[NDArray[np.int64], int, tuple[str, ...] | None]:
        """``(record of each row, number of records, their ids)``; records in order of first appearance."""
        records = self.records(keep_texts)
        return np.repeat(records.of_run, records.n_rows), records.n_records, records.ids

    def records(self, keep_texts: bool) -> Records:
        """The records of all runs."""
        keys = joined(self._keys, np.uint64)
        lengths = joined(self._lengths, np.int32)
        n_rows = joined(self._n_rows, np.int32)
        buffer = np.frombuffer(b"".join((*self._long, bytes(WORD))), dtype=np.uint8)
        self._long.clear()
        ordered = np.sort(keys)
        seen = SeenIds(_first_texts(keys, lengths, buffer), _rows_of_nobody(keys, ordered, lengths, n_rows))
        if bool((ordered[1:] != ordered[:-1]).all()) and not keep_texts:  # as usual: the rows of an id are adjacent
            nobody = _find_nobody(keys, lengths, np.arange(len(keys)))
            return Records(np.arange(len(keys)), n_rows, len(keys), None, seen, nobody, self.first_empty)
        del ordered
        tokens = _long_ids(buffer, lengths)
        order = np.argsort(keys)  # runs of one id side by side
        is_new = _differs_from_previous(keys, tokens, order)
        if is_new is None:
            group_of = _group_slowly(keys, tokens)
            order = np.argsort(group_of, kind="stable")
            is_new = np.diff(group_of[order], prepend=-1) != 0
        if is_new.all():
            first = record_of_run = np.arange(len(keys))
        else:
            first = np.minimum.reduceat(order, np.flatnonzero(is_new))  # [records] their first runs
            by_appearance = np.argsort(first)
            rank = np.empty(len(first), dtype=np.int64)
            rank[by_appearance] = np.arange(len(first))
            first = first[by_appearance]
            record_of_run = np.empty(len(keys), dtype=np.int64)
            record_of_run[order] = rank[np.cumsum(is_new, dtype=np.int32) - 1]
        texts = tuple(_text(keys, tokens, run).decode() for run in first.tolist()) if keep_texts else None
        nobody = _find_nobody(keys, lengths, record_of_run)
        return Records(record_of_run, n_rows, len(first), texts, seen, nobody, self.first_empty)


def _long_ids(buffer: NDArray[np.uint8], lengths: NDArray[np.int32]) -> Tokens:
    """Where the texts of runs lie; only long ids have a place in the buffer."""
    in_buffer = np.where(lengths > WORD, lengths, 0)
    return Tokens(buffer, np.cumsum(in_buffer, dtype=np.int64) - in_buffer, lengths)


def _first_texts(keys: NDArray[np.uint64], lengths: NDArray[np.int32], buffer: NDArray[np.uint8]) -> frozenset[str]:
    tokens = _long_ids(buffer, lengths[:LOOKED_AT])
    return frozenset(_text(keys, tokens, run).decode() for run in range(len(tokens.starts)))


def _rows_of_nobody(
    keys: NDArray[np.uint64], ordered: NDArray[np.uint64], lengths: NDArray[np.int32], n_rows: NDArray[np.int32]
) -> dict[str, int]:
    """How many rows have a word for no id at all; such words are short, so that they are their own keys."""
    found = {}
    for word in sorted(NOBODY):
        text = word.encode()
        key = np.uint64(int.from_bytes(text, "little"))
        place = int(np.searchsorted(ordered, key))
        if place < len(ordered) and ordered[place] == key:
            found[word] = int(n_rows[(keys == key) & (lengths == len(text))].sum())
    return found


def _find_nobody(
    keys: NDArray[np.uint64], lengths: NDArray[np.int32], record_of_run: NDArray[np.int64]
) -> dict[str, int]:
    """The record of each word for no id at all; an empty id is one."""
    runs = np.flatnonzero(np.isin(keys, _NOBODY_KEYS) & (lengths <= WORD))
    return {
        int(keys[run]).to_bytes(WORD, "little")[: int(lengths[run])].decode(): int(record_of_run[run])
        for run in runs.tolist()
    }


def _begins_with(runs: Runs, text: bytes) -> bool:
    """Whether the first run has this id, which is as long."""
    if len(text) > WORD:
        return runs.long.startswith(text)
    return int(runs.keys[0]) == int.from_bytes(text, "little")


def gather(tokens: Tokens) -> bytes:
    """The pieces one after the other."""
    ends = np.cumsum(tokens.lengths)
    positions = np.arange(int(ends[-1]) if len(ends) else 0)
    positions += np.repeat(tokens.starts - ends + tokens.lengths, tokens.lengths)
    return tokens.buffer[positions].tobytes()


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
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return _over_labels(indptr, numbers, labels, layout)


def assemble_runs(records: Records, numbers: NDArray[np.int32], labels: list[str], layout: Layout) -> Transactions:
    """Transactions from label numbers, -1 for no label, whose records are known run by run."""
    if len(records.of_run) == records.n_records:  # one run each, in order
        return replace(assemble_rows(records.n_rows, numbers, labels, layout), ids=records.ids)
    if len(numbers) > LARGE:
        from setveil.arrays.rows import gather_runs

        indptr, numbers = gather_runs(records.of_run, records.n_rows, numbers, records.n_records)
    else:
        of_row = np.repeat(records.of_run, records.n_rows)
        numbers = numbers[np.argsort(of_row, kind="stable")]
        indptr = np.zeros(records.n_records + 1, dtype=np.int64)
        np.cumsum(np.bincount(of_row, minlength=records.n_records), out=indptr[1:])
    return replace(_over_labels(indptr, numbers, labels, layout), ids=records.ids)


def _over_labels(
    indptr: NDArray[np.int64], numbers: NDArray[np.int32], labels: list[str], layout: Layout
) -> Transactions:
    """Rows of label numbers in any order, repeats and -1 allowed, over the vocabulary of the labels."""
    vocabulary, rank = _ranked(labels)
    raw = Transactions(indptr, numbers, vocabulary, layout=layout)
    return raw.recode(np.append(rank, np.int32(-1)), vocabulary)


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


# -- keys ---------------------------------------------------------------------------------------------------------


def _words(buffer: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Eight bytes from each place on, the first one lowest."""
    words: NDArray[np.uint64] = np.ndarray((len(buffer) - WORD + 1,), dtype="<u8", buffer=buffer, strides=(1,))
    return words[starts]


def _keys(tokens: Tokens) -> NDArray[np.uint64]:
    buffer, starts, lengths = tokens
    keys: NDArray[np.uint64] = _words(buffer, starts) & _MASKS[np.minimum(lengths, WORD)]
    long = np.flatnonzero(lengths > WORD)
    offset = WORD
    while len(long):
        word = _words(buffer, starts[long] + offset) & _MASKS[np.minimum(lengths[long] - offset, WORD)]
        keys[long] = _mix(keys[long], word)
        offset += WORD
        long = long[lengths[long] > offset]
    return keys


def _mix(keys: NDArray[np.uint64], word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = (keys ^ (keys >> np.uint64(29)) ^ word) * _ODD
    return mixed ^ (mixed >> np.uint64(32))


def _equal(one: Tokens, other: Tokens) -> NDArray[np.bool_]:
    """Whether pieces with equal keys have equal text; pieces of up to a word have, if they are equally long."""
    equal: NDArray[np.bool_] = one.lengths == other.lengths
    long = np.flatnonzero(equal & (one.lengths > WORD))
    offset = 0
    while len(long):
        mask = _MASKS[np.minimum(one.lengths[long] - offset, WORD)]
        left = _words(one.buffer, one.starts[long] + offset)
        right = _words(other.buffer, other.starts[long] + offset)
        equal[long] &= ((left ^ right) & mask) == 0
        offset += WORD
        long = long[one.lengths[long] > offset]
    return equal


def _differs_from_previous(
    keys: NDArray[np.uint64], tokens: Tokens, order: NDArray[np.int64]
) -> NDArray[np.bool_] | None:
    """Whether each place of a sorted order has another id than the place before; None if equal keys do not tell."""
    is_new = np.ones(len(order), dtype=bool)
    if len(tokens.buffer) == WORD:  # no id is longer than its key
        ordered = keys[order]
        np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
        return is_new
    for start in range(0, len(order) - 1, RUNS_AT_ONCE):
        some = order[start : start + RUNS_AT_ONCE + 1]
        same = np.flatnonzero(keys[some[1:]] == keys[some[:-1]])
        is_new[start + 1 + same] = False
        if not _equal(tokens.pick(some[same]), tokens.pick(some[same + 1])).all():
            return None
    return is_new


def _group_slowly(keys: NDArray[np.uint64], tokens: Tokens) -> NDArray[np.int64]:
    known: dict[bytes, int] = {}
    texts = (_text(keys, tokens, run) for run in range(len(keys)))
    return np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)


def _text(keys: NDArray[np.uint64], tokens: Tokens, run: int) -> bytes:
    length = int(tokens.lengths[run])
    return tokens.text(run) if length > WORD else int(keys[run]).to_bytes(WORD, "little")[:length]


def joined(parts: list[NDArray[Scalar]], dtype: type[Scalar]) -> NDArray[Scalar]:
    """One array from none or many, which are given up."""
    whole = np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
    parts.clear()
    return whole
