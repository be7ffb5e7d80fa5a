"""Names of codes from a list such as ``code,description``, for reports and the codebook."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike

from setveil.errors import InputError
from setveil.io.hierarchies.drafts import Draft
from setveil.io.hierarchies.tables import detect_delimiter, parse_rows
from setveil.io.hierarchies.text import load_text

HEADINGS = ("description", "long_title", "title", "long", "name", "label", "text", "meaning", "display")
TRIED = 2000  # rows, to find the column of the codes


def read_names(path: str | PathLike[str], labels: Iterable[str]) -> dict[str, str]:
    """Label → name, for the labels that a list has: items, and groups of codes such as ``E11.-``.

    The column of the codes is the one with most of the labels, with or without dots; names stand in the column that is
    called so, or else in the one with the longest texts.
    """
    text = load_text(path)
    draft = Draft(str(path))
    rows = parse_rows(draft, text, detect_delimiter(text))
    if draft.problems:
        raise InputError(str(draft.problems[0]))
    wanted = {label: _key(label) for label in labels}
    keys = set(wanted.values())
    width = max((len(cells) for _, cells in rows), default=0)
    found = [sum(len(cells) > place and _key(cells[place]) in keys for _, cells in rows) for place in range(width)]
    if width < 2 or not max(found):
        what = "has one column only" if width == 1 else "names none of the items"
        raise InputError(f"{path}: the list of names {what}; it needs a column of codes and one of descriptions.")
    code = found.index(max(found))
    name = _column_of_names([cells for _, cells in rows], code, width)
    names: dict[str, str] = {}
    for _, cells in rows:
        if len(cells) > max(code, name) and cells[name].strip():
            names.setdefault(_key(cells[code]), " ".join(cells[name].split()))
    return {label: names[key] for label, key in wanted.items() if key in names}


def _key(label: str) -> str:
    """A code whatever its case and dot; of a group its code."""
    return re.sub(r"[.\s]", "", label).rstrip("-").upper()


def _column_of_names(rows: list[list[str]], code: int, width: int) -> int:
    headings = [cell.strip().lower() for cell in rows[0]]
    for heading in HEADINGS:
        for place, cell in enumerate(headings):
            if place != code and heading in cell:
                return place

    def length(place: int) -> int:
        return sum(len(cells[place]) for cells in rows[:TRIED] if len(cells) > place)

    return max((place for place in range(width) if place != code), key=length)
