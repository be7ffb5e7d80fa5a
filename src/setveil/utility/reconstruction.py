"""How well sensitive items can be reconstructed from a grouping: queries, their error, achieved degrees.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, sections 3.2 and 6.

Everything here takes a release as it can be read back from its files: public rows, group numbers and counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.errors import InputError, name_some
from setveil.releases import Grouping

PROTOCOLS = ("uniform", "frequency", "cooccurring")


@dataclass(frozen=True)
class Estimate:
    """How many records a query matches: the expected number, and the bounds that hold for certain."""

    estimate: float
    low: int
    high: int


@dataclass(frozen=True)
class Query:
    """Count the records with a sensitive item, by which of some public items they have."""

    sensitive: str
    items: tuple[str, ...]


# -- asking ---------------------------------------------------------------------------------------------------------


def query(
    release: Grouping, sensitive: str, with_items: Iterable[str] = (), without_items: Iterable[str] = ()
) -> Estimate:
    """Estimate how many records have the sensitive item, all of ``with_items`` and none of ``without_items``.

    A group of size g with a occurrences and b records that fit the public part contributes a·b/g (eq. 4); for certain
    it contributes at least a+b-g and at most the smaller of a and b. All three are about what is published: a grouping
    does not say how many records with sensitive items alone were suppressed.
    """
    number = release.sensitive.number(sensitive)
    if number < 0:
        raise InputError(
            f'"{sensitive}" is not a sensitive item of this release; it has {name_some(release.sensitive)}.'
        )
    wanted, unwanted = _public_items(release, with_items), _public_items(release, without_items)
    both = np.intersect1d(wanted, unwanted)
    if len(both):
        labels = [release.published.vocabulary[int(item)] for item in both]
        raise InputError(f"item {name_some(labels)} is both asked for and excluded; remove it from one side.")
    n_wanted = np.zeros(release.published.n_items, dtype=np.int64)
    n_wanted[wanted] = 1
    n_wanted[unwanted] = -(len(wanted) + 1)  # one excluded item outweighs all that is asked for
    score = np.zeros(release.published.n_occurrences + 1, dtype=np.int64)
    np.cumsum(n_wanted[release.rows.items], out=score[1:])
    fits = np.diff(score[release.rows.indptr]) == len(wanted)
    size = release.group_sizes
    fitting = np.bincount(release.group_of[fits], minlength=release.n_groups)
    mine = release.count_item == number
    a, g, b = release.count[mine], size[release.count_group[mine]], fitting[release.count_group[mine]]
    return Estimate(float((a * b / g).sum()), int(np.maximum(a + b - g, 0).sum()), int(np.minimum(a, b).sum()))


def _public_items(release: Grouping, labels: Iterable[str]) -> NDArray[np.int32]:
    """Numbers of public items, int32, without repeats."""
    known = list(labels)
    hidden = [label for label in known if label in release.sensitive]
    if hidden:
        raise InputError(f"item {name_some(hidden)} is sensitive; records show public items only.")
    return np.unique(release.published.vocabulary.encode(known, "public item"))


# -- the reconstruction error ---------------------------------------------------------------------------------------


def draw_queries(
    original: Transactions, sensitive: Iterable[str], protocol: str, r: int, n_queries: int, seed: int
) -> list[Query]:
    """Queries about sensitive items that occur, each equally likely; fewer than ``r`` items where there are no more."""
    if protocol not in PROTOCOLS:
        raise InputError(f'the protocol is one of {", ".join(PROTOCOLS)}, not "{protocol}".')
    if not 1 <= r <= 16:
        raise InputError(f"r, the number of public items in a query, must be from 1 to 16, not {r}.")
    rng = np.random.default_rng((seed, PROTOCOLS.index(protocol), r))
    hidden = original.vocabulary.numbers(sensitive)
    hidden = np.sort(hidden[hidden >= 0])
    is_public = original.supports > 0
    asked = hidden[is_public[hidden]]
    is_public[hidden] = False
    public = np.flatnonzero(is_public)
    chance = original.supports[public] / original.supports[public].sum() if protocol == "frequency" else None
    pools = dict.fromkeys(asked.tolist(), public)
    if protocol == "cooccurring":
        for item in pools:
            together = original.select(_records_of(original, item)).supports > 0
            pools[item] = np.flatnonzero(together & is_public)
    queries = []
    for item in rng.choice(asked, size=n_queries if len(asked) else 0).tolist():
        pool = pools[item]
        items = rng.choice(pool, size=min(r, len(pool)), replace=False, p=chance)
        queries.append(Query(original.vocabulary[item], tuple(original.vocabulary[int(other)] for other in items)))
    return queries


def kl_divergences(original: Transactions, release: Grouping, queries: Sequence[Query]) -> NDArray[np.float64]:
    """The divergence of each query, float64[n_queries].

    A cell that holds records of the item always gets some mass, unless occurrences were suppressed: then it is given
    the mass of half a record.
    """
    size = release.group_sizes
    result = np.empty(len(queries))
    for label in dict.fromkeys(query.sensitive for query in queries):
        holders = _records_of(original, original.vocabulary.number(label))
        mine = release.count_item == release.sensitive.number(label)
        odds = np.zeros(release.n_groups)  # that a record of the group has the item
        odds[release.count_group[mine]] = release.count[mine] / size[release.count_group[mine]]
        suspects = np.flatnonzero(odds[release.group_of])
        n_actual, n_published = float(len(holders)), float(max(int(release.count[mine].sum()), 1))
        actual = _Cells(original.select(holders), np.ones(len(holders)), n_actual)
        estimated = _Cells(release.rows.select(suspects), odds[release.group_of[suspects]], n_published)
        for number, asked in enumerate(queries):
            if asked.sensitive != label:
                continue
            truth, guess = actual.shares(asked.items), estimated.shares(asked.items)
            filled = truth > 0
            guess = np.where(guess > 0, guess, 0.5 / n_actual)
            result[number] = (truth[filled] * np.log(truth[filled] / guess[filled])).sum()
    return result


def _records_of(rows: Transactions, item: int) -> NDArray[np.int64]:
    """The records that hold an item, ascending."""
    found = np.searchsorted(rows.indptr, np.flatnonzero(rows.items == item), side="right") - 1
    return found.astype(np.int64, copy=False)


class _Cells:
    """Spreads weighted records over the combinations of a few items."""

    def __init__(self, rows: Transactions, weights: NDArray[np.float64], total: float) -> None:
        self.vocabulary, self.weights, self.total = rows.vocabulary, weights, total
        self.indptr, self.records = rows.inverted()
        self.cell = np.zeros(rows.n_records, dtype=np.int64)  # of each record, 0 between calls

    def shares(self, labels: Sequence[str]) -> NDArray[np.float64]:
        """Share of the total weight per combination, float64[2^len(labels)]; bit i tells whether item i is there."""
        touched = []
        for bit, item in enumerate(self.vocabulary.numbers(labels).tolist()):
            if item >= 0:
                records = self.records[self.indptr[item] : self.indptr[item + 1]]
                touched.append(records[self.cell[records] == 0])
                self.cell[records] |= 1 << bit
        found = np.concatenate(touched) if touched else np.empty(0, dtype=np.int64)
        masses: NDArray[np.float64] = np.bincount(
            self.cell[found], weights=self.weights[found], minlength=1 << len(labels)
        ).astype(np.float64, copy=False)
        masses[0] = self.total - masses[1:].sum()
        self.cell[found] = 0
        return masses / self.total
