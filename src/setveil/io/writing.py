"""Transactions to files, byte for byte the same for the same data.

Text is made of shared pieces: every label is encoded once, with what follows it inside a record and at its end, and a chunk of
records is one join over those pieces. No record becomes a Python object.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError, name_some
from setveil.io.detect import DELIMITERS, check_delimiter, check_format

CHUNK = 1 << 18  # records at a time

Pieces = NDArray[np.object_]


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
    name = check_format(layout.name)
    if ids is not None:
        _check_ids(name, ids, data.n_records)
    places = np.arange(data.n_records) if order is None else np.asarray(order, dtype=np.int64)
    try:
        with open(path, "wb") as file:
            if name == "parquet":
                _write_parquet(file, data, layout, places, ids)
            else:
                writer = {"fimi": _fimi, "spmf": _spmf, "basket": _basket, "jsonl": _json_lines, "long": _long}[name]
                for chunk in writer(data, layout, places, ids):
                    file.write(chunk)
    except OSError as problem:
        raise InputError(f"{os.fspath(path)}: cannot be written ({problem.strerror}); check the path.") from None


def write_chunks(chunks: Iterable[Transactions], path: str | os.PathLike[str], layout: Layout) -> int:
    """Write chunks over one vocabulary as they come, in a layout that needs no look ahead; returns the number of records."""
    writer = {"fimi": _fimi, "basket": _basket, "jsonl": _json_lines, "long": _long}.get(check_format(layout.name))
    if writer is None:
        raise InputError(f"{layout.name} cannot be written piece by piece; write fimi, basket, long or jsonl.")
    n_records = 0
    try:
        with open(path, "wb") as file:
            for chunk in chunks:
                ids = chunk.ids
                if layout.name == "long" and ids is None:
                    ids = tuple(str(number) for number in range(n_records + 1, n_records + chunk.n_records + 1))
                pieces = writer(
                    chunk, layout, np.arange(chunk.n_records), ids if layout.name in ("long", "jsonl") else None
                )
                if layout.name == "long" and n_records:
                    next(pieces)  # the header stands once
                for piece in pieces:
                    file.write(piece)
                n_records += chunk.n_records
    except OSError as problem:
        raise InputError(f"{os.fspath(path)}: cannot be written ({problem.strerror}); check the path.") from None
    return n_records


def _check_ids(name: str, ids: Sequence[str], n_records: int) -> None:
    if name in ("fimi", "spmf", "basket"):
        raise InputError(f"the {name} layout has no place for record ids; write long, jsonl or parquet.")
    if len(ids) != n_records:
        raise ValueError("one id per record")
    if len(set(ids)) != len(ids) or "" in ids:
        raise InputError("record ids must be distinct and not empty; leave them out.")


# -- layouts ----------------------------------------------------------------------------------------------------------


def _fimi(data: Transactions, layout: Layout, order: NDArray[np.int64], ids: Sequence[str] | None) -> Iterator[bytes]:
    strangers = [label for label in data.vocabulary if not (label.isascii() and label.isdigit())]
    if strangers:
        raise InputError(f"fimi holds whole numbers only, not {name_some(strangers)}; write another layout.")
    labels = [label.encode() for label in data.vocabulary]
    return join_records(data, order, labels, b" ", b"\n")


def _spmf(data: Transactions, layout: Layout, order: NDArray[np.int64], ids: Sequence[str] | None) -> Iterator[bytes]:
    labels = [label.encode() for label in data.vocabulary]
    if not all(label.isdigit() for label in labels):
        broken = [label for label in data.vocabulary if "\n" in label or "\r" in label]
        if broken:
            raise InputError(
                f"spmf has no line breaks in labels, as in {name_some(map(repr, broken))}; write another layout."
            )
        yield b"@CONVERTED_FROM_TEXT\n"
        for number, label in enumerate(labels, start=1):
            yield b"@ITEM=%d=%s\n" % (number, label)
        labels = [b"%d" % number for number in range(1, len(labels) + 1)]
    yield from join_records(data, order, labels, b" ", b"\n")


def _basket(data: Transactions, layout: Layout, order: NDArray[np.int64], ids: Sequence[str] | None) -> Iterator[bytes]:
    delimiter = check_delimiter(layout.delimiter)
    labels = [_field(label, delimiter) for label in data.vocabulary]
    return join_records(data, order, labels, delimiter.encode(), b"\n")


def _json_lines(
    data: Transactions, layout: Layout, order: NDArray[np.int64], ids: Sequence[str] | None
) -> Iterator[bytes]:
    def heads(records: NDArray[np.int64]) -> list[bytes]:
        if ids is None:
            return [b'{"items": ['] * len(records)
        return [b'{"id": %s, "items": [' % _json(ids[record]) for record in records.tolist()]

    labels = [_json(label) for label in data.vocabulary]
    return join_records(data, order, labels, b", ", b"]}\n", heads)


def _long(data: Transactions, layout: Layout, order: NDArray[np.int64], ids: Sequence[str] | None) -> Iterator[bytes]:
    delimiter = check_delimiter(layout.delimiter)
    separator = delimiter.encode()
    yield separator.join(_field(name, delimiter) for name in (layout.id_column, layout.item_column)) + b"\n"
    ends = _pieces([*(_field(label, delimiter) + b"\n" for label in data.vocabulary), b"\n"])
    for start in range(0, len(order), CHUNK):
        records = order[start : start + CHUNK]
        if ids is None:
            names = [b"%d%s" % (number, separator) for number in range(start + 1, start + len(records) + 1)]
        else:
            names = [_field(ids[record], delimiter) + separator for record in records.tolist()]
        numbers, lengths = _with_nothing(data, records)
        rows = np.empty(2 * len(numbers), dtype=object)
        rows[::2] = np.repeat(_pieces(names), lengths)
        rows[1::2] = ends[numbers]
        yield b"".join(rows.tolist())


def _write_parquet(
    file: IO[bytes], data: Transactions, layout: Layout, order: NDArray[np.int64], ids: Sequence[str] | None
) -> None:
    from setveil.io.parquet import Column, LabelColumn, ListColumn, NumberColumn, TextColumn, write_parquet

    labels = list(data.vocabulary)
    columns: list[Column]
    if layout.long:
        numbers, lengths = _with_nothing(data, order)
        places = np.repeat(np.arange(len(order)), lengths)
        named = (
            NumberColumn(layout.id_column, places + 1)
            if ids is None
            else TextColumn(layout.id_column, ids, order[places])
        )
        if bool((lengths == 1).any()) and bool((numbers == len(labels)).any()):
            labels.append("")
        columns = [named, LabelColumn(layout.item_column, numbers, labels)]
        write_parquet(file, columns, len(numbers))
        return
    rows = data.select(order)
    columns = [ListColumn(layout.item_column, rows.indptr, rows.items, labels)]
    if ids is not None:
        columns.insert(0, TextColumn(layout.id_column, ids, order))
    write_parquet(file, columns, len(order))


# -- pieces -----------------------------------------------------------------------------------------------------------


def join_records(
    data: Transactions,
    order: NDArray[np.int64],
    labels: Sequence[bytes],
    between: bytes,
    end: bytes,
    heads: Callable[[NDArray[np.int64]], list[bytes]] | None = None,
) -> Iterator[bytes]:
    """Records as ``head label between label end``."""
    inside = _pieces([*(label + between for label in labels), b""])
    final = _pieces([*(label + end for label in labels), end])
    for start in range(0, len(order), CHUNK):
        records = order[start : start + CHUNK]
        numbers, lengths = _with_nothing(data, records)
        pieces = inside[numbers]
        last = np.cumsum(lengths) - 1
        pieces[last] = final[numbers[last]]
        if heads is not None:
            pieces = np.insert(pieces, last - lengths + 1, _pieces(heads(records)))
        yield b"".join(pieces.tolist())


def _with_nothing(data: Transactions, records: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The items of some records and how many each has, where an empty record has one: the number after the last label."""
    part = data.select(records) if data.ids is None else _without_ids(data).select(records)
    is_empty = part.lengths == 0
    if not is_empty.any():
        return part.items, part.lengths
    numbers = np.insert(part.items, part.indptr[:-1][is_empty], data.n_items)
    return numbers.astype(np.int32, copy=False), np.maximum(part.lengths, 1)


def _without_ids(data: Transactions) -> Transactions:
    return Transactions(data.indptr, data.items, data.vocabulary)


def _pieces(texts: list[bytes]) -> Pieces:
    pieces = np.empty(len(texts), dtype=object)
    pieces[:] = texts
    return pieces


def _field(text: str, delimiter: str) -> bytes:
    """A field as RFC 4180 has it. Whatever another reader might take for layout is quoted, too."""
    special = {delimiter, *DELIMITERS, '"', "\r", "\n"}
    if special & set(text) or text != text.strip() or text.startswith("\ufeff"):
        text = '"' + text.replace('"', '""') + '"'
    return text.encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
