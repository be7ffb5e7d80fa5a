"""How many records have some items and lack others, asked of a release and its codebook alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from setveil.core import Itemsets
from setveil.errors import InputError, name_some
from setveil.releases import CountTable, Release, is_count_table, is_grouped
from setveil.utility.count_tables import TableReader
from setveil.utility.estimates import Estimator, SupportEstimates
from setveil.utility.reconstruction import Estimate
from setveil.utility.reconstruction import query as query_groups

ESTIMATES: tuple[Estimator, ...] = ("share", "expand")
MOST_EXCLUDED = 10  # items excluded in one question: estimates sum over all their subsets


@dataclass(frozen=True)
class Answer(Estimate):
    """An estimate, bounds that hold for certain, and what reading each published item as all it stands for gives."""

    expand: float = 0.0


def query(
    release: Release, sensitive: str | None = None, with_items: Iterable[str] = (), without_items: Iterable[str] = ()
) -> Estimate:
    """How many records have all of ``with_items`` and none of ``without_items``; in a grouping together with
    ``sensitive``.

    Groupings are asked about what they publish (see ``reconstruction.query``). Elsewhere the estimate takes each of the
    g items that a published item covers to be there with the chance 1/g, or by its item count, and ``expand`` takes all
    of them. ``low``
    counts the records that certainly match, ``high`` those that may match. Where entries may be suppressed, a record
    can hold more than it shows: ``low`` counts exact items, and only the excluded items bound ``high``. A replacement
    bounds nothing.

    Args:
        release: the release.
        sensitive: the sensitive item to count, in groupings.
        with_items: a record must have all of them.
        without_items: a record must have none of them.

    Returns:
        An estimate with a lower and an upper bound.

    Raises:
        InputError: the release does not have an item.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> found = sv.query(release, with_items=["bread"])
        >>> found.low, found.high
        (4, 4)
    """
    wanted, unwanted = list(dict.fromkeys(with_items)), list(dict.fromkeys(without_items))
    if is_grouped(release):
        if sensitive is None:
            raise InputError(
                "this release counts sensitive items per group; name the sensitive item to count with --sensitive."
            )
        return query_groups(release, sensitive, wanted, unwanted)
    if sensitive is not None:
        raise InputError("this release has no groups with sensitive counts; ask for the item like any other (--with).")
    both = [label for label in wanted if label in unwanted]
    if both:
        raise InputError(f"item {name_some(both)} is both asked for and excluded; remove it from --with or --without.")
    if not wanted and not unwanted:
        raise InputError("a query needs at least one item: --with a,b or --without c.")
    if len(unwanted) > MOST_EXCLUDED:
        raise InputError(f"at most {MOST_EXCLUDED} items can be excluded in one query, not {len(unwanted)}.")
    if is_count_table(release):
        return _ask_table(release, wanted, unwanted)
    vocabulary = release.domain_items
    items = vocabulary.encode(wanted, "item of this release").tolist()
    others = vocabulary.encode(unwanted, "item of this release").tolist()
    estimates = SupportEstimates.of(release, vocabulary)
    low, high = _bounds(release, estimates, items, others)
    estimate, expand = (_estimate(estimates, items, others, name) for name in ESTIMATES)
    return Answer(float(np.clip(estimate, low, high)), low, high, float(expand))


@dataclass(frozen=True)
class TableAnswer(Estimate):
    """An estimate with bounds, and where it comes from: ``listed`` counts of the table, or ``scaling`` of these."""

    source: str = ""


def _ask_table(release: CountTable, wanted: list[str], unwanted: list[str]) -> TableAnswer:
    """From the table where it lists the sets that are asked for, otherwise by iterative scaling."""
    vocabulary, reader = release.published.vocabulary, TableReader(release)
    items = vocabulary.encode(wanted, "listed item").tolist()
    others = vocabulary.encode(unwanted, "listed item").tolist()
    total, is_listed = 0.0, True
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            found, listed = reader.count(tuple(sorted((*items, *chosen))))
            total += (-1) ** size * found
            is_listed &= listed
    low, high = reader.bounds(tuple(sorted(items)))
    if others:
        low = 0
    return TableAnswer(float(np.clip(total, low, high)), low, high, "listed" if is_listed else "scaling")


def _estimate(estimates: SupportEstimates, items: list[int], others: list[int], estimator: Estimator) -> float:
    """Records with ``items`` and without ``others``, by inclusion and exclusion."""
    sets = [(size, chosen) for size in range(len(others) + 1) for chosen in combinations(others, size)]
    total = 0.0
    for size, chosen in sets:
        asked = sorted((*items, *chosen))
        if asked:
            itemset = Itemsets(np.array([0, len(asked)]), np.array(asked, dtype=np.int32), estimates.vocabulary)
            supports = estimates.supports(itemset, estimator)
            total += (-1) ** size * float(supports[0])
        else:
            total += estimates.release.published.n_records
    return max(total, 0.0)


def _bounds(release: Release, estimates: SupportEstimates, items: list[int], others: list[int]) -> tuple[int, int]:
    """How many records fit for certain, and how many can fit."""
    n_records = release.published.n_records
    if not release.is_truthful:
        return 0, n_records
    surely, possibly = np.ones(n_records, dtype=bool), np.ones(n_records, dtype=bool)
    for item in items:
        certain, possible = _holders(release, estimates, item)
        surely &= certain
        possibly &= possible
    for item in others:
        certain, possible = _holders(release, estimates, item)
        surely &= ~possible
        possibly &= ~certain
    return int(surely.sum()), int(possibly.sum())


def _holders(release: Release, estimates: SupportEstimates, item: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which records hold an item for certain, and which may hold it, bool[n_records] each."""
    n_records = release.published.n_records
    certain, possible = np.zeros(n_records, dtype=bool), np.zeros(n_records, dtype=bool)
    image = int(estimates.images.of_item[item])
    if image >= 0:
        covering = estimates.images.published_items[estimates.images.indptr[image] : estimates.images.indptr[image + 1]]
        starts, records = release.rows.inverted()
        for number in covering.tolist():
            rows = records[starts[number] : starts[number + 1]]
            possible[rows] = True
            if estimates.published_sizes[number] == 1:
                certain[rows] = True
    if release.may_lack(item):
        possible[:] = True
    return certain, possible
