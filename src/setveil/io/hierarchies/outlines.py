"""Hierarchies as people write them down: paths, indented lists, tree numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from setveil.errors import name_some, times
from setveil.io.hierarchies.drafts import Draft, numbered_lines

Lines = Sequence[tuple[int, str]]

_TERM = re.compile(r"(.+?)\s*[;\t,|]\s*([A-Z][0-9]{2}(?:\.[0-9]{3})*)|([A-Z][0-9]{2}(?:\.[0-9]{3})*)\s*[;\t,|]\s*(.+)")
_NUMBERED = re.compile(r"[0-9]+ - (.+)")


def looks_like_paths(text: str) -> str:
    """What separates the steps of paths, one path per line: ``>`` or ``/``; empty if lines are no paths."""
    lines = [line for _, line in _content(text)]
    if sum(" > " in line for line in lines) * 2 >= len(lines) and len(lines) > 1:
        n_cells = sum(_has_cells(line.split(" > ")) for line in lines)
        return ">" if n_cells < 0.9 * len(lines) else ""
    slashed = [line for line in lines if re.fullmatch(r"/?[^/;\t,]+(?:/[^/;\t,]+)+/?", line.strip())]
    return "/" if len(slashed) * 10 >= 9 * len(lines) and len(lines) > 1 else ""


def _has_cells(steps: Sequence[str]) -> bool:
    """Whether a line is a row of a table: an item comes before its path, or ``>`` itself is a label."""
    return bool(re.search(r"[,;\t]", steps[0])) or any(re.fullmatch(r"\s*[,;\t][\s,;]*", step) for step in steps)


def looks_like_outline(text: str) -> bool:
    """Whether lines are indented below others, and nothing else separates them."""
    lines = [line for _, line in numbered_lines(text)]
    n_indented = sum(line[:1] in " \t" for line in lines)
    n_table = sum(bool(re.search(r"[;,]|\S\t", line)) for line in lines)
    return lines[0][:1] not in " \t" and n_indented * 3 >= len(lines) and n_table * 5 <= len(lines)


def looks_like_tree_numbers(text: str) -> bool:
    """MeSH: a term and its place, such as ``Abdomen;A01.923.047``."""
    lines = [line for _, line in numbered_lines(text)]
    found = [_TERM.fullmatch(line.strip()) for line in lines]
    return len(lines) > 1 and all(found) and any("." in line for line in lines)


def read_path_lines(draft: Draft, text: str) -> None:
    """One path per line from the root down; lines of inner nodes are fine, and so are numbers before a path (``12 - A
    > B``).
    """
    steps = looks_like_paths(text) or ">"
    paths: list[tuple[int, list[str]]] = []
    for line, content in _content(text):
        numbered = _NUMBERED.fullmatch(content.strip())
        words = (numbered.group(1) if numbered and steps == ">" else content).strip().strip("/" if steps == "/" else "")
        parts = [part.strip() for part in (re.split(r"\s*>\s*", words) if steps == ">" else words.split("/"))]
        if "" in parts:
            draft.report("error", "a step of the path is empty; name it.", line)
        else:
            paths.append((line, parts))
    read_paths(draft, paths)


def read_paths(draft: Draft, paths: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Paths from the root down. An item whose name comes below several groups is named by its whole path."""
    inner = {tuple(parts[:depth]) for _, parts in paths for depth in range(1, len(parts))}
    ends = {tuple(parts) for _, parts in paths} - inner
    shared = {name for name, count in Counter(path[-1] for path in ends).items() if count > 1}
    number: dict[tuple[str, ...], int] = {}
    for line, parts in paths:
        above = -1
        for depth in range(1, len(parts) + 1):
            path = tuple(parts[:depth])
            if path not in number:
                label = " > ".join(path) if path in ends and path[-1] in shared else path[-1]
                number[path] = draft.add(label, above, line)
            above = number[path]
    if shared:
        text = (
            f"{times(len(shared), 'item name is', 'item names are')} below several groups: "
            f"{name_some(sorted(shared), 3)}; "
            "the whole path is used as the name."
        )
        draft.report("warning", text, items=sorted(shared))


def read_outline(draft: Draft, text: str) -> None:
    """Every line stands below the nearest line above that is indented less."""
    above: list[tuple[int, int]] = []  # (indent, node)
    for line, content in numbered_lines(text):
        indent = len(content[: len(content) - len(content.lstrip())].expandtabs(8))
        label = re.sub(r"^[-*•]\s+", "", content.strip())
        while above and above[-1][0] >= indent:
            above.pop()
        node = draft.add(label, above[-1][1] if above else -1, line)
        above.append((indent, node))


def read_tree_numbers(draft: Draft, text: str) -> None:
    """A term per line with its tree number. A term with several places keeps the first; a tree has one place for
    everything.
    """
    positions: dict[str, tuple[str, int]] = {}  # tree number → (term, line)
    several: set[str] = set()
    known: set[str] = set()
    for line, content in numbered_lines(text):
        match = _TERM.fullmatch(content.strip())
        if match is None:
            draft.report("error", 'expected a term and its tree number, as "Abdomen;A01.923.047".', line)
            continue
        term, place = (match.group(1), match.group(2)) if match.group(2) else (match.group(4), match.group(3))
        if place in positions:
            draft.report("error", f"tree number {place} occurs twice; keep one.", line)
        positions[place] = (term.strip(), line)
    above = {place.rpartition(".")[0] for place in positions}
    number: dict[str, int] = {}
    for place in sorted(positions):
        term, line = positions[place]
        parts = place.split(".")
        parent = number.setdefault(place[0], -2)
        if parent == -2:
            parent = number[place[0]] = draft.add(place[0], -1, line)
        for depth in range(1, len(parts)):
            prefix = ".".join(parts[:depth])
            if prefix not in number:
                number[prefix] = draft.add(positions[prefix][0] if prefix in positions else prefix, parent, line)
            parent = number[prefix]
        if place not in above and term in known:
            several.add(term)
            continue
        if place not in above:
            known.add(term)
        if place not in number:
            number[place] = draft.add(term, parent, line)
    if several:
        text = (
            f"{times(len(several), 'term is', 'terms are')} in several places: {name_some(sorted(several), 3)}; the "
            "first one is used."
        )
        draft.report("warning", text, items=sorted(several))


def _content(text: str) -> list[tuple[int, str]]:
    """Lines without remarks."""
    return [(line, content) for line, content in numbered_lines(text) if not content.startswith("#")]
