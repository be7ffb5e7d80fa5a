"""Privacy constraints: each one's published image has support 0 or at least k; utility groups stay apart.

Constraints name *original* items. What an original item is published as comes from the codebook:

- recodings: its published item; a suppressed item leaves the constraint; an item that is neither published nor
  suppressed does not occur, so a constraint with it has support 0;
- local recodings: any published item that covers it, so a record matches a constraint if it covers all of its items; an
  item of the domain that nothing covers counts as suppressed, unless the release knows that nothing was;
- everything else, plain data included: itself.

An item nobody knows has support 0. An empty constraint is satisfied.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.core.vocabulary import ascending
from setveil.errors import name_some, times
from setveil.models import ConstraintAnonymity
from setveil.verify.published import Published, bounds_of, spread_rows
from setveil.verify.verdict import Found, Verdict, Violation, in_braces

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
    found = Found[str]()
    for number in sorted(violated, key=lambda n: (len(itemsets[n]), [rank[item] for item in itemsets[n]])):
        if not found.has_part_of(itemsets[number]):
            found.add(itemsets[number])
            yield Violation(itemsets[number], int(supports[number]))


def achieved(published: Published, model: ConstraintAnonymity, progress: Progress) -> dict[str, int | float]:
    """The smallest support above 0 of a constraint's image, and how many percent of the items are suppressed."""
    _, supports = _supports(published, model, progress)
    suppressed, n_items = suppressed_items(published)
    result: dict[str, int | float] = {"suppressed_percentage": 100 * len(suppressed) / n_items if n_items else 0.0}
    if (supports > 0).any():
        result["smallest_support"] = int(supports[supports > 0].min())
    return result


def suppressed_items(published: Published) -> tuple[list[str], int]:
    """The items of the domain that were suppressed, and the size of the domain."""
    book = published.book
    return ([], len(published.labels)) if book is None else (book.suppressed, len(book.domain))


def _supports(
    published: Published, model: ConstraintAnonymity, progress: Progress
) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
    """The distinct constraints and the support of each one's image; 0 for an empty image."""
    from setveil.verify.tables import count_itemsets

    constraints = list(dict.fromkeys(tuple(constraint) for constraint in model.constraints))
    records, cell_of = images(published, {item for constraint in constraints for item in constraint})
    image_of: list[int] = []  # per constraint: its image, -1 if that is empty or cannot occur
    number_of: dict[tuple[int, ...], int] = {}
    for constraint in constraints:
        cells = {cell_of[item] for item in constraint} - {SUPPRESSED}
        image_of.append(
            -1 if not cells or ABSENT in cells else number_of.setdefault(tuple(sorted(cells)), len(number_of))
        )
    supports = np.zeros(len(number_of) + 1, dtype=np.int64)  # the last entry serves image -1
    supports[:-1] = count_itemsets(records, list(number_of), progress)
    return constraints, supports[np.array(image_of, dtype=np.int64)]


def images(published: Published, wanted: set[str]) -> tuple[Published, dict[str, int]]:
    """Records over cells, and the cell of each wanted item: SUPPRESSED, ABSENT, or the number that covers it there.

    A cell is the set of published items that cover an item. A record holds a cell if it holds one of them.
    """
    book = published.book
    if book is None:
        known = {label: number for number, label in enumerate(published.labels)}
        return published, {item: known.get(item, ABSENT) for item in wanted}
    domain = book.domain
    assert published.number_of is not None
    labels_of: dict[int, list[int]] = {number: [] for item in wanted if (number := domain.number(item)) >= 0}
    for label, number in zip(published.number_of[book.labels].tolist(), book.items.tolist(), strict=True):
        if number in labels_of:
            labels_of[number].append(label)
    gone = set(book.suppressed)
    cells: dict[tuple[int, ...], int] = {}
    cell_of = {}
    for item in ascending(wanted):
        labels = tuple(sorted(set(labels_of.get(domain.number(item), ()))))
        if labels:
            cell_of[item] = cells.setdefault(labels, len(cells))
        else:
            cell_of[item] = SUPPRESSED if item in gone else ABSENT
    if all(len(labels) == 1 for labels in cells):  # every cell is a published item: the records stay as they are
        number_of = {cell: labels[0] for labels, cell in cells.items()}
        return published, {item: number_of.get(cell, cell) for item, cell in cell_of.items()}
    cells_of: list[list[int]] = [[] for _ in published.labels]
    for labels, cell in cells.items():
        for label in labels:
            cells_of[label].append(cell)
    flat = np.array([cell for some in cells_of for cell in some], dtype=np.int32)
    bounds = bounds_of([len(some) for some in cells_of])
    indptr, items = spread_rows((published.indptr, published.items), bounds, flat, len(cells))
    return Published(tuple(str(cell) for cell in range(len(cells))), indptr, items), cell_of


def _mixed(published: Published, model: ConstraintAnonymity) -> tuple[str, str, str] | None:
    """The first published item that covers items of different utility groups, with two of them.

    An item of no group is a group of its own: it may be published alone, or suppressed, and nothing else.
    """
    book = published.book
    if book is None or published.release is None:
        return None
    domain = book.domain
    group_of = {item: number for number, group in enumerate(model.utility or ()) for item in group}
    first_of: dict[int, int] = {}
    worst: tuple[int, int, int] | None = None
    for label, item in zip(book.labels.tolist(), book.items.tolist(), strict=True):
        first = first_of.setdefault(label, item)
        if first == item or (worst is not None and label >= worst[0]):
            continue
        if group_of.get(domain[first], -1 - first) != group_of.get(domain[item], -1 - item):
            worst = (label, first, item)
    if worst is None:
        return None
    label, first, item = worst
    return published.release.published.vocabulary[label], domain[first], domain[item]
