"""Transactions to files, byte for byte the same for the same data.

Every label is encoded once; a chunk of records is put together from these pieces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError
from setveil.io.formats.base import Format, Output
from setveil.io.formats.registry import WRITTEN, listed, written_format
from setveil.io.options import DELIMITERS
from setveil.io.transactions.labels import is_proper

CHUNK = 1 << 16  # records at a time
SPECIAL = frozenset((*DELIMITERS, '"', "\r", "\n"))  # in a cell that must be quoted


def write_transactions(
    data: Transactions,
    path: str | os.PathLike[str],
    layout: Layout,
    *,
    order: NDArray[np.integer] | None = None,
    ids: Sequence[str] | None = None,
) -> None:
    """Write records in ``order`` (record numbers; as they are by default). ``ids`` has one id per record of ``data``.

    Without ids, a layout that needs them numbers records 1, 2, … as they are written.
    """
    chunks = encode_transactions(data, layout, order=order, ids=ids)
    with _opened(path) as file:
        file.writelines(chunks)


def encode_transactions(
    data: Transactions,
    layout: Layout,
    *,
    order: NDArray[np.integer] | None = None,
    ids: Sequence[str] | None = None,
) -> Iterator[bytes]:
    """The bytes ``write_transactions`` writes, piece by piece; whatever does not fit the layout is refused at once."""
    format = written_format(layout.name)
    _check_texts(data.vocabulary, "label")
    if ids is not None:
        _check_ids(format, ids, data.n_records)
    data = Transactions(data.indptr, data.items, data.vocabulary)  # without ids, which would travel with every part
    positions = np.arange(data.n_records) if order is None else np.asarray(order, dtype=np.int64)
    return _encoded(format, Output(data, layout, positions, ids))


def write_chunks(chunks: Iterable[Transactions], path: str | os.PathLike[str], layout: Layout) -> int:
    """Write chunks over one vocabulary as they come, in a layout that needs no look ahead; returns the number of
    records.
    """
    format = written_format(layout.name)
    if not format.in_pieces:
        known = listed({name: one for name, one in WRITTEN.items() if one.in_pieces})
        raise InputError(f"{format.name} cannot be written piece by piece; write {known}.")
    n_records = 0
    with _opened(path) as file:
        for chunk in chunks:
            ids = chunk.ids if format.writes_ids else None
            file.writelines(_encoded(format, Output(chunk, layout, np.arange(chunk.n_records), ids, n_records)))
            n_records += chunk.n_records
    return n_records


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    try:
        with open(path, "wb") as file:
            yield file
    except OSError as problem:
        raise InputError(f"{os.fspath(path)}: cannot be written ({problem.strerror}); check the path.") from None


def _encoded(format: Format, output: Output) -> Iterator[bytes]:
    assert format.write is not None
    return format.write(output)


def _check_ids(format: Format, ids: Sequence[str], n_records: int) -> None:
    if not format.writes_ids:
        known = listed({name: one for name, one in WRITTEN.items() if one.writes_ids})
        raise InputError(f"the {format.name} layout cannot contain record ids; write {known}.")
    if len(ids) != n_records:
        raise ValueError("one id per record")
    if len(set(ids)) != len(ids) or "" in ids:
        raise InputError("record ids must be distinct and not empty; remove them.")
    _check_texts(ids, "id")


def _check_texts(texts: Iterable[str], what: str) -> None:
    if not all(map(is_proper, texts)):
        raise InputError(f"a {what} holds a NUL or an incomplete Unicode character, which no file can hold; rename it.")


# -- pieces -----------------------------------------------------------------------------------------------------------


def join_records(
    data: Transactions,
    order: NDArray[np.int64],
    labels: Sequence[bytes],
    between: bytes,
    end: bytes,
    heads: Callable[[int, NDArray[np.int64]], list[bytes]] | None = None,
    is_long: bool = False,
) -> Iterator[bytes]:
    """Records as ``head label between label end``, or one line ``head label end`` per item; ``heads`` gives those of
    the records from a place of ``order`` on.
    """
    after = end if is_long else between
    texts = np.array([text + mark for mark in (after, end) for text in (*labels, b"")], dtype=object)
    for start in range(0, len(order), CHUNK):
        records = order[start : start + CHUNK]
        numbers, lengths = items_or_nothing(data, records)
        last = np.cumsum(lengths) - 1
        numbers[last] += len(labels) + 1
        pieces = texts[numbers]
        if heads is not None:
            before = np.array(heads(start, records), dtype=object)
            if is_long:
                pieces = np.stack((np.repeat(before, lengths), pieces), axis=1).ravel()
            else:
                pieces[last - lengths + 1] = before + pieces[last - lengths + 1]
        yield b"".join(pieces.tolist())


def items_or_nothing(data: Transactions, records: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The items of some records and how many each has, where an empty record has one: the number after the last
    label.
    """
    part = data.select(records)
    is_empty = part.lengths == 0
    if not is_empty.any():
        return part.items, part.lengths
    numbers = np.insert(part.items, part.indptr[:-1][is_empty], data.n_items)
    return numbers.astype(np.int32, copy=False), np.maximum(part.lengths, 1)


def field(text: str, delimiter: str) -> bytes:
    """A cell of a table as RFC 4180 has it. Whatever another reader might take for layout is quoted, too."""
    if not SPECIAL.isdisjoint(text) or delimiter in text or text != text.strip() or text.startswith("\ufeff"):
        text = '"' + text.replace('"', '""') + '"'
    return text.encode()
