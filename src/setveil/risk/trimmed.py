"""Two attackers on a release with suppressed entries.

*One attacker knows two items of a person, and the person's record does not show both.* The guarantee says that k
records or none show both. None of these is the person's. If there is none, the attacker knows that an entry was
suppressed, and looks at the records that show one of the two. Each published item is in k or more records, so the
probability of picking the right record is at most 1/k.

*The other attacker runs the program again.* This attacker knows every original record, except for one suppressed entry
of the target. The attacker tries some candidates for the entry, the right item among them, makes the release for each,
and keeps the candidates that give the published release. The guarantee does not cover this attacker. The result is how
often the right item is picked among the remaining candidates, beside a random choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import are_matches, count_matches
from setveil.arrays.sampling import draw_subsets
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.releases import Release
from setveil.risk.intervals import Rate, rate_of
from setveil.risk.knowledge import each_once
from setveil.risk.surface import Surface

Remake = Callable[[Transactions], Release]  # the release of other data, made in the same way

GUESSES = 5  # items that are tried for an entry left out, the right one among them
REPLAYED = 12  # entries that are guessed
AT_ONCE = 100_000  # records looked at together
MOST_REPLAYED = 1_500_000  # entries of all data that the program is run on

_NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class LeftOutTable:
    """What the two attackers find; a rate is ``None`` where nobody is concerned."""

    n_targets: int  # people with two items or more, two of which are known
    concerned: Rate  # their record does not show both
    nowhere: Rate | None  # of these: no record shows both
    misled: Rate | None  # of these: records show both, none of them theirs
    singled_out: Rate | None  # of these: one record shows one of the two, and it is theirs
    picked: Rate | None  # of these: the chance of picking their record among those that fit best
    promised: float | None  # what the chance is promised not to exceed
    n_replayed: int = 0  # entries that were guessed by replaying
    replayed: Rate | None = None  # how often the right item was picked
    blindly: float | None = None  # the same without the release

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; a rate is [value, low, high]."""
        return asdict(self)


def attack_left_out(
    original: Transactions,
    release: Release,
    targets: int = 1000,
    seed: int = 0,
    promised: float | None = None,
    remake: Remake | None = None,
) -> LeftOutTable | None:
    """Carry out both attacks; ``None`` if no entry was suppressed, or nobody has two items.

    ``release`` has its records in the order of ``original``. Without ``remake`` nothing is replayed.
    """
    if release.suppression_by != "algorithm" or not (original.lengths >= 2).any():
        return None
    surface = Surface.of_release(release, original.vocabulary, _NOTHING)
    is_shown = _shown_entries(surface, original)
    if is_shown.all():
        return None
    random = np.random.default_rng((seed, 2))
    people = random.choice(np.flatnonzero(original.lengths >= 2), targets)
    positions = original.indptr[people][:, None] + draw_subsets(original.lengths[people], 2, random)  # [targets, 2]
    fits = surface.images.of_item[original.items[positions]]  # [targets, 2], -1 for what is published nowhere
    # The attacker knows the columns, too, where there are known ones.
    classes = None if surface.column_classes is None else surface.column_classes.of_record[people]
    # Records that show one; those that show both, twice.
    n_one = _count_all(surface, fits[:, :1], classes) + _count_all(surface, fits[:, 1:], classes)
    n_both = _count_all(surface, fits, classes)
    n_everybody = np.full(targets, original.n_records)
    if surface.column_classes is not None:
        n_everybody = surface.column_classes.sizes[classes]
    n_own = is_shown[positions].sum(axis=1)  # of the two, in the person's own record
    hidden = n_own < 2
    n_either = np.maximum(n_one - n_both, 0)
    nowhere = n_both[hidden] == 0
    # With nothing to go by at all, everybody fits.
    n_fitting = np.where(n_either[hidden] > 0, n_either[hidden], n_everybody[hidden])
    is_there = np.where(n_either[hidden] > 0, n_own[hidden] > 0, True)
    picked = np.where(nowhere & is_there, 1 / n_fitting, 0.0)
    replayed, n_replayed = _replay(original, release, is_shown, remake, seed) if remake else (None, 0)
    concerned = bool(hidden.any())
    return LeftOutTable(
        n_targets=targets,
        concerned=rate_of(hidden),
        nowhere=rate_of(nowhere) if concerned else None,
        misled=rate_of(~nowhere) if concerned else None,
        singled_out=rate_of(nowhere & is_there & (n_fitting == 1)) if concerned else None,
        picked=rate_of(picked) if concerned else None,
        promised=promised,
        n_replayed=n_replayed,
        replayed=replayed,
        blindly=1 / GUESSES if replayed is not None else None,
    )


def _count_all(surface: Surface, images: NDArray[np.int32], classes: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """How many records fit all images of each row, int64[rows], in the given class where columns are known; an image
    may stand there twice, and nothing fits -1.
    """
    found = np.zeros(len(images), dtype=np.int64)
    is_somewhere = (images >= 0).all(axis=1)
    some = each_once(images[is_somewhere].astype(np.int32))
    queries = surface.in_classes(some, None if classes is None else classes[is_somewhere])
    found[is_somewhere] = count_matches(surface.postings, _NOTHING, queries)
    return found


def _shown_entries(surface: Surface, original: Transactions) -> NDArray[np.bool_]:
    """For each entry of the original whether its record shows something that can cover it."""
    is_shown = np.zeros(original.n_occurrences, dtype=bool)
    for first in range(0, original.n_records, AT_ONCE):
        last = min(first + AT_ONCE, original.n_records)
        begin, end = int(original.indptr[first]), int(original.indptr[last])
        image = surface.images.of_item[original.items[begin:end]]
        there = np.flatnonzero(image >= 0)
        alone = np.arange(len(there) + 1, dtype=np.int64), image[there].astype(np.int32)
        owners = np.repeat(np.arange(first, last), original.lengths[first:last])[there]
        is_shown[begin + there] = are_matches(surface.postings, alone, owners)
    return is_shown


def _replay(
    original: Transactions, release: Release, is_shown: NDArray[np.bool_], remake: Remake, seed: int
) -> tuple[Rate | None, int]:
    """How often the right item is picked, and how many entries were guessed; nothing where that takes too long."""
    n_runs = min(MOST_REPLAYED // max(original.n_occurrences, 1), 1 + REPLAYED * (GUESSES - 1))
    n_guessed = (n_runs - 1) // (GUESSES - 1)
    frequent = np.flatnonzero(original.supports > 0)
    if n_guessed < 1 or len(frequent) < GUESSES:
        return None, 0
    random = np.random.default_rng((seed, 3))
    published = _contents(release)
    try:
        if _contents(remake(original)) != published:  # made in a way that is not known: nothing to replay
            return None, 0
    except InputError:  # a file of weights is no longer at hand
        return None, 0
    entries = random.choice(np.flatnonzero(~is_shown), n_guessed)
    chances = []
    for entry in entries.tolist():
        own = original.record(int(original.owners[entry]))
        others = np.setdiff1d(frequent, own)
        if not len(others):
            continue
        shares = original.supports[others] / original.supports[others].sum()
        decoys = random.choice(others, min(GUESSES - 1, len(others)), replace=False, p=shares)
        n_left = 1 + sum(
            _contents(remake(_with_item(original, entry, decoy))) == published for decoy in decoys.tolist()
        )
        chances.append(1 / n_left)
    return (rate_of(np.array(chances)), len(chances)) if chances else (None, 0)


def _with_item(original: Transactions, entry: int, item: int) -> Transactions:
    """The data with another item in place of an entry."""
    items = original.items.copy()
    items[entry] = item
    changed = Transactions.from_pairs(original.owners, items, original.n_records, original.vocabulary)
    return replace(changed, columns=original.columns)


def _contents(release: Release) -> Counter[tuple[object, ...]]:
    """The published records, with their columns and without their order."""
    columns = [column.to_list() for column in release.rows.columns or ()]
    return Counter(zip(map(frozenset, release.transactions()), *columns, strict=True))
