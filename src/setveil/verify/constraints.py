"""Privacy constraints: each one's published image has support 0 or at least k; utility groups stay apart.

Constraints name *original* items. What an original item is published as comes from the codebook:

- recodings: its published item; a suppressed item leaves the constraint; an item that is neither published nor
  suppressed does not occur, so a constraint with it has support 0;
- local recodings: any published item that can stand for it, so a record fits a constraint if it can stand for all of
  its items; an item of the domain nothing stands for counts as suppressed, unless the release knows that nothing was;
- everything else, plain data included: itself.

An item nobody knows has support 0. An empty constraint is satisfied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.core.vocabulary import ascending
from setveil.errors import InputError, name_some
from setveil.models import ConstraintAnonymity
from setveil.releases import LocalRecoding, Recoding
from setveil.verify.published import Published
from setveil.verify.verdict import Verdict, Violation, in_braces, times

SUPPRESSED, ABSENT = -1, -2


def check(published: Published, model: ConstraintAnonymity, progress: Progress) -> Verdict:
    """Constraints by size, then ascending; then utility groups; then the bound on suppression."""
    for violation in islice(violations(published, model, progress), 1):
        return Verdict(
            False,
            violation.itemset,
            violation.support,
            f"the image of constraint {in_braces(violation.itemset)} occurs in {times(violation.support, 'record')}, "
            f"fewer than k={model.k}.",
        )
    if model.utility is not None and (mixed := _mixed(published, model)):
        label, first, second = mixed
        return Verdict(
            False,
            (first, second),
            None,
            f'"{first}" and "{second}" of different utility groups are published as one item, "{label}".',
        )
    suppressed, n_items = suppressed_items(published)
    if len(suppressed) * 100 > Fraction(str(model.max_suppressed)) * n_items:
        return Verdict(
            False,
            reason=f"{len(suppressed):,} of {times(n_items, 'item')} are suppressed, more than "
            f"{model.max_suppressed:g} %: {name_some(suppressed)}.",
        )
    return Verdict(True)


def violations(
    published: Published, model: ConstraintAnonymity, progress: Progress, limit: int = 1000
) -> Iterator[Violation]:
    """Every violated constraint that contains no other violated one, by size, then ascending."""
    constraints, supports = _supports(published, model, progress)
    rank = {label: number for number, label in enumerate(ascending({item for one in constraints for item in one}))}
    violated = [number for number in range(len(constraints)) if 0 < supports[number] < model.k]
    itemsets = {number: tuple(sorted(constraints[number], key=rank.__getitem__)) for number in violated}
    by_first: dict[str, list[frozenset[str]]] = {}
    for number in sorted(violated, key=lambda n: (len(itemsets[n]), [rank[item] for item in itemsets[n]])):
        itemset = itemsets[number]
        whole = frozenset(itemset)
        if not any(part <= whole for item in itemset for part in by_first.get(item, ())):
            by_first.setdefault(itemset[0], []).append(whole)
            yield Violation(itemset, int(supports[number]))


def achieved(published: Published, model: ConstraintAnonymity, progress: Progress) -> dict[str, int | float]:
    """The smallest support above 0 of a constraint's image, and how many percent of the items are suppressed."""
    _, supports = _supports(published, model, progress)
    suppressed, n_items = suppressed_items(published)
    result: dict[str, int | float] = {"suppressed_percentage": 100 * len(suppressed) / n_items if n_items else 0.0}
    if (supports > 0).any():
        result["smallest_support"] = int(supports[supports > 0].min())
    return result


def suppressed_items(published: Published) -> tuple[list[str], int]:
    """The items of the domain that were taken out, and the size of the domain."""
    release = published.release
    if isinstance(release, Recoding):
        target, suppressed = recoding_targets(release)
        return [release.domain[int(item)] for item in np.flatnonzero(suppressed & (target < 0))], len(release.domain)
    if isinstance(release, LocalRecoding):
        domain = release.cover.vocabulary
        covered = np.zeros(len(domain), dtype=bool)
        covered[cover_pairs(release)[1]] = True
        nodes = release.node_of_occurrence
        known_whole = nodes is not None and not bool((np.asarray(nodes) < 0).any())
        return [] if known_whole else [domain[int(item)] for item in np.flatnonzero(~covered)], len(domain)
    return [], len(published.labels)


def _supports(
    published: Published, model: ConstraintAnonymity, progress: Progress
) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
    """The distinct constraints and the support of each one's image; 0 for an empty image."""
    from setveil.verify.tables import Indexed, make_table

    constraints = list(dict.fromkeys(tuple(constraint) for constraint in model.constraints))
    records, cell_of = _images(published, {item for constraint in constraints for item in constraint})
    image_of: list[int] = []  # per constraint: its image, -1 if that is empty or cannot occur
    number_of: dict[tuple[int, ...], int] = {}
    for constraint in constraints:
        cells = {cell_of[item] for item in constraint} - {SUPPRESSED}
        image_of.append(
            -1 if not cells or ABSENT in cells else number_of.setdefault(tuple(sorted(cells)), len(number_of))
        )
    supports = np.zeros(len(number_of) + 1, dtype=np.int64)  # the last entry serves image -1
    if number_of:
        indexed = Indexed.of(make_table(records, progress=progress), progress)
        bounds = np.zeros(len(number_of) + 1, dtype=np.int64)
        np.cumsum([len(image) for image in number_of], out=bounds[1:])
        cells_of_images = np.array([cell for image in number_of for cell in image], dtype=np.int32)
        supports[:-1] = indexed.count(bounds[:-1], bounds[1:], cells_of_images, progress=progress)
    return constraints, supports[np.array(image_of, dtype=np.int64)]


def _images(published: Published, wanted: set[str]) -> tuple[Published, dict[str, int]]:
    """Records over cells, and the cell of each wanted item: SUPPRESSED, ABSENT, or the number that stands for it
    there.
    """
    release = published.release
    if isinstance(release, Recoding):
        target, suppressed = recoding_targets(release)
        assert published.number_of is not None
        cell_of = {}
        for item in wanted:
            place = release.domain.number(item)
            if place < 0:
                cell_of[item] = ABSENT
            elif target[place] >= 0:
                cell_of[item] = int(published.number_of[target[place]])
            else:
                cell_of[item] = SUPPRESSED if suppressed[place] else ABSENT
        return published, cell_of
    if isinstance(release, LocalRecoding):
        return _local_images(published, release, wanted)
    known = {label: number for number, label in enumerate(published.labels)}
    return published, {item: known.get(item, ABSENT) for item in wanted}


def _local_images(published: Published, release: LocalRecoding, wanted: set[str]) -> tuple[Published, dict[str, int]]:
    """A cell is the set of published items that can stand for an item; a record holds a cell if it holds one of
    them.
    """
    label_of_pair, item_of_pair = cover_pairs(release)
    domain = release.cover.vocabulary
    assert published.number_of is not None
    labels_of: dict[int, list[int]] = {number: [] for item in wanted if (number := domain.number(item)) >= 0}
    for label, number in zip(published.number_of[label_of_pair].tolist(), item_of_pair.tolist(), strict=True):
        if number in labels_of:
            labels_of[number].append(label)
    gone = set(suppressed_items(published)[0])
    cells: dict[tuple[int, ...], int] = {}
    cell_of = {}
    for item in ascending(wanted):
        labels = tuple(sorted(set(labels_of.get(domain.number(item), ()))))
        if labels:
            cell_of[item] = cells.setdefault(labels, len(cells))
        else:
            cell_of[item] = SUPPRESSED if item in gone else ABSENT
    # Join the occurrences with the cells of their label: a list of cells per label, then a row of cells per record.
    cells_of: list[list[int]] = [[] for _ in published.labels]
    for labels, cell in cells.items():
        for label in labels:
            cells_of[label].append(cell)
    n_cells = np.array([len(some) for some in cells_of], dtype=np.int64)
    flat = np.array([cell for some in cells_of for cell in some], dtype=np.int32)
    first = np.cumsum(n_cells) - n_cells
    repeats = n_cells[published.items]
    row = np.repeat(np.arange(published.n_records), np.diff(published.indptr))
    offset = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    items = flat[np.repeat(first[published.items], repeats) + offset]
    indptr = np.zeros(published.n_records + 1, dtype=np.int64)
    np.cumsum(np.bincount(np.repeat(row, repeats), minlength=published.n_records), out=indptr[1:])
    from setveil.verify.published import sorted_rows

    indptr, items = sorted_rows(indptr, items, len(cells))
    return Published(tuple(str(cell) for cell in range(len(cells))), indptr, items), cell_of


def _mixed(published: Published, model: ConstraintAnonymity) -> tuple[str, str, str] | None:
    """The first published item that stands for items of different utility groups, with two of them.

    An item of no group is a group of its own: it may be published alone, or suppressed, and nothing else.
    """
    release = published.release
    if isinstance(release, Recoding):
        target, _ = recoding_targets(release)
        members = np.flatnonzero(target >= 0)
        pairs: Iterable[tuple[int, int]] = zip(target[members].tolist(), members.tolist(), strict=True)
        domain = release.domain
    elif isinstance(release, LocalRecoding):
        labels, items = cover_pairs(release)
        pairs = zip(labels.tolist(), items.tolist(), strict=True)
        domain = release.cover.vocabulary
    else:
        return None
    group_of = {item: number for number, group in enumerate(model.utility or ()) for item in group}
    first_of: dict[int, int] = {}
    worst: tuple[int, int, int] | None = None
    for label, item in pairs:
        first = first_of.setdefault(label, item)
        if first == item or (worst is not None and label >= worst[0]):
            continue
        if group_of.get(domain[first], -1 - first) != group_of.get(domain[item], -1 - item):
            worst = (label, first, item)
    if worst is None:
        return None
    label, first, item = worst
    return release.published.vocabulary[label], domain[first], domain[item]


def recoding_targets(release: Recoding) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The published item of every item of the domain (-1 for none), and whether it was taken out on purpose."""
    target, suppressed = np.asarray(release.target, dtype=np.int64), np.asarray(release.suppressed, dtype=bool)
    if not len(target) == len(suppressed) == len(release.domain):
        raise InputError("the recoding is damaged: not every item of the domain has a published item or none.")
    if len(target) and (target.min() < -1 or target.max() >= len(release.published.vocabulary)):
        raise InputError("the recoding is damaged: an item points to a published item that does not exist.")
    return target, suppressed


def cover_pairs(release: LocalRecoding) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(published item, domain item) pairs."""
    bounds, items = np.asarray(release.cover.indptr), np.asarray(release.cover.items, dtype=np.int64)
    if len(bounds) != len(release.published.vocabulary) + 1 or bounds[-1] != len(items):
        raise InputError("the local recoding is damaged: not every published item has a cover.")
    if len(items) and (items.min() < 0 or items.max() >= len(release.cover.vocabulary)):
        raise InputError("the local recoding is damaged: a cover names an item that does not exist.")
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), items
