"""Looking at data before anything is decided: a few records, items by name, how many people fit, what is rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions, Vocabulary
from setveil.core.columns import Column as DataColumn
from setveil.core.columns import Columns
from setveil.core.progress import Progress, no_progress
from setveil.core.provenance import VISITS
from setveil.core.text_files import open_text
from setveil.errors import InputError, name_some
from setveil.models import KmAnonymity

RARE = 5  # people: an item of fewer is called rare
WORKBOOKS = (".xlsx", ".xlsm")
OF_VISITS = 2  # the rank of ids of visits and orders


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


def names_of_codes(data: Transactions, path: str | None) -> dict[str, str]:
    """What stands beside codes on a page: names of items and categories from a list; of other items the block or
    chapter that their code belongs to.
    """
    from setveil.io.hierarchies.names import read_names
    from setveil.workflows.code_systems import groups_of_codes

    groups = groups_of_codes(data)
    blocks = ((label, next((group for group in above if " " in group), "")) for label, above in groups.items())
    names = {label: block.partition(" ")[2] for label, block in blocks if block}
    if path is None:
        return names
    return names | read_names(path, [*data.vocabulary, *{group for above in groups.values() for group in above}])


def as_visits(data: Transactions, options: Mapping[str, Any]) -> Transactions:
    """The same records, called visits where the name of their column says so and nobody said that they are people."""
    from setveil.io.roles import OLDER, OPTION_OF
    from setveil.io.transactions.headers import rank_of_ids

    reading = data.reading
    is_stated = any(name in options for name in (OPTION_OF["person"], *OLDER))
    if reading is None or is_stated or VISITS in reading.doubts or rank_of_ids(reading.id_column) != OF_VISITS:
        return data
    return replace(data, reading=replace(reading, doubts=(*reading.doubts, VISITS)))


def sheets_of(path: str) -> list[str]:
    """The names of the sheets where the file is an Excel workbook."""
    from setveil.io.workbooks import sheets_of

    file = Path(path)
    return sheets_of(file.read_bytes()) if file.suffix.lower() in WORKBOOKS and file.is_file() else []


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


def find_items(
    data: Transactions, text: str, names: Mapping[str, str] | None = None, limit: int = 20
) -> list[tuple[str, int]]:
    """Items whose label or name holds the text, and how many people have each; the most frequent first."""
    wanted, names = text.casefold().strip(), names or {}
    texts = (f"{label}\n{names.get(label, '')}".casefold() for label in data.vocabulary)
    found = [number for number, searched in enumerate(texts) if wanted in searched]
    found.sort(key=lambda number: (-int(data.supports[number]), number))
    return [(data.vocabulary[number], int(data.supports[number])) for number in found[:limit]]


def fitting(data: Transactions, labels: Sequence[str], values: Mapping[str, str] | None = None) -> int:
    """How many people have all these items, and these values in these columns."""
    unknown = [label for label in labels if label not in data.vocabulary]
    if unknown:
        raise InputError(f"{name_some(unknown)} not in the data; check the spelling.")
    wanted = data.vocabulary.numbers(labels)
    n_before = np.concatenate(([0], np.cumsum(np.isin(data.items, wanted))))  # wanted items in front of each occurrence
    fits = n_before[data.indptr[1:]] - n_before[data.indptr[:-1]] == len(set(labels))
    for name, value in (values or {}).items():
        assert data.columns is not None
        column = data.columns[name]
        fits &= column.codes == column.values.number(value)
    return int(fits.sum())


def column_values(data: Transactions, limit: int = 500) -> dict[str, list[str]]:
    """The values of each known column, in their order."""
    return {column.name: list(column.values)[:limit] for column in _known(data)}


def risk_with_columns(
    data: Transactions, names: Sequence[str], known: Sequence[int], progress: Progress = no_progress
) -> list[dict[str, Any]]:
    """The risk rows of attackers who know the values of these columns and some items of a person."""
    from setveil.workflows.assess import risk

    chosen = tuple(column for column in _known(data) if column.name in names)
    part = replace(data, columns=Columns(chosen) if chosen else None)
    return list(risk(part, known, k=2, inference=False, progress=progress).to_dict()["rows"])


def rare_people(data: Transactions, limit: int = 12) -> list[tuple[dict[str, str], list[str]]]:
    """Values of all known columns, or these and one item, that exactly one person has; a few of all kinds."""
    from setveil.risk.column_classes import ColumnClasses, items_by_class

    classes, columns = ColumnClasses.of(data), _known(data)
    if classes is None:
        return []
    is_alone = classes.sizes[classes.of_record] == 1
    within = items_by_class(data, classes)  # an item together with these values is an item of its own
    rare = np.flatnonzero((within.supports[within.items] == 1) & ~is_alone[data.owners])
    found: list[tuple[int, list[str]]] = [(record, []) for record in _some(np.flatnonzero(is_alone), limit // 3)]
    for place in _some(rare, limit - len(found)):
        found.append((int(data.owners[place]), [data.vocabulary[int(data.items[place])]]))
    return [({one.name: one.values[int(one.codes[record])] for one in columns}, items) for record, items in found]


def _known(data: Transactions) -> list[DataColumn]:
    return list(data.columns.with_role("known")) if data.columns else []


def _some(numbers: NDArray[np.int64], limit: int) -> list[int]:
    """At most so many, from the first to the last."""
    return [int(number) for number in numbers[:: max(-(-len(numbers) // max(limit, 1)), 1)][:limit]]


def rarest(
    data: Transactions, m: int = 2, limit: int = 12, progress: Progress = no_progress
) -> list[tuple[tuple[str, ...], int]]:
    """Combinations of at most ``m`` items that exactly one person has, none of whose parts is one; a few of all
    kinds.
    """
    from setveil.verify import minimal_violations

    data = replace(data, columns=None)  # of items alone
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


def columns_of(path: str, options: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The columns of a table, each with the role that the options state or else with the one that is proposed, and
    what only the owner can answer. No columns where the file is not a table.

    ``key`` is what an option calls a column: its name, or its number from 1 where the name does not do.
    """
    from setveil.io.options import READING
    from setveil.io.roles import OLDER, as_tables
    from setveil.workflows.roles import roles

    says_roles = {name for name, option in READING.items() if option.is_role} | set(OLDER)
    try:
        found = roles(path, **{name: value for name, value in options.items() if name not in says_roles})
    except InputError:
        return [], []
    stated = as_tables({name: value for name, value in options.items() if name in says_roles})
    names = [one.name for one in found.columns]
    columns = []
    for one in found.columns:
        is_plain = names.count(one.name) == 1 and one.name == one.name.strip() and not set(one.name) & set(",*?[=")
        key = one.name if one.name and is_plain else str(one.place + 1)
        said = next((table for name, table in stated.items() if name != "" and fnmatchcase(key, name)), {})
        columns.append(
            {
                "name": one.name,
                "key": key,
                "role": said.get("role", "drop") if stated else one.role,
                "hierarchy": said.get("hierarchy", "") if stated else one.hierarchy,
                "proposed": one.role,
                "reason": one.reason,
                "question": one.question,
                "looks_like": one.looks_like,
                "code_system": one.code_system,
                "n_values": one.n_values,
                "missing": one.missing,
                "unique": one.unique,
                "examples": list(one.examples),
            }
        )
    return columns, [] if stated else list(found.questions)


class Fault(NamedTuple):
    """One thing that is wrong with a file, in its place."""

    severity: str
    line: int | None
    text: str  # that line, empty where it is about the whole file
    message: str


def faults_of_hierarchy(path: str, vocabulary: Vocabulary, limit: int = 30) -> list[Fault]:
    """Problems of a hierarchy file, by itself and for these items; errors first, without notes."""
    from setveil.io.hierarchies.hierarchy_files import check_hierarchy

    problems = [problem for problem in check_hierarchy(path, vocabulary) if problem.severity != "note"][:limit]
    wanted = {problem.line for problem in problems if problem.line is not None}
    lines: dict[int, str] = {}
    if wanted:
        with open_text(path) as file:
            lines = {number: line.rstrip("\r\n") for number, line in enumerate(file, 1) if number in wanted}
    return [
        Fault(problem.severity, problem.line, lines.get(problem.line or 0, ""), problem.message) for problem in problems
    ]
