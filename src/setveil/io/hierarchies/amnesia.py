"""Amnesia's text and JSON, and other JSON: nested objects, or a list of nodes with the id of their parent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from setveil.core.vocabulary import Vocabulary
from setveil.errors import name_some
from setveil.io.hierarchies.drafts import Draft, numbered_lines
from setveil.io.hierarchies.nodes import Columns, Link, Node, find_columns, read_links, read_nodes


def read_amnesia(draft: Draft, text: str) -> None:
    """``parent has child child …`` below a few lines about the hierarchy, words parted by blanks."""
    links: list[Link] = []
    for line, content in numbered_lines(text):
        words = content.split()
        if not links and (len(words) == 1 or words[1] != "has") and words[0].lower() in _AMNESIA_HEAD:
            if words[0].lower() == "range":
                draft.report("error", "a hierarchy of ranges; setveil takes hierarchies of distinct values.", line)
                return
            continue
        if len(words) < 3 or words[1] != "has":
            text = 'expected "parent has child child …" with names free of blanks; use csv for other names.'
            draft.report("error", text, line)
            continue
        links.extend((child, words[0], line) for child in words[2:])
    read_links(draft, links)


_AMNESIA_HEAD = {"distinct", "range", "name", "type", "height"}


def read_json(draft: Draft, text: str, vocabulary: Vocabulary | None = None) -> None:
    """Amnesia's graph of ``nodeList`` and ``edgeList``, nested objects with ``children``, or a list of nodes with
    their parents.
    """
    try:
        content = json.loads(text, parse_int=str)  # labels and ids, of any number of digits
    except json.JSONDecodeError as error:
        draft.report("error", f"not JSON ({error.msg}); check the file.", error.lineno)
        return
    except RecursionError:
        draft.report("error", "nested too deeply for JSON; use another format.")
        return
    if isinstance(content, dict) and "nodeList" in content:
        _read_graph(draft, content)
        return
    if isinstance(content, dict) and len(content) == 1 and isinstance(next(iter(content.values())), list):
        (content,) = content.values()  # {"categories": [ … ]}
    nodes = content if isinstance(content, list) else [content]
    names = list(dict.fromkeys(name for node in nodes if isinstance(node, dict) for name in node))
    columns = find_columns(names) if all(isinstance(node, dict) and "children" not in node for node in nodes) else None
    if columns is not None:
        read_nodes(draft, _listed_nodes(nodes, names, columns), vocabulary)
    else:
        _read_nested(draft, nodes)


def _listed_nodes(nodes: list[Any], names: list[str], columns: Columns) -> Iterator[Node]:
    def text_of(node: dict[str, Any], place: int | None) -> str:
        value = None if place is None else node.get(names[place])
        return "" if value is None or isinstance(value, list | dict | bool) else str(value)

    for node in nodes:
        yield text_of(node, columns.key), text_of(node, columns.parent), text_of(node, columns.name), None


def _read_graph(draft: Draft, content: dict[str, Any]) -> None:
    labels: dict[str, str] = {}
    links: list[Link] = []
    for node in _objects(draft, content.get("nodeList"), "nodeList"):
        key = _json_label(draft, node.get("id", node.get("label")), "the id of a node")
        label = _json_label(draft, node.get("label", node.get("id")), "the label of a node")
        if key in labels:
            draft.report("error", f'node id "{key}" occurs twice; keep one.')
        elif key and label:
            labels[key] = label
            links.append((key, None, None))
    for edge in _objects(draft, content.get("edgeList"), "edgeList"):
        parent, child = (_json_label(draft, edge.get(end), f'"{end}" of an edge') for end in ("from", "to"))
        unknown = [key for key in (parent, child) if key and key not in labels]
        if unknown:
            draft.report("error", f"an edge names {name_some(unknown)}, which is not a node id; add the node.")
        elif parent and child:
            links.append((child, parent, None))
    read_links(draft, links, labels)


def _read_nested(draft: Draft, content: list[Any]) -> None:
    stack = [(tree, -1) for tree in reversed(content)]
    while stack:
        tree, above = stack.pop()
        if not isinstance(tree, dict):
            tree = {"label": tree}  # children may be given by their names alone
        name = next((tree[key] for key in ("label", "name", "text", "id") if key in tree), None)
        label = _json_label(draft, name, '"label" of a node')
        if label:
            node = draft.add(label, above, None)
            children = tree.get("children") or []
            if isinstance(children, list):
                stack.extend((child, node) for child in reversed(children))
            else:
                draft.report("error", f'"children" of "{label}" is not a list; give a list of nodes.')


def _objects(draft: Draft, content: Any, name: str) -> Iterator[dict[str, Any]]:
    if not isinstance(content, list):
        draft.report("error", f'"{name}" is missing or not a list; see the formats in the documentation.')
        return
    for entry in content:
        if isinstance(entry, dict):
            yield entry
        else:
            draft.report("error", f'an entry of "{name}" is not an object; see the formats in the documentation.')


def _json_label(draft: Draft, value: Any, what: str) -> str:
    """A label or id as text; ``""`` after an error."""
    if isinstance(value, str) and value:
        return value
    draft.report("error", f"{what} is missing, empty or neither text nor an integer; give it a name.")
    return ""
