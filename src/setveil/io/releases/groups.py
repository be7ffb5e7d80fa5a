"""The published records of a grouping: ``{"group": 3, "items": [...]}`` per line, or the same as Parquet columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Layout, Transactions, Vocabulary
from setveil.core.regular_files import open_regular
from setveil.errors import InputError
from setveil.io.transactions.labels import Labels, joined, tokens_of
from setveil.io.transactions.parquet import encode, list_column
from setveil.io.transactions.writing import items_or_nothing, join_records

CHUNK = 1 << 22  # bytes read at a time
MOST_GROUPS = 1 << 40  # more than any file has lines
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def encode_groups(
    rows: Transactions, numbers: NDArray[np.int64], order: NDArray[np.int64], layout_name: str
) -> Iterator[bytes]:
    """Records in the given order, each with the number of its group, as ``jsonl`` or ``parquet``, piece by piece."""
    if layout_name == "parquet":
        names = list(rows.vocabulary)

        def part(some: slice) -> dict[str, Any]:
            named, lengths = items_or_nothing(rows, order[some])
            return {"group": numbers[order[some]], "items": list_column(lengths, named, names)}

        return iter([encode(len(order), part)])

    def heads(start: int, records: NDArray[np.int64]) -> list[bytes]:
        return [b'{"group": %d, "items": [' % number for number in numbers[records].tolist()]

    labels = [json.dumps(label, ensure_ascii=False).encode() for label in rows.vocabulary]
    return join_records(rows, order, labels, b", ", b"]}\n", heads)


def encode_group_part(rows: Transactions, numbers: NDArray[np.int64]) -> bytes:
    """The bytes of a part of the published records, which stand in canonical order."""
    return b"".join(encode_groups(rows, numbers, np.arange(rows.n_records), "parquet"))


def read_groups(path: Path) -> tuple[Transactions, NDArray[np.int64]]:
    """The records and the group number of each, in the order of the file, or of the parts in a folder.

    Groups must be numbered 1, 2, …
    """
    is_json = path.suffix == ".jsonl"
    groups, lengths, numbers, labels = _read_json_lines(path) if is_json else _read_parquet(path)
    check_groups(groups, path.name)
    vocabulary = Vocabulary(labels)
    items = vocabulary.numbers(labels)[numbers] if labels else np.empty(0, dtype=np.int32)
    layout = Layout("jsonl" if is_json else "parquet")
    return Transactions.from_rows(lengths, items, vocabulary, layout), groups


def check_groups(groups: NDArray[np.int64], name: str) -> None:
    """Groups are numbered from 1 on, without gaps."""
    if len(groups) and not (groups.min() >= 1 and groups.max() <= len(groups) and np.bincount(groups)[1:].all()):
        raise InputError(f"{name}: groups must be numbered 1, 2, … without gaps.")


Read = tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], list[str]
]  # groups, lengths, label numbers, labels


def _read_json_lines(path: Path) -> Read:
    labels = Labels()
    groups: list[NDArray[np.int64]] = []
    lengths: list[NDArray[np.int64]] = []
    numbers: list[NDArray[np.int32]] = []
    n_lines = 0
    try:
        with open_regular(path) as file:
            while rows := file.readlines(CHUNK):
                some, sizes, texts = _parse(rows, path, n_lines)
                groups.append(some)
                lengths.append(sizes)
                numbers.append(labels.number(tokens_of(texts)))
                n_lines += len(rows)
        return joined(groups, np.int64), joined(lengths, np.int64), joined(numbers, np.int32), labels.texts()
    except OSError as problem:
        raise InputError(f"{path.name}: cannot be read ({problem.strerror}).") from None
    except UnicodeError:
        raise InputError(f"{path.name}: is not UTF-8 text.") from None


def _parse(rows: list[bytes], path: Path, n_before: int) -> tuple[NDArray[np.int64], NDArray[np.int64], list[bytes]]:
    """The group and the number of items of each record, and all labels; ``n_before`` lines came before."""
    groups: list[int] = []
    lengths: list[int] = []
    labels: list[bytes] = []
    for row in rows:
        text = row.decode().strip()
        try:
            entry, end = _scan(text, 0)
            group, items = entry["group"], entry["items"]
            if type(group) is not int or not 1 <= group <= MOST_GROUPS or type(items) is not list or not all(items):
                raise ValueError
            if end != len(text):
                raise ValueError
            labels += map(str.encode, items)
        except (ValueError, KeyError, TypeError, RecursionError, StopIteration):
            where = n_before + len(groups) + 1
            raise InputError(f'{path.name}:{where}: is not a record like {{"group": 1, "items": ["a"]}}.') from None
        lengths.append(len(items))
        groups.append(group)
    return np.array(groups, dtype=np.int64), np.array(lengths, dtype=np.int64), labels


def _read_parquet(path: Path) -> Read:
    import polars as pl

    try:
        parts = sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
        frame = pl.concat([pl.read_parquet(part, columns=["group", "items"]) for part in parts])
        flat = frame["items"].list.explode(empty_as_null=False, keep_nulls=False).cast(pl.String)
        labels = flat.unique().sort()
        numbers = (
            flat.replace_strict(labels, pl.arange(0, len(labels), eager=True)).cast(pl.Int64)
            if len(labels)
            else flat.cast(pl.Int64)
        )
        lengths = frame["items"].list.len().cast(pl.Int64)
        return (
            frame["group"].cast(pl.Int64).to_numpy(),
            lengths.to_numpy(),
            numbers.to_numpy().astype(np.int32),
            labels.to_list(),
        )
    except (OSError, TypeError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise InputError(f"{path.name}: is not a Parquet file with the columns group and items.") from None
