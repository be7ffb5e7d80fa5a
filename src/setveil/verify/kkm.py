"""(k, k^m)-anonymity: classes of equal known columns have at least k people, and k^m-anonymity holds within each.

An itemset within a class is counted as an itemset of *placed items*: an item of one class is another one than the same
item of another class. A record has items of its own class only, so that the itemsets of placed items that occur are
exactly the itemsets that occur within a class, with the same supports: one walk serves all classes, however many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.errors import InputError, one_line, times
from setveil.models import KKmAnonymity
from setveil.verify.columns import Classes, classes_of, n_values_per_class
from setveil.verify.published import Published, bounds_of
from setveil.verify.verdict import Verdict, Violation, in_braces

if TYPE_CHECKING:
    from setveil.verify.tables import Indexed


class _Fault(NamedTuple):
    columns: tuple[str, ...]  # column=value
    items: tuple[str, ...]
    support: int
    why: str  # in words


def check(published: Published, model: KKmAnonymity, progress: Progress) -> Verdict:
    """The first fault: classes that are too small, then those with too few sensitive values, then itemsets by size;
    in ascending order of classes.
    """
    for fault in islice(_faults(published, model, progress, hurry=True), 1):
        witness = (*fault.columns, *fault.items)
        return Verdict(False, witness, fault.support, f"{in_braces(witness)} {fault.why}.")
    return Verdict(True)


def violations(published: Published, model: KKmAnonymity, progress: Progress, limit: int = 1000) -> Iterator[Violation]:
    """Every class that is too small or has too few sensitive values, then every minimal itemset that is too rare in a
    class that is large enough.
    """
    for fault in _faults(published, model, progress):
        yield Violation((*fault.columns, *fault.items), fault.support)


def achieved(published: Published, model: KKmAnonymity, progress: Progress) -> dict[str, int | float]:
    """The smallest class, the smallest support of an itemset of at most m items in its class, the fewest different
    sensitive values of a class, and how many people are in a class whose members all share an item or a sensitive
    value.
    """
    placed = _Placed(published, model)
    sizes = placed.classes.sizes
    if not len(sizes):
        return {}
    found: dict[str, int | float] = {"smallest_class": int(sizes.min())}
    if model.m != 0:
        from setveil.verify.search import smallest_support

        smallest = smallest_support(placed.indexed(progress), model.largest, progress)
        if smallest is not None:
            found["smallest_support"] = smallest
    if model.l > 1:
        found["fewest_sensitive_values"] = min(int(n_values.min()) for _, n_values in placed.n_sensitive())
    found["people_in_revealing_classes"] = int(sizes[placed.is_revealing()].sum())
    return found


def _faults(published: Published, model: KKmAnonymity, progress: Progress, hurry: bool = False) -> Iterator[_Fault]:
    placed = _Placed(published, model)
    classes = placed.classes
    is_small = classes.sizes < model.k_for(0)
    for number in np.flatnonzero(is_small).tolist():
        size = int(classes.sizes[number])
        yield _Fault(classes.names(number), (), size, f"matches {times(size, 'record')}, fewer than k={model.k_for(0)}")
    if model.l > 1:
        for what, n_values in placed.n_sensitive():
            for number in np.flatnonzero((n_values < model.l) & ~is_small).tolist():
                few = f"has {times(int(n_values[number]), f'different {what}')}, fewer than l={model.l}"
                yield _Fault(classes.names(number), (), int(classes.sizes[number]), few)
    if model.m != 0:
        yield from _rare(placed, model, is_small, progress, hurry)


def _rare(
    placed: _Placed, model: KKmAnonymity, is_small: NDArray[np.bool_], progress: Progress, hurry: bool
) -> Iterator[_Fault]:
    """Minimal itemsets that are too rare, in classes that are large enough."""
    from setveil.verify.search import rare_by_size

    for itemset, support, k in rare_by_size(placed.indexed(progress), model.graded, progress, hurry):
        number = int(placed.class_of[itemset[0]])
        if not is_small[number]:
            labels = tuple(placed.labels[item] for item in itemset)
            rare = f"matches {times(support, 'record')}, fewer than k={k}"
            yield _Fault(placed.classes.names(number), labels, support, rare)


class _Placed:
    """The records with their classes, and every item distinguished by class."""

    def __init__(self, published: Published, model: KKmAnonymity) -> None:
        self.published, self.width = published, max(len(published.labels), 1)
        self.classes: Classes = classes_of(published.columns, published.n_records)
        self.hidden = published.numbers(published.sensitive(model.sensitive))
        self.has_sensitive_items = bool(model.sensitive)
        if model.l > 1 and not self.has_sensitive_items and not self._sensitive_columns:
            raise InputError(f"l={model.l} needs sensitive items or sensitive columns; name them, or remove l.")

    @property
    def _sensitive_columns(self) -> list[tuple[str, NDArray[np.int64], int]]:
        return [(one.name, one.codes, len(one.values)) for one in self.published.columns if one.role == "sensitive"]

    @cached_property
    def _keys(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The positions of all entries as ``class * n_items + item``, each once, ascending; which one each entry has,
        and how many entries there are of each.
        """
        published = self.published
        keys = np.repeat(self.classes.of_record, np.diff(published.indptr)) * self.width
        keys += published.items
        positions, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return positions, place.reshape(-1), counts

    @cached_property
    def _is_public(self) -> NDArray[np.bool_]:
        is_public = np.ones(len(self.published.labels), dtype=bool)
        is_public[self.hidden] = False
        return is_public

    @cached_property
    def _public_keys(self) -> NDArray[np.int64]:
        keys = self._keys[0]
        return keys[self._is_public[keys % self.width]] if len(keys) else keys

    @cached_property
    def class_of(self) -> NDArray[np.int64]:
        """The class of each placed public item."""
        return self._public_keys // self.width

    @cached_property
    def labels(self) -> _Labels:
        """The label of each placed public item."""
        return _Labels(self.published.labels, self._public_keys)

    def indexed(self, progress: Progress) -> Indexed:
        """Distinct rows of placed public items, and where each of these is."""
        from setveil.verify.tables import Indexed, Table, merge_rows

        published = self.published
        entry_is_public = self._is_public[published.items]
        indptr = bounds_of(entry_is_public)[published.indptr]
        number = np.cumsum(self._is_public[self._keys[0] % self.width]) - 1
        items = number[self._keys[1][entry_is_public]].astype(np.int32)
        ones = np.ones(published.n_records, dtype=np.int64)
        rows = Table(self.labels, len(self.labels), indptr, indptr[1:], items, ones)
        return Indexed.of(merge_rows(rows, progress), progress)

    def n_sensitive(self) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """What is counted, and how many different values each class has of it: items first, then each column."""
        n_classes = len(self.classes.sizes)
        if self.has_sensitive_items:
            keys = self._keys[0]
            chosen = keys[~self._is_public[keys % self.width]] if len(keys) else keys
            yield "sensitive item", np.bincount(chosen // self.width, minlength=n_classes).astype(np.int64)
        for name, codes, n_values in self._sensitive_columns:
            yield f'value of "{one_line(name)}"', n_values_per_class(self.classes, codes, n_values)

    def is_revealing(self) -> NDArray[np.bool_]:
        """Classes all of whose records share an item, or the value of a sensitive column, bool[classes]."""
        sizes = self.classes.sizes
        keys, _, counts = self._keys
        owner = keys // self.width
        is_revealing = np.zeros(len(sizes), dtype=bool)
        is_revealing[owner[counts == sizes[owner]]] = True
        for _, codes, n_values in self._sensitive_columns:
            is_revealing |= n_values_per_class(self.classes, codes, n_values) == 1
        return is_revealing


@dataclass(frozen=True, eq=False)
class _Labels(Sequence[str]):
    """Labels of placed items, made when they are asked for: there may be many millions."""

    of_items: tuple[str, ...]
    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return _Labels(self.of_items, self.keys[place])
        return self.of_items[int(self.keys[place]) % len(self.of_items)]
