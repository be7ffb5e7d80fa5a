"""Which character separates the fields of a file, and its first rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from setveil.errors import InputError
from setveil.io.formats.registry import FORMATS
from setveil.io.options import DELIMITERS, RATINGS, ReadOptions
from setveil.io.source import Source, last_line_end
from setveil.io.transactions.delimited import scan_rows
from setveil.io.transactions.headers import is_known_header

Cells = list[list[str]]


def choose_delimiter(source: Source, layout: str | None, options: ReadOptions) -> str:
    """The character that separates fields; several that could are an error."""
    if source.suffix in ([".tsv"], [".tab"]):
        return "\t"
    sample = source.sample()
    if layout == "basket":
        return _only(source, _occurring(sample), sample) or ","
    candidates = _occurring(_first_row(sample)) or ([] if layout else _occurring(sample))
    if len(candidates) > 1:
        wanted = {name for name in (options.id_column, options.item_column) if name is not None}
        headers = {candidate: _header(source, sample, candidate) for candidate in candidates}
        fitting = [
            candidate
            for candidate, header in headers.items()
            if (wanted <= set(header) if wanted else len(header) == 2 or is_known_header(header))
        ]
        candidates = fitting if len(fitting) == 1 and layout else candidates
    found = _only(source, candidates, sample)
    if found is not None:
        return found
    if re.match(rb"[^\n]*[^\n:]::[^\n:]", sample):
        return RATINGS
    if layout is not None:
        return ","
    blanks = ', or --format basket --delimiter " " for words between blanks' if b" " in _first_row(sample) else ""
    raise source.error(f"the layout cannot be detected; use --format with one of {', '.join(FORMATS)}{blanks}.", 1)


def _only(source: Source, candidates: Sequence[str], sample: bytes) -> str | None:
    """The candidate; of several the one that cuts every line into equally many fields."""
    if len(candidates) > 1:
        even = [candidate for candidate in candidates if _cuts_evenly(source, sample, candidate)]
        candidates = even if len(even) == 1 else candidates
    if len(candidates) > 1:
        shown = " ".join({"\t": "tab"}.get(candidate, candidate) for candidate in candidates)
        raise source.error(f"the delimiter cannot be detected; name one of {shown} with --delimiter.", 1)
    return candidates[0] if candidates else None


def _cuts_evenly(source: Source, sample: bytes, delimiter: str) -> bool:
    try:
        rows = first_rows(source, sample, delimiter)
    except InputError:
        return False
    widths = {len(row) for row in rows if row != [""]}
    return len(widths) == 1 and widths.pop() > 1


def _occurring(sample: bytes) -> list[str]:
    """The usual delimiters that occur outside of quotes."""
    bare = re.sub(rb'"[^"]*"', b"", sample)
    return [candidate for candidate in DELIMITERS if candidate.encode() in bare]


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


def first_rows(source: Source, sample: bytes, delimiter: str) -> Cells:
    """The whole rows of a sample."""
    whole = sample[: last_line_end(sample, quoted=True)]
    if not whole:
        whole = sample if sample.endswith(b"\n") else sample + b"\n"
    return [[field.decode() for field in row] for _, row in scan_rows(source, whole, 1, delimiter)]
