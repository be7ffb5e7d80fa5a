"""Kinds of releases, one file each.

Release
├── Recoding        item → published item or nothing, the same in every record           (AA, VPA, HgHs, PCTA, …)
├── LocalRecoding   a published node per entry, different from record to record          (LG, LRA, trim)
├── Replacement     each record replaced by the centre of its class                      (PTA, …)
├── Grouping        groups of unchanged public items and a count of sensitive items each (CAHD, NN, …)
└── CountTable      rounded counts of itemsets, and records made from them alone         (tally)
"""

from setveil.releases.base import Release, RunRecord
from setveil.releases.count_table import CountTable, is_count_table
from setveil.releases.grouping import Grouping, is_grouped
from setveil.releases.local_recoding import LocalRecoding
from setveil.releases.recoding import Recoding
from setveil.releases.replacement import Replacement

KINDS: dict[str, type[Release]] = {
    one.kind: one for one in (Recoding, LocalRecoding, Replacement, Grouping, CountTable)
}

__all__ = [
    "KINDS",
    "CountTable",
    "Grouping",
    "LocalRecoding",
    "Recoding",
    "Release",
    "Replacement",
    "RunRecord",
    "is_count_table",
    "is_grouped",
]
