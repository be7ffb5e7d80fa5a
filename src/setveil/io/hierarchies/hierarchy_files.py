"""Hierarchy files: tables of several kinds, paths, outlines, tree numbers, Amnesia's text and JSON.

A file is first read into a draft: the nodes as the file tells them, and everything that is wrong, with line numbers.
``read_hierarchy`` raises the first error, ``check_hierarchy`` lists all problems, ``write_hierarchy`` is the way back.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike

from setveil.core.hierarchy import Hierarchy
from setveil.core.provenance import TableForm
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError
from setveil.io.hierarchies.amnesia import read_amnesia, read_json
from setveil.io.hierarchies.columns import read_columns
from setveil.io.hierarchies.drafts import Draft, Problem, numbered_lines
from setveil.io.hierarchies.outlines import (
    looks_like_outline,
    looks_like_paths,
    looks_like_tree_numbers,
    read_outline,
    read_path_lines,
    read_tree_numbers,
)
from setveil.io.hierarchies.sources import FILE_FORMATS
from setveil.io.hierarchies.tables import read_table
from setveil.io.hierarchies.text import load_text
from setveil.io.hierarchies.writing import FORMATS, write_hierarchy
from setveil.io.options import check_delimiter

__all__ = ["FORMATS", "Problem", "check_hierarchy", "read_hierarchy", "write_hierarchy"]

READERS = {"amnesia": read_amnesia, "paths": read_path_lines, "indented": read_outline, "mesh": read_tree_numbers}


def read_hierarchy(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    strip: bool = False,
    vocabulary: Vocabulary | None = None,
) -> Hierarchy:
    """Read a hierarchy from a file, plain or gzipped; what is not given is detected from the content.

    ``columns`` takes it from columns of a table, leaf to top or top to leaf, by name or by number from 1; ``strip``
    takes blanks off their labels. ``vocabulary`` has the items of the data: it decides whether nodes that have an id
    and a name are called by the one or the other.
    """
    form = TableForm(delimiter and check_delimiter(delimiter), header is not False, encoding, strip)
    return _read_draft(path, format, header, columns, form, vocabulary).tree()


def check_hierarchy(
    path: str | PathLike[str],
    data_vocabulary: Vocabulary | None = None,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    strip: bool = False,
) -> list[Problem]:
    """Everything that is wrong with a hierarchy file, by itself and for the items of a data set; errors first.

    Many problems of one kind are one, with a count.

    Args:
        path: the file.
        data_vocabulary: the items that must be in it.
        format: of the file, if it is not to be detected.
        delimiter: of its fields.
        header: whether its first line is one.
        columns: those that hold the hierarchy, by name or by number from 1.
        encoding: of the file, if it is neither UTF-8 nor to be detected.
        strip: take blanks off the labels in columns.

    Returns:
        The problems; empty if there is none.

    Examples:
        >>> import setveil as sv
        >>> [problem.severity for problem in sv.check_hierarchy("taxonomy.csv", sv.read("baskets.txt").vocabulary)]
        ['note']
    """
    form = TableForm(delimiter and check_delimiter(delimiter), header is not False, encoding, strip)
    draft = _read_draft(path, format, header, columns, form, data_vocabulary)
    n_before = len(draft.sorted_problems("error"))
    draft.look_for_cycles()
    draft.look_for_repeated_labels()
    draft.look_for_odd_labels()
    draft.look_for_unary_nodes()
    if not n_before:
        draft.look_for_uselessness()
    if data_vocabulary is not None and draft.labels:
        draft.compare_with_data(data_vocabulary)
    return draft.folded_problems("error", "warning", "note")


def _read_draft(
    path: str | PathLike[str],
    format: str | None,
    header: bool | None,
    columns: Sequence[str] | None,
    form: TableForm,
    vocabulary: Vocabulary | None,
) -> Draft:
    if format is not None and format not in FILE_FORMATS:
        raise InputError(f'unknown hierarchy format "{format}"; choose one of {", ".join(FILE_FORMATS)}.')
    draft = Draft(os.fspath(path))
    if columns is not None:
        read_columns(draft, path, columns, form)
        return draft
    text = load_text(path, form.encoding)
    format = format or _detect_format(draft.file, text)
    if format == "amnesia-json":
        read_json(draft, text, vocabulary)
    elif format in READERS:
        READERS[format](draft, text)
    else:
        read_table(draft, text, format, form.delimiter, header, vocabulary)
    if not draft.labels and not draft.problems:
        draft.report("error", "the hierarchy has no nodes.")
    return draft


def _detect_format(file: str, text: str) -> str:
    """Whatever is no table by its looks; ``""`` for a table, whose kind its rows decide."""
    name = file.lower().removesuffix(".gz")
    if name.endswith(".json") or text.lstrip().startswith(("{", "[{", "[\n")):
        return "amnesia-json"
    lines = [words for _, line in numbered_lines(text) if (words := line.split())]
    if not lines:  # signs that count as blanks here only
        return ""
    if lines[0][0].lower() in ("distinct", "range") and len(lines[0]) == 1:
        return "amnesia"
    body = [words for words in lines if words[0].lower() not in ("name", "type", "height")]
    if body and all(len(words) > 2 and words[1] == "has" for words in body):
        return "amnesia"
    if looks_like_tree_numbers(text):
        return "mesh"
    if looks_like_paths(text):
        return "paths"
    return "indented" if looks_like_outline(text) else ""
