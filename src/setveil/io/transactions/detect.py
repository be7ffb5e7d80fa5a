"""Which layout a file has, told from its first lines and its extension.

Only evidence decides. A table of two columns and baskets of two items look alike; then the user is asked instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from setveil.errors import InputError
from setveil.io.source import PARQUET, SAMPLE, Source, last_line_end
from setveil.io.transactions.delimited import scan_rows
from setveil.io.transactions.headers import is_known_header, is_turned_round, looks_like_ids, looks_like_items

NAMES = ("fimi", "spmf", "long", "basket", "jsonl", "parquet")
DELIMITERS = ",;\t|"
TABLES = (".csv", ".tsv", ".tab")
BY_EXTENSION = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet", ".basket": "basket",
}  # fmt: skip

Rows = list[list[str]]


def detect(source: Source, delimiter: str | None, names_columns: bool) -> str:
    """The name of the layout; ``names_columns`` if the user has named an id or item column."""
    if source.start().startswith(PARQUET):
        return "parquet"
    extension = source.suffix[0] if source.suffix else ""
    if extension in BY_EXTENSION:
        return BY_EXTENSION[extension]
    sample = source.sample()
    first = next((line for line in sample.split(b"\n") if line.strip()), b"")[:SAMPLE].strip()
    if not first:
        raise source.error("holds nothing but empty lines, so its layout cannot be told; use --format.", 1)
    is_table = extension in TABLES or delimiter is not None
    if first[:1] in (b"{", b"[") and not is_table:
        return "jsonl"
    if first.startswith((b"@CONVERTED_FROM_TEXT", b"@ITEM=")):
        return "spmf"
    if not is_table and re.fullmatch(rb"-?[0-9]+(?:[ \t]+-?[0-9]+)*", first):
        if re.search(rb"(^|[ \t\n])-[12]($|[ \t\r\n])", sample):
            return "spmf"
        if re.fullmatch(rb"([0-9]+\t[0-9]+\r?\n)+", sample):
            raise source.error(_cannot_tell("a table without header from fimi", "fimi or a header id<tab>item"), 1)
        return "fimi"
    return _detect_table(source, sample, delimiter, names_columns)


def choose_delimiter(source: Source, layout: str, id_column: str | None, item_column: str | None) -> str:
    """The character that separates fields; several that could are an error."""
    if source.suffix in ([".tsv"], [".tab"]):
        return "\t"
    sample = source.sample()
    if layout == "basket":
        return _only(source, _occurring(sample)) or ","
    candidates = _occurring(_first_row(sample))
    if len(candidates) > 1:
        wanted = {name for name in (id_column, item_column) if name is not None}
        headers = {candidate: _header(source, sample, candidate) for candidate in candidates}
        candidates = [
            candidate
            for candidate, header in headers.items()
            if (wanted <= set(header) if wanted else len(header) == 2)
        ] or candidates
    return _only(source, candidates) or ","


def _only(source: Source, candidates: Sequence[str]) -> str | None:
    if len(candidates) > 1:
        shown = " ".join({"\t": "tab"}.get(candidate, candidate) for candidate in candidates)
        raise source.error(f"cannot tell which of {shown} separates the fields; use --delimiter.", 1)
    return candidates[0] if candidates else None


def _occurring(sample: bytes) -> list[str]:
    """The usual delimiters that occur outside of quotes."""
    bare = re.sub(rb'"[^"]*"', b"", sample)
    return [candidate for candidate in DELIMITERS if candidate.encode() in bare]


def _detect_table(source: Source, sample: bytes, delimiter: str | None, names_columns: bool) -> str:
    """Long or basket."""
    if names_columns:
        return "long"
    if delimiter is None:
        tabbed = source.suffix in ([".tsv"], [".tab"])
        delimiter = "\t" if tabbed else _only(source, _occurring(_first_row(sample)) or _occurring(sample))
    if delimiter is None:
        raise source.error(f"cannot tell the layout; use --format with one of {', '.join(NAMES)}.", 1)
    rows = _rows(source, sample, delimiter)
    while len(rows) > 1 and rows[-1] == [""]:
        rows.pop()
    header, body = rows[0], rows[1:]
    widths = {len(row) for row in rows}
    if is_known_header(header) or is_turned_round(header):
        return "long"
    recurs = not set(header).isdisjoint(field for row in body for field in row)
    if len(header) > 2 and not recurs and any(map(looks_like_ids, header)) and any(map(looks_like_items, header)):
        return "long"  # whose reader asks for --id-column and --item-column
    if widths == {2}:
        if _has_header(header, body):
            return "long"
        raise source.error(_cannot_tell("a table of ids and items from baskets of two", "long or --format basket"), 1)
    if len(widths) > 1 and recurs:
        return "basket"
    raise source.error(_cannot_tell("a table from baskets", "long or --format basket"), 1)


def _has_header(header: Sequence[str], body: Rows) -> bool:
    """Whether two columns have names above them that are not data, and ids that are not items."""
    ids, items = {row[0] for row in body}, {row[1] for row in body}
    if not body or "" in header or header[0] in ids or header[1] in items or any(name.isdigit() for name in header):
        return False
    return all(text.isdigit() for text in ids) or (len(ids) < len(body) and ids.isdisjoint(items))


def _first_row(sample: bytes) -> bytes:
    """Up to the first line end outside of quotes."""
    match = re.match(rb'[^"\n]*(?:"[^"]*"[^"\n]*)*', sample)
    return match.group() if match else b""


def _header(source: Source, sample: bytes, delimiter: str) -> list[str]:
    try:
        rows = scan_rows(source, _first_row(sample) + b"\n", 1, delimiter)
    except InputError:
        return []
    return [field.decode() for field in rows[0][1]]


def _rows(source: Source, sample: bytes, delimiter: str) -> Rows:
    whole = sample[: last_line_end(sample, quoted=True)]
    if not whole:
        whole = sample if sample.endswith(b"\n") else sample + b"\n"
    return [[field.decode() for field in row] for _, row in scan_rows(source, whole, 1, delimiter)]


def _cannot_tell(what: str, fix: str) -> str:
    return f"cannot tell {what}; use --format {fix}."


def check_format(format: str) -> str:
    """A layout's name as the user wrote it."""
    name = format.lower()
    if name not in NAMES:
        raise InputError(f'unknown format "{format}"; choose one of {", ".join(NAMES)}.')
    return name


def check_delimiter(delimiter: str) -> str:
    """One character as the user wrote it; ``\\t`` and ``tab`` stand for a tab."""
    character = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0' or character.isalnum():
        raise InputError(f"--delimiter {delimiter!r}: give one character, such as , or ; or \\t.")
    return character
