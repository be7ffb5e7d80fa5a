"""The nouns every other room speaks in."""

from setveil.core.dataset import Dataset
from setveil.core.hierarchy import Hierarchy
from setveil.core.itemsets import Itemsets
from setveil.core.transactions import Layout, Transactions
from setveil.core.vocabulary import Vocabulary

__all__ = [
    "Dataset",
    "Hierarchy",
    "Itemsets",
    "Layout",
    "Transactions",
    "Vocabulary",
]
