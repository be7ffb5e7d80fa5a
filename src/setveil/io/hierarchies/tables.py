"""Hierarchies in tables: leaf-to-root rows, child–parent edges, nodes with the id of their parent, codes with names."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError
from setveil.io.hierarchies.codes import advised_hierarchy, looks_like_codes
from setveil.io.hierarchies.drafts import Draft, numbered_lines
from setveil.io.hierarchies.nodes import Columns, Link, Node, find_columns, read_links, read_nodes
from setveil.io.hierarchies.outlines import read_paths

DELIMITERS = "\t;,"  # in this order where several would do: commas are the likeliest inside labels

LEAST_CODES = 5  # fewer rows may be a small tree

NumberedRows = list[tuple[int, list[str]]]  # (line number, cells)

_LEAF_HEADINGS = frozenset({
    "item", "items", "leaf", "child", "node", "label", "name", "code", "value", "product", "article", "sku", "id",
})  # fmt: skip
_GROUP_HEADINGS = frozenset({
    "category", "subcategory", "group", "subgroup", "department", "aisle", "section", "class", "subclass", "chapter",
    "block", "family", "type", "division", "segment", "brand", "parent", "system", "area", "region", "root", "top",
})  # fmt: skip
_EDGE_HEADINGS = {("child", "parent"), ("node", "parent"), ("item", "parent"), ("id", "parent")}
_LEVEL_HEADING = re.compile(r"level[ _-]?\d+")


def read_table(
    draft: Draft,
    text: str,
    format: str,
    delimiter: str | None,
    header: bool | None,
    vocabulary: Vocabulary | None = None,
) -> None:
    """Whatever stands in rows: detected from the header, or from the cells that occur again."""
    rows = parse_rows(draft, text, delimiter or detect_delimiter(text))
    if not rows:
        return
    if max(len(cells) for _, cells in rows) == 1 and delimiter is None and format != "csv":
        draft.report("error", _what_one_column_is([cells[0] for _, cells in rows]), rows[0][0])
        return
    nodes = find_columns(rows[0][1]) if header is not False else None
    if format == "nodes" or (format == "" and nodes is not None and nodes.name is not None):
        if nodes is None:
            draft.report("error", "no header with a parent column, as id,parent_id,name; add one.", rows[0][0])
        else:
            read_nodes(draft, _nodes(rows[1:], nodes), vocabulary)
        return
    has_header = _looks_like_header(rows) if header is None else header
    headings = rows[0][1] if has_header else None
    body = rows[1:] if has_header else rows
    if not body:
        draft.report("error", "there is nothing below the header; add one row per item.", rows[0][0])
        return
    if format == "" and _are_item_and_path(body):
        paths = [(line, [*re.split(r"\s*>\s*", cells[1].strip()), cells[0]]) for line, cells in body]
        read_paths(draft, paths)
        return
    kind = format or _kind_of_table(draft, headings, body)
    if format == "" and _is_code_list(body):
        draft.report(
            "error", f"codes with names, not a tree: every group has one item; {_prefix_advice(body)}.", body[0][0]
        )
        return
    if kind == "edges":
        _read_edges(draft, body)
    elif kind == "csv":
        read_rows(draft, body, headings)
        if header is None and headings is None and _stands_apart(body) and not _stands_apart(body[1:]):
            draft.report(
                "note", "the first line shares no group with the others; delete it if it is a header.", body[0][0]
            )


def _nodes(body: NumberedRows, columns: Columns) -> list[Node]:
    def cell(cells: list[str], place: int | None) -> str:
        return cells[place].strip() if place is not None and place < len(cells) else ""

    return [
        (cell(cells, columns.key), cell(cells, columns.parent), cell(cells, columns.name), line) for line, cells in body
    ]


def _are_item_and_path(body: NumberedRows) -> bool:
    """``SKU1,Pets > Birds``: an item and its path from the root."""
    return all(len(cells) == 2 and cells[0] for _, cells in body) and sum(
        " > " in cells[1] for _, cells in body
    ) * 2 > len(body)


def _is_code_list(body: NumberedRows) -> bool:
    """Two columns in which nothing on the right comes twice, and nothing stands on both sides."""
    pairs = [(_trimmed(cells)) for _, cells in body]
    if len(pairs) < LEAST_CODES or any(len(pair) != 2 for pair in pairs):
        return False
    names = [pair[1] for pair in pairs]
    return len(set(names)) >= 0.95 * len(names) and not {pair[0] for pair in pairs} & set(names)


def _prefix_advice(body: NumberedRows) -> str:
    for place in (0, 1):
        codes = [cells[place] for _, cells in body]
        if looks_like_codes(codes):
            return f"use --hierarchy {advised_hierarchy(codes)}, which fits these codes"
    return "add a column of groups that several items share"


def _what_one_column_is(labels: list[str]) -> str:
    if len(labels) >= LEAST_CODES and looks_like_codes(labels):
        return f"a list of codes, not a tree; use --hierarchy {advised_hierarchy(labels)}, which fits these codes."
    return "no delimiter found (;, comma or tab); name it, or the format."


def detect_delimiter(text: str) -> str:
    """The character that cuts most rows."""
    sample = "\n".join(line for _, line in numbered_lines(text)[:500])

    def n_rows_split(delimiter: str) -> int:
        try:
            return sum(len(row) > 1 for row in csv.reader(io.StringIO(sample), delimiter=delimiter))
        except csv.Error:
            return 0

    return max(DELIMITERS, key=n_rows_split)


def parse_rows(draft: Draft, text: str, delimiter: str) -> NumberedRows:
    """Rows that are not empty, with their lines."""
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


def _looks_like_header(rows: NumberedRows) -> bool:
    """Known headings, or a row without the root ``*`` of all others; and no heading recurs as a label of its column."""
    if not _stands_apart(rows):
        return False
    first = [cell.strip().lower() for cell in _trimmed(rows[0][1])]
    named = (
        first[0] in _LEAF_HEADINGS
        or tuple(first) in _EDGE_HEADINGS
        or (len(rows) > 2 and any(set(re.split(r"[^a-z]+", cell)) & _GROUP_HEADINGS for cell in first[1:]))
    )
    levels = len(first) > 1 and all(_LEVEL_HEADING.fullmatch(cell) for cell in first[1:])
    starless = len(rows) > 1 and first[-1] != "*" and all(_trimmed(cells)[-1] == "*" for _, cells in rows[1:])
    return named or levels or starless


def _stands_apart(rows: NumberedRows) -> bool:
    """Whether the first row shares no group with any other."""
    first = set(list(enumerate(_trimmed(rows[0][1])))[1:]) if rows else set()
    return not any(first.intersection(enumerate(_trimmed(cells))) for _, cells in rows[1:])


def _kind_of_table(draft: Draft, headings: Sequence[str] | None, body: NumberedRows) -> str:
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
            f'"{min(named_like_their_group)}" is below itself, "{min(both - named_like_their_group)}" is on both sides'
        )
        text = f"rows from leaf to root, or edges from child to parent? {which}; set --hierarchy-format csv or edges."
        draft.report("error", text, body[0][0])
        return ""
    return "edges"


def _trimmed(cells: Sequence[str]) -> list[str]:
    """Without the empty cells at the end: short rows are shallow branches."""
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return list(cells[:end])


def read_rows(draft: Draft, body: NumberedRows, headings: Sequence[str] | None) -> None:
    """Leaf-to-root rows."""
    number: dict[tuple[int, str, bool], int] = {}  # (parent, label, is a leaf)
    row_of_item: dict[str, tuple[int, list[str]]] = {}
    for line, cells in body:
        path = _trimmed(cells)
        if headings is not None and len(path) > len(headings):
            draft.report("error", f"{len(path)} fields below a header of {len(headings)}; check the quotation.", line)
            continue
        if "" in path:
            what = f'level {path.index("")} of item "{path[0]}"' if path[0] else "the item"
            draft.report("error", f"{what} is empty; fill it in, or omit cells at the end of the row only.", line)
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


def _read_edges(draft: Draft, body: NumberedRows) -> None:
    links: list[Link] = []
    for line, cells in body:
        child, *above = _trimmed(cells)
        if len(above) > 1:
            draft.report("error", f"{len(cells)} fields; an edge has two, child and parent.", line)
        elif not child:
            draft.report("error", f'a child of "{above[0]}" is empty; give it a name.', line)
        else:
            links.append((child, above[0] if above else None, line))
    read_links(draft, links)
