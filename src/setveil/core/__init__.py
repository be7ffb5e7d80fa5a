"""The nouns every other room speaks in."""

from setveil.core.hierarchy import Hierarchy
from setveil.core.itemsets import Itemsets
from setveil.core.release import Grouping, LocalRecoding, Recoding, Release, Replacement, RunRecord
from setveil.core.remote import RemoteTransactions
from setveil.core.remote_groups import RemoteGrouping
from setveil.core.transactions import Layout, Transactions
from setveil.core.vocabulary import Vocabulary

__all__ = [
    "Grouping",
    "Hierarchy",
    "Itemsets",
    "Layout",
    "LocalRecoding",
    "Recoding",
    "Release",
    "RemoteGrouping",
    "RemoteTransactions",
    "Replacement",
    "RunRecord",
    "Transactions",
    "Vocabulary",
]
