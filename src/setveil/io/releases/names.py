"""What published items are called in the files of a layout."""

from __future__ import annotations

import re
from collections.abc import Iterable

from setveil.core import Layout
from setveil.io.formats.registry import FORMATS
from setveil.releases import Release

LONGEST_SUM = 1000  # digits
FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a cell begins that a spreadsheet may take for a formula
GUARDED = re.compile(r"'+[=+\-@\t\r]")


def names_for(release: Release, layout: Layout) -> list[str]:
    """For each published item a label the layout can carry: integers in fimi and spmf, no delimiters elsewhere.

    Items of replacements and groupings are original items and keep their labels: no codebook could give them back.
    """
    if release.keeps_labels or release.published.columns:  # which have layouts that carry every label
        return list(release.published.vocabulary)
    return _integer_names(release) if FORMATS[layout.name].has_numbers else _text_names(release, layout)


def _integer_names(release: Release) -> list[str]:
    """Original items keep their integer; generalized ones get fresh integers above the largest, also of the
    hierarchy's, in hierarchy order.
    """
    labels = list(release.published.vocabulary)
    intact, domain = release.meaning.are_intact, release.domain_items
    numeric = all(_is_number(label) for label in domain)
    base = _largest(domain) if numeric else str(len(domain))
    own = {label: label if numeric else str(number) for number, label in enumerate(domain, start=1)}
    hierarchy = release.hierarchy
    if hierarchy is not None:
        # Every inner node has its number, used or not: numbers depend on the hierarchy only.
        inner = [int(node) for node in hierarchy.in_preorder if node >= hierarchy.n_items]
        taken = (hierarchy.labels[node] for node in inner)  # a group that is called 8 in the taxonomy is no other's 8
        base = _largest([base, *filter(_is_number, taken)])
        fresh = {hierarchy.published_labels[node]: _above(base, place) for place, node in enumerate(inner, start=1)}
    else:
        merged = [number for number, is_intact in enumerate(intact) if not is_intact]
        merged.sort(key=lambda number: int(release.meaning.cover[number][0]))
        fresh = {labels[number]: _above(base, place) for place, number in enumerate(merged, start=1)}
    return [own[label] if is_intact else fresh[label] for label, is_intact in zip(labels, intact, strict=True)]


def _is_number(label: str) -> bool:
    return label.isascii() and label.isdigit()


def _largest(numbers: Iterable[str]) -> str:
    """The largest whole number, without leading zeros; Python converts no more than some thousand digits."""
    return max((number.lstrip("0") for number in numbers), key=lambda number: (len(number), number), default="") or "0"


def _above(base: str, place: int) -> str:
    """The number ``base + place``; above a very long one, a number with one digit more."""
    return str(int(base) + place) if len(base) <= LONGEST_SUM else "1" + str(place).zfill(len(base))


def _text_names(release: Release, layout: Layout) -> list[str]:
    """Names without the layout's delimiters and line breaks; original items keep theirs, the writer quotes them."""
    labels = list(release.published.vocabulary)
    forbidden = layout.delimiter + '"\r\n' if "delimiter" in FORMATS[layout.name].details else ""
    if not forbidden:
        return labels
    intact = release.meaning.are_intact
    taken = {*labels, *release.domain_items}
    clean = str.maketrans(dict.fromkeys(forbidden, "_" if layout.delimiter == " " else " "))
    for place, (label, is_intact) in enumerate(zip(labels, intact, strict=True)):
        if is_intact or not set(forbidden) & set(label):
            continue
        base = candidate = " ".join(label.translate(clean).split())
        count = 2
        while candidate in taken:
            candidate, count = f"{base} ({count})", count + 1
        taken.add(candidate)
        labels[place] = candidate
    return labels


# -- spreadsheets -----------------------------------------------------------------------------------------------------


def guard(label: str) -> str:
    """A label no spreadsheet takes for a formula; ``unguard`` gives it back."""
    return "'" + label if FORMULA.match(label) else label


def unguard(label: str) -> str:
    """The label that was guarded."""
    return label[1:] if GUARDED.match(label) else label


def guarded_labels(release: Release, rows: Iterable[tuple[str, str]]) -> tuple[bool, bool]:
    """Whether a label in the files of a release is guarded, and whether one is bare that a spreadsheet may take for a
    formula; ``rows`` are those of its codebook.
    """
    labels = {label for row in rows for label in row} | release.counted_labels
    labels |= {value for column in release.published.columns or () for value in column.values}
    guarded = [GUARDED.match(label) is not None for label in labels if FORMULA.match(label)]
    return any(guarded), not all(guarded)
