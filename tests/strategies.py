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


HOSTILE = [
    *("2", "10", "9", "007", "7", "0", "00", "250", "38", "V27", "a", "b", "a ", " a", "A", "a,b", '"', 'a"b', "a;b"),
    *("a\tb", "a|b", "x*", "[a]", "[a", "a?", "?", "-", "NA", "null", "=1+1", "'=x", "+1", "@subtree:a", "[a]*", "[*]"),
    *("é", "e\u0301", "ß", "𝒳", "\u202ea", "a\nb", "a\r\nb", "#c", "%d", "@ITEM=1=x", "-1", "-2", "{a}", "a=b", "::"),
    *("1::2", "ALL", "item", "published_item", "x" * 5000, "9" * 5000, "1" + "0" * 4500, "\\", "\\N", "true", "1.0"),
]


def hostile_labels() -> st.SearchStrategy[str]:
    """Labels that some layout, codebook, policy or order of labels could take for something else."""
    signs = st.characters(exclude_characters="\0", exclude_categories=("Cs",))  # type: ignore[arg-type]
    return st.one_of(
        st.sampled_from(HOSTILE),
        st.sampled_from(HOSTILE[:11]),
        st.integers(0, 120).map(str),
        st.text(signs, min_size=1, max_size=5).filter(lambda text: bool(text.strip())),
    )


@st.composite
def hostile_records(draw: st.DrawFn, max_records: int = 16) -> list[list[str]]:
    """A small database over few hostile labels; equal records are likely."""
    labels = draw(st.lists(hostile_labels(), min_size=2, max_size=6, unique=True))
    rows = st.lists(st.sampled_from(labels), max_size=4, unique=True)
    templates = draw(st.lists(rows, min_size=1, max_size=5))
    return draw(st.lists(st.sampled_from(templates), min_size=4, max_size=max_records))
