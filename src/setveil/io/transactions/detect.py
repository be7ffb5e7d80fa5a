"""Which layout a file has, told from its first lines and its extension.

Only evidence decides, and it is said. A table of two columns and baskets of two items look alike; then the user is
asked instead, with the options that tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from setveil.io.source import PARQUET, SAMPLE, Source
from setveil.io.transactions.layouts import NAMES, Plan, ReadOptions
from setveil.io.transactions.tables import plan_table

TABLE_EXTENSIONS = (".csv", ".tsv", ".tab")
BY_EXTENSION = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet", ".gmt": "gmt", ".arff": "arff",
}  # fmt: skip
TIMESTAMP = 10_000_000  # numbers from here on, rising from line to line, are no items
RISING_LINES = 20  # so many lines that rise in their last number are no baskets either

LAYOUTS_ASKED_FOR = f"use --format with one of {', '.join(NAMES)}"


def make_plan(source: Source, options: ReadOptions) -> Plan:
    """What to read the file as; the layout is the user's, or told by the first lines."""
    if options.format is not None:
        return _named(source, options)
    if source.start().startswith(PARQUET):
        return Plan("parquet", "its first bytes")
    extension = source.suffix[0] if source.suffix else ""
    if extension in BY_EXTENSION:
        return Plan(BY_EXTENSION[extension], f"the extension {extension}")
    if extension == ".basket":
        return plan_table(source, options, "basket", f"the extension {extension}")
    sample = source.sample()
    first = next((line for line in sample.split(b"\n") if line.strip()), b"")[:SAMPLE].strip()
    if not first:
        raise source.error(f"holds nothing but empty lines, so its layout cannot be told; {LAYOUTS_ASKED_FOR}.", 1)
    is_table = extension in TABLE_EXTENSIONS or options.delimiter is not None or options.no_header
    if first[:1] in (b"{", b"[") and not is_table:
        return _plan_json(sample, first, extension)
    if first.startswith((b"@CONVERTED_FROM_TEXT", b"@ITEM=")):
        return Plan("spmf", "its @ lines")
    if re.match(rb"(?i)@relation\b|%.*(\n%.*)*\n\s*@relation\b", sample.lstrip()):
        return Plan("arff", "its @relation line")
    if not (is_table or options.id_column or options.item_column or options.item_columns):
        plan = _plan_numbers(source, sample, first)
        if plan is not None:
            return plan
    return plan_table(source, options)


def _named(source: Source, options: ReadOptions) -> Plan:
    layout = options.format or ""
    told_by = f"--format {layout}"
    options.check_for(layout)
    if layout in ("long", "wide", "onehot", "table", "basket"):
        return plan_table(source, options, layout, told_by)
    return Plan(layout, told_by, kind="SPMF lines of names" if layout == "spmf" and has_names(source) else "")


def _plan_json(sample: bytes, first: bytes, extension: str) -> Plan:
    """One JSON text over many lines, or one on every line."""
    if first[:1] == b"[" and (
        first in (b"[", b"[{", b"[[") or first.startswith((b"[{", b"[[")) or first.endswith(b",")
    ):
        return Plan("json", "its first line, which opens an array of records")
    if first[:1] == b"{" and (first == b"{" or not _ends_on_line(first)):
        return Plan("json", "its first line, which opens an object")
    if extension == ".json" and sample.count(b"\n") <= 1 and first[:1] == b"{" and b'"items"' not in first:
        return Plan("json", "its one line, an object of records")
    return Plan("jsonl", "its first line, a record in JSON")


def _ends_on_line(first: bytes) -> bool:
    return first.rstrip().endswith((b"}", b"]"))


def has_names(source: Source) -> bool:
    """Whether the items of an SPMF file are words: every line ends with ``-2`` and something is no number."""
    lines = [line.strip() for line in source.sample().split(b"\n")]
    lines = [line for line in lines if line and line[:1] not in b"@#%"]
    if not lines or not all(line == b"-2" or line.endswith((b" -2", b"\t-2")) for line in lines):
        return False
    return any(not re.fullmatch(rb"-?[0-9]+", token) for line in lines for token in line.split())


def _plan_numbers(source: Source, sample: bytes, first: bytes) -> Plan | None:
    """FIMI or SPMF, if the first line holds whole numbers (or SPMF's words) between blanks."""
    if not re.fullmatch(rb"-?[0-9]+(?:[ \t]+-?[0-9]+)*", first):
        return Plan("spmf", "the -2 at the end of its lines", kind="SPMF lines of names") if has_names(source) else None
    if re.search(rb"(^|[ \t\n])-[12]($|[ \t\r\n])", sample):
        return Plan("spmf", "the -1 and -2 in its lines")
    if re.fullmatch(rb"([0-9]+\t[0-9]+\r?\n)+", sample):
        raise source.error(
            "cannot tell a table without header from fimi; use --format fimi, or --format long --no-header if "
            "every line is an id and an item.",
            1,
        )
    _refuse_what_is_no_basket(source, sample)
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
            f"--no-header --id-column 1 --item-column 2{delimiter} if these hold ids and items, or --format fimi "
            "if the numbers are items.",
            1,
        )


def _rises(numbers: Sequence[int]) -> bool:
    return all(one <= other for one, other in zip(numbers, numbers[1:], strict=False))
