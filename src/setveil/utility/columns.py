"""What the columns of a release lost, and how far counts by columns and items together are off.

A question names values of some known columns, as a node of each column's hierarchy, and items: "women of 60 to 69 with
E11 and I10". It is drawn around a random record: each known column is asked for with probability 1/2 (at least one),
at a random level below the root, besides one or two items of the record. The answer adds up over the published
records how likely each fits: for a column the share of the covered values that are asked for, for an item 1 divided by
the number of items of the most specific label that covers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Transactions
from setveil.core.columns import Column
from setveil.releases import Release

ITEMS = 2  # most items of a question
RECORDS_TIMES_QUESTIONS = 100_000_000
QUESTIONS, FEWEST = 500, 50


def column_loss(original: Dataset, release: Release) -> dict[str, float | int | None]:
    """NCP of each known column and of all of them, discernibility and the mean size of a class; {} without columns.

    A value that covers several values of the hierarchy loses their share of all its values, any other nothing.
    """
    published = release.published.columns
    if published is None or original.columns is None or not release.published.n_records:
        return {}
    losses = {}
    for column in published.with_role("known"):
        if column.name in original.columns.names:
            sizes, n_values = covered_sizes(column, original.columns[column.name])
            losses[column.name] = float(np.where(sizes > 1, sizes / n_values, 0.0)[column.codes].mean())
    if not losses:
        return {}
    class_sizes = np.bincount(published.classes(release.published.n_records)).astype(np.int64)
    return {
        "ncp_columns": sum(losses.values()) / len(losses),
        **{f"{OF_COLUMN}{name}": loss for name, loss in losses.items()},
        "discernibility": int((class_sizes**2).sum()),
        "n_classes": len(class_sizes),
    }


OF_COLUMN = "ncp_of_column:"  # and the name of the column


def covered_sizes(published: Column, original: Column) -> tuple[NDArray[np.int64], int]:
    """How many values each published value covers, and how many the hierarchy has. Files do not name all of them, the
    hierarchy of the original does.
    """
    tree = original.tree
    nodes = _nodes(published, original)
    return np.where(nodes >= 0, tree.n_leaves[nodes], published.sizes), tree.n_items


def _nodes(published: Column, original: Column) -> NDArray[np.int64]:
    """The node of the original's hierarchy that each published value names, -1 for others; int64[values]."""
    node_of = {label: node for node, label in enumerate(original.tree.published_labels)}
    return np.array([node_of.get(value, -1) for value in published.values], dtype=np.int64)


class Question(NamedTuple):
    """How many people have values below these nodes, and these items?"""

    nodes: dict[str, int]  # by column, of its hierarchy
    items: list[int]


def mixed_errors(original: Transactions, release: Release, seed: int = 0) -> dict[str, Any]:
    """Relative errors of counts by columns and items together; {} where no known column is published."""
    names = [column.name for column in release.rows.columns or () if column.role == "known"]
    if original.columns is None or not names or not set(names) <= set(original.columns.names):
        return {}
    n = min(QUESTIONS, max(FEWEST, RECORDS_TIMES_QUESTIONS // max(original.n_records, 1)))
    asked = draw_questions(original, names, n, seed)
    if not asked:
        return {}
    answers = Answers(original, release, names)
    return summary_of(np.array([answers.relative_error(question) for question in asked]))


def summary_of(errors: NDArray[np.float64]) -> dict[str, Any]:
    """How large errors are: ``deciles`` are those that 10 %, 20 % … 90 % of them do not exceed."""
    return {
        "median": float(np.median(errors)),
        "mean": float(errors.mean()),
        "largest": float(errors.max()),
        "deciles": np.quantile(errors, np.arange(1, 10) / 10).tolist(),
    }


def draw_questions(original: Transactions, names: Sequence[str], n: int, seed: int = 0) -> list[Question]:
    """Questions around random records with items."""
    assert original.columns is not None
    filled = np.flatnonzero(original.lengths)
    if not len(filled):
        return []
    random = np.random.default_rng((seed, 7))
    found = []
    for record in random.choice(filled, n).tolist():
        chosen = [name for name in names if random.random() < 0.5] or [names[int(random.integers(len(names)))]]
        nodes = {}
        for name in chosen:
            column = original.columns[name]
            path = column.tree.ancestors(int(column.leaves[column.codes[record]]))
            below = [node for node in path if column.tree.parent[node] >= 0] or path[-1:]
            nodes[name] = int(below[int(random.integers(len(below)))])
        own = original.record(record)
        n_items = min(int(random.integers(1, ITEMS + 1)), len(own))
        found.append(Question(nodes, sorted(random.choice(own, n_items, replace=False).tolist())))
    return found


class Answers:
    """Counts in the original, and what a release says about them."""

    def __init__(self, original: Transactions, release: Release, names: Sequence[str]) -> None:
        self.original, self.release = original, release
        columns = release.rows.columns
        assert columns is not None
        known = columns.named(names)
        self.classes = known.classes(original.n_records)
        self.first = np.unique(self.classes, return_index=True)[1]  # [classes] a record of each
        self.images = release.meaning.images(original.vocabulary)
        self.lists = release.rows.inverted()
        self.true_lists = original.inverted()
        self.published = known
        self.nodes = {column.name: _nodes(column, self._column(column.name)) for column in known}

    def _column(self, name: str) -> Column:
        assert self.original.columns is not None
        return self.original.columns[name]

    def relative_error(self, question: Question) -> float:
        """|answer - truth| / truth."""
        truth = self.truth(question)
        return abs(self.answer(question) - truth) / max(truth, 1)

    def truth(self, question: Question) -> int:
        """The count in the original."""
        fits = np.ones(self.original.n_records, dtype=bool)
        for item in question.items:
            shows = np.zeros(self.original.n_records, dtype=bool)
            shows[self.true_lists[1][self.true_lists[0][item] : self.true_lists[0][item + 1]]] = True
            fits &= shows
        for name, node in question.nodes.items():
            column = self._column(name)
            is_below = np.zeros(column.tree.n_items, dtype=bool)
            is_below[column.tree.leaves(node)] = True
            fits &= is_below[column.leaves][column.codes]
        return int(fits.sum())

    def answer(self, question: Question) -> float:
        """The count that an analyst expects who has the release and the hierarchies."""
        by_class = np.ones(len(self.first))
        for name, node in question.nodes.items():
            by_class *= self._share_below(name, node)[self.published[name].codes[self.first]]
        chance = by_class[self.classes]
        for item in question.items:
            chance *= self._shown(item)
        return float(chance.sum())

    def _share_below(self, name: str, node: int) -> NDArray[np.float64]:
        """Of each published value the share of its covered values that are below a node, float64[values]."""
        tree = self._column(name).tree
        is_below = np.zeros(tree.n_items, dtype=bool)
        is_below[tree.leaves(node)] = True
        return np.array([0.0 if own < 0 else float(is_below[tree.leaves(int(own))].mean()) for own in self.nodes[name]])

    def _shown(self, item: int) -> NDArray[np.float64]:
        """How likely each record has an item, float64[records]."""
        likely = np.zeros(self.original.n_records)
        image = int(self.images.of_item[item])
        if image < 0:
            return likely
        labels = self.images.published_items[self.images.indptr[image] : self.images.indptr[image + 1]]
        sizes = self.release.meaning.sizes
        for label in labels[np.argsort(-sizes[labels], kind="stable")].tolist():  # the most specific comes last
            likely[self.lists[1][self.lists[0][label] : self.lists[0][label + 1]]] = 1 / sizes[label]
        return likely
