"""The published records of a grouping: ``{"group": 3, "items": [...]}`` per line, or the same as Parquet columns."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from setveil.core import Layout, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.io.parquet import ListColumn, NumberColumn, encode
from setveil.io.writing import join_records


def write_groups(
    path: Path,
    rows: Transactions,
    group_numbers: NDArray[np.int64],
    group_of: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None:
    """Write records in the given order, each with the number of its group."""
    numbers = group_numbers[group_of]
    if path.suffix == ".parquet":
        _write_parquet(path, rows, numbers, order)
        return

    def heads(records: NDArray[np.int64]) -> list[bytes]:
        return [b'{"group": %d, "items": [' % number for number in numbers[records].tolist()]

    labels = [json.dumps(label, ensure_ascii=False).encode() for label in rows.vocabulary]
    with open(path, "wb") as file:
        file.writelines(join_records(rows, order, labels, b", ", b"]}\n", heads))


def read_groups(path: Path) -> tuple[Transactions, NDArray[np.int64]]:
    """The records and the group number of each, in the order of the file; groups must be numbered 1, 2, …"""
    read = _read_parquet if path.suffix == ".parquet" else _read_json_lines
    groups, lengths, flat, labels = read(path)
    if len(groups) and not np.array_equal(np.unique(groups), np.arange(1, groups.max() + 1)):
        raise InputError(f"{path}: groups must be numbered 1, 2, … without gaps.")
    vocabulary = Vocabulary(labels)
    items = vocabulary.numbers(labels)[flat] if labels else np.empty(0, dtype=np.int32)
    owners = np.repeat(np.arange(len(groups)), lengths)
    layout = Layout("parquet" if path.suffix == ".parquet" else "jsonl")
    return Transactions.from_pairs(owners, items, len(groups), vocabulary, layout=layout), groups


Read = tuple[
    NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], list[str]
]  # groups, lengths, label numbers, labels


class _Numbers(dict[str, int]):
    """Numbers labels as they come."""

    def __missing__(self, label: str) -> int:
        if not isinstance(label, str) or not label:
            raise ValueError
        self[label] = number = len(self)
        return number


def _read_json_lines(path: Path) -> Read:
    groups, lengths, flat = array("q"), array("q"), array("q")  # no object per record stays behind
    number_of = _Numbers()
    number, scan = (
        number_of.__getitem__,
        cast(Any, json.JSONDecoder()).scan_once,
    )  # json.loads, without its care for loose text
    try:
        with open(path, encoding="utf-8") as file:
            for text in file:
                entry, end = scan(text, 0)
                group, items = entry["group"], entry["items"]
                if type(group) is not int or group < 1 or type(items) is not list or text[end:] not in ("\n", ""):
                    raise ValueError
                flat.extend(map(number, items))
                lengths.append(len(items))
                groups.append(group)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text.") from None
    except (ValueError, KeyError, TypeError, OverflowError, StopIteration):
        raise InputError(f'{path}:{len(groups) + 1}: is not a record like {{"group": 1, "items": ["a"]}}.') from None
    return np.array(groups), np.array(lengths), np.array(flat), list(number_of)


def _write_parquet(path: Path, rows: Transactions, numbers: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    part = rows.select(order)
    items = ListColumn("items", part.indptr, part.items, list(rows.vocabulary))
    with open(path, "wb") as file:
        file.writelines(encode((NumberColumn("group", numbers[order]), items), len(order)))


def _read_parquet(path: Path) -> Read:
    import polars as pl

    try:
        frame = pl.read_parquet(path, columns=["group", "items"])
        flat = frame["items"].list.explode(empty_as_null=False, keep_nulls=False).cast(pl.String)
        labels = flat.unique().sort()
        numbers = (
            flat.replace_strict(labels, pl.arange(0, len(labels), eager=True)).cast(pl.Int64)
            if len(labels)
            else flat.cast(pl.Int64)
        )
        lengths = frame["items"].list.len().cast(pl.Int64)
        return frame["group"].cast(pl.Int64).to_numpy(), lengths.to_numpy(), numbers.to_numpy(), labels.to_list()
    except (OSError, TypeError, pl.exceptions.PolarsError):
        raise InputError(f"{path}: is not a Parquet file with the columns group and items.") from None
