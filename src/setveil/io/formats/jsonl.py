"""JSON lines: one object with ``items`` (and perhaps ``id``), or one array, per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from setveil.io.formats.base import Format, Output, Plan, Start, on_demand
from setveil.io.formats.json import opens_one_text


def _sniff(start: Start) -> Plan | None:
    if start.is_delimited or start.first[:1] not in (b"{", b"[") or opens_one_text(start):
        return None
    return Plan("jsonl", "the first line, a record in JSON")


def _write(output: Output) -> Iterator[bytes]:
    ids = output.ids

    def heads(start: int, records: Any) -> list[bytes]:
        if ids is None:
            return [b'{"items": ['] * len(records)
        return [b'{"id": %s, "items": [' % _json(ids[record]) for record in records.tolist()]

    return output.join([_json(label) for label in output.data.vocabulary], b", ", b"]}\n", heads)


def _json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


JSONL = Format(
    "jsonl",
    "JSON lines",
    on_demand("setveil.io.transactions.json_lines:read_json_lines"),
    _write,
    extensions=(".jsonl", ".ndjson"),
    sniff=_sniff,
    takes=frozenset({"columns", "id_column", "item_column", "keep_ids"}),
    has_keys=True,
    writes_ids=True,
    in_pieces=True,
)
