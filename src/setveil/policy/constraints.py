"""Privacy constraints (one itemset per line) and utility constraints (one group of items per line).

Lines are delimited by commas and quoted as baskets are (RFC 4180); blank lines are passed over. An item may be a glob
(``493.*``) or a subtree of the hierarchy (``@subtree:Asthma``). In a utility group it stands for all items it means.
In a privacy constraint it stands for one of them at a time: ``493.*,250.00`` is one constraint for every code that
matches, because knowing one such code is what an attacker is likely to know.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from pathlib import Path

from setveil.core import Hierarchy, Vocabulary
from setveil.core.text_files import open_text
from setveil.errors import InputError, name_some, times
from setveil.policy.selection import select_items

MOST_CONSTRAINTS = 1_000_000  # that one line may stand for

Lists = Sequence[Sequence[str]]


def resolve_constraints(
    given: str | Path | Lists, vocabulary: Vocabulary, hierarchy: Hierarchy | None = None
) -> list[list[str]]:
    """Privacy constraints from a file or from lists, patterns expanded, each itemset once, in order."""
    chosen: dict[tuple[str, ...], None] = {}
    for where, line in _lines(given, "constraint"):
        choices = [meant([item], vocabulary, hierarchy, where) for item in line]
        n_meant = prod(len(choice) for choice in choices)
        if n_meant > MOST_CONSTRAINTS:
            raise InputError(
                f"{where}: matches {n_meant:,} constraints, more than {MOST_CONSTRAINTS:,}; use narrower patterns."
            )
        for itemset in product(*choices):
            chosen[tuple(sorted(set(itemset)))] = None
    if not any(chosen):
        raise InputError(
            "constraints: the list is empty, so nothing is protected; list the combinations that an attacker may know."
        )
    return [list(itemset) for itemset in chosen]


def resolve_utility(
    given: str | Path | Lists, vocabulary: Vocabulary, hierarchy: Hierarchy | None = None, rest: str | None = None
) -> list[list[str]]:
    """Utility groups from a file or from lists, patterns expanded.

    Items of the data in no group are an error, unless ``rest`` is "keep" (each stays alone) or "free" (together they
    form one more group).
    """
    if rest not in (None, "keep", "free"):
        raise InputError(f'utility_rest must be keep or free, not "{rest}".')
    groups: list[list[str]] = []
    owner: dict[str, str] = {}
    for where, line in _lines(given, "utility group"):
        group = meant(line, vocabulary, hierarchy, where)
        for item in group:
            if item in owner:
                raise InputError(f'{where}: item "{item}" is in {owner[item]} too; keep one.')
        owner.update(dict.fromkeys(group, where))
        groups.append(group)
    if owner and not any(item in vocabulary for item in owner):
        raise InputError(
            f"utility: no item of the list is in the data: {name_some(sorted(owner))}; check "
            "that the groups belong to it."
        )
    others = [label for label in vocabulary if label not in owner]
    if not others:
        return groups
    if rest == "keep":
        return groups + [[label] for label in others]
    if rest == "free":
        return [*groups, others]
    raise InputError(
        f"{times(len(others), 'item is', 'items are')} in no utility group: {name_some(others)}; add them to a group, "
        "or use --utility-rest keep (publish them unchanged) or free (they may be generalized together)."
    )


def write_lists(lists: Iterable[Sequence[str]], path: str | Path) -> int:
    """Constraints or groups as a file that ``resolve_constraints`` and ``resolve_utility`` read; returns how many."""
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        for labels in lists:
            writer.writerow(labels)
            count += 1
    return count


def meant(patterns: Sequence[str], vocabulary: Vocabulary, hierarchy: Hierarchy | None, where: str) -> list[str]:
    """``select_items``; errors say where the patterns stand."""
    try:
        return select_items(patterns, vocabulary, hierarchy)
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None


def _lines(given: str | Path | Lists, what: str) -> list[tuple[str, list[str]]]:
    """Each list with where it stands, for messages."""
    if isinstance(given, str | Path):
        return _read(given)
    lines = []
    for number, line in enumerate(given, start=1):
        if isinstance(line, str):
            raise InputError(f"{what} {number} is one string; write a list of items, [{line!r}].")
        labels = [str(label) for label in line]
        if not labels or "" in labels:
            raise InputError(f"{what} {number} is empty or has an empty item; name its items.")
        lines.append((f"{what} {number}", labels))
    return lines


def _read(path: str | Path) -> list[tuple[str, list[str]]]:
    lines = []
    try:
        with open_text(path) as source:
            for row in (rows := csv.reader(source, strict=True)):
                where = f"{path}:{rows.line_num}"
                labels = [field.strip() for field in row]
                if any("\0" in label for label in labels):
                    raise InputError(f"{where}: contains NUL bytes; use a text file.")
                if labels in ([], [""]):
                    continue
                if "" in labels:
                    raise InputError(f"{where}: has an empty item; remove the extra comma.")
                lines.append((where, labels))
    except csv.Error as problem:
        raise InputError(
            f"{path}: {problem}; quote items that contain commas or quotes, and close every quote."
        ) from None
    return lines
