"""Which items a release speaks of: all of the owner's, or those a recipient may learn the names of."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from setveil.core import Itemsets, LocalRecoding, Recoding, Release, Vocabulary


def named_only(release: Release, public: Collection[str]) -> Release:
    """The release without items that no published item stands for, unless their names are public anyway.

    That an item occurs at all can be what nobody may know. Replacements and groupings name published items only.
    """
    if isinstance(release, Recoding):
        is_named = (release.target >= 0) | _are_in(release.domain, public)
        if is_named.all():
            return release
        domain, kept = _smaller(release.domain, is_named)
        return replace(release, domain=domain, target=release.target[kept], suppressed=release.suppressed[kept])
    if isinstance(release, LocalRecoding):
        old = release.cover
        is_named = _are_in(old.vocabulary, public)
        is_named[old.items] = True
        return replace(release, cover=_over(old, _smaller(old.vocabulary, is_named)[0]))
    return release


@overload
def with_items(release: Recoding, items: Iterable[str]) -> Recoding: ...
@overload
def with_items(release: Release, items: Iterable[str]) -> Release: ...
def with_items(release: Release, items: Iterable[str]) -> Release:
    """The release as one that speaks of these items, too; those it does not know were left out of it."""
    if isinstance(release, Recoding):
        domain = Vocabulary({*release.domain, *items})
        place = domain.numbers(release.domain)
        target = np.full(len(domain), -1, dtype=np.int32)
        target[place] = release.target
        suppressed = np.ones(len(domain), dtype=bool)
        suppressed[place] = release.suppressed
        return replace(release, domain=domain, target=target, suppressed=suppressed)
    if isinstance(release, LocalRecoding):
        return replace(release, cover=_over(release.cover, Vocabulary({*release.cover.vocabulary, *items})))
    return release


def _smaller(vocabulary: Vocabulary, is_kept: NDArray[np.bool_]) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The labels that are kept, and the old number of each.

    The order of labels depends on all of them: once the last label that is no number is gone, ``2`` comes before
    ``10``. So old numbers are looked up by label, never taken from the order of the larger vocabulary.
    """
    smaller = Vocabulary(vocabulary[int(item)] for item in np.flatnonzero(is_kept))
    return smaller, vocabulary.numbers(smaller)


def _over(sets: Itemsets, vocabulary: Vocabulary) -> Itemsets:
    """The same sets over another vocabulary that has all their items, each ascending in its order."""
    items = vocabulary.numbers(sets.vocabulary)[sets.items]
    owner = np.repeat(np.arange(len(sets)), np.diff(sets.indptr))
    return Itemsets(sets.indptr, items[np.lexsort((items, owner))], vocabulary)


def _are_in(vocabulary: Vocabulary, labels: Collection[str]) -> NDArray[np.bool_]:
    known = frozenset(labels)
    return np.array([label in known for label in vocabulary], dtype=bool)
