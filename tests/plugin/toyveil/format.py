"""A format: one record per line, items between angle brackets and separated by semicolons, as in ``<bread;milk>``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import setveil as sv
from setveil.io.formats.base import Format, Output, Plan, Start


def sniff(start: Start) -> Plan | None:
    """Detected from the first line."""
    is_record = start.first.startswith(b"<") and start.first.endswith(b">")
    return Plan("brackets", "the brackets around the first line") if is_record else None


def read(source: Any, plan: Plan, options: Any) -> tuple[sv.Transactions, Plan]:
    """Every line is a record; ``<>`` is one without items."""
    records = []
    for chunk, first in source.lines():
        for line, text in enumerate(chunk.decode().splitlines(), start=first):
            if not (text.startswith("<") and text.endswith(">")):
                raise source.error("the record is not between brackets; write it as in <bread;milk>.", line)
            records.append([item for item in text[1:-1].split(";") if item])
    return sv.Transactions.from_lists(records), plan


def write(output: Output) -> Iterator[bytes]:
    """The same again."""
    labels = [label.encode() for label in output.data.vocabulary]
    return output.join(labels, b";", b">\n", lambda start, records: [b"<"] * len(records))


BRACKETS = Format("brackets", "lines in brackets", read, write, extensions=(".brackets",), sniff=sniff, in_pieces=True)
