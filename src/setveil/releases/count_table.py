"""Tables of counts: rounded counts of itemsets, numbers of items per record, and records made from both alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from setveil.core.dataset import Dataset
from setveil.core.itemsets import Itemsets
from setveil.core.vocabulary import Vocabulary
from setveil.releases.base import Release

COUNTS, LENGTHS = "counts.csv", "lengths.csv"
COUNTS_HEADER, LENGTHS_HEADER = ("items", "count"), ("length_from", "length_to", "count")
AT_ONCE = 1 << 16  # lines


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CountTable(Release):
    """Counts of itemsets, and records that a numbered generator makes from them; no record belongs to a person.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize(sv.generate("quest", D=500, T=4, N=20, L=20), "counts", k=20)
        >>> bool((release.counts % 20 == 0).all())
        True
    """

    kind: ClassVar[str] = "count-table"
    keeps_labels: ClassVar[bool] = True
    is_truthful: ClassVar[bool] = False
    has_own_records: ClassVar[bool] = False
    shown_entries: ClassVar[str] = (
        "counts are published rounded; records are made from these counts and belong to nobody"
    )
    file_stem: ClassVar[str] = "records"
    no_order: ClassVar[str] = "its records are made from counts and belong to nobody"
    no_guards: ClassVar[str] = "the records follow from the labels as counts.csv has them"
    further_files: ClassVar[tuple[str, ...]] = (COUNTS, LENGTHS)

    sets: Itemsets  # the listed itemsets over ``published.vocabulary``, by size, then ascending
    counts: NDArray[np.int64]  # [sets] multiples of r
    lengths: NDArray[np.int64]  # [groups, 3]: records with so many listed items: from, to, count
    generator: int  # the number of the generator that made the records
    repaired: bool = False  # listed sets were suppressed because they revealed a small count
    triples_from: int | None = None  # from this count on they are listed, unless as frequent as a pair; None: some

    def of_size(self, size: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The listed itemsets of one size, int32[sets, size], and their counts."""
        chosen = np.flatnonzero(np.diff(self.sets.indptr) == size)
        return self.sets.items[self.sets.indptr[chosen][:, None] + np.arange(size)], self.counts[chosen]

    def entry_sizes(self, original: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Entries of listed items are counted under their own name; the others are suppressed."""
        return (self.published.vocabulary.numbers(original.vocabulary) >= 0).astype(np.int64), original.supports

    def public_figures(self) -> dict[str, int]:
        sizes = np.bincount(np.diff(self.sets.indptr), minlength=4)
        return {"n_counted_pairs": int(sizes[2]), "n_counted_triples": int(sizes[3])}

    def certified(self) -> dict[str, Any]:
        return {
            "generator": self.generator, "repaired": self.repaired, "triples_from": self.triples_from,
        }  # fmt: skip

    def with_certified(self, certified: Mapping[str, Any]) -> Self:
        return replace(
            self, generator=certified.get("generator") or 0, repaired=bool(certified.get("repaired")),
            triples_from=certified.get("triples_from", 0 if certified.get("complete_triples") else None),
        )  # fmt: skip

    def further_tables(self) -> list[tuple[str, Iterator[bytes]]]:
        labels = self.published.vocabulary.labels
        return [
            (COUNTS, encode_counts(labels, self.sets.indptr, self.sets.items, self.counts)),
            (LENGTHS, encode_lengths(self.lengths)),
        ]


def is_count_table(release: Release | None) -> TypeGuard[CountTable]:
    """Whether a release is a table of counts, in a form that type checkers understand."""
    return isinstance(release, CountTable)


def escaped(label: str) -> str:
    """A label as it is joined with others by ``|``."""
    return label.replace("\\", "\\\\").replace("|", "\\|")


def encode_counts(
    labels: Iterable[str], indptr: NDArray[np.int64], items: NDArray[np.int32], counts: NDArray[np.int64]
) -> Iterator[bytes]:
    """The bytes of ``counts.csv``, piece by piece."""
    spelled = [escaped(label) for label in labels]
    needs_quotes = [any(sign in label for sign in ',"\n\r') for label in spelled]
    doubled = [label.replace('"', '""') for label in spelled]
    yield (",".join(COUNTS_HEADER) + "\n").encode()
    bounds, numbers, values = indptr.tolist(), items.tolist(), counts.tolist()
    for first in range(0, len(values), AT_ONCE):
        lines = []
        for at in range(first, min(first + AT_ONCE, len(values))):
            chosen = numbers[bounds[at] : bounds[at + 1]]
            joined = "|".join([doubled[item] for item in chosen])
            lines.append(
                f'"{joined}",{values[at]}\n'
                if any(needs_quotes[item] for item in chosen)
                else f"{joined},{values[at]}\n"
            )
        yield "".join(lines).encode()


def encode_lengths(lengths: NDArray[np.int64]) -> Iterator[bytes]:
    """The bytes of ``lengths.csv``."""
    rows = "".join(f"{first},{last},{count}\n" for first, last, count in lengths.tolist())
    yield (",".join(LENGTHS_HEADER) + "\n" + rows).encode()


def sorted_sets(
    sizes: NDArray[np.int64], items: NDArray[np.int32], counts: NDArray[np.int64], vocabulary: Vocabulary
) -> tuple[Itemsets, NDArray[np.int64]]:
    """Itemsets by size, then ascending, and their counts; ``items``: one itemset after the other, each ascending."""
    starts = np.concatenate(([0], np.cumsum(sizes)))
    width = int(sizes.max(initial=1))
    padded = np.full((len(sizes), width), -1, dtype=np.int64)
    padded[np.repeat(np.arange(len(sizes)), sizes), np.arange(len(items)) - np.repeat(starts[:-1], sizes)] = items
    order = np.lexsort((*(padded[:, place] for place in range(width - 1, -1, -1)), sizes))
    flat = padded[order]
    indptr = np.concatenate(([0], np.cumsum(sizes[order]))).astype(np.int64)
    return Itemsets(indptr, flat[flat >= 0].astype(np.int32), vocabulary), counts[order]
