"""Hypothesis strategies: small databases, hierarchies over them, models."""

from __future__ import annotations

from hypothesis import strategies as st

from setveil.core import Hierarchy, Transactions

ITEMS = "abcdefgh"


@st.composite
def records(draw: st.DrawFn, max_records: int = 12, items: str = ITEMS, min_records: int = 0) -> list[list[str]]:
    """A small database as label lists; duplicates and empty records are likely."""
    row = st.lists(st.sampled_from(items), max_size=6, unique=True)
    return draw(st.lists(row, min_size=min_records, max_size=max_records))


@st.composite
def databases(draw: st.DrawFn, max_records: int = 12, items: str = ITEMS, min_records: int = 0) -> Transactions:
    """The same as Transactions."""
    return Transactions.from_lists(draw(records(max_records, items, min_records)))


@st.composite
def hierarchies(draw: st.DrawFn, items: str = ITEMS) -> Hierarchy:
    """A random tree over the given items: ragged, with unary nodes and repeated labels now and then."""
    paths = [[item] for item in draw(st.permutations(list(items)))]
    groups = [[path] for path in paths]
    level = 0
    while len(groups) > 1:
        size = draw(st.integers(2, max(2, len(groups))))
        merged = []
        for start in range(0, len(groups), size):
            members = groups[start : start + size]
            if len(members) > 1 or draw(st.booleans()):
                label = f"n{level}.{start}" if draw(st.integers(0, 9)) else members[0][0][0]
                for group in members:
                    for path in group:
                        path.append(label)
            merged.append([path for group in members for path in group])
        groups = merged
        level += 1
    return Hierarchy.from_paths(groups[0])
