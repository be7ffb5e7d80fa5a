"""Nodes named by a key and the key of their parent: edges, and whatever else names parents."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.io.hierarchies.drafts import Draft

Link = tuple[str, str | None, int | None]  # (child, parent or None for a root, line)


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
