"""What groups that nobody can guess cost: the error of `blocks` beside groups that would break its promise.

    python -m benchmarks.blocks_bounds --data DIR

Five seeds, drawn as in ``benchmarks.sensitive``. *as they are*: the blocks before any is mixed, so that some hold a
sensitive item too often: what public items alone could give. *drawn*: `blocks`; pairs with a failing block are mixed
with silent ones that are drawn. *most alike*: a failing block takes the blocks most like it, so that whoever knows
likeness knows which of them failed. *neighbour*: no blocks of similar records, but p records at a time along the Gray
order, a failing run joined with the next ones; the seam tells who failed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import setveil as sv
from benchmarks.sensitive import SETS, draw_sensitive, run_once
from setveil.algorithms import Context
from setveil.algorithms.degree.blocks import BlocksOfRecords, draw_remainder, plan, shuffle_equals
from setveil.algorithms.degree.groups import Split, secret_draws, split_records
from setveil.core import Grouping, Transactions
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order
from setveil.utility.reconstruction import PROTOCOLS, draw_queries, kl_divergences

P, M = 10, 10


def blocks_before_mixing(split: Split, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The records of each block, int64[blocks, p], and the remainder."""
    rng = secret_draws(split, seed)
    remainder = draw_remainder(split, plan(split)[2], rng)
    order = shuffle_equals(split.public, gray_order(split.public), rng)
    order = order[~np.isin(order, remainder)]
    return order[BlocksOfRecords()._form_blocks(split.public.select(order), P, Context(seed=seed))], remainder


def hold(split: Split, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each sensitive item occurs in each block, int64[blocks, items]."""
    rows = split.hidden.select(members.ravel())
    counts = np.zeros((len(members), rows.n_items), dtype=np.int64)
    np.add.at(counts, (rows.owners // members.shape[1], rows.items), 1)
    return counts


def join_most_alike(split: Split, members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Each failing block, the worst first, with the blocks most like it that fit."""
    from scipy import sparse

    counts = hold(split, members)
    rows = split.public.select(members.ravel())
    pairs = (np.ones(rows.n_occurrences), (rows.owners // P, rows.items))
    profile = sparse.csr_array(pairs, shape=(len(members), rows.n_items))
    length = np.sqrt(np.maximum(np.asarray(profile.multiply(profile).sum(axis=1)).ravel(), 1.0))
    profile = sparse.csr_array(sparse.diags_array(1.0 / length) @ profile)
    is_taken = counts.max(axis=1) > 1
    failing = np.flatnonzero(is_taken)
    groups = []
    for block in failing[np.argsort(-counts[failing].max(axis=1), kind="stable")]:
        together, held = [block], counts[block].copy()
        likeness = (profile @ profile[[block]].T).toarray().ravel()
        for other in np.argsort(-likeness, kind="stable"):
            if held.max() <= len(together):
                break
            if not is_taken[other] and (held + counts[other]).max() <= max(held.max(), len(together) + 1):
                together.append(other)
                held += counts[other]
                is_taken[other] = True
        groups.append(members[together].ravel())
    return [*members[~is_taken], *groups]


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
    parser.add_argument("--sets", default=",".join(SETS), help="files in the folder, separated by commas")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for name in given.sets.split(","):
        data = sv.read(given.data / name)
        found: dict[str, list[list[float]]] = {}
        for seed in range(given.seeds):
            split = split_records(data, PrivacyDegree(P, draw_sensitive(data, M, seed)))
            members, remainder = blocks_before_mixing(split, seed)
            cases = {
                "blocks, as they are": released(split, [*members, remainder]),
                "blocks, drawn": run_once(data, "blocks", {}, P, M, seed)[0],
                "blocks, most alike": released(split, [*join_most_alike(split, members), remainder]),
                "neighbour": released(split, join_neighbours(split)),
                "nn": run_once(data, "nn", {}, P, M, seed)[0],
            }
            for case, release in cases.items():
                found.setdefault(case, []).append(errors(data, release, seed))
        print(f"\n{name}, {given.seeds} seeds\n{'':20}" + "".join(f"{protocol:>13}" for protocol in PROTOCOLS))
        for case, rows in found.items():
            print(f"{case:20}" + "".join(f"{mean:>13.4f}" for mean in np.mean(rows, axis=0)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
