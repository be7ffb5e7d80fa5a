"""What groups that nobody can guess cost: the error of `blocks` beside groups that would not meet its guarantee.

    python -m benchmarks.blocks_bounds --data DIR [--support N]

Five seeds, drawn as in ``benchmarks.sensitive`` (``--support``: from the items that at least so many records have).
*as they are*: the blocks before any is mixed, so that some hold a sensitive item too often: what public items alone
could give. *by what they hold*: `blocks`; pairs that hold an item twice are mixed with pairs that are chosen by what
they hold. *drawn*: mixed with silent pairs that are drawn; it tells as little. *most alike*: a failing block takes the
blocks most like it, so that whoever knows likeness knows which of them failed. *neighbour*: no blocks of similar
records, but p records at a time along the Gray order, a failing run joined with the next ones; the seam tells who
failed.

Below each table, for the hundred longest records: the rate of the sensitive item most of them hold; the largest share
that they can have in a group if groups do not depend on who of them holds it (x of them bring x * rate holders on
average, and one in p is allowed, so 1 / (p * rate)); and the share that they have in the groups of their sensitive
items.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import setveil as sv
from benchmarks.sensitive import SETS, draw_sensitive, run_once
from setveil.algorithms import Context
from setveil.algorithms.degree.blocks import BlocksOfRecords, draw_remainder, plan, shuffle_equals
from setveil.algorithms.degree.gathering import pair_blocks
from setveil.algorithms.degree.groups import Split, secret_draws, split_records
from setveil.algorithms.degree.joining import Parts, mix
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order
from setveil.releases import Grouping
from setveil.utility.reconstruction import PROTOCOLS, draw_queries, kl_divergences

if TYPE_CHECKING:
    from scipy.sparse import csr_array

P, M = 10, 10
LONGEST = 5  # pairs of blocks, and as many records as these have


def blocks_before_mixing(split: Split, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The records of each block, int64[blocks, p], similar ones in pairs, and the remainder."""
    rng = secret_draws(split, seed)
    remainder = draw_remainder(split, plan(split)[2], rng)
    order = shuffle_equals(split.public, gray_order(split.public), rng)
    order = order[~np.isin(order, remainder)]
    rows, algorithm = split.public.select(order), BlocksOfRecords()
    members = algorithm._form_blocks(rows, P, Context(seed=seed))
    return order[pair_blocks(rows, members, algorithm.reach, Context(seed=seed))], remainder


def hold(split: Split, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each sensitive item occurs in each block or pair, int64[blocks, items]."""
    return Parts(members, split.hidden, P).holdings()


def unit_profiles(split: Split, units: NDArray[np.int64]) -> csr_array:
    """How often each public item occurs in each unit, as vectors of length 1; ``units``: the records of each."""
    from scipy import sparse

    rows = split.public.select(units.ravel())
    pairs = (np.ones(rows.n_occurrences), (rows.owners // units.shape[1], rows.items))
    profile = sparse.csr_array(pairs, shape=(len(units), rows.n_items))
    length = np.sqrt(np.maximum(np.asarray(profile.multiply(profile).sum(axis=1)).ravel(), 1.0))
    return sparse.csr_array(sparse.diags_array(1.0 / length) @ profile)


def join_most_alike(split: Split, members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Each failing block, the worst first, with the blocks most like it that fit."""
    counts, profile = hold(split, members), unit_profiles(split, members)
    is_taken = counts.max(axis=1) > 1
    failing = np.flatnonzero(is_taken)
    groups = []
    for block in failing[np.argsort(-counts[failing].max(axis=1), kind="stable")]:
        likeness = (profile @ profile[[block]].T).toarray().ravel()
        together = join_until_it_fits(block, np.argsort(-likeness, kind="stable"), counts, is_taken)
        groups.append(members[together].ravel())
    return [*members[~is_taken], *groups]


def join_drawn(split: Split, members: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Each pair that holds an item twice, mixed with as many silent pairs as it needs, drawn from all there are."""
    pairs = members.reshape(-1, 2 * P)
    most = hold(split, pairs).max(axis=1)
    silent = rng.permutation(np.flatnonzero(most == 0)).tolist()
    is_alone = most < 2
    groups: list[NDArray[np.int64]] = []
    for pair in np.flatnonzero(~is_alone).tolist():
        together = [pair, *(silent.pop() for _ in range(-(-int(most[pair]) // 2) - 1))]
        is_alone[together] = False
        groups += mix(Parts(pairs[together], split.hidden, P), rng)
    return [*pairs[is_alone].reshape(-1, P), *groups]


def join_until_it_fits(
    block: int, others: NDArray[np.int64], counts: NDArray[np.int64], is_taken: NDArray[np.bool_]
) -> list[int]:
    """The block and the first of the others that are free and bring the degree nearer; these are taken then.

    ``counts``: of each sensitive item in each block.
    """
    together, held = [block], counts[block].copy()
    for other in others:
        if held.max() <= len(together):
            break
        if not is_taken[other] and (held + counts[other]).max() <= max(held.max(), len(together) + 1):
            together.append(other)
            held += counts[other]
            is_taken[other] = True
    return together


def join_neighbours(split: Split) -> list[NDArray[np.int64]]:
    """Runs of p records in Gray order, each with the next ones until the degree holds."""
    order = gray_order(split.public)
    groups: list[NDArray[np.int64]] = []
    start = 0
    for end in [*range(P, len(order) - P + 1, P), len(order)]:
        while (split.hidden.select(order[start:end]).supports * P > end - start).any():
            if end < len(order) or not groups:
                break
            start -= len(groups.pop())
        else:
            groups.append(order[start:end])
            start = end
    return groups or [order]


def errors(data: Transactions, release: Grouping, seed: int) -> list[float]:
    """The mean divergence by each protocol."""
    asked = [draw_queries(data, release.sensitive, protocol, 4, 1000, seed) for protocol in PROTOCOLS]
    return [float(kl_divergences(data, release, queries).mean()) for queries in asked]


def longest_records(split: Split) -> tuple[NDArray[np.int64], float]:
    """The longest records, and which part of them holds the sensitive item that most of them hold."""
    longest = np.argsort(-split.public.lengths, kind="stable")[: LONGEST * 2 * P]
    return longest, float(split.hidden.select(longest).supports.max()) / len(longest)


def share_of_longest(split: Split, release: Grouping) -> float:
    """Which part of a group is among the longest records, mean over the sensitive items these hold."""
    longest, _ = longest_records(split)
    group_of = release.group_of[split.order]
    share = np.bincount(group_of[longest], minlength=release.n_groups) / np.bincount(group_of)
    return float(np.average(share[group_of[longest]], weights=split.hidden.lengths[longest]))


def released(split: Split, groups: list[NDArray[np.int64]]) -> Grouping:
    """The groups as a release."""
    group_of = np.full(split.n_records, -1, dtype=np.int64)
    for number, records in enumerate(groups):
        group_of[records] = number
    return split.release(group_of, {})


def main(arguments: list[str] | None = None) -> int:
    """Print a table per data set."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.blocks_bounds", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with " + " and ".join(SETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--support", type=int, default=1, help="draw sensitive items that so many records have")
    parser.add_argument("--sets", default=",".join(SETS), help="files in the folder, separated by commas")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for name in given.sets.split(","):
        data = sv.read(given.data / name)
        found: dict[str, list[list[float]]] = {}
        longest: list[list[float]] = []
        for seed in range(given.seeds):
            split = split_records(data, PrivacyDegree(P, draw_sensitive(data, M, seed, given.support)))
            members, remainder = blocks_before_mixing(split, seed)
            rng = np.random.default_rng(seed)
            cases = {
                "as they are": released(split, [*members, remainder]),
                "by what they hold": run_once(data, "blocks", {}, P, M, seed, given.support)[0],
                "drawn": released(split, [*join_drawn(split, members, rng), remainder]),
                "most alike": released(split, [*join_most_alike(split, members), remainder]),
                "neighbour": released(split, join_neighbours(split)),
                "nn": run_once(data, "nn", {}, P, M, seed, given.support)[0],
            }
            for case, release in cases.items():
                found.setdefault(case, []).append(errors(data, release, seed))
            rate = longest_records(split)[1]
            shares = [share_of_longest(split, cases[case]) for case in ("by what they hold", "nn")]
            longest.append([rate, min(1.0, 1.0 / (P * rate)), *shares])
        print(f"\n{name}, {given.seeds} seeds\n{'':20}" + "".join(f"{protocol:>13}" for protocol in PROTOCOLS))
        for case, rows in found.items():
            print(f"{case:20}" + "".join(f"{mean:>13.4f}" for mean in np.mean(rows, axis=0)), flush=True)
        rate, most, *shares = np.mean(longest, axis=0)
        print(f"longest records: rate {rate:.2f}; share at most {most:.2f}, blocks {shares[0]:.2f}, nn {shares[1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
