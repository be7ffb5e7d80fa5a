"""Hierarchies from Python objects: dicts and frames, read and checked like files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from setveil.core.hierarchy import Hierarchy
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, one_line
from setveil.io.hierarchies.drafts import Draft
from setveil.io.hierarchies.nodes import Link, read_links
from setveil.io.hierarchies.tables import read_rows, read_table


def hierarchy_of_object(obj: Any, items: Vocabulary) -> Hierarchy:
    """A dict (item → parent, item → ancestors from the nearest to the root, or group → members, also nested), or a
    frame with the columns of a hierarchy file. ``items`` are those of the data.
    """
    draft = Draft("hierarchy")
    if isinstance(obj, Mapping):
        _read_mapping(draft, obj, items)
    else:
        read_table(draft, _as_csv(obj), "", ",", True, items)
    return draft.tree(has_lines=False)


def _read_mapping(draft: Draft, tree: Mapping[Any, Any], items: Vocabulary) -> None:
    values = list(tree.values())
    if not values:
        raise InputError("hierarchy: the dict is empty; map every item to its parent.")
    if all(isinstance(value, str | int) for value in values):
        read_links(draft, [(str(child), str(parent), None) for child, parent in tree.items()])
    elif all(isinstance(value, list | tuple) for value in values) and any(str(key) in items for key in tree):
        read_rows(draft, [(0, [str(key), *map(str, above)]) for key, above in tree.items()], None)
    else:
        links = list(_links(tree, None))
        tops = [child for child, parent, _ in links if parent is None]
        if len(tops) > 1:  # several groups side by side need a root
            root = "*" if "*" not in {child for child, _, _ in links} else "all items"
            links = [(child, parent or root, line) for child, parent, line in links]
        read_links(draft, links)


def _links(tree: Any, parent: str | None) -> Iterator[Link]:
    """The links of nested groups, parents first."""
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield str(name), parent, None
            yield from _links(below, str(name))
    elif isinstance(tree, list | tuple | set | frozenset):
        for name in sorted(map(str, tree)) if isinstance(tree, set | frozenset) else map(str, tree):
            yield name, parent, None
    else:
        raise InputError(
            f'hierarchy: "{one_line(str(parent))}" has {type(tree).__name__} for members; give a list of items.'
        )


def _as_csv(frame: Any) -> str:
    """The cells of a frame as the text of a table with a header."""
    import polars as pl

    if type(frame).__module__.partition(".")[0] == "pandas":
        names, rows = [str(name) for name in frame.columns], frame.astype(object).itertuples(index=False)
    else:
        try:
            table = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise InputError(
                f"hierarchy: cannot read one from {type(frame).__name__}; give a Hierarchy, a file, a dict or a frame."
            ) from None
        names, rows = table.columns, table.iter_rows()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if cell is None or cell != cell else cell for cell in row] for row in rows)
    return text.getvalue()
