"""SPMF's lines: whole numbers between blanks, ``@ITEM`` lines that name them, ``-1`` and ``-2`` as separators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from setveil.errors import InputError, name_some, one_line
from setveil.io.formats.base import Format, Output, Plan, Start, on_demand
from setveil.io.options import ReadOptions

if TYPE_CHECKING:
    from setveil.io.source import Source

NAMES = "SPMF lines of names"


def _sniff(start: Start) -> Plan | None:
    if start.first.startswith((b"@CONVERTED_FROM_TEXT", b"@ITEM=")):
        return Plan("spmf", "the @ lines")
    if start.has_columns:
        return None
    if not re.fullmatch(rb"-?[0-9]+(?:[ \t]+-?[0-9]+)*", start.first):
        return Plan("spmf", "the -2 at the end of every line", kind=NAMES) if _has_names(start.source) else None
    if re.search(rb"(^|[ \t\n])-[12]($|[ \t\r\n])", start.sample):
        return Plan("spmf", "the -1 and -2 in the lines")
    return None


def _plan(source: Source, options: ReadOptions, evidence: str) -> Plan:
    return Plan("spmf", evidence, kind=NAMES if _has_names(source) else "")


def _has_names(source: Source) -> bool:
    """Whether the items are words: every line ends with ``-2`` and something is not a number."""
    lines = [line.strip() for line in source.sample().split(b"\n")]
    lines = [line for line in lines if line and line[:1] not in b"@#%"]
    if not lines or not all(line == b"-2" or line.endswith((b" -2", b"\t-2")) for line in lines):
        return False
    return any(not re.fullmatch(rb"-?[0-9]+", token) for line in lines for token in line.split())


def _write(output: Output) -> Iterator[bytes]:
    labels = [label.encode() for label in output.data.vocabulary]
    if all(label.isdigit() for label in labels):
        return output.join(labels, b" ", b"\n")
    broken = [label for label in output.data.vocabulary if "\n" in label or "\r" in label]
    if broken:
        raise InputError(
            f"spmf has no line breaks in labels, as in {name_some(map(one_line, broken))}; write another layout."
        )
    numbers = [b"%d" % number for number in range(1, len(labels) + 1)]
    names = [b"@ITEM=%s=%s\n" % named for named in zip(numbers, labels, strict=True)]
    return chain([b"@CONVERTED_FROM_TEXT\n", *names], output.join(numbers, b" ", b"\n"))


SPMF = Format(
    "spmf",
    "SPMF lines",
    on_demand("setveil.io.transactions.number_lines:read_spmf"),
    _write,
    extension=".txt",
    sniff=_sniff,
    plan=_plan,
    label="SPMF",
    has_numbers=True,
)
