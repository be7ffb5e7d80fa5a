"""One JSON text: an array of records, or an object from id to items."""

from __future__ import annotations

from setveil.io.formats.base import Format, Plan, Start, on_demand


def opens_one_text(start: Start) -> str:
    """What shows that a file of JSON is one text over many lines; empty if every line is one."""
    first = start.first
    if first[:1] == b"[" and (first == b"[" or first.startswith((b"[{", b"[[")) or first.endswith(b",")):
        return "the first line, which opens an array of records"
    if first[:1] == b"{" and (first == b"{" or not first.endswith((b"}", b"]"))):
        return "the first line, which opens an object"
    is_object = first[:1] == b"{" and b'"items"' not in first
    if start.extension == ".json" and start.sample.count(b"\n") <= 1 and is_object:
        return "the only line, an object of records"
    return ""


def _sniff(start: Start) -> Plan | None:
    if start.is_delimited or start.first[:1] not in (b"{", b"["):
        return None
    evidence = opens_one_text(start)
    return Plan("json", evidence) if evidence else None


JSON = Format(
    "json",
    "JSON",
    on_demand("setveil.io.transactions.json_files:read_json"),
    sniff=_sniff,
    takes=frozenset({"columns", "id_column", "item_column", "keep_ids"}),
    has_keys=True,
)
