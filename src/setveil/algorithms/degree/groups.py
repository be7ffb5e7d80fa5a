"""What every algorithm for the privacy degree shares: splitting the data, feasibility, leftovers, the release.

A group has degree p if each sensitive item belongs to at most one in p of its records. Groups are formed one after the
other; a group is accepted only if the records that remain would, as one group, have degree p as well. So the leftovers
can always be published as one group, and a release exists as soon as the whole data has degree p.

Before that, records without a public item are suppressed, whatever they hold. Nothing else is: which records are
published depends on public items alone, and all sensitive items of those are counted (unless ``suppress_excess``
suppresses some, drawn at random). A rule that suppressed sensitive items because of items that occur with them would
make the other members more likely holders of the counted entries, and counts would be too low.

Algorithms see records sorted by public, then by sensitive items. So ties that go to the lower record number, and
records drawn at random, depend on what the records are and never on the order in which they were given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import option
from setveil.algorithms.degree._grouping import Rows, State
from setveil.core import Dataset, Transactions
from setveil.errors import InfeasibleError
from setveil.models import PrivacyDegree
from setveil.releases import Grouping

DISTANCES = ("hamming", "common", "jaccard")  # numbered as in kernels.grouping
SUPPRESS_EXCESS = option(
    False, "suppress entries of items that are too frequent for p, instead of refusing; counts are then too low"
)


@dataclass(frozen=True, eq=False)
class Split:
    """The records in canonical order, each in two parts, and the degree asked for."""

    data: Transactions  # as given, without what is suppressed
    order: NDArray[np.int64]  # [records] which record of ``data`` stands at each place of the canonical order
    public: Transactions  # in canonical order, over the public items that occur
    hidden: Transactions  # in canonical order, over the sensitive items that occur
    p: int
    sensitive: tuple[str, ...]
    suppressed: Mapping[str, int]  # occurrences taken out per sensitive item because it is too frequent
    bare: int  # records suppressed because they have no public item

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.data.n_records

    @property
    def telling(self) -> NDArray[np.int64]:
        """Records with a sensitive item, ascending."""
        return np.flatnonzero(self.hidden.lengths)

    def nothing_grouped(self) -> State:
        """Where group formation starts."""
        return nothing_grouped(self.hidden)

    def release(
        self, group_of: NDArray[np.int64], details: Mapping[str, Any], n_leftovers: int | None = None
    ) -> Grouping:
        """Groups as given, in canonical order; the records in no group (-1) are the last group.

        ``n_leftovers``: where they have groups already.
        """
        n_alone = int((group_of < 0).sum())
        everything = {**details, "leftovers": n_alone if n_leftovers is None else n_leftovers}
        if self.suppressed:
            everything["suppressed_occurrences"] = dict(self.suppressed)
        if self.bare:
            everything["left_out_records"] = self.bare
        groups = np.empty(self.n_records, dtype=np.int64)
        groups[self.order] = np.where(group_of < 0, self.n_records, group_of)
        return Grouping.from_groups(self.data, groups, self.sensitive, everything)


def split_records(data: Transactions, model: PrivacyDegree, suppress_excess: bool = False, seed: int = 0) -> Split:
    """Part public from sensitive items and make sure that the degree can be reached.

    ``suppress_excess``: of an item that more than one in p records have, occurrences are taken out of records drawn at
    random until one in p is left; without it such an item is an InfeasibleError.
    """
    number = data.vocabulary.numbers(model.sensitive)
    is_sensitive = np.zeros(data.n_items, dtype=bool)
    is_sensitive[number[number >= 0]] = True
    kept = Grouping.publishable(data, model.sensitive)
    n_bare = data.n_records - len(kept)
    data = data.select(kept)
    if not suppress_excess:
        refuse_excess(data, is_sensitive, model.p)
    excess = _excess(data, is_sensitive, model.p)
    suppressed = {data.vocabulary[int(item)]: int(excess[item]) for item in np.flatnonzero(excess)}
    order = _canonical_order(data, is_sensitive)
    if suppressed:
        data = _without_excess(data, excess, order, seed)
    return Split(
        data,
        order,
        data.keep_items(~is_sensitive).used_items().select(order),
        data.keep_items(is_sensitive).used_items().select(order),
        model.p,
        tuple(model.sensitive),
        suppressed,
        n_bare,
    )


def nothing_grouped(hidden: Transactions) -> State:
    """Where group formation starts, for the sensitive items of some records."""
    return State(
        group_of=np.full(hidden.n_records, -1, dtype=np.int64),
        left=hidden.supports.copy(),
        tally=np.array([hidden.n_records, 0], dtype=np.int64),
        mark=np.full(hidden.n_items, -1, dtype=np.int64),
    )


def narrow_rows(rows: Transactions) -> Rows:
    """Rows in narrow numbers: where many are looked at in no order, most time goes to fetching them.

    Unsigned numbers are not checked for Python's count from the end.
    """
    items = np.uint16 if rows.n_items <= 1 << 16 else np.uint32
    return Rows(rows.indptr.astype(width_of(rows.n_occurrences)), rows.items.astype(items))


def width_of(largest: int) -> type[np.unsignedinteger[Any]]:
    """Numbers that can be as large, of 32 bits where that is enough."""
    return np.uint32 if largest < 1 << 32 else np.uint64


def secret_draws(split: Split, seed: int) -> np.random.Generator:
    """Random numbers that are the same for the same records in any order, and known to nobody who lacks some of
    them.
    """
    digest = hashlib.sha256(repr(seed).encode())
    for part in (split.public, split.hidden):
        digest.update(np.ascontiguousarray(part.indptr).tobytes())
        digest.update(np.ascontiguousarray(part.items).tobytes())
        digest.update("\0".join(part.vocabulary).encode())
    return np.random.default_rng(np.frombuffer(digest.digest(), dtype=np.uint32))


def refuse_excess(data: Dataset, is_sensitive: NDArray[np.bool_], p: int) -> None:
    """An item that more than one in p records have is an InfeasibleError."""
    excess = _excess(data, is_sensitive, p)
    if excess.any():
        raise _too_frequent(data, p, excess)


def _excess(data: Dataset, is_sensitive: NDArray[np.bool_], p: int) -> NDArray[np.int64]:
    """How many occurrences of each sensitive item are too many for the degree, int64[n_items]."""
    return np.where(is_sensitive, np.maximum(data.supports - data.n_records // p, 0), 0)


def _too_frequent(data: Dataset, p: int, excess: NDArray[np.int64]) -> InfeasibleError:
    """Say which items are in the way, how frequent they are, and which p would work."""
    worst = np.flatnonzero(excess)
    worst = worst[np.argsort(-data.supports[worst], kind="stable")]
    labels = [data.vocabulary[int(item)] for item in worst]
    most = int(data.supports[worst[0]])
    largest = data.n_records // most
    shown = ", ".join(
        f'"{label}" ({int(data.supports[item]):,})' for label, item in zip(labels[:5], worst.tolist(), strict=False)
    )
    more = f" and {len(labels) - 5:,} more" if len(labels) > 5 else ""
    return InfeasibleError(
        f"p={p} allows a sensitive item in at most {data.n_records // p:,} of {data.n_records:,} records, but "
        f"there are more with {shown}{more}; the largest p that works is "
        f"{largest}{' (no protection)' if largest == 1 else ''}, or suppress the excess: --option "
        "suppress_excess=true.",
        items=labels,
    )


def _canonical_order(data: Transactions, is_sensitive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Records by their public, then by their sensitive items; records that come out equal are equal."""
    public, hidden = data.keep_items(~is_sensitive), data.keep_items(is_sensitive)
    return np.lexsort((hidden.row_ranks(), public.row_ranks()))


def _without_excess(data: Transactions, excess: NDArray[np.int64], order: NDArray[np.int64], seed: int) -> Transactions:
    """Take out ``excess[item]`` occurrences of each item, drawn at random from the records in the given order."""
    rng = np.random.default_rng((seed, 0xE8CE55))
    keep = np.ones(data.n_occurrences, dtype=bool)
    place_of = np.empty(data.n_records, dtype=np.int64)
    place_of[order] = np.arange(data.n_records)
    for item in np.flatnonzero(excess):
        positions = np.flatnonzero(data.items == item)
        positions = positions[np.argsort(place_of[data.owners[positions]])]
        keep[rng.choice(positions, size=int(excess[item]), replace=False)] = False
    return data.keep_occurrences(keep)
