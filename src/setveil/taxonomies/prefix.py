"""Codes grouped by their leading characters, as in ICD, ATC or product numbers."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.core.hierarchy import Hierarchy
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError


def by_prefix(vocabulary: Vocabulary, lengths: Sequence[int]) -> Hierarchy:
    """One level per length: ``493.90`` with lengths 1 and 3 stands below ``493*``, which stands below ``4*``.

    Every character counts, dots too. A code shorter than a length has no group of that length: it attaches to the
    longest prefix that it reaches. Groups are named by their prefix and a star, with more stars if an item is named so.
    """
    checked = check_lengths(lengths)
    if not len(vocabulary):
        raise InputError("there are no items to group by prefix.")
    longest = max(map(len, vocabulary))
    beyond = [str(length) for length in checked if length > longest]
    if beyond:
        text = f"no item has {' or '.join(beyond)} characters (the longest has {longest})"
        raise InputError(f"{text}; remove the length from prefix:{','.join(map(str, checked))}.")

    def name(prefix: str) -> str:
        label = f"{prefix}*"
        while label in vocabulary:
            label += "*"
        return label

    paths = (
        [code, *(name(code[:length]) for length in reversed(checked) if length <= len(code))] for code in vocabulary
    )
    return Hierarchy.from_paths(paths, derived_from_data=True)  # its leaves are the items that occur


def check_lengths(lengths: Sequence[int]) -> tuple[int, ...]:
    """The lengths if they are positive and ascending."""
    known = tuple(int(length) for length in lengths)
    if not known or known[0] < 1 or any(one >= other for one, other in zip(known, known[1:], strict=False)):
        given = ",".join(map(str, known))
        raise InputError(f'prefix lengths "{given}" are not positive and ascending; write them as in prefix:1,3,4.')
    return known
