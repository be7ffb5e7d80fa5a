"""Hierarchy files: leaf-to-root tables, child–parent edges, Amnesia's text and JSON.

A file is first read into a draft: the nodes as the file tells them, and everything that is wrong, with line numbers.
``read_hierarchy`` raises the first error, ``check_hierarchy`` lists all problems, ``write_hierarchy`` is the way back.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.core.hierarchy import Hierarchy
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, name_some
from setveil.io.hierarchies.drafts import Draft, Problem
from setveil.io.hierarchies.writing import FORMATS, write_hierarchy

__all__ = ["FORMATS", "Problem", "check_hierarchy", "read_hierarchy", "write_hierarchy"]

DELIMITERS = "\t;,"  # in this order where several would do: commas are the likeliest inside labels

Rows = list[tuple[int, list[str]]]  # (line number, cells)
_Link = tuple[str, str | None, int | None]  # (child, parent or None for a root, line)


def read_hierarchy(
    path: str | PathLike[str], *, format: str | None = None, delimiter: str | None = None, header: bool | None = None
) -> Hierarchy:
    """Read a hierarchy from a file, plain or gzipped; what is not given is detected from the content."""
    draft = _read_draft(path, format, delimiter, header)
    draft.look_for_cycles()
    draft.look_for_repeated_labels()
    errors = draft.sorted_problems("error")
    if errors:
        raise InputError(str(errors[0]))
    return Hierarchy.from_parents(draft.parents, draft.labels)


def check_hierarchy(
    path: str | PathLike[str],
    data_vocabulary: Vocabulary | None = None,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> list[Problem]:
    """Everything that is wrong with a hierarchy file, by itself and for the items of a data set; errors first."""
    draft = _read_draft(path, format, delimiter, header)
    draft.look_for_cycles()
    draft.look_for_repeated_labels()
    draft.look_for_odd_labels()
    draft.look_for_unary_nodes()
    if data_vocabulary is not None and draft.labels:
        draft.compare_with_data(data_vocabulary)
    return draft.sorted_problems("error", "warning", "note")


def _read_draft(path: str | PathLike[str], format: str | None, delimiter: str | None, header: bool | None) -> Draft:
    if format is not None and format not in FORMATS:
        raise InputError(f'unknown hierarchy format "{format}"; choose one of {", ".join(FORMATS)}.')
    draft = Draft(os.fspath(path))
    text = _load_text(path)
    format = format or _detect_format(draft.file, text)
    if format == "amnesia-json":
        _read_json(draft, text)
    elif format == "amnesia":
        _read_amnesia(draft, text)
    else:
        _read_table(draft, text, format, delimiter, header)
    if not draft.labels and not draft.problems:
        draft.report("error", "the hierarchy has no nodes.")
    return draft


def _load_text(path: str | PathLike[str]) -> str:
    file = os.fspath(path)
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{file}: no such file; check the path.") from None
    except IsADirectoryError:
        raise InputError(f"{file}: is a directory; give a hierarchy file.") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); check its permissions.") from None
    if raw[:2] == b"\x1f\x8b":
        try:
            raw = gzip.decompress(raw)
        except (EOFError, OSError, zlib.error):
            raise InputError(f"{file}: the gzip data is damaged or cut off; copy the file again.") from None
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{file}:1: the text is UTF-16; save it as UTF-8.")
    if b"\0" in raw:
        line = raw[: raw.index(b"\0")].count(b"\n") + 1
        raise InputError(f"{file}:{line}: a NUL byte; this is not a text file.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InputError(f"{file}:{line}: the text is not UTF-8; save it as UTF-8.") from None
    if not text.strip():
        raise InputError(f"{file}: the file is empty.")
    return text


def _numbered_lines(text: str) -> list[tuple[int, str]]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _detect_format(file: str, text: str) -> str:
    """JSON and Amnesia's text by their looks; ``""`` for a table, whose kind its rows decide."""
    name = file.lower().removesuffix(".gz")
    if name.endswith(".json") or text.lstrip().startswith("{"):
        return "amnesia-json"
    lines = [line.split() for _, line in _numbered_lines(text)]
    if lines[0][0].lower() in ("distinct", "range") and len(lines[0]) == 1:
        return "amnesia"
    body = [words for words in lines if words[0].lower() not in ("name", "type", "height")]
    return "amnesia" if body and all(len(words) > 2 and words[1] == "has" for words in body) else ""


# -- tables: leaf-to-root rows and edges --------------------------------------------------------------------------

_LEAF_HEADINGS = {
    "item",
    "items",
    "leaf",
    "child",
    "node",
    "label",
    "name",
    "code",
    "value",
    "product",
    "article",
    "sku",
}
_EDGE_HEADINGS = {("child", "parent"), ("node", "parent"), ("item", "parent"), ("id", "parent")}
_LEVEL_HEADING = re.compile(r"level[ _-]?\d+")


def _read_table(draft: Draft, text: str, format: str, delimiter: str | None, header: bool | None) -> None:
    rows = _parse_rows(draft, text, delimiter or _detect_delimiter(text))
    if not rows:
        return
    if max(len(cells) for _, cells in rows) == 1 and delimiter is None and format != "csv":
        draft.report("error", "no delimiter found (;, comma or tab); name it, or the format.", rows[0][0])
        return
    has_header = _looks_like_header(rows) if header is None else header
    headings = rows[0][1] if has_header else None
    body = rows[1:] if has_header else rows
    if not body:
        draft.report("error", "there is nothing below the header; add one row per item.", rows[0][0])
        return
    kind = format or _kind_of_table(draft, headings, body)
    if kind == "edges":
        _read_edges(draft, body)
    elif kind == "csv":
        _read_paths(draft, body, headings)
        if header is None and headings is None and _stands_apart(body) and not _stands_apart(body[1:]):
            draft.report(
                "note", "the first line shares no group with the others; delete it if it is a header.", body[0][0]
            )


def _detect_delimiter(text: str) -> str:
    sample = "\n".join(line for _, line in _numbered_lines(text)[:500])

    def n_rows_split(delimiter: str) -> int:
        try:
            return sum(len(row) > 1 for row in csv.reader(io.StringIO(sample), delimiter=delimiter))
        except csv.Error:
            return 0

    return max(DELIMITERS, key=n_rows_split)


def _parse_rows(draft: Draft, text: str, delimiter: str) -> Rows:
    if len(delimiter) != 1:
        raise InputError(f'delimiter "{delimiter}" is not one character; give one, such as ";".')
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, line = [], 1
    try:
        for cells in reader:
            if any(cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        draft.report("error", f"{error}; close the quotation mark, or double it inside a label.", line)
    return rows


def _looks_like_header(rows: Rows) -> bool:
    """Known headings, or a row without the root ``*`` of all others; and no heading recurs as a label of its column."""
    if not _stands_apart(rows):
        return False
    first = [cell.strip().lower() for cell in _trimmed(rows[0][1])]
    named = first[0] in _LEAF_HEADINGS or tuple(first) in _EDGE_HEADINGS
    levels = len(first) > 1 and all(_LEVEL_HEADING.fullmatch(cell) for cell in first[1:])
    starless = len(rows) > 1 and first[-1] != "*" and all(_trimmed(cells)[-1] == "*" for _, cells in rows[1:])
    return named or levels or starless


def _stands_apart(rows: Rows) -> bool:
    """Whether the first row shares no group with any other."""
    first = set(list(enumerate(_trimmed(rows[0][1])))[1:]) if rows else set()
    return not any(first.intersection(enumerate(_trimmed(cells))) for _, cells in rows[1:])


def _kind_of_table(draft: Draft, headings: Sequence[str] | None, body: Rows) -> str:
    """Two columns may be edges or rows of depth two; where no parent is a child both give the same tree."""
    if max(len(_trimmed(cells)) for _, cells in body) != 2:
        return "csv"
    if headings is not None:
        return "edges" if tuple(cell.strip().lower() for cell in headings) in _EDGE_HEADINGS else "csv"
    pairs = [(cells[0], cells[1]) for _, cells in body if len(cells) > 1 and cells[1]]
    both = {child for child, _ in pairs} & {parent for _, parent in pairs}
    named_like_their_group = {child for child, parent in pairs if child == parent}  # no edge leads to itself
    if both <= named_like_their_group:
        return "csv"
    if named_like_their_group:
        which = (
            f'"{min(named_like_their_group)}" stands below itself, "{min(both - named_like_their_group)}" on both sides'
        )
        text = f"leaf-to-root rows or child–parent edges? {which}; say --format csv or --format edges."
        draft.report("error", text, body[0][0])
        return ""
    return "edges"


def _trimmed(cells: Sequence[str]) -> list[str]:
    """Without the empty cells at the end: short rows are shallow branches."""
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return list(cells[:end])


def _read_paths(draft: Draft, body: Rows, headings: Sequence[str] | None) -> None:
    number: dict[tuple[int, str, bool], int] = {}  # (parent, label, is a leaf)
    row_of_item: dict[str, tuple[int, list[str]]] = {}
    for line, cells in body:
        path = _trimmed(cells)
        if headings is not None and len(path) > len(headings):
            draft.report("error", f"{len(path)} fields below a header of {len(headings)}; check the quotation.", line)
            continue
        if "" in path:
            what = f'level {path.index("")} of item "{path[0]}"' if path[0] else "the item"
            draft.report("error", f"{what} is empty; fill it in, or leave out cells at the end of the row only.", line)
            continue
        if path[0] in row_of_item:
            earlier, known = row_of_item[path[0]]
            if known == path:
                draft.report("warning", f'item "{path[0]}" repeats line {earlier}; delete one.', line)
            else:
                text = f'item "{path[0]}" has two parents ({_difference(known, path)}); keep one.'
                draft.report("error", text, line)
            continue
        row_of_item[path[0]] = (line, path)
        above = -1
        for level in range(len(path) - 1, -1, -1):
            key = (above, path[level], level == 0)
            if key not in number:
                number[key] = draft.add(path[level], above, line)
            above = number[key]


def _difference(one: Sequence[str], other: Sequence[str]) -> str:
    """Where two leaf-to-root paths of an item part: ``"alcohol", "drinks"``."""
    level = next(
        level for level in range(1, len(one) + len(other)) if one[level : level + 1] != other[level : level + 1]
    )

    def words(path: Sequence[str]) -> str:
        top = f'"{path[level]}"' if level < len(path) else "the root"
        return top if level == 1 else f'"{path[1]}" below {top}'

    return f"{words(one)}, {words(other)}"


def _read_edges(draft: Draft, body: Rows) -> None:
    links: list[_Link] = []
    for line, cells in body:
        child, *above = _trimmed(cells)
        if len(above) > 1:
            draft.report("error", f"{len(cells)} fields; an edge has two, child and parent.", line)
        elif not child:
            draft.report("error", f'a child of "{above[0]}" is empty; give it a name.', line)
        else:
            links.append((child, above[0] if above else None, line))
    _read_links(draft, links)


# -- links: edges, Amnesia's text and JSON ------------------------------------------------------------------------


def _read_links(draft: Draft, links: Sequence[_Link], labels: dict[str, str] | None = None) -> None:
    """Nodes told by a key, which is their label unless ``labels`` has it; siblings keep the order of their links."""
    labels = labels or {}
    parent_of: dict[str, tuple[str, int | None]] = {}
    keys: dict[str, int | None] = {}  # in order of mention
    groups = {parent for _, parent, _ in links if parent is not None}
    for child, parent, line in links:
        for key in (child, parent):
            if key is not None:
                keys.setdefault(key, line)
        if parent is None:
            continue
        known = parent_of.setdefault(child, (parent, line))
        if known == (parent, line):
            continue
        kind, label = "group" if child in groups else "item", labels.get(child, child)
        if known[0] == parent:
            where = "" if known[1] is None else f" of line {known[1]}"
            draft.report("warning", f'{kind} "{label}" repeats its link{where}; delete one.', line)
        else:
            parents = ", ".join(f'"{labels.get(key, key)}"' for key in (known[0], parent))
            draft.report("error", f'{kind} "{label}" has two parents ({parents}); keep one.', line)
    number: dict[str, int] = {}
    for key in [*parent_of, *(key for key in keys if key not in parent_of)]:
        number[key] = draft.add(labels.get(key, key), -1, parent_of[key][1] if key in parent_of else keys[key])
    for key, (parent, _) in parent_of.items():
        draft.parents[number[key]] = number[parent]


def _read_amnesia(draft: Draft, text: str) -> None:
    """``parent has child child …`` below a few lines about the hierarchy, words parted by blanks."""
    links: list[_Link] = []
    for line, content in _numbered_lines(text):
        words = content.split()
        if not links and (len(words) == 1 or words[1] != "has") and words[0].lower() in _AMNESIA_HEAD:
            if words[0].lower() == "range":
                draft.report("error", "a hierarchy of ranges; setveil takes hierarchies of distinct values.", line)
                return
            continue
        if len(words) < 3 or words[1] != "has":
            text = 'expected "parent has child child …" with names free of blanks; use csv for other names.'
            draft.report("error", text, line)
            continue
        links.extend((child, words[0], line) for child in words[2:])
    _read_links(draft, links)


_AMNESIA_HEAD = {"distinct", "range", "name", "type", "height"}


def _read_json(draft: Draft, text: str) -> None:
    """Amnesia's graph of ``nodeList`` and ``edgeList``, or nested objects with ``children``."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        draft.report("error", f"not JSON ({error.msg}); check the file.", error.lineno)
        return
    except RecursionError:
        draft.report("error", "nested too deeply for JSON; use another format.")
        return
    if isinstance(content, dict) and "nodeList" in content:
        _read_graph(draft, content)
    else:
        _read_nested(draft, content if isinstance(content, list) else [content])


def _read_graph(draft: Draft, content: dict[str, Any]) -> None:
    labels: dict[str, str] = {}
    links: list[_Link] = []
    for node in _objects(draft, content.get("nodeList"), "nodeList"):
        key = _json_label(draft, node.get("id", node.get("label")), "the id of a node")
        label = _json_label(draft, node.get("label", node.get("id")), "the label of a node")
        if key in labels:
            draft.report("error", f'node id "{key}" stands twice; keep one.')
        elif key and label:
            labels[key] = label
            links.append((key, None, None))
    for edge in _objects(draft, content.get("edgeList"), "edgeList"):
        parent, child = (_json_label(draft, edge.get(end), f'"{end}" of an edge') for end in ("from", "to"))
        strangers = [key for key in (parent, child) if key and key not in labels]
        if strangers:
            draft.report("error", f"an edge names {name_some(strangers)}, which is no node id; add the node.")
        elif parent and child:
            links.append((child, parent, None))
    _read_links(draft, links, labels)


def _read_nested(draft: Draft, content: list[Any]) -> None:
    stack = [(tree, -1) for tree in reversed(content)]
    while stack:
        tree, above = stack.pop()
        if not isinstance(tree, dict):
            tree = {"label": tree}  # children may be given by their names alone
        name = next((tree[key] for key in ("label", "name", "text", "id") if key in tree), None)
        label = _json_label(draft, name, '"label" of a node')
        if label:
            node = draft.add(label, above, None)
            children = tree.get("children") or []
            if isinstance(children, list):
                stack.extend((child, node) for child in reversed(children))
            else:
                draft.report("error", f'"children" of "{label}" is not a list; give a list of nodes.')


def _objects(draft: Draft, content: Any, name: str) -> Iterator[dict[str, Any]]:
    if not isinstance(content, list):
        draft.report("error", f'"{name}" is missing or not a list; see the formats in the documentation.')
        return
    for entry in content:
        if isinstance(entry, dict):
            yield entry
        else:
            draft.report("error", f'an entry of "{name}" is not an object; see the formats in the documentation.')


def _json_label(draft: Draft, value: Any, what: str) -> str:
    """A label or id as text; ``""`` after an error."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    draft.report("error", f"{what} is missing, empty or neither text nor an integer; give it a name.")
    return ""
