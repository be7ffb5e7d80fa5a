"""Guessing who of a group holds its sensitive item, from everything but the truth.

Each guesser looks at a published group and picks one record; where several are equally good, any of them. A case is a
group and a sensitive item counted there. Nobody should be right more often than somebody who picks at random: 1 in p
at most.

- by length: ``longest``, ``shortest``;
- by Jaccard similarity to the others of the group: ``most alike``, ``least alike``;
- by the share of the group that has the record's items: ``central``, ``outlier``;
- by number of items: ``own items`` that no other of the group has, ``shared items`` that another has, too;
- by how many records of the whole release have an item: ``rarest item``, ``commonest item``;
- by place in the original's file, which the release does not show: ``first in file``, ``last in file`` (a table on a
  cluster has no such places, so nobody can go by them there);
- ``replay``: knows the program. Gives the sensitive items to one member after the other, makes the release anew each
  time, and takes the member with which its group comes out most alike.

Two things are measured apart. On *random* holders (sensitive items dealt anew to records drawn at random, the release
made anew) public items tell nothing, so whoever is ahead learned it from how the groups were made. On the *real* ones
habits tell, too: who buys one thing likes another. No grouping can undo that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.sampling import scatter
from setveil.core import Dataset, Transactions, Vocabulary
from setveil.core.row_order import bounds_of
from setveil.core.transactions import AnyDataset
from setveil.errors import InfeasibleError
from setveil.releases import Grouping
from setveil.releases.grouping import SomeGroups
from setveil.risk.intervals import Rate, rate_of

LARGEST = 400  # records; in a larger group, such as that of the leftovers, nobody is looked for
MOST = 3_000  # groups; of more, evenly spread ones are tried
ENOUGH = 100_000  # records with random holders: three times what MOST groups of ten have
REPLAYS = 10  # releases made anew

Remake = Callable[[Any], Grouping]  # the release of other data, made in the same way
Scores = dict[str, NDArray[np.float64]]  # [records of a group] per guesser; the highest is picked


class Guesser(NamedTuple):
    """One way to guess, and how often it is right."""

    name: str
    right: Rate


class Guesses(NamedTuple):
    """Over all groups of a size to guess in, and the sensitive items counted there."""

    n_cases: int
    at_random: float  # how often any record of the group is right
    guessers: tuple[Guesser, ...]

    def rate(self, name: str) -> Rate:
        """How often a guesser is right."""
        return next(guesser.right for guesser in self.guessers if guesser.name == name)

    @property
    def best(self) -> Guesser:
        """The guesser that is right most often."""
        return max(self.guessers, key=lambda guesser: guesser.right.value)


class GuessTable(NamedTuple):
    """Both measurements, beside the probability that the guarantee allows."""

    promised: float | None  # 1/p
    random: Guesses | None  # sensitive items dealt anew: what the algorithm gives away
    real: Guesses | None  # the real ones: what people's habits give away as well

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; a rate is [value, low, high]."""
        return {
            "promised": self.promised,
            **{
                name: None
                if part is None
                else {
                    "n_cases": part.n_cases,
                    "at_random": part.at_random,
                    "guessers": {guesser.name: list(guesser.right) for guesser in part.guessers},
                }
                for name, part in (("random", self.random), ("real", self.real))
            },
        }


def guess_both(
    original: Dataset,
    release: Grouping,
    promised: float | None,
    remake: Remake | None,
    seed: int = 0,
    *,
    replay: bool = True,
) -> GuessTable:
    """Guess on the release, and on one made in the same way of data in which holders are drawn at random.

    The latter is made of ``ENOUGH`` records, evenly spread, or of up to twice as many.
    ``replay=False`` leaves out the guesser who makes the release anew again and again.
    """
    again_and_again = remake if replay else None
    real = guess_holders(original, release, again_and_again, seed)
    if remake is None:
        return GuessTable(promised, None, real)
    is_sensitive = release.sensitive.numbers(original.vocabulary) >= 0
    for step in dict.fromkeys((max(original.n_records // ENOUGH, 1), 1)):
        dealt = deal_anew(original.evenly_spaced(step) if step > 1 else original, is_sensitive, seed)
        try:
            again = remake(dealt)
        except InfeasibleError:  # an item may be too frequent in a part only: then all records are taken
            continue
        random = guess_holders(Grouping.without_bare(dealt, again.sensitive), again, again_and_again, seed)
        again.forget()
        dealt.release_memory()
        return GuessTable(promised, random, real)
    return GuessTable(promised, None, real)


def guess_holders(original: Dataset, release: Grouping, remake: Remake | None = None, seed: int = 0) -> Guesses | None:
    """How often each guesser is right; None if there is nothing to guess. Records are in the order of the original.

    ``remake`` makes the release of other data in the same way; without it nobody replays.
    """

    def is_fit(sizes: NDArray[np.int64], n_counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        fits: NDArray[np.bool_] = (sizes <= LARGEST) & (n_counts > 0)
        return fits

    some = release.some_groups(original, is_fit, lambda n: _spread(np.arange(n), MOST))
    if not len(some.chosen):
        return None
    replayed = None if remake is None or not some.has_input_order else _replay(some.release, some.chosen, remake, seed)
    return _rates(some.original, some.release, some.chosen, _picks(some, replayed))


def _picks(some: SomeGroups, replayed: NDArray[np.float64] | None) -> dict[str, NDArray[np.bool_]]:
    """Whom each guesser picks, bool[records]."""
    release = some.release
    bounds = bounds_of(release.group_sizes)
    order = np.argsort(release.group_of, kind="stable")
    picked: dict[str, NDArray[np.bool_]] = {}
    for group in some.chosen.tolist():
        members = order[bounds[group] : bounds[group + 1]]
        scores = _scores(release.rows.select(members), some.supports)
        if some.has_input_order:
            scores |= {"first in file": -members.astype(np.float64), "last in file": members.astype(np.float64)}
        if replayed is not None:
            scores["replay"] = replayed[members]
        for name, score in scores.items():
            marks = picked.setdefault(name, np.zeros(release.published.n_records, dtype=bool))
            marks[members] = score >= score.max() - 1e-9
    return picked


def _spread(values: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most ``most`` values, evenly spread."""
    if len(values) <= most:
        return values
    chosen: NDArray[np.int64] = values[np.linspace(0, len(values) - 1, most).astype(np.int64)]
    return chosen


def _scores(rows: Transactions, support: NDArray[np.int64]) -> Scores:
    """What each guesser thinks of each record of a group."""
    used, column = np.unique(rows.items, return_inverse=True)
    has = np.zeros((rows.n_records, len(used)))
    has[rows.owners, column] = 1.0
    length = rows.lengths.astype(np.float64)
    common = has @ has.T
    union = length[:, None] + length[None] - common
    alike = np.divide(common, union, out=np.ones_like(common), where=union > 0).sum(axis=1)
    n_holders = has.sum(axis=0)
    central = has @ n_holders / np.sqrt(np.maximum(length, 1.0))
    own = has @ (n_holders == 1).astype(np.float64)
    everywhere = support[used].astype(np.float64)
    rarest = np.where(has > 0, everywhere, np.inf).min(axis=1, initial=np.inf)
    commonest = np.where(has > 0, everywhere, 0.0).max(axis=1, initial=0.0)
    return {
        "longest": length,
        "shortest": -length,
        "most alike": alike,
        "least alike": -alike,
        "central": central,
        "outlier": -central,
        "own items": own,
        "shared items": length - own,
        "rarest item": -np.where(np.isfinite(rarest), rarest, 1e18),
        "commonest item": commonest,
    }


def _rates(
    original: Transactions, release: Grouping, chosen: NDArray[np.int64], picked: dict[str, NDArray[np.bool_]]
) -> Guesses:
    tried = np.isin(release.count_group, chosen)
    groups, items, counts = release.count_group[tried], release.count_item[tried], release.count[tried]
    number = release.sensitive.numbers(original.vocabulary)  # [original items], -1 for public ones
    hidden = np.flatnonzero(number[original.items] >= 0)
    record, width = original.owners[hidden], len(release.sensitive)
    holds = release.group_of[record] * width + number[original.items[hidden]]  # [occurrences] its case
    cases = groups * width + items  # ascending

    def right(is_picked: NDArray[np.bool_]) -> Rate:
        held = holds[is_picked[record]]
        place = np.minimum(np.searchsorted(cases, held), len(cases) - 1)
        hits = np.bincount(place[cases[place] == held], minlength=len(cases))  # what was left out is no case
        n_picked = np.bincount(release.group_of[is_picked], minlength=release.n_groups)
        return rate_of(np.minimum(hits / n_picked[groups], 1.0))

    size = release.group_sizes
    guessers = tuple(Guesser(name, right(marks)) for name, marks in picked.items())
    return Guesses(len(cases), float((counts / size[groups]).mean()), guessers)


# -- making the release anew ------------------------------------------------------------------------------------------


def deal_anew(data: AnyDataset, sensitive: NDArray[np.bool_], seed: int) -> AnyDataset:
    """The same public items, with the sensitive items of each record given to another one, drawn at random.

    Only records with public items take part, so nobody is left with sensitive items alone. Who gets what depends on
    positions in canonical order: the same records in another order, or on a cluster, are dealt the same.
    """

    def goes_to(positions: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        return scatter(positions, n, seed)

    return data.hand_on(sensitive, goes_to)


def _replay(release: Grouping, chosen: NDArray[np.int64], remake: Remake, seed: int) -> NDArray[np.float64]:
    """How alike each record's group came out when that record was given the sensitive items, float64[n_records].

    Everything here is known to a recipient: public items, groups, counts, the program. The first count of every group
    goes round its members, one replay after the other; other counts stay with members drawn at random.
    """
    random = np.random.default_rng((seed, 0x8EB1A7))
    size = np.bincount(release.group_of, minlength=release.n_groups)
    order = np.lexsort((random.random(len(release.group_of)), release.group_of))  # members in random order
    start = bounds_of(size)[:-1]
    labels = [*release.published.vocabulary, *release.sensitive]
    score = np.full(len(release.group_of), -1.0)
    for turn in range(REPLAYS):
        owners, items = [release.rows.owners], [release.rows.items.astype(np.int64)]
        suspects: dict[int, int] = {}
        for group, item, count in zip(
            release.count_group.tolist(), release.count_item.tolist(), release.count.tolist(), strict=True
        ):
            positions = (turn + np.arange(count)) % size[group]
            holders = order[start[group] + positions]
            owners.append(holders)
            items.append(np.full(count, release.published.n_items + item))
            suspects.setdefault(group, int(holders[0]))
        numbers = np.concatenate(items)
        data = _over_labels(np.concatenate(owners), numbers, release.published.n_records, labels)
        again = remake(data)
        if again.published.n_records != release.published.n_records:
            continue  # somebody was left out: groups cannot be compared
        size_again = np.bincount(again.group_of)
        for group in chosen.tolist():
            suspect = suspects[group]
            members = order[start[group] : start[group] + size[group]]
            same = int((again.group_of[members] == again.group_of[suspect]).sum())
            score[suspect] = same / (size[group] + size_again[again.group_of[suspect]] - same)
    return score


def _over_labels(
    owners: NDArray[np.int64], numbers: NDArray[np.int64], n_records: int, labels: list[str]
) -> Transactions:
    """Transactions from pairs over labels in any order."""
    vocabulary = Vocabulary(labels)
    place = vocabulary.numbers(labels)
    return Transactions.from_pairs(owners, place[numbers], n_records, vocabulary)
