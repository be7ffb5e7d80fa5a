"""Tables of counts: what they say, whether they reveal a small count, and whether the records follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.errors import InputError
from setveil.generate import records
from setveil.generate.records import Rows
from setveil.models import Counts
from setveil.releases import CountTable, is_count_table
from setveil.verify.count_inference import Listed, find_revealed
from setveil.verify.count_lengths import reveal_with_lengths
from setveil.verify.published import Published, number_both, sorted_rows
from setveil.verify.verdict import Verdict, in_braces

Sets = dict[tuple[int, ...], int]
Longs = NDArray[np.int64]
Items = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Table:
    """What the files say, as the verifier's own values: items are numbered as the release numbers its labels."""

    labels: tuple[str, ...]
    counts: Sets  # by itemset, ascending
    lengths: list[tuple[int, int, int]]
    n_records: int

    @classmethod
    def of(cls, release: CountTable) -> Table:
        """Nothing about the arrays is trusted."""
        bounds, items = np.asarray(release.sets.indptr).tolist(), np.asarray(release.sets.items).tolist()
        values = np.asarray(release.counts).tolist()
        labels = tuple(release.published.vocabulary)
        if len(bounds) != len(values) + 1 or bounds[-1] != len(items):
            raise InputError("counts.csv is damaged: itemsets and counts do not fit.")
        if items and not (min(items) >= 0 and max(items) < len(labels)):
            raise InputError("counts.csv is damaged: an item has no label.")
        counts = {tuple(items[a:b]): value for a, b, value in zip(bounds, bounds[1:], values, strict=False)}
        if len(counts) != len(values):
            raise InputError("counts.csv lists an itemset twice.")
        lengths = [(int(a), int(b), int(c)) for a, b, c in np.asarray(release.lengths).tolist()]
        return cls(labels, counts, lengths, sum(count for _, _, count in lengths))

    def names(self, itemset: tuple[int, ...]) -> tuple[str, ...]:
        """The labels of an itemset."""
        return tuple(self.labels[item] for item in itemset)

    @cached_property
    def arrays(self) -> tuple[Longs, Items, Longs, Items, Longs]:
        """The count of each item; then pairs with their counts and triples with theirs, each ascending."""
        single, pairs, triples = (sorted(one for one in self.counts if len(one) == size) for size in (1, 2, 3))
        counts = (np.array([self.counts[one] for one in sets], dtype=np.int64) for sets in (single, pairs, triples))
        of_items, of_pairs, of_triples = counts
        two, three = (np.array(sets, dtype=np.int32) for sets in (pairs, triples))
        return of_items, two.reshape(-1, 2), of_pairs, three.reshape(-1, 3), of_triples


def check(published: Published, model: Counts, progress: Progress) -> Verdict:
    """The table first, then the records; records that cannot be made again here are named in ``unchecked``."""
    release = published.release
    if not is_count_table(release):
        raise InputError(
            "model counts is about a table of counts with records made from it; these are records alone, so there is "
            "nothing that could be verified. Give the folder of a release."
        )
    table = Table.of(release)
    for found in (_wrong_counts(table, model), _wrong_lengths(table, model)):
        if found is not None:
            return found
    revealed = _revealed(table, release, model, progress)
    if revealed is not None:
        return revealed
    return _check_records(release, published, table, model, progress)


def achieved(published: Published, model: Counts, progress: Progress) -> dict[str, int | float]:
    """The smallest published count."""
    if not is_count_table(published.release) or not len(published.release.counts):
        return {}
    return {"smallest_support": int(np.asarray(published.release.counts).min())}


def _wrong_counts(table: Table, model: Counts) -> Verdict | None:
    """Multiples of r, at least k, of at most m items, with every subset listed and no rarer."""
    for itemset, count in table.counts.items():
        reason = ""
        if not 1 <= len(itemset) <= model.m or list(itemset) != sorted(set(itemset)):
            reason = f"does not have 1 to m={model.m} items."
        elif count % model.r or count < model.k:
            reason = f"is counted {count:,} times, which is not a multiple of r={model.r} of at least k={model.k}."
        elif count - table.n_records > model.r // 2:
            reason = f"is counted {count:,} times, and there are only {table.n_records:,} records."
        else:
            for part in combinations(itemset, len(itemset) - 1):
                if part and table.counts.get(part, -1) < count:
                    reason = f"is counted {count:,} times, but {in_braces(table.names(part))} less often."
        if reason:
            names = table.names(itemset)
            return Verdict(False, names, count, f"{in_braces(names)} {reason}")
    alone = {itemset[0] for itemset in table.counts if len(itemset) == 1}
    for item, label in enumerate(table.labels):
        if item not in alone:
            return Verdict(False, (label,), 0, f'"{label}" is in the records, but its count is not listed.')
    return None


def _wrong_lengths(table: Table, model: Counts) -> Verdict | None:
    """Ranges one after the other from 0 on; all counts but the largest are multiples of r, and none is below k."""
    expected, lengths = 0, table.lengths
    largest = max((count for _, _, count in lengths), default=0)
    n_other = sum(count % model.r != 0 for _, _, count in lengths)
    for first, last, count in lengths:
        if first != expected or last < first:
            return Verdict(
                False, None, None, f"lengths.csv: the range {first} to {last} does not follow the one before."
            )
        expected = last + 1
        if count < model.k and len(lengths) > 1:
            return Verdict(False, None, count, f"lengths.csv: {count} records, fewer than k={model.k}.")
        if count % model.r and (n_other > 1 or count < largest - model.r * len(lengths)):
            return Verdict(False, None, count, f"lengths.csv: {count:,} is not a multiple of r={model.r}.")
    return None


def _few(release: CountTable, model: Counts) -> int | None:
    """The most people of an unlisted triple that is not as frequent as one of its pairs; None: any number."""
    least = model.r * -(-model.k // model.r)
    start = release.triples_from
    if start is None:
        return None
    return model.k - 1 if start <= least else start - model.r + (model.r + 1) // 2 - 1


def _revealed(table: Table, release: CountTable, model: Counts, progress: Progress) -> Verdict | None:
    """No m + 1 items reveal that 1 to k - 1 people have an unlisted itemset."""
    singles, pairs, of_pairs, triples, of_triples = table.arrays
    two, three = pairs.astype(np.int64), triples.astype(np.int64)
    listed = Listed(len(table.labels), table.n_records, singles, two, of_pairs, three, of_triples)
    given = model, progress, release.repaired, _few(release, model)
    found, with_lengths = find_revealed(listed, *given), ""
    if found is None:
        found, with_lengths = reveal_with_lengths(listed, table.lengths, *given), " together with lengths.csv"
    if found is None:
        return None
    if not found.items:
        return Verdict(False, None, None, "lengths.csv: too many sets of items may reveal a small count with it.")
    named = in_braces(table.names(found.items)) + with_lengths
    if not found.itemset:
        return Verdict(
            False, table.names(found.items), None, f"no data can have the counts that are listed for {named}."
        )
    revealed = table.names(found.itemset)
    reason = f"the counts of {named} reveal that {found.low} to {found.high} people have {in_braces(revealed)}."
    return Verdict(False, revealed, found.low, reason)


def _check_records(
    release: CountTable, published: Published, table: Table, model: Counts, progress: Progress
) -> Verdict:
    """The records are what their generator makes of the table: they carry nothing else."""
    lengths = np.array(table.lengths, dtype=np.int64).reshape(-1, 3)
    counted = records.CountedSets(model.k, *table.arrays, lengths)
    seed = records.seed_of(_counts_file(table), _lengths_file(table))
    try:
        made = records.generate_records(
            release.generator, counted, seed, lambda share: progress("making records again", share)
        )
    except (records.UnknownGeneratorError, records.TooLargeError) as problem:
        said = f"the records cannot be made again here ({problem}); the counts were verified."
        return Verdict(True, unchecked=said)
    if published.number_of is None or len(made.indptr) != len(published.indptr):
        reason = f"there are {published.n_records:,} records, and the table gives {len(made.indptr) - 1:,}."
        return Verdict(False, None, published.n_records, reason)
    items = published.number_of[made.items].astype(np.int32)
    if not _are_same(Rows(made.indptr, items), Rows(published.indptr, published.items), len(published.labels)):
        return Verdict(False, None, None, "the records are not those that follow from counts.csv and lengths.csv.")
    return Verdict(True)


def _are_same(ours: Rows, theirs: Rows, n_labels: int) -> bool:
    """Whether both have the same records, in any order."""
    number = number_both(sorted_rows(*ours, n_labels), sorted_rows(*theirs, n_labels))
    first, second = np.split(number, [len(ours.indptr) - 1])
    width = number.max(initial=0) + 1
    return np.array_equal(np.bincount(first, minlength=width), np.bincount(second, minlength=width))


# -- the files, byte by byte -------------------------------------------------------------------------------------------


def _counts_file(table: Table) -> bytes:
    lines = ["items,count"]
    marked = [label.replace("\\", "\\\\").replace("|", "\\|") for label in table.labels]
    for itemset in sorted(table.counts, key=lambda one: (len(one), one)):
        cell = "|".join(marked[item] for item in itemset)
        if any(sign in cell for sign in '",\r\n'):
            cell = '"' + cell.replace('"', '""') + '"'
        lines.append(f"{cell},{table.counts[itemset]}")
    return ("\n".join(lines) + "\n").encode()


def _lengths_file(table: Table) -> bytes:
    return "".join(["length_from,length_to,count\n", *(f"{a},{b},{c}\n" for a, b, c in table.lengths)]).encode()
