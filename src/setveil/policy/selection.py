"""Naming items: by label, by glob (``493.*``), by subtree (``@subtree:Asthma``).

A label that looks like a pattern is itself where the data has it. Elsewhere its signs stand in brackets: ``A[*]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from setveil.core import Hierarchy, Vocabulary
from setveil.core.text_files import open_text
from setveil.errors import InputError, name_some, one_line

SUBTREE = "@subtree:"
BY_COMMAS, ONE_PER_LINE = "separate items with commas", "write one item per line"
SEPARATORS = re.compile(r"[\s,;|]+")
FILE_NAME = re.compile(r"\.(?:txt|csv|tsv|dat|list|lst|toml|json)(?:\.gz)?$", re.IGNORECASE)
MARKS = "*?["
_BRACKETED = re.compile(r"\[([^!])\]")  # one sign in brackets is that sign


def read_items(path: str | Path) -> list[str]:
    """One item or pattern per line; blank lines are passed over."""
    with open_text(path) as file:
        text = file.read()
    if "\0" in text:
        raise InputError(f"{path}: contains NUL bytes; use a text file with one item per line.")
    return [line.strip() for line in text.splitlines() if line.strip()]


def refuse_file_names(given: Sequence[str], vocabulary: Vocabulary, what: str = "sensitive") -> None:
    """An item that is given, but does not occur, and looks like a file is a file that is not there. Where one item is
    given, a path without a usual ending is one, too.
    """
    for label in given:
        looks_like_a_file = FILE_NAME.search(label) or (len(given) == 1 and ("/" in label or "\\" in label))
        if label not in vocabulary and not label.startswith(SUBTREE) and looks_like_a_file:
            raise InputError(f'{what}: there is no file "{one_line(label)}", and no item of that name; check the path.')


def select_items(
    patterns: Sequence[str], vocabulary: Vocabulary, hierarchy: Hierarchy | None = None, apart: str = BY_COMMAS
) -> list[str]:
    """The labels meant by each pattern, in order. A label that exists is itself; an unknown plain label stays as it is.

    A glob or subtree that matches nothing is an error: it is a slip, and would silently protect nothing. So is an
    unknown label made of several that exist: ``apart`` says how to write them.
    """
    chosen: dict[str, None] = {}
    for pattern in patterns:
        for label in _matching(pattern, vocabulary, hierarchy, apart):
            chosen[label] = None
    return list(chosen)


def _matching(pattern: str, vocabulary: Vocabulary, hierarchy: Hierarchy | None, apart: str) -> list[str]:
    if pattern in vocabulary:
        return [pattern]
    if pattern.startswith(SUBTREE):
        return _subtree(pattern.removeprefix(SUBTREE), hierarchy)
    if _is_plain(pattern) and _BRACKETED.search(pattern):
        return [_BRACKETED.sub(r"\1", pattern)]
    if any(mark in pattern for mark in MARKS):
        found = [label for label in vocabulary if fnmatchcase(label, pattern)]
        if not found:
            raise InputError(f'no item of the data matches "{pattern}"; check the pattern.')
        return found
    parts = [part for part in SEPARATORS.split(pattern) if part]
    if len(parts) > 1 and all(part in vocabulary for part in parts):
        raise InputError(
            f'"{one_line(pattern)}" is not an item of the data, but {name_some(dict.fromkeys(parts))} are; {apart}.'
        )
    return [pattern]


def _is_plain(pattern: str) -> bool:
    """Whether a pattern is a label: all signs of patterns in it stand in brackets."""
    return not any(mark in _BRACKETED.sub("", pattern) for mark in MARKS)


def as_pattern(label: str, vocabulary: Vocabulary) -> str:
    """How a policy about data with this vocabulary names an item, so that ``select_items`` gives it back."""
    if label in vocabulary or (_is_plain(label) and not _BRACKETED.search(label) and not label.startswith(SUBTREE)):
        return label
    for n_bracketed in range(len(label) + 1):  # none at first; more where the data has an item of that very name
        pattern = "".join(
            f"[{sign}]" if sign in MARKS or (place < n_bracketed and sign != "!") else sign
            for place, sign in enumerate(label)
        )
        if pattern not in vocabulary and not pattern.startswith(SUBTREE):
            return pattern
    return label


def _subtree(name: str, hierarchy: Hierarchy | None) -> list[str]:
    if hierarchy is None:
        raise InputError(f'"{SUBTREE}{name}" needs a hierarchy; set --hierarchy FILE.')
    nodes = [node for node in range(hierarchy.n_items, hierarchy.n_nodes) if hierarchy.labels[node] == name]
    if not nodes:
        raise InputError(f'"{SUBTREE}{name}": the hierarchy has no inner node of that name.')
    return [hierarchy.labels[leaf] for node in nodes for leaf in sorted(hierarchy.leaves(node).tolist())]
