"""Whether published columns were made of those of the original: every published value covers the original one.

Messages name columns and values, never records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.core.columns import Column, Columns
from setveil.errors import name_some, one_line, times
from setveil.verify.columns import PublishedColumn, read_columns


@dataclass(frozen=True, eq=False)
class _Pair:
    """A column of the release and of the original."""

    ours: PublishedColumn
    theirs: PublishedColumn
    value: NDArray[np.int64]  # [fitting pairs] a value of the original
    label: NDArray[np.int64]  # [fitting pairs] a published value that covers it

    @property
    def where(self) -> str:
        return f'column "{one_line(self.ours.name)}"'


def check_columns(
    published: Columns | None,
    original: Columns | None,
    n_published: int,
    kept: NDArray[np.bool_],
    in_input_order: bool,
) -> list[str]:
    """Problems, one line each. ``kept``: the records of the original that are published, bool[n_original].

    Without the order of the original only what every faithful release fulfils is checked: how many records can have
    each published value, and each value of the original.
    """
    problems: list[str] = []
    theirs = {column.name: column for column in read_columns(original, len(kept))}
    for column, ours in zip(published or (), read_columns(published, n_published), strict=True):
        if ours.name not in theirs:
            problems.append(f'the original has no column "{one_line(ours.name)}"; state the same roles as in the run.')
            continue
        assert original is not None
        source = theirs[ours.name]
        source = PublishedColumn(source.name, source.role, source.values, source.codes[kept])
        fits, unknown = _fitting(column, original[ours.name], ours.values, source.values)
        pair = _Pair(ours, source, *np.array(fits, dtype=np.int64).reshape(-1, 2).T)
        if unknown:
            problems.append(
                f"{pair.where}: the hierarchy of the original has no value {name_some(unknown)}; read the original "
                "with the hierarchy of the run."
            )
        elif in_input_order:
            problems += _by_record(pair)
        else:
            problems += _by_counts(pair)
    return problems


def _fitting(
    column: Column, original: Column, published: Sequence[str], values: Sequence[str]
) -> tuple[list[tuple[int, int]], list[str]]:
    """Pairs of a value and what it may be published as; published values about which the files say too little."""
    number = {value: place for place, value in enumerate(values)}
    if column.cover is None:  # not generalized: every value is its own
        return [(number[value], place) for place, value in enumerate(published) if value in number], []
    covered = dict(zip(column.values, column.cover.to_lists(), strict=True))
    tree = original.tree
    node_of = {label: node for node, label in enumerate(tree.published_labels)}
    pairs, unknown = [], []
    for place, value in enumerate(published):
        names = set(covered[value])
        if value in column.unnamed:
            if value not in node_of:
                unknown.append(value)
                continue
            names |= {tree.labels[leaf] for leaf in tree.leaves(node_of[value]).tolist()}
        pairs += [(number[name], place) for name in names if name in number]
    return pairs, unknown


def _by_record(pair: _Pair) -> list[str]:
    width = max(len(pair.ours.values), 1)
    is_wrong = ~np.isin(pair.theirs.codes * width + pair.ours.codes, pair.value * width + pair.label)
    if not is_wrong.any():
        return []
    values = [pair.ours.values[code] for code in np.unique(pair.ours.codes[is_wrong]).tolist()]
    return [
        f"{pair.where}: {times(int(is_wrong.sum()), 'record')} published with a value that does not cover the original "
        f"one: {name_some(values)}."
    ]


def _by_counts(pair: _Pair) -> list[str]:
    ours = np.bincount(pair.ours.codes, minlength=len(pair.ours.values))
    theirs = np.bincount(pair.theirs.codes, minlength=len(pair.theirs.values))
    could_be, could_become = np.zeros(len(ours), dtype=np.int64), np.zeros(len(theirs), dtype=np.int64)
    np.add.at(could_be, pair.label, theirs[pair.value])
    np.add.at(could_become, pair.value, ours[pair.label])
    too_often, lost = np.flatnonzero(ours > could_be), np.flatnonzero(theirs > could_become)
    problems = []
    if len(too_often):
        values = [pair.ours.values[code] for code in too_often.tolist()]
        problems.append(f"{pair.where}: in more records than the original allows: published {name_some(values)}.")
    if len(lost):
        values = [pair.theirs.values[code] for code in lost.tolist()]
        problems.append(f"{pair.where}: not published for every record that has it: {name_some(values)}.")
    return problems
