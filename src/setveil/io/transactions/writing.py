"""Transactions to files, byte for byte the same for the same data.

Every label is encoded once; a chunk of records is put together from these pieces. No record becomes a Python object.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.threads import map_in_order
from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError, name_some
from setveil.io.source import one_line
from setveil.io.transactions.labels import is_proper
from setveil.io.transactions.layouts import DELIMITERS, WRITTEN, check_delimiter, check_format

CHUNK = 1 << 16  # records at a time
FEW = 20_000  # occurrences for which a compiled loop is not worth loading


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
    name = check_format(layout.name, WRITTEN)
    _check_texts(data.vocabulary, "label")
    if ids is not None:
        _check_ids(name, ids, data.n_records)
    data = Transactions(data.indptr, data.items, data.vocabulary)  # without ids, which would travel with every part
    places = np.arange(data.n_records) if order is None else np.asarray(order, dtype=np.int64)
    return _chunks(name, data, layout, places, ids)


def write_chunks(chunks: Iterable[Transactions], path: str | os.PathLike[str], layout: Layout) -> int:
    """Write chunks over one vocabulary as they come, in a layout that needs no look ahead; returns the number of
    records.
    """
    name = check_format(layout.name, WRITTEN)
    if name not in ("fimi", "basket", "jsonl", "long"):
        raise InputError(f"{name} cannot be written piece by piece; write fimi, basket, long or jsonl.")
    n_records = 0
    with _opened(path) as file:
        for chunk in chunks:
            ids = chunk.ids if name in ("long", "jsonl") else None
            file.writelines(_chunks(name, chunk, layout, np.arange(chunk.n_records), ids, n_records))
            n_records += chunk.n_records
    return n_records


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    try:
        with open(path, "wb") as file:
            yield file
    except OSError as problem:
        raise InputError(f"{os.fspath(path)}: cannot be written ({problem.strerror}); check the path.") from None


def _check_ids(name: str, ids: Sequence[str], n_records: int) -> None:
    if name in ("fimi", "spmf", "basket"):
        raise InputError(f"the {name} layout has no place for record ids; write long, jsonl or parquet.")
    if len(ids) != n_records:
        raise ValueError("one id per record")
    if len(set(ids)) != len(ids) or "" in ids:
        raise InputError("record ids must be distinct and not empty; leave them out.")
    _check_texts(ids, "id")


def _check_texts(texts: Iterable[str], what: str) -> None:
    if not all(map(is_proper, texts)):
        raise InputError(f"a {what} holds a NUL or half a surrogate pair, which no file can hold; rename it.")


# -- layouts ----------------------------------------------------------------------------------------------------------


def _chunks(
    name: str,
    data: Transactions,
    layout: Layout,
    order: NDArray[np.int64],
    ids: Sequence[str] | None,
    n_written: int = 0,
) -> Iterator[bytes]:
    """The bytes of a file, piece by piece; ``n_written`` records stand in it already."""
    if name == "fimi":
        return _fimi(data, order)
    if name == "spmf":
        return _spmf(data, order)
    if name == "jsonl":
        return _json_lines(data, order, ids)
    if name == "parquet":
        return _parquet(data, layout, order, ids)
    delimiter = check_delimiter(layout.delimiter)
    if name == "basket":
        return _basket(data, order, delimiter)
    header = delimiter.encode().join(field(column, delimiter) for column in (layout.id_column, layout.item_column))
    return chain([] if n_written else [header + b"\n"], _long(data, order, ids, delimiter, n_written))


def _fimi(data: Transactions, order: NDArray[np.int64]) -> Iterator[bytes]:
    strangers = [label for label in data.vocabulary if not (label.isascii() and label.isdigit())]
    if strangers:
        raise InputError(f"fimi holds whole numbers only, not {name_some(strangers)}; write another layout.")
    return join_records(data, order, [label.encode() for label in data.vocabulary], b" ", b"\n")


def _spmf(data: Transactions, order: NDArray[np.int64]) -> Iterator[bytes]:
    labels = [label.encode() for label in data.vocabulary]
    if all(label.isdigit() for label in labels):
        return join_records(data, order, labels, b" ", b"\n")
    broken = [label for label in data.vocabulary if "\n" in label or "\r" in label]
    if broken:
        raise InputError(
            f"spmf has no line breaks in labels, as in {name_some(map(one_line, broken))}; write another layout."
        )
    numbers = [b"%d" % number for number in range(1, len(labels) + 1)]
    names = [b"@ITEM=%s=%s\n" % named for named in zip(numbers, labels, strict=True)]
    return chain([b"@CONVERTED_FROM_TEXT\n", *names], join_records(data, order, numbers, b" ", b"\n"))


def _basket(data: Transactions, order: NDArray[np.int64], delimiter: str) -> Iterator[bytes]:
    labels = [field(label, delimiter) for label in data.vocabulary]
    return join_records(data, order, labels, delimiter.encode(), b"\n")


def _json_lines(data: Transactions, order: NDArray[np.int64], ids: Sequence[str] | None) -> Iterator[bytes]:
    def heads(start: int, records: NDArray[np.int64]) -> list[bytes]:
        if ids is None:
            return [b'{"items": ['] * len(records)
        return [b'{"id": %s, "items": [' % _json(ids[record]) for record in records.tolist()]

    labels = [_json(label) for label in data.vocabulary]
    return join_records(data, order, labels, b", ", b"]}\n", heads)


def _long(
    data: Transactions, order: NDArray[np.int64], ids: Sequence[str] | None, delimiter: str, n_written: int
) -> Iterator[bytes]:
    separator = delimiter.encode()

    def heads(start: int, records: NDArray[np.int64]) -> list[bytes]:
        if ids is not None:
            return [field(ids[record], delimiter) + separator for record in records.tolist()]
        first = n_written + start + 1
        return [b"%d%s" % (number, separator) for number in range(first, first + len(records))]

    labels = [field(label, delimiter) for label in data.vocabulary]
    return join_records(data, order, labels, b"", b"\n", heads, is_long=True)


def _parquet(
    data: Transactions, layout: Layout, order: NDArray[np.int64], ids: Sequence[str] | None
) -> Iterator[bytes]:
    from setveil.io.transactions.parquet import encode, label_column, list_column

    labels = list(data.vocabulary)

    def part(some: slice) -> dict[str, Any]:
        records = order[some]
        numbers, lengths = items_or_nothing(data, records)
        if layout.long:
            places = np.repeat(np.arange(len(records)), lengths)
            column = some.start + places + 1 if ids is None else label_column(records[places], ids)
            return {layout.id_column: column, layout.item_column: label_column(numbers, [*labels, ""])}
        known = {} if ids is None else {layout.id_column: label_column(records, ids)}
        return {**known, layout.item_column: list_column(lengths, numbers, labels)}

    return iter([encode(len(order), part)])


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
    if data.n_occurrences <= FEW:
        yield b"".join(_join_few(data, order, labels, between, end, heads, is_long))
        return
    from setveil.arrays.rows import take_rows
    from setveil.arrays.text import join_rows, no_texts, pack_texts

    texts, marks = pack_texts(labels), pack_texts([between, end])

    def join(start: int) -> bytes:
        records = order[start : start + CHUNK]
        pieces = no_texts(len(records)) if heads is None else pack_texts(heads(start, records))
        rows = take_rows(data.indptr, data.items, records)  # first: they lie anywhere, and are gone through twice
        return join_rows(*rows, texts, pieces, marks, is_long).tobytes()

    yield from map_in_order(join, range(0, len(order), CHUNK))


def _join_few(
    data: Transactions,
    order: NDArray[np.int64],
    labels: Sequence[bytes],
    between: bytes,
    end: bytes,
    heads: Callable[[int, NDArray[np.int64]], list[bytes]] | None,
    is_long: bool,
) -> Iterator[bytes]:
    """``join_records`` where a compiled loop is not worth loading."""
    bounds, items = data.indptr.tolist(), data.items.tolist()
    before = [b""] * len(order) if heads is None else heads(0, order)
    for record, head in zip(order.tolist(), before, strict=True):
        texts = [labels[item] for item in items[bounds[record] : bounds[record + 1]]]
        if is_long:
            yield b"".join([head + text + end for text in texts] or [head, end])
        else:
            yield b"".join((head, between.join(texts), end))


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
    special = {delimiter, *DELIMITERS, '"', "\r", "\n"}
    if special & set(text) or text != text.strip() or text.startswith("\ufeff"):
        text = '"' + text.replace('"', '""') + '"'
    return text.encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
