"""Nodes that name their parent: edges from child to parent, and ``id, parent_id, name``, from a table or from JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from setveil.core.vocabulary import Vocabulary
from setveil.io.hierarchies.drafts import Draft

_PARENTS = frozenset({
    "parent", "parentid", "parentcode", "parentkey", "parentcategory", "parentcategoryid", "parentnode", "parentname",
    "broader",
})  # fmt: skip
_NAMES = ("name", "label", "title", "term", "description", "text", "category", "categoryname")
_KEYS = ("id", "nodeid", "categoryid", "code", "key", "node", "child", "item")
_NO_PARENT = frozenset({"", "0", "-1", "null", "none", "nan", "na", "-"})

Link = tuple[str, str | None, int | None]  # (child, parent or None for a root, line)
Node = tuple[str, str, str, int | None]  # (key, key of the parent, name, line)


class Columns(NamedTuple):
    """Where keys, parents and names stand; names may be missing."""

    key: int
    parent: int
    name: int | None


def find_columns(names: Sequence[str]) -> Columns | None:
    """The columns of a table of nodes, found by their names; None if none is a parent."""
    plain = ["".join(filter(str.isalnum, name.lower())) for name in names]
    parents = [place for place, name in enumerate(plain) if name in _PARENTS]
    if len(parents) != 1 or len(names) < 2:
        return None
    keys = [plain.index(name) for name in _KEYS if name in plain]
    labels = [plain.index(name) for name in _NAMES if name in plain]
    others = [place for place in range(len(names)) if place != parents[0]]
    key = keys[0] if keys else labels[0] if labels else others[0]
    name = next((place for place in labels if place != key), None)
    return Columns(key, parents[0], name)


def read_nodes(draft: Draft, nodes: Iterable[Node], vocabulary: Vocabulary | None = None) -> None:
    """A tree from its nodes. Items are called by their names, or by their keys where the data has those."""
    known = list(nodes)
    keys = {key for key, _, _, _ in known}
    links: list[Link] = []
    names: dict[str, str] = {}
    for key, parent, name, line in known:
        if not key:
            draft.report("error", "a node has no id; give it one.", line)
            continue
        if key in names:
            draft.report("error", f'node id "{key}" occurs twice; keep one.', line)
            continue
        names[key] = name or key
        if parent.lower() in _NO_PARENT and parent not in keys:
            links.append((key, None, line))
        elif parent not in keys:
            draft.report("error", f'the parent "{parent}" of "{name or key}" is not a node; add it.', line)
        else:
            links.append((key, None if parent == key else parent, line))
    groups = {parent for _, parent, _ in links if parent is not None}
    leaves = [key for key in names if key not in groups]
    if _are_known_by_key(leaves, names, vocabulary):
        names.update({key: key for key in leaves})
    read_links(draft, links, names)


def _are_known_by_key(leaves: Sequence[str], names: dict[str, str], vocabulary: Vocabulary | None) -> bool:
    """Whether the data has the leaves' keys rather than their names; without data, whether names do not tell them
    apart.
    """
    if vocabulary is not None:
        n_keys = sum(key in vocabulary for key in leaves)
        n_names = sum(names[key] in vocabulary for key in leaves)
        if n_keys != n_names:
            return n_keys > n_names
    return len({names[key] for key in leaves}) < len(leaves)


def read_links(draft: Draft, links: Sequence[Link], labels: dict[str, str] | None = None) -> None:
    """Nodes named by a key, which is their label unless ``labels`` has it; siblings keep the order of their links."""
    labels = labels or {}
    parent_of: dict[str, tuple[str, int | None]] = {}
    keys: dict[str, int | None] = {}  # in order of mention
    groups = {parent for _, parent, _ in links if parent is not None}
    for child, parent, line in links:
        for key in (child, parent):
            if key is not None:
                keys.setdefault(key, line)
        if parent is None:
            continue
        known = parent_of.setdefault(child, (parent, line))
        if known == (parent, line):
            continue
        kind, label = "group" if child in groups else "item", labels.get(child, child)
        if known[0] == parent:
            where = "" if known[1] is None else f" of line {known[1]}"
            draft.report("warning", f'{kind} "{label}" repeats its link{where}; delete one.', line)
        else:
            parents = ", ".join(f'"{labels.get(key, key)}"' for key in (known[0], parent))
            draft.report("error", f'{kind} "{label}" has two parents ({parents}); keep one.', line)
    number: dict[str, int] = {}
    for key in [*parent_of, *(key for key in keys if key not in parent_of)]:
        number[key] = draft.add(labels.get(key, key), -1, parent_of[key][1] if key in parent_of else keys[key])
    for key, (parent, _) in parent_of.items():
        draft.parents[number[key]] = number[parent]
