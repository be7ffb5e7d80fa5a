"""Tables of counts: python -m benchmarks.counts FILE … [-k 5] measures whole commands, errors and attackers.

For each file: CPU seconds and the clock of ``setveil anonymize FILE --model counts``, its largest memory, the mean
error of counts of pairs and triples (by the table and by the records), and how many of the 1,000 itemsets of up to
three items that the table gives the highest counts are among the 1,000 most frequent ones of the original.

Attackers: the people are divided at random into two parts (``--share``), and a release is made from the first.
*Membership*: the attacker has a whole record and says whether its person is in that part; AUC, 0.5 is a guess. *Further
item*: the attacker knows three items of a person and guesses a fourth, for people of that part and, as a control, for
people who are not in it. Every release is verified.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import setveil as sv
from setveil.core import Transactions
from setveil.releases import CountTable
from setveil.utility.avg_re import relative_errors, workload_t
from setveil.utility.estimates import SupportEstimates
from setveil.utility.itemsets import frequent_itemsets

TOP, PEOPLE = 1000, 1000
Rows = csr_array
Score = Callable[[Rows], NDArray[np.float64]]


def command(path: str, k: int, out: Path) -> str:
    """Run the whole command in a process of its own; CPU, clock and memory."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    program = "from setveil.cli.main import main; main()"
    run = [sys.executable, "-c", program, "anonymize", path, "-o", str(out), "--model", "counts", "-k", str(k)]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{cpu:.0f} s | {time.perf_counter() - clock:.0f} s | {after.ru_maxrss / 1e6:.1f} GB"


def top_kept(data: Transactions, release: CountTable) -> float:
    """The share of the itemsets with the highest counts by the table that are among the most frequent ones."""
    rate = 0.02
    while True:
        found = frequent_itemsets(data, rate, max_size=3)
        if len(found.itemsets) >= 3 * TOP or rate < 5 / data.n_records:
            break
        rate /= 2
    truth = np.asarray(found.supports)
    read = SupportEstimates.of(release, data.vocabulary).supports(found.itemsets, "table")
    least = np.sort(truth)[-min(TOP, len(truth))]  # itemsets as frequent as the last one are all among the first
    first = np.lexsort((np.arange(len(read)), -read))[:TOP]
    return float((truth[first] >= least).mean())


def rows_of(data: Transactions, n_items: int) -> Rows:
    """Records as a sparse matrix."""
    ones = np.ones(len(data.items), dtype=np.float64)
    return csr_array((ones, data.items, data.indptr), shape=(data.n_records, n_items))


def nearest(known: Rows) -> Score:
    """The largest share of common items with one of these records (Jaccard)."""
    lengths = known.sum(axis=1)

    def score(people: Rows) -> NDArray[np.float64]:
        common = (people @ known.T).toarray()
        together = people.sum(axis=1)[:, None] + lengths[None, :] - common
        return np.asarray((common / np.maximum(together, 1)).max(axis=1))

    return score


def listed_share(release: CountTable, number: NDArray[np.int32]) -> Score:
    """The share of a person's pairs and triples that the table lists."""
    bounds, flat = release.sets.indptr.tolist(), release.sets.items.tolist()
    listed = {tuple(flat[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)}

    def score(people: Rows) -> NDArray[np.float64]:
        found = []
        for a, b in zip(people.indptr, people.indptr[1:], strict=False):
            items = np.sort(number[people.indices[a:b]])[:15].tolist()
            sets = [one for size in (1, 2, 3) for one in combinations(items, size)]
            found.append(np.mean([one in listed for one in sets]) if sets else 0.0)
        return np.array(found)

    return score


def auc(score: Score, members: Rows, others: Rows) -> float:
    """The chance that a member has the higher score."""
    inside, outside = score(members), score(others)
    return float((inside[:, None] > outside).mean() + 0.5 * (inside[:, None] == outside).mean())


def guessed(published: Rows, people: Rows, seed: int) -> tuple[float, int]:
    """How often a fourth item is right: the one that most records with the three known items have, or with two of them
    where no record has all three; and of how many people.
    """
    random, columns = np.random.default_rng(seed), published.tocsc()
    hits = []
    for a, b in zip(people.indptr, people.indptr[1:], strict=False):
        if b - a < 4:
            continue
        drawn = random.permutation(people.indices[a:b])
        holders = [set(columns.indices[columns.indptr[i] : columns.indptr[i + 1]].tolist()) for i in drawn[:3]]
        fitting = set.intersection(*holders)
        fitting = fitting or set().union(*(one & two for one, two in combinations(holders, 2)))
        counts = np.asarray(published[sorted(fitting)].sum(axis=0)) if fitting else np.asarray(published.sum(axis=0))
        counts[drawn[:3]] = -1
        hits.append(int(counts.argmax()) in drawn[3:])
    return float(np.mean(hits)), len(hits)


def attackers(data: Transactions, k: int, share: float) -> list[str]:
    """Lines of the table of attackers."""
    order = np.random.default_rng(0).permutation(data.n_records)
    n_inside = int(data.n_records * share)
    inside, outside = data.select(np.sort(order[:n_inside])), data.select(np.sort(order[n_inside:]))
    n_items = len(data.vocabulary)
    own, other = rows_of(inside, n_items), rows_of(outside, n_items)
    members, others = own[:PEOPLE], other[:PEOPLE]
    lines = []

    def row(name: str, published: Rows, score: Score | None = None) -> None:
        found = f"{auc(score or nearest(published), members, others):.2f}"
        if score is None:
            (hit, n), (control, n_control) = guessed(published, own, 1), guessed(published, other, 1)
            error = 100 * (hit * (1 - hit) / n + control * (1 - control) / n_control) ** 0.5
            found += f" | {100 * hit:.1f} % | {100 * control:.1f} % | {100 * (hit - control):+.1f} ± {error:.1f} points"
        lines.append(f"| {name} | {found} |" if score is None else f"| {name} | {found} | – | – | – |")

    row("original", own)
    for m in (2, 3):
        release = sv.anonymize(inside, "km", k=k, m=m, algorithm="trim", options={"effort": "fast"})
        row(f"`trim`, m={m}", rows_of(release.published.over(data.vocabulary), n_items))
    for crowd in (k, 20):
        release = sv.anonymize(inside, "counts", k=crowd)
        assert isinstance(release, CountTable) and sv.verify(release).holds
        row(f"records, k={crowd}", rows_of(release.published.over(data.vocabulary), n_items))
        number = release.published.vocabulary.numbers(data.vocabulary)
        row(f"table, k={crowd}", own, listed_share(release, number))
    return lines


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.5, help="of the people whose release is attacked")
    parser.add_argument("--attackers", action="store_true", help="attackers only")
    parser.add_argument("--commands", action="store_true", help="CPU, clock and memory only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", sv.SetveilWarning)
    if not asked.attackers:
        print("| data | CPU | clock | memory | pairs: table | records | triples: table | records | top 1,000 kept |")
        print("|---" * 9 + "|")
    for path in asked.files if not asked.attackers else ():
        with tempfile.TemporaryDirectory() as folder:
            line = f"| {Path(path).name} | {command(path, asked.k, Path(folder) / 'out')} |"
            data, release = sv.read(path), sv.open_release(Path(folder) / "out")
            assert isinstance(release, CountTable)
            for size in (2, 3) if not asked.commands else ():
                queries = workload_t(data, 1000, size, 0)
                for reading in ("table", "records"):
                    errors = relative_errors(data, release, queries, reading)  # type: ignore[arg-type]
                    line += f" {100 * errors.mean():.1f} % |"
            print(line + ("" if asked.commands else f" {100 * top_kept(data, release):.1f} % |"), flush=True)
    for path in asked.files if not asked.commands else ():
        print(f"\n{Path(path).name}, a release of {asked.share:.0%} of the people:\n")
        print("| | membership: AUC | further item | held-out people | difference |\n|---|---|---|---|---|")
        print("\n".join(attackers(sv.read(path), asked.k, asked.share)), flush=True)


if __name__ == "__main__":
    main()
