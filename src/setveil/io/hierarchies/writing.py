"""Hierarchies into files; reading them again (``io.hierarchies``) gives the same tree."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from setveil.core.hierarchy import Hierarchy
from setveil.errors import InputError, name_some

FORMATS = ("csv", "edges", "amnesia", "amnesia-json")


def write_hierarchy(hierarchy: Hierarchy, path: str | PathLike[str], format: str = "csv") -> None:
    """Write a hierarchy so that reading it gives the same tree; a tree that the format cannot express is an error."""
    writers = {"csv": _as_csv, "edges": _as_edges, "amnesia": _as_amnesia, "amnesia-json": _as_json}
    if format not in writers:
        raise InputError(f'unknown hierarchy format "{format}"; choose one of {", ".join(FORMATS)}.')
    content = writers[format](hierarchy).encode()
    if os.fspath(path).endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    Path(path).write_bytes(content)


def _as_csv(hierarchy: Hierarchy) -> str:
    """Leaf-to-root rows, filled up with empty cells; the header names the levels and shows the delimiter."""
    twins: set[str] = set()
    for children in hierarchy.children:
        groups = Counter(hierarchy.labels[child] for child in children if child >= hierarchy.n_items)
        twins.update(label for label, count in groups.items() if count > 1)
    if twins:
        text = f"two groups named {name_some(sorted(twins))} below one parent look the same in csv"
        raise InputError(f"{text}; write amnesia-json, or rename them.")
    width = hierarchy.height + 1
    rows = [["item", *(f"level {level}" for level in range(1, width))]]
    for leaf in hierarchy.leaf_order.tolist():
        path = [hierarchy.labels[node] for node in hierarchy.ancestors(leaf)]
        rows.append(path + [""] * (width - len(path)))
    return _as_delimited(rows)


def _as_edges(hierarchy: Hierarchy) -> str:
    _refuse_repeated_labels(hierarchy, "edges")
    labels = hierarchy.labels
    below_root = hierarchy.in_preorder.tolist()[1:]
    return _as_delimited(
        [("child", "parent"), *((labels[node], labels[hierarchy.parent[node]]) for node in below_root)]
    )


def _as_delimited(rows: Iterable[Sequence[str]]) -> str:
    def cell(label: str) -> str:
        return '"' + label.replace('"', '""') + '"' if any(mark in label for mark in ',;\t"\r\n') else label

    return "".join(",".join(map(cell, row)) + "\n" for row in rows)


def _as_amnesia(hierarchy: Hierarchy) -> str:
    """Its lines run from the deepest groups to the root, one block per level."""
    _refuse_repeated_labels(hierarchy, "amnesia")
    unfit = [label for label in hierarchy.labels if label == "has" or label.split() != [label]]
    if unfit:
        text = f'the format amnesia separates names by blanks and the word "has"; {name_some(unfit)} cannot be written'
        raise InputError(f"{text}; use csv, edges or amnesia-json.")
    blocks = [f"distinct\nname hierarchy\ntype string\nheight {hierarchy.height + 1}\n"]
    groups = [node for node in hierarchy.in_preorder.tolist() if node >= hierarchy.n_items]
    for depth in range(hierarchy.height - 1, -1, -1):
        lines = []
        for node in groups:
            if hierarchy.depth[node] == depth:
                names = " ".join(hierarchy.labels[child] for child in hierarchy.children[node])
                lines.append(f"{hierarchy.labels[node]} has {names}\n")
        blocks.append("".join(lines))
    return "\n".join(blocks)


def _as_json(hierarchy: Hierarchy) -> str:
    ids = hierarchy.published_labels  # unique, and the label itself wherever labels are
    nodes, edges = [], []
    for node in hierarchy.in_preorder.tolist():
        nodes.append({"id": ids[node], "label": hierarchy.labels[node], "level": int(hierarchy.depth[node])})
        if node != hierarchy.root:
            edges.append({"from": ids[hierarchy.parent[node]], "to": ids[node]})
    return json.dumps({"type": "distinct", "nodeList": nodes, "edgeList": edges}, ensure_ascii=False, indent=1) + "\n"


def _refuse_repeated_labels(hierarchy: Hierarchy, format: str) -> None:
    twice = [label for label, count in Counter(hierarchy.labels).items() if count > 1]
    if twice:
        text = f"{format} needs a different label for every node, and {name_some(sorted(twice))} occurs twice"
        raise InputError(f"{text}; write csv or amnesia-json, or rename them.")
