"""Market baskets after Agrawal & Srikant, "Fast Algorithms for Mining Association Rules", VLDB 1994, section 2.4.3.

Baskets are made of a few thousand patterns that people tend to buy whole. ``T10I4D100K`` is ``quest(D=100_000, T=10,
I=4, N=1000, L=2000)``. Cost: a few microseconds per basket, one chunk in memory.

Departures from the paper

1. Items enter patterns with exponential weights, not uniformly, as in the authors' program: without it nearly all N
   items occur about equally often, while in T10I4D100K 870 of 1,000 occur and supports are skewed.
2. Sizes are one plus a Poisson number, so that no pattern and no basket is empty; the first pattern of a basket stays
   in it even if it is too large.
3. The corruption level of a pattern is cut to 0..0.95 (a pattern that always loses all its items would never fill a
   basket), and its normal distribution is a sum of twelve uniform draws.
4. A pattern that does not fit moves on to the next basket, but not across runs of 64 baskets (fewer if T > 10): these
   are independent of each other, so that they can be made side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, one_line
from setveil.generate.draws import LARGEST_SEED, MOST_RECORDS, ONE, Draws, choose, poisson_table, weight_table

N_RUNS = 1024  # a chunk is 1,024 runs of baskets, however many are asked for and however they are consumed
N_PICKS = 64  # patterns drawn at once for each run
LARGEST = 2000
MOST_ITEMS = 10**6
MOST_CORRUPTION = 0.95


def quest(
    D: int = 100_000,
    T: float = 10,
    I: float = 4,  # noqa: E741 - the parameters carry the names of the paper
    N: int = 1000,
    L: int = 2000,
    *,
    correlation: float = 0.5,
    corruption: float = 0.5,
    seed: int = 0,
) -> Iterator[Transactions]:
    """D baskets of about T items out of N, made of L patterns of about I items, chunk by chunk.

    The first baskets of a larger D are the baskets of a smaller D.
    """
    for name, value, least in (("D", D, 0), ("T", T, 1), ("I", I, 1), ("N", N, 1), ("L", L, 1), ("seed", seed, 0)):
        if not value >= least:
            raise InputError(f"{name} is {value}; it must be at least {least}.")
    bounds = (("D", D, MOST_RECORDS), ("N", N, MOST_ITEMS), ("L", L, MOST_ITEMS), ("seed", seed, LARGEST_SEED))
    for name, number, most in bounds:
        if number > most:
            raise InputError(f"{name} is {one_line(str(number), 30)}; it must be at most {most:,}.")
    for name, share in (("correlation", correlation), ("corruption", corruption)):
        if not 0 <= share <= 1:
            raise InputError(f"{name} is {share}; it must lie between 0 and 1.")
    if max(T, I) > LARGEST:
        raise InputError(f"T is {T} and I is {I}; both must be at most {LARGEST}.")
    return _chunks(D, T, _make_patterns(I, N, L, correlation, corruption, seed), seed)


def _chunks(D: int, T: float, patterns: _Patterns, seed: int) -> Iterator[Transactions]:
    table = poisson_table(T - 1)
    run = max(4, min(64, int(640 / T)))  # baskets; a chunk holds about 655,360 items
    n_baskets = N_RUNS * run
    for chunk, start in enumerate(range(0, D, n_baskets)):
        draws = Draws(seed, 1, chunk)
        sizes = 1 + choose(table, draws.bits(n_baskets)).reshape(N_RUNS, run)
        owners, items = _write_out(patterns, _fill_baskets(patterns, sizes, draws), draws)
        data = Transactions.from_pairs(owners, items, n_baskets, patterns.vocabulary, layout=Layout("fimi"))
        yield data if D - start >= n_baskets else data.select(np.arange(D - start))


# -- patterns -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Patterns:
    vocabulary: Vocabulary
    indptr: NDArray[np.int64]  # [L+1]
    items: NDArray[np.int32]  # pattern p is items[indptr[p]:indptr[p+1]]
    chosen: NDArray[np.uint64]  # [L] thresholds: which pattern a draw picks
    dropped: NDArray[np.uint64]  # [L, longest] the chance, out of 2**32, to lose at least 1, 2, … items


def _make_patterns(I: float, N: int, L: int, correlation: float, corruption: float, seed: int) -> _Patterns:  # noqa: E741
    draws = Draws(seed, 0)
    popularity = weight_table(draws.exponential(N))
    sizes = np.minimum(1 + choose(poisson_table(I - 1), draws.bits(L)), N)
    shared = np.minimum(draws.exponential(L) * correlation, 1.0)
    patterns: list[list[int]] = []
    previous: list[int] = []
    for size, share in zip(sizes.tolist(), shared.tolist(), strict=True):
        n_old = min(int(share * size + 0.5), len(previous))
        order = np.argsort(draws.bits(len(previous)), kind="stable")
        pattern = dict.fromkeys(previous[place] for place in order[:n_old])
        for _ in range(50):
            if len(pattern) == size:
                break
            for item in choose(popularity, draws.bits(size - len(pattern))).tolist():
                pattern[item] = None
        patterns.append(sorted(pattern))  # a pattern of nearly all items may stay a little shorter
        previous = patterns[-1]
    lengths = np.array([len(pattern) for pattern in patterns], dtype=np.int64)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    items = np.array([item for pattern in patterns for item in pattern], dtype=np.int32)

    chosen = weight_table(draws.exponential(L))
    level = np.clip(corruption + np.sqrt(0.1) * draws.normal(L), 0.0, MOST_CORRUPTION) if corruption else np.zeros(L)
    chance = np.floor(level * ONE)
    columns: list[NDArray[np.uint64]] = []
    while chance.any() and len(columns) < lengths.max():
        columns.append(np.where(len(columns) < lengths, chance, 0).astype(np.uint64))
        chance = np.floor(chance * level)
    dropped = np.stack(columns, axis=1) if columns else np.zeros((L, 1), dtype=np.uint64)
    vocabulary = Vocabulary.presorted([str(item) for item in range(1, N + 1)])
    return _Patterns(vocabulary, indptr, items, chosen, dropped)


# -- baskets ------------------------------------------------------------------------------------------------------


def _fill_baskets(patterns: _Patterns, sizes: NDArray[np.int64], draws: Draws) -> NDArray[np.int64]:
    """Which patterns go into which baskets: rows (basket, pattern, items kept of it), int64[3, placements].

    All runs of a chunk advance together, one pattern at a time; ``sizes`` is [runs, baskets of a run].
    """
    run = sizes.shape[1]
    picked, kept = _pick(patterns, draws)  # [runs, patterns ahead]
    place = np.zeros(N_RUNS, dtype=np.int64)  # the basket each run is at
    turn = np.zeros(N_RUNS, dtype=np.int64)  # the pattern each run is at
    room = sizes[:, 0].copy()
    is_empty = np.ones(N_RUNS, dtype=bool)
    runs = np.arange(N_RUNS)  # those not finished
    placements: list[NDArray[np.int64]] = []
    while len(runs):
        if turn[runs].max() == picked.shape[1]:
            used = int(turn[runs].min())
            more, n_kept = _pick(patterns, draws)
            picked, kept = np.hstack([picked[:, used:], more]), np.hstack([kept[:, used:], n_kept])
            turn -= used
        pattern, n_items = picked[runs, turn[runs]], kept[runs, turn[runs]]
        fits = n_items <= room[runs]
        stays = fits | is_empty[runs] | (draws.bits(len(runs)) < ONE // 2)
        home = runs[stays]
        placements.append(np.stack([home * run + place[home], pattern[stays], n_items[stays]]))
        turn[home] += 1
        room[home] -= n_items[stays]
        is_empty[home] &= n_items[stays] == 0
        full = runs[~stays | (room[runs] <= 0)]
        place[full] += 1
        next_one = full[place[full] < run]
        room[next_one] = sizes[next_one, place[next_one]]
        is_empty[next_one] = True
        runs = runs[place[runs] < run]
    return np.hstack(placements)


def _pick(patterns: _Patterns, draws: Draws) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The next patterns of every run and how many items are left of each, both int64[runs, picks]."""
    pattern = choose(patterns.chosen, draws.bits(N_RUNS * N_PICKS))
    n_lost = (draws.bits(len(pattern))[:, None] < patterns.dropped[pattern]).sum(axis=1)
    n_kept = np.diff(patterns.indptr)[pattern] - n_lost
    return pattern.reshape(N_RUNS, N_PICKS), n_kept.reshape(N_RUNS, N_PICKS)


def _write_out(
    patterns: _Patterns, placements: NDArray[np.int64], draws: Draws
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Pairs of basket and item: the kept items of every placement, chosen by selection sampling."""
    lengths = np.diff(patterns.indptr)[placements[1]]
    longest_first = np.argsort(-lengths, kind="stable")
    length = lengths[longest_first]
    basket, pattern, need = placements[:, longest_first]
    start = patterns.indptr[pattern]
    owners, items = [], []
    for position in range(int(length[0])):
        n = int(np.searchsorted(-length, -position))  # those with an item at this position come first
        left = (length[:n] - position).astype(np.uint64)
        taken = draws.bits(n) * left < need[:n].astype(np.uint64) << np.uint64(32)  # with chance need / left
        need[:n] -= taken
        owners.append(basket[:n][taken])
        items.append(patterns.items[start[:n][taken] + position])
    return np.concatenate(owners), np.concatenate(items)
