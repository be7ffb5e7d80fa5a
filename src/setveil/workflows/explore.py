"""Looking at data before anything is decided: a few records, items by name, how many people fit, what is rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from setveil.core import Transactions, Vocabulary
from setveil.core.progress import Progress, no_progress
from setveil.core.text_files import open_text
from setveil.errors import InputError, name_some
from setveil.models import KmAnonymity

RARE = 5  # people: an item of fewer is called rare


def first_records(data: Transactions, n: int = 10) -> list[tuple[str, list[str]]]:
    """The first records: the id, or the number where there is none, and the items."""
    part = data.select(np.arange(min(n, data.n_records)))
    names = part.ids or tuple(str(number) for number in range(1, part.n_records + 1))
    return list(zip(names, part.to_lists(), strict=True))


def overview(data: Transactions, n_common: int = 8) -> dict[str, Any]:
    """The shape of the data in a few figures, and the most common items with the number of people who have each."""
    supports = data.supports
    used = np.flatnonzero(supports)
    common = used[np.lexsort((used, -supports[used]))][:n_common]
    filled = data.lengths[data.lengths > 0]
    return {
        "median_length": float(np.median(filled)) if len(filled) else 0.0,
        "shortest": int(filled.min()) if len(filled) else 0,
        "longest": int(data.lengths.max(initial=0)),
        "rare_items": int((supports[used] < RARE).sum()),
        "rare_below": RARE,
        "common": [(data.vocabulary[item], int(supports[item])) for item in common.tolist()],
    }


def known_columns(data: Transactions, n_common: int = 4) -> list[dict[str, Any]]:
    """The columns beside the items: name, role, number of values, people without one, and the most common values."""
    found = []
    for column in data.columns or ():
        counts = column.counts
        common = np.lexsort((np.arange(len(counts)), -counts))[:n_common].tolist()
        found.append(
            {
                "name": column.name,
                "role": column.role,
                "values": int((counts > 0).sum()) - bool(column.missing),
                "missing": int(counts[column.values.number(column.missing)]) if column.missing else 0,
                "common": [(column.values[value], int(counts[value])) for value in common if counts[value]],
            }
        )
    return found


def find_items(data: Transactions, text: str, limit: int = 20) -> list[tuple[str, int]]:
    """Items whose label holds the text, and how many people have each; the most frequent first."""
    wanted = text.casefold().strip()
    found = [number for number, label in enumerate(data.vocabulary) if wanted in label.casefold()]
    found.sort(key=lambda number: (-int(data.supports[number]), number))
    return [(data.vocabulary[number], int(data.supports[number])) for number in found[:limit]]


def fitting(data: Transactions, labels: Sequence[str]) -> int:
    """How many people have all these items."""
    strangers = [label for label in labels if label not in data.vocabulary]
    if strangers:
        raise InputError(f"{name_some(strangers)} not in the data; check the spelling.")
    wanted = data.vocabulary.numbers(labels)
    n_before = np.concatenate(([0], np.cumsum(np.isin(data.items, wanted))))  # wanted items in front of each occurrence
    return int((n_before[data.indptr[1:]] - n_before[data.indptr[:-1]] == len(set(labels))).sum())


def rarest(
    data: Transactions, m: int = 2, limit: int = 12, progress: Progress = no_progress
) -> list[tuple[tuple[str, ...], int]]:
    """Combinations of at most ``m`` items that exactly one person has, none of whose parts is one; a few of all
    kinds.
    """
    from setveil.verify import minimal_violations

    found = minimal_violations(data, KmAnonymity(k=2, m=m), 100 * limit, progress)
    step = max(len(found) // limit, 1)  # neighbours in the list share their first item
    return [(violation.itemset, violation.support) for violation in found[::step][:limit]]


def lengths(data: Transactions) -> tuple[list[int], list[str]]:
    """How many people have so many items: counts, and the number or range of numbers each is about."""
    from setveil.utility.histograms import bin_starts

    longest = int(data.lengths.max(initial=0))
    edges = np.array([*bin_starts(longest), longest + 1])
    counts = np.histogram(data.lengths, edges)[0].tolist()
    bins = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), strict=True)
    labels = [str(low) if low == high else f"{low}–{high}" for low, high in bins]
    filled = [place for place, count in enumerate(counts) if count] or [0]
    part = slice(filled[0], filled[-1] + 1)
    return counts[part], labels[part]


class Column(NamedTuple):
    """A column of a table: its name, what it was taken for, and some of its cells."""

    name: str
    role: str  # "id", "item", "unused"; empty where nobody could tell
    cells: list[str]


def columns_of(path: str, options: Mapping[str, Any]) -> list[Column]:
    """The columns of a table as its first rows show them; none where the file is not a table with names."""
    from setveil.io.formats.base import Plan
    from setveil.io.options import ReadOptions
    from setveil.io.roles import Roles
    from setveil.io.source import Source
    from setveil.io.transactions.delimiters import choose_delimiter
    from setveil.io.transactions.detect import make_plan
    from setveil.io.transactions.tables import Look

    given = ReadOptions.of(options).checked()
    with Source(path, given.encoding) as source:
        plan: Plan | None = None
        try:
            plan = make_plan(source, given)
            if not _has_header(plan.layout):
                return []
        except InputError:
            if given.format is not None and not _has_header(given.format):
                return []
        layout = given.format if plan is None else plan.layout
        look = Look(source, replace(given, roles=Roles()), given.delimiter or choose_delimiter(source, layout, given))
    if not look.width or look.width < 2:
        return []

    def role(place: int) -> str:
        if plan is None:
            return ""
        stated = {column.place: column.role for column in plan.columns}
        if place in stated:
            return stated[place]
        return "id" if place == plan.id_place else "item" if place in plan.item_places else "unused"

    return [Column(name, role(place), look.column(place)[:3]) for place, name in enumerate(look.names)]


def _has_header(layout: str) -> bool:
    """Whether a layout is a delimited table whose first line names its columns."""
    from setveil.io.formats.registry import FORMATS

    return "no_header" in FORMATS[layout].takes


def options_of_roles(roles: Sequence[tuple[str, str]], layout: str | None) -> dict[str, Any]:
    """What to say to the reader so that columns are taken for what they are; ``roles``: name and role of each."""
    from setveil.io.formats.registry import is_grid

    ids, items = ([name for name, role in roles if role == wanted] for wanted in ("id", "item"))
    if len(ids) > 1:
        raise InputError(f"{name_some(ids)} cannot all identify people; choose one column.")
    if not items:
        raise InputError("no column is left for items; choose at least one item column.")
    told: dict[str, Any] = {"id_column": ids[0]} if ids else {}
    if len(items) == 1 and ids and layout not in ("onehot", "table"):
        return {**told, "format": "long", "item_column": items[0]}
    return {**told, "format": layout if is_grid(layout) else "wide", "item_columns": items}


class Fault(NamedTuple):
    """One thing that is wrong with a file, in its place."""

    severity: str
    line: int | None
    text: str  # that line, empty where it is about the whole file
    message: str


def faults_of_hierarchy(path: str, vocabulary: Vocabulary, limit: int = 30) -> list[Fault]:
    """Problems of a hierarchy file, by itself and for these items; errors first, without notes."""
    from setveil.io.hierarchies.reading import check_hierarchy

    problems = [problem for problem in check_hierarchy(path, vocabulary) if problem.severity != "note"][:limit]
    wanted = {problem.line for problem in problems if problem.line is not None}
    lines: dict[int, str] = {}
    if wanted:
        with open_text(path) as file:
            lines = {number: line.rstrip("\r\n") for number, line in enumerate(file, 1) if number in wanted}
    return [
        Fault(problem.severity, problem.line, lines.get(problem.line or 0, ""), problem.message) for problem in problems
    ]
