"""What column names tell: whether a first line is a header, and which column holds what."""

from __future__ import annotations

import re
from collections.abc import Sequence

ID_WORDS = frozenset({
    "id", "ids", "tid", "tids", "uid", "rid", "cid", "pid", "transaction", "transactions", "trans", "basket",
    "baskets", "customer", "client", "user", "patient", "person", "member", "household", "session", "visitor",
    "visit", "order", "invoice", "receipt", "record", "case", "subject", "account", "cart", "ticket", "group",
    "number", "nr", "no",
})  # fmt: skip
ITEM_WORDS = frozenset({
    "item", "items", "product", "products", "article", "articles", "code", "codes", "diagnosis", "diagnoses",
    "diag", "icd", "label", "sku", "good", "goods", "page", "url", "category", "symptom", "drug",
    "medication", "purchase", "word", "term", "tag", "value", "stock", "description", "element",
})  # fmt: skip


def looks_like_ids(name: str) -> bool:
    """``id``, ``TransactionID``, ``member_number``, …"""
    return bool(_words(name) & ID_WORDS)


def looks_like_items(name: str) -> bool:
    """``item``, ``StockCode``, ``diagnosis``, …"""
    return bool(_words(name) & ITEM_WORDS)


def is_known_header(names: Sequence[str]) -> bool:
    """Whether two column names say "id, then item"."""
    return len(names) == 2 and looks_like_ids(names[0]) and looks_like_items(names[1])


def is_turned_round(names: Sequence[str]) -> bool:
    """Whether two column names say "item, then id"."""
    return not is_known_header(names) and is_known_header(names[::-1])


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
