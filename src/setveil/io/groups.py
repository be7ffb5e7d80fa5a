"""The published records of a grouping: ``{"group": 3, "items": [...]}`` per line, or the same as Parquet columns."""

from __future__ import annotations

import json
from pathlib import Path

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
    groups, records = _read_parquet(path) if path.suffix == ".parquet" else _read_json_lines(path)
    numbers = np.array(groups, dtype=np.int64)
    if len(numbers) and not np.array_equal(np.unique(numbers), np.arange(1, numbers.max() + 1)):
        raise InputError(f"{path}: groups must be numbered 1, 2, … without gaps.")
    lengths = np.fromiter((len(record) for record in records), dtype=np.int64, count=len(records))
    vocabulary = Vocabulary({label for record in records for label in record})
    items = vocabulary.numbers(label for record in records for label in record)
    owners = np.repeat(np.arange(len(records)), lengths)
    layout = Layout("parquet" if path.suffix == ".parquet" else "jsonl")
    return Transactions.from_pairs(owners, items, len(records), vocabulary, layout=layout), numbers


def _read_json_lines(path: Path) -> tuple[list[int], list[list[str]]]:
    groups: list[int] = []
    records: list[list[str]] = []
    try:
        with open(path, encoding="utf-8") as file:
            for text in file:
                entry = json.loads(text)
                group, items = entry["group"], entry["items"]
                if type(group) is not int or group < 1 or not all(isinstance(item, str) and item for item in items):
                    raise ValueError
                groups.append(group)
                records.append(items)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text.") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f'{path}:{len(records) + 1}: is not a record like {{"group": 1, "items": ["a"]}}.') from None
    return groups, records


def _write_parquet(path: Path, rows: Transactions, numbers: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    part = rows.select(order)
    items = ListColumn("items", part.indptr, part.items, list(rows.vocabulary))
    with open(path, "wb") as file:
        file.writelines(encode((NumberColumn("group", numbers[order]), items), len(order)))


def _read_parquet(path: Path) -> tuple[list[int], list[list[str]]]:
    import polars as pl

    try:
        frame = pl.read_parquet(path, columns=["group", "items"])
        return frame["group"].to_list(), frame["items"].to_list()
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{path}: is not a Parquet file with the columns group and items.") from None
