"""What a hierarchy file says, before it is known whether it is a tree, and everything that is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from setveil.core.hierarchy import Hierarchy
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, name_some, times

MOST_WARNINGS, MOST_ERRORS = 3, 20  # of one kind, before they are folded
LEAST_ITEMS = 5  # a smaller tree may look like anything

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
        one_line = " ".join(message.splitlines())  # labels may hold line breaks
        self.problems.append(Problem(severity, one_line, self.file, line, tuple(items)))

    def sorted_problems(self, *severities: Severity) -> list[Problem]:
        chosen = [problem for problem in self.problems if problem.severity in severities]
        return sorted(chosen, key=lambda problem: (severities.index(problem.severity), problem.line or 0))

    def folded_problems(self, *severities: Severity) -> list[Problem]:
        """The same with many problems of one kind made one, which counts them."""
        kinds: dict[tuple[Severity, str], list[Problem]] = {}
        for problem in self.sorted_problems(*severities):
            kind = re.sub(r'"[^"]*"|[0-9,]+', "", problem.message)
            kinds.setdefault((problem.severity, kind), []).append(problem)
        folded = []
        for (severity, _), same in kinds.items():
            limit = MOST_ERRORS if severity == "error" else MOST_WARNINGS
            if len(same) <= limit:
                folded += same
                continue
            labels = [match for problem in same for match in re.findall(r'"([^"]*)"', problem.message)[:1]]
            message = (
                f"{same[0].message.removesuffix('.')} ({len(same) - 1:,} more like this, such as "
                f"{name_some(labels[1:4])})."
            )
            folded.append(Problem(severity, message, self.file, same[0].line, tuple(labels)))
        return sorted(folded, key=lambda problem: (severities.index(problem.severity), problem.line or 0))

    def tree(self, has_lines: bool = True) -> Hierarchy:
        """The hierarchy; an InputError with the first thing that is wrong."""
        self.look_for_cycles()
        self.look_for_repeated_labels()
        if errors := self.sorted_problems("error"):
            raise InputError(str(errors[0]) if has_lines else f"{self.file}: {errors[0].message}")
        return Hierarchy.from_parents(self.parents, self.labels)

    def look_for_uselessness(self) -> None:
        """A tree whose groups hold one item each, or which has no group but the root, hides nobody among others."""
        n_children = self.n_children()
        leaves = [node for node, count in enumerate(n_children) if count == 0]
        if len(leaves) < LEAST_ITEMS or not self.labels:
            return
        n_below = [0] * len(self.labels)  # leaves
        n_top = sum(parent < 0 for parent in self.parents)
        for leaf in leaves:
            node, steps = leaf, 0
            while node >= 0 and steps <= len(self.labels):  # a cycle is reported by another check
                n_below[node] += 1
                node, steps = self.parents[node], steps + 1
        alone = 0
        for leaf in leaves:
            node = self.parents[leaf]
            while node >= 0 and n_below[node] == 1:
                node = self.parents[node]
            is_root = node < 0 or (self.parents[node] < 0 and n_top == 1)
            alone += is_root
        if alone >= 0.9 * len(leaves):
            text = (
                f"{alone:,} of {len(leaves):,} items share no group with another item, only the root. They could "
                "only be generalized to the root. Add groups, or use --hierarchy auto, fanout:5 or prefix:1,3."
            )
            self.report("error", text)

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
                self.report("error", f"{chain} is a cycle; remove one of these links.", max(lines) or None)

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
                what = f"an item and {times(len(same) - 1, 'group')}" if leaves else f"{len(same)} groups"
                self.report(
                    "warning",
                    f'label "{label}" names {what}; they are kept separate, and published groups get a mark. '
                    "Different names would be clearer.",
                    line,
                )

    def look_for_odd_labels(self) -> None:
        for label, line in zip(self.labels, self.lines, strict=True):
            if label != label.strip():
                self.report("warning", f'label "{label}" has blanks around it; remove them if not meant.', line)

    def look_for_unary_nodes(self) -> None:
        n_children = self.n_children()
        unary = [label for label, count in zip(self.labels, n_children, strict=True) if count == 1]
        if unary:
            number = times(len(unary), "group has", "groups have")
            text = f"{number} one child only: {name_some(unary)}; such groups can be removed."
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
                f"{times(len(missing), 'item')} of the data missing: {name_some(missing)}; add what is missing, or use "
                "--unknown-items root to put such items directly below the root."
            )
            self.report("error", text, items=missing)
        unused = sorted(items.difference(vocabulary))
        if unused:
            number = times(len(unused), "item")
            text = f"{number} of the hierarchy not in the data: {name_some(unused)}; these count as possible items."
            self.report("note", text, items=unused)

    def _parent_label(self, node: int) -> str:
        return self.labels[self.parents[node]] if self.parents[node] >= 0 else "the root"


def _count(number: int) -> str:
    return {2: "two", 3: "three"}.get(number, f"{number:,}")


def numbered_lines(text: str) -> list[tuple[int, str]]:
    """Lines that are not blank, with their numbers; any line ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
