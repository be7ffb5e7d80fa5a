"""What the codebook of a release says: the items that each published label covers, and those that were suppressed.

Nothing about the arrays is trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Vocabulary
from setveil.errors import InputError
from setveil.releases import LocalRecoding, Recoding, Release
from setveil.verify.verdict import naming


@dataclass(frozen=True, eq=False)
class Book:
    """Pairs of a published label and an item that it covers."""

    labels: NDArray[np.int64]  # [pairs] number in the release's published vocabulary
    items: NDArray[np.int64]  # [pairs] number in ``domain``
    domain: Vocabulary
    is_suppressed: NDArray[np.bool_]  # [domain] published nowhere, on purpose as far as the release knows

    @property
    def suppressed(self) -> list[str]:
        """The suppressed items, ascending."""
        return [self.domain[int(item)] for item in np.flatnonzero(self.is_suppressed)]


def read_book(release: Release | None) -> Book | None:
    """The codebook; None where published items are original items under their own names."""
    read = BOOKS.get(release.kind) if release is not None else None
    return None if read is None else read(release)


def recoding_targets(release: Recoding) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The published item of every item of the domain (-1 for none), and whether it was suppressed on purpose."""
    target, suppressed = np.asarray(release.target, dtype=np.int64), np.asarray(release.suppressed, dtype=bool)
    if not len(target) == len(suppressed) == len(release.domain):
        raise InputError("the recoding is damaged: not every item of the domain has a published item or none.")
    if len(target) and (target.min() < -1 or target.max() >= len(release.published.vocabulary)):
        raise InputError("the recoding is damaged: an item points to a published item that does not exist.")
    return target, suppressed


def recoded_items(
    release: Recoding, labels: Sequence[str], occurs: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], list[str]]:
    """The published item of each label of an original, -1 for none; and which ones that occur are not accounted for."""
    target, suppressed = recoding_targets(release)
    place = release.domain.numbers(labels)
    becomes = np.append(target, -1)[place]
    is_lost = occurs & (place >= 0) & (becomes < 0) & ~np.append(suppressed, False)[place]
    problems = naming("items of the original that the codebook lacks:", compress(labels, occurs & (place < 0)))
    problems += naming("items of the original that are neither published nor suppressed:", compress(labels, is_lost))
    return becomes, problems


def cover_pairs(release: LocalRecoding) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(published item, domain item) pairs."""
    bounds, items = np.asarray(release.cover.indptr), np.asarray(release.cover.items, dtype=np.int64)
    if len(bounds) != len(release.published.vocabulary) + 1 or bounds[-1] != len(items):
        raise InputError("the local recoding is damaged: not every published item has a cover.")
    if len(items) and (items.min() < 0 or items.max() >= len(release.cover.vocabulary)):
        raise InputError("the local recoding is damaged: a cover names an item that does not exist.")
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), items


def _of_recoding(release: Recoding) -> Book:
    target, suppressed = recoding_targets(release)
    members = np.flatnonzero(target >= 0)
    return Book(target[members], members, release.domain, suppressed & (target < 0))


def _of_local_recoding(release: LocalRecoding) -> Book:
    """An item that nothing covers counts as suppressed, unless the release knows that no entry was."""
    labels, items = cover_pairs(release)
    nodes = release.node_of_occurrence
    is_whole = nodes is not None and not bool((np.asarray(nodes) < 0).any())
    is_suppressed = np.full(len(release.cover.vocabulary), not is_whole)
    is_suppressed[items] = False
    return Book(labels, items, release.cover.vocabulary, is_suppressed)


BOOKS: dict[str, Callable[[Any], Book]] = {"recoding": _of_recoding, "local-recoding": _of_local_recoding}
