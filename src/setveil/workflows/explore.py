"""Looking at data before anything is decided: a few records, items by name, how many people fit, what is rare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setveil.core import Transactions, Vocabulary
from setveil.core.progress import Progress, no_progress
from setveil.core.text_files import open_text
from setveil.errors import InputError, name_some
from setveil.models import KmAnonymity


def first_records(data: Transactions, n: int = 10) -> list[tuple[str, list[str]]]:
    """The first records: the id, or the number where there is none, and the items."""
    part = data.select(np.arange(min(n, data.n_records)))
    names = part.ids or tuple(str(number) for number in range(1, part.n_records + 1))
    return list(zip(names, part.to_lists(), strict=True))


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


class Fault(NamedTuple):
    """One thing that is wrong with a file, in its place."""

    severity: str
    line: int | None
    text: str  # that line, empty where it is about the whole file
    message: str


def faults_of_hierarchy(path: str, vocabulary: Vocabulary, limit: int = 30) -> list[Fault]:
    """What is wrong with a hierarchy file, by itself and for these items; errors first, mere notes left out."""
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
