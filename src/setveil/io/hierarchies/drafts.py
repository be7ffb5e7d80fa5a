"""What a hierarchy file says, before it is known whether it is a tree, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from setveil.core.vocabulary import Vocabulary
from setveil.errors import name_some

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a hierarchy file, or worth knowing; only errors keep it from being read."""

    severity: Severity
    message: str  # what, and how to fix it
    file: str
    line: int | None = None
    items: tuple[str, ...] = ()  # all labels concerned, where the message names only some

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.message}"


@dataclass
class Draft:
    """Nodes as a file tells them, before it is known whether they form a tree."""

    file: str
    labels: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # -1 for a root
    lines: list[int | None] = field(default_factory=list)  # where the node was given its parent
    problems: list[Problem] = field(default_factory=list)

    def add(self, label: str, parent: int, line: int | None) -> int:
        self.labels.append(label)
        self.parents.append(parent)
        self.lines.append(line)
        return len(self.labels) - 1

    def report(self, severity: Severity, message: str, line: int | None = None, items: Iterable[str] = ()) -> None:
        self.problems.append(Problem(severity, message, self.file, line, tuple(items)))

    def sorted_problems(self, *severities: Severity) -> list[Problem]:
        chosen = [problem for problem in self.problems if problem.severity in severities]
        return sorted(chosen, key=lambda problem: (severities.index(problem.severity), problem.line or 0))

    def n_children(self) -> list[int]:
        counts = [0] * len(self.labels)
        for parent in self.parents:
            if parent >= 0:
                counts[parent] += 1
        return counts

    def look_for_cycles(self) -> None:
        state = [0] * len(self.labels)  # 0 not seen, else the number of the walk that saw it
        for start in range(len(self.labels)):
            node = start
            while node >= 0 and not state[node]:
                state[node] = start + 1
                node = self.parents[node]
            if node >= 0 and state[node] == start + 1:  # this walk met its own trace
                cycle = [node]
                while self.parents[cycle[-1]] != node:
                    cycle.append(self.parents[cycle[-1]])
                chain = " → ".join(f'"{self.labels[member]}"' for member in [*cycle[:6], node])
                lines = [self.lines[member] or 0 for member in cycle]
                self.report("error", f"{chain} is a cycle; take one of these links out.", max(lines) or None)

    def look_for_repeated_labels(self) -> None:
        nodes: dict[str, list[int]] = {}
        for node, label in enumerate(self.labels):
            nodes.setdefault(label, []).append(node)
        n_children = self.n_children()
        for label, same in nodes.items():
            leaves = [node for node in same if n_children[node] == 0]
            line = self.lines[same[-1]]
            if len(leaves) > 1:
                above = name_some(self._parent_label(node) for node in leaves)
                self.report("error", f'item "{label}" has {_count(len(leaves))} parents ({above}); keep one.', line)
            elif len(same) > 1:
                what = f"an item and {len(same) - 1} group(s)" if leaves else f"{len(same)} groups"
                self.report(
                    "warning",
                    f'label "{label}" names {what}; they stay apart, groups get a mark when published, '
                    "but other names would be clearer.",
                    line,
                )

    def look_for_odd_labels(self) -> None:
        for label, line in zip(self.labels, self.lines, strict=True):
            if label != label.strip():
                self.report("warning", f'label "{label}" has blanks around it; take them out if not meant.', line)

    def look_for_unary_nodes(self) -> None:
        n_children = self.n_children()
        unary = [label for label, count in zip(self.labels, n_children, strict=True) if count == 1]
        if unary:
            text = f"{len(unary):,} group(s) with one child only: {name_some(unary)}; they could be left out."
            self.report("note", text, items=unary)

    def compare_with_data(self, vocabulary: Vocabulary) -> None:
        n_children = self.n_children()
        items = {label for label, count in zip(self.labels, n_children, strict=True) if count == 0}
        groups = {label: line for label, line, count in zip(self.labels, self.lines, n_children, strict=True) if count}
        for label in vocabulary:
            if label not in items and label in groups:
                text = (
                    f'"{label}" is an item of the data and a group here; replace it by its items or add it as an item.'
                )
                self.report("error", text, groups[label])
        missing = [label for label in vocabulary if label not in items and label not in groups]
        if missing:
            text = (
                f"{len(missing):,} item(s) of the data are missing: {name_some(missing)}; add them, or use "
                "--unknown-items root to put them directly below the root."
            )
            self.report("error", text, items=missing)
        unused = sorted(items.difference(vocabulary))
        if unused:
            text = (
                f"{len(unused):,} item(s) do not occur in the data: {name_some(unused)}; they count as possible items."
            )
            self.report("note", text, items=unused)

    def _parent_label(self, node: int) -> str:
        return self.labels[self.parents[node]] if self.parents[node] >= 0 else "the root"


def _count(number: int) -> str:
    return {2: "two", 3: "three"}.get(number, f"{number:,}")
