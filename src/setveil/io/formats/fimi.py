"""FIMI: one record per line, items are whole numbers separated by blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from setveil.errors import InputError, name_some
from setveil.io.formats.base import Format, Output, Plan, Start, on_demand

if TYPE_CHECKING:
    from setveil.io.source import Source

TIMESTAMP = 10_000_000  # numbers from here on, rising from line to line, are no items
RISING_LINES = 20  # lines that rise in their last number and are no baskets either


def _sniff(start: Start) -> Plan | None:
    """Whole numbers between blanks, unless they look like something else."""
    if start.has_columns or not re.fullmatch(rb"-?[0-9]+(?:[ \t]+-?[0-9]+)*", start.first):
        return None
    if re.fullmatch(rb"([0-9]+\t[0-9]+\r?\n)+", start.sample):
        raise start.source.error(
            "this may be a table without header or fimi; use --format fimi, or --format long --no-header if every "
            "line is an id and an item.",
            1,
        )
    _refuse_what_is_no_basket(start.source, start.sample)
    return Plan("fimi", "whole numbers on every line")


def _refuse_what_is_no_basket(source: Source, sample: bytes) -> None:
    """Lines of equally many numbers may be a matrix of counts, or a table with a time in it; sets look otherwise."""
    lines = [line.split() for line in sample.split(b"\n") if line.strip()]
    width = len(lines[0])
    if width < 3 or len(lines) < 3 or any(len(line) != width for line in lines):
        return
    if not all(token.isdigit() and len(token) < 20 for line in lines for token in line):
        return
    rows = [[int(token) for token in line] for line in lines]
    delimiter = "" if b"\t" in sample else ' --delimiter " "'
    n_repeating = sum(len(set(row)) < width for row in rows)
    if 2 * n_repeating >= len(rows) and max(map(max, rows)) < 100:
        raise source.error(
            f"every line has {width} small numbers, and most repeat one: a matrix of counts? Use --format onehot "
            f"--no-header{delimiter or ' --delimiter tab'} if every column is an item, or --format fimi if the "
            "numbers are items.",
            1,
        )
    last = [row[-1] for row in rows]
    is_time = _rises(last) and len(set(last)) > len(rows) // 2 and len(rows) >= RISING_LINES
    if is_time or (min(last) >= TIMESTAMP and max(map(max, (row[:-1] for row in rows))) < TIMESTAMP):
        raise source.error(
            f"every line has {width} numbers, and the last looks like a time: a table without header? Use "
            f"--no-header --person 1 --item 2{delimiter} if these hold ids and items, or --format fimi "
            "if the numbers are items.",
            1,
        )


def _rises(numbers: Sequence[int]) -> bool:
    return all(one <= other for one, other in zip(numbers, numbers[1:], strict=False))


def _write(output: Output) -> Iterator[bytes]:
    unknown = [label for label in output.data.vocabulary if not (label.isascii() and label.isdigit())]
    if unknown:
        raise InputError(f"fimi holds whole numbers only, not {name_some(unknown)}; write another layout.")
    return output.join([label.encode() for label in output.data.vocabulary], b" ", b"\n")


FIMI = Format(
    "fimi",
    "lines of numbers (FIMI)",
    on_demand("setveil.io.transactions.number_lines:read_fimi"),
    _write,
    extension=".dat",
    sniff=_sniff,
    label="FIMI: item numbers, one person per line",
    has_numbers=True,
    in_pieces=True,
)
