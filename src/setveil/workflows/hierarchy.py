"""What ``--hierarchy`` takes, made into a hierarchy that fits the data."""

from __future__ import annotations

from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError


def resolve_hierarchy(
    hierarchy: Hierarchy | str | None, data: Transactions, unknown_items: str = "error"
) -> Hierarchy | None:
    """A Hierarchy, a file, ``fanout:D``, ``fanout:D:even``, ``levels:N``, ``prefix:1,3``, ``auto`` or ``auto:METHOD``; checked against the data."""
    tree = _built(hierarchy, data) if isinstance(hierarchy, str) else hierarchy
    if tree is None:
        return None
    if unknown_items == "root":
        inner = set(tree.labels[tree.n_items :])
        strangers = [label for label in data.vocabulary if label not in tree.vocabulary and label not in inner]
        if strangers:
            tree = tree.with_items_below_root(strangers)
    tree.leaf_of_items(data.vocabulary)  # raises, naming the items that are missing
    return tree


def _built(source: str, data: Transactions) -> Hierarchy:
    kind, _, parameter = source.partition(":")
    if kind in ("fanout", "levels"):
        from setveil.taxonomies.balanced import from_words

        return from_words(source, data.vocabulary)
    if kind == "prefix":
        lengths = parameter.split(",")
        if not all(length.strip().isdigit() for length in lengths):
            raise InputError(f'--hierarchy {source}: write prefix lengths, as in "prefix:1,3,4".')
        return Hierarchy.prefix(data, [int(length) for length in lengths])
    if kind == "auto":
        return Hierarchy.auto(data, parameter)
    return Hierarchy.from_file(source)
