"""What the text of a cell says: an item is there, is not there, or neither."""

from __future__ import annotations

import re
from collections.abc import Iterable

PRESENT = frozenset({"true", "t", "yes", "y", "x", "✓", "present"})
ABSENT = frozenset({"false", "f", "no", "n", "absent"})
UNKNOWN = frozenset({"", "?"})  # nothing is said about the item
MISSING = frozenset({"NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-", "#N/A", "."})
NOBODY = frozenset(  # in place of an id
    spelt
    for word in (*MISSING, "missing", "unknown", "\\N")
    for spelt in (word, word.lower(), word.upper(), word.capitalize())
)
COUNT = re.compile(r"[0-9]+(?:\.[0-9]*)?")
WHOLE = re.compile(r"[0-9]+")
ROUNDED = re.compile(r"[0-9](?:[.,][0-9]+)?[eE]\+[0-9]+")


def is_present(cell: str) -> bool | None:
    """Whether a cell of a one-hot table says that its item is there; None if it says something else."""
    word = cell.strip().lower()
    if word in PRESENT:
        return True
    if word in ABSENT or not word:
        return False
    return float(word) > 0 if COUNT.fullmatch(word) else None


def are_rounded(cells: Iterable[str]) -> bool:
    """Whether most cells are numbers as a spreadsheet shows long ones: ``1.23457E+11``."""
    rounded = [bool(ROUNDED.fullmatch(cell.strip())) for cell in cells]
    return 2 * sum(rounded) > len(rounded)


def says_yes_or_no(cells: Iterable[str]) -> bool:
    """Whether the distinct cells of a column are 0 and 1, TRUE and FALSE, yes and no, ``t`` and ``?``, …: two answers,
    no third.
    """
    words = {cell.strip().lower() for cell in cells}
    if not words - UNKNOWN:
        return False
    if words - UNKNOWN <= {"0", "1"} or words - UNKNOWN <= {"0.0", "1.0"}:
        return True
    three = bool(words & PRESENT) and bool(words & ABSENT) and "?" in words  # such as votes: yes, no, did not vote
    return words <= PRESENT | ABSENT | UNKNOWN and not three


def are_counts(cells: Iterable[str]) -> bool:
    """Whether the distinct cells of a column are whole numbers from 0, empty cells aside."""
    return all(WHOLE.fullmatch(cell.strip()) for cell in cells if cell.strip())
