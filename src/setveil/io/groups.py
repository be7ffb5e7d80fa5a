"""The published records of a grouping: ``{"group": 3, "items": [...]}`` per line, or the same as Parquet columns."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core import Layout, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.io.parquet import ListColumn, NumberColumn, encode
from setveil.io.plain_lines import PlainLines
from setveil.io.writing import join_records

CHUNK = 1 << 22  # bytes read at a time


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
    number_of = _Numbers()
    plain = PlainLines(number_of.__getitem__)
    parts: list[tuple[NDArray[np.int64], ...]] = [(np.empty(0, dtype=np.int64),) * 3]
    n_lines = 0
    try:
        with open(path, "rb") as file:
            while lines := file.readlines(CHUNK):
                parts.append(plain.parse(b"".join(lines)) or _parse_lines(lines, number_of, path, n_lines))
                n_lines += len(lines)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text.") from None
    groups, lengths, flat = (np.concatenate(part) for part in zip(*parts, strict=True))
    return groups, lengths, flat, list(number_of)


def _parse_lines(
    lines: list[bytes], number_of: _Numbers, path: Path, n_before: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Groups, lengths and label numbers of any JSON records."""
    groups, lengths, flat = array("q"), array("q"), array("q")
    for line in lines:
        try:
            entry = json.loads(line.decode())
            group, items = entry["group"], entry["items"]
            if type(group) is not int or group < 1 or type(items) is not list:
                raise ValueError
            flat.extend([number_of[item] for item in items])
        except UnicodeDecodeError:
            raise
        except (ValueError, KeyError, TypeError, OverflowError):
            where = n_before + len(groups) + 1
            raise InputError(f'{path}:{where}: is not a record like {{"group": 1, "items": ["a"]}}.') from None
        lengths.append(len(items))
        groups.append(group)
    return np.array(groups), np.array(lengths), np.array(flat)


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
