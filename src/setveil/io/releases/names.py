"""What published items are called in the files of a layout."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from setveil.core import Grouping, Itemsets, Layout, LocalRecoding, Recoding, Release, Replacement, Vocabulary

LONGEST_SUM = 1000  # digits
INTEGER_LAYOUTS = ("fimi", "spmf")
FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a cell begins that a spreadsheet may take for a formula
GUARDED = re.compile(r"'+[=+\-@\t\r]")


def names_for(release: Release, layout: Layout) -> list[str]:
    """For each published item a label the layout can carry: integers in fimi and spmf, no delimiters elsewhere.

    Items of replacements and groupings are original items and keep their labels: no codebook could give them back.
    """
    if isinstance(release, Replacement | Grouping):
        return list(release.published.vocabulary)
    return _integer_names(release) if layout.name in INTEGER_LAYOUTS else _text_names(release, layout)


def rename(release: Release, names: list[str]) -> Release:
    """The same release with other labels, one per published item."""
    if names == list(release.published.vocabulary):
        return release
    vocabulary = Vocabulary(names)
    number = vocabulary.numbers(names)  # [published items] old number → new number
    published = release.published.recode(number, vocabulary)
    if isinstance(release, Recoding):
        target = np.where(release.target >= 0, number[release.target], -1).astype(np.int32)
        return replace(release, published=published, target=target)
    if isinstance(release, LocalRecoding):
        back = np.argsort(number)
        sets = [release.cover[int(old_number)] for old_number in back]
        indptr = np.concatenate(([0], np.cumsum([len(items) for items in sets]))).astype(np.int64)
        items = np.concatenate(sets) if sets else release.cover.items
        return replace(release, published=published, cover=Itemsets(indptr, items, release.cover.vocabulary))
    return replace(release, published=published)


def _stands_for_itself(release: Release) -> list[bool]:
    """Whether each published item is an original item, published as it is."""
    labels = release.published.vocabulary
    if isinstance(release, Recoding | LocalRecoding):
        book = release.codebook()
        return [book[label] == [label] for label in labels]
    return [True] * len(labels)


def _integer_names(release: Release) -> list[str]:
    """Original items keep their integer; generalized ones get fresh integers above the largest, also of the
    hierarchy's, in hierarchy order.
    """
    labels = list(release.published.vocabulary)
    intact = _stands_for_itself(release)
    if isinstance(release, Recoding | LocalRecoding):
        domain = release.domain if isinstance(release, Recoding) else release.cover.vocabulary
    else:
        domain = release.published.vocabulary
    numeric = all(_is_number(label) for label in domain)
    base = _largest(domain) if numeric else str(len(domain))
    own = {label: label if numeric else str(number) for number, label in enumerate(domain, start=1)}
    hierarchy = release.hierarchy if isinstance(release, Recoding | LocalRecoding) else None
    if hierarchy is not None:
        # Every inner node has its number, used or not: numbers depend on the hierarchy only.
        inner = [int(node) for node in hierarchy.in_preorder if node >= hierarchy.n_items]
        taken = (hierarchy.labels[node] for node in inner)  # a group that is called 8 in the taxonomy is no other's 8
        base = _largest([base, *filter(_is_number, taken)])
        fresh = {hierarchy.published_labels[node]: _above(base, place) for place, node in enumerate(inner, start=1)}
    else:
        merged = [label for label, is_intact in zip(labels, intact, strict=True) if not is_intact]
        if isinstance(release, Recoding | LocalRecoding):
            book = release.codebook()
            merged.sort(key=lambda label: int(domain.number(book[label][0])))
        fresh = {label: _above(base, place) for place, label in enumerate(merged, start=1)}
    return [own[label] if is_intact else fresh[label] for label, is_intact in zip(labels, intact, strict=True)]


def _is_number(label: str) -> bool:
    return label.isascii() and label.isdigit()


def _largest(numbers: Iterable[str]) -> str:
    """The largest whole number, without leading zeros; Python converts no more than some thousand digits."""
    return max((number.lstrip("0") for number in numbers), key=lambda number: (len(number), number), default="") or "0"


def _above(base: str, place: int) -> str:
    """The number ``base + place``; above a very long one, a number with one digit more."""
    return str(int(base) + place) if len(base) <= LONGEST_SUM else "1" + str(place).zfill(len(base))


def _text_names(release: Release, layout: Layout) -> list[str]:
    """Names without the layout's delimiters and line breaks; original items keep theirs, the writer quotes them."""
    labels = list(release.published.vocabulary)
    forbidden = {"basket": layout.delimiter + '"\r\n', "long": layout.delimiter + '"\r\n'}.get(layout.name, "")
    if not forbidden:
        return labels
    intact = _stands_for_itself(release)
    domain = release.domain if isinstance(release, Recoding) else ()
    taken = set(labels) | set(domain)
    clean = str.maketrans(dict.fromkeys(forbidden, "_" if layout.delimiter == " " else " "))
    for place, (label, is_intact) in enumerate(zip(labels, intact, strict=True)):
        if is_intact or not set(forbidden) & set(label):
            continue
        base = candidate = " ".join(label.translate(clean).split())
        count = 2
        while candidate in taken:
            candidate, count = f"{base} ({count})", count + 1
        taken.add(candidate)
        labels[place] = candidate
    return labels


# -- spreadsheets -----------------------------------------------------------------------------------------------------


def guard(label: str) -> str:
    """A label no spreadsheet takes for a formula; ``unguard`` gives it back."""
    return "'" + label if FORMULA.match(label) else label


def unguard(label: str) -> str:
    """The label that was guarded."""
    return label[1:] if GUARDED.match(label) else label


def relabel(release: Release, name: Callable[[str], str]) -> Release:
    """The same release with other names for all items, published and original; ``name`` never gives one name twice."""
    release = rename(release, [name(label) for label in release.published.vocabulary])
    if isinstance(release, Recoding):
        domain, back = _renamed(release.domain, name)
        return replace(release, domain=domain, target=release.target[back], suppressed=release.suppressed[back])
    if isinstance(release, LocalRecoding):
        domain, back = _renamed(release.cover.vocabulary, name)
        number = np.argsort(back)
        sets = [np.sort(number[release.cover[place]]) for place in range(len(release.cover))]
        items = np.concatenate(sets).astype(np.int32) if sets else release.cover.items
        return replace(release, cover=Itemsets(release.cover.indptr, items, domain))
    if isinstance(release, Replacement):
        return replace(release, sensitive=tuple(name(label) for label in release.sensitive))
    if isinstance(release, Grouping):
        sensitive, back = _renamed(release.sensitive, name)
        counted = np.argsort(back)[release.count_item]
        order = np.lexsort((counted, release.count_group))
        return replace(
            release,
            sensitive=sensitive,
            count_group=release.count_group[order],
            count_item=counted[order].astype(np.int32),
            count=release.count[order],
        )
    return release


def _renamed(vocabulary: Vocabulary, name: Callable[[str], str]) -> tuple[Vocabulary, np.ndarray]:
    """The new vocabulary, and the old number of each of its labels."""
    names = [name(label) for label in vocabulary]
    renamed = Vocabulary(names)
    return renamed, np.argsort(renamed.numbers(names))
