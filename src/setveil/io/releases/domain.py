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
        kept = np.flatnonzero(is_named)
        domain = Vocabulary(release.domain[int(item)] for item in kept)
        return replace(release, domain=domain, target=release.target[kept], suppressed=release.suppressed[kept])
    if isinstance(release, LocalRecoding):
        old = release.cover
        is_named = _are_in(old.vocabulary, public)
        is_named[old.items] = True
        domain = Vocabulary(old.vocabulary[int(item)] for item in np.flatnonzero(is_named))
        return replace(release, cover=Itemsets(old.indptr, domain.numbers(old.vocabulary)[old.items], domain))
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
        old = release.cover
        domain = Vocabulary({*old.vocabulary, *items})
        return replace(release, cover=Itemsets(old.indptr, domain.numbers(old.vocabulary)[old.items], domain))
    return release


def _are_in(vocabulary: Vocabulary, labels: Collection[str]) -> NDArray[np.bool_]:
    known = frozenset(labels)
    return np.array([label in known for label in vocabulary], dtype=bool)
