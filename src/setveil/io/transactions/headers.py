"""What column names tell: whether a first line is a header, and which column holds what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

PERSON_WORDS = frozenset({
    "customer", "client", "user", "patient", "person", "member", "household", "subject", "visitor", "account", "buyer",
    "reader", "reviewer", "shopper", "student", "employee", "respondent", "participant", "beneficiary", "enrolid",
    "bene", "owner", "consumer", "listener", "author", "email", "phone", "ssn", "mrn",
})  # fmt: skip
VISIT_WORDS = frozenset({
    "transaction", "transactions", "trans", "basket", "baskets", "session", "visit", "order", "invoice", "receipt",
    "record", "case", "cart", "ticket", "group", "encounter", "admission", "hadm", "stay", "bill", "purchase", "trip",
    "playlist", "query",
})  # fmt: skip
ID_FILLERS = frozenset({
    "id", "ids", "number", "nr", "nbr", "no", "num", "key", "identifier", "code", "tid", "tids", "uid", "rid", "cid",
    "pid", "sid", "the", "of", "anon", "hashed",
})  # fmt: skip
ITEM_WORDS = frozenset({
    "item", "items", "product", "products", "article", "articles", "code", "codes", "diagnosis", "diagnoses", "diag",
    "icd", "label", "sku", "good", "goods", "page", "url", "category", "symptom", "drug", "medication", "purchase",
    "word", "term", "tag", "value", "stock", "description", "element", "movie", "isbn", "book", "artist", "track",
    "song", "ingredient", "ingredients", "dx", "atc", "ndc", "cpt", "procedure", "condition", "gene", "doc", "document",
    "film", "genre", "course", "skill", "asin", "itemname", "itemdescription", "commodity", "upc",
})  # fmt: skip
WEAK_ITEM_WORDS = {"description": 1, "category": 1, "value": 1, "genre": 1, "name": 2, "title": 2}
CATEGORY_WORDS = frozenset({"category", "genre"})
ITEM_FILLERS = frozenset({"id", "ids", "no", "nr", "number", "key", "name", "title", "desc", "list", "version"})
NUMBERED = re.compile(r"(.*?)[ _.\-(\[#]*([0-9]{1,9})[)\]]?")


class Pair(NamedTuple):
    """Which columns hold ids and items."""

    id_position: int
    item_place: int


def looks_like_ids(name: str) -> bool:
    """``id``, ``TransactionID``, ``member_number``, …"""
    return bool(words_in(name) & (PERSON_WORDS | VISIT_WORDS | ID_FILLERS - {"code", "the", "of"}))


def looks_like_items(name: str) -> bool:
    """``item``, ``StockCode``, ``diagnosis``, …"""
    return bool(words_in(name) & ITEM_WORDS)


def is_known_header(names: Sequence[str]) -> bool:
    """Whether two column names say "id, then item"."""
    return len(names) == 2 and looks_like_ids(names[0]) and looks_like_items(names[1])


def is_turned_round(names: Sequence[str]) -> bool:
    """Whether two column names say "item, then id"."""
    return not is_known_header(names) and is_known_header(names[::-1])


def rank_of_ids(name: str) -> int:
    """How surely a column holds ids of people (3), of their visits (2), or of something (1); 0 for another column."""
    words = words_in(name)
    rest = words - ID_FILLERS
    if not words:
        return 0
    if not rest:
        return 0 if words == {"code"} else 1
    if rest <= PERSON_WORDS:
        return 3
    return 2 if rest <= PERSON_WORDS | VISIT_WORDS else 0


def surest_ids(names: Sequence[str], without: Sequence[int]) -> int | None:
    """The column whose name says the most surely that it holds ids, some columns aside; None if no name does."""
    ranked = [(-rank_of_ids(name), place) for place, name in enumerate(names) if place not in without]
    rank, place = min(ranked, default=(0, 0))
    return place if rank else None


def rank_of_items(name: str) -> int:
    """How surely a column holds items: codes and products (3), names of them (2), descriptions (1); 0 for another
    column.
    """
    words = words_in(name)
    rest = words - ITEM_FILLERS
    if not rest or not rest <= ITEM_WORDS | {"name"}:
        return 0
    return min((WEAK_ITEM_WORDS.get(word, 3) for word in words), default=0)


def is_category(name: str) -> bool:
    """Whether a column holds categories or genres of items: items of a coarser kind, or a hierarchy of the others."""
    return rank_of_items(name) == 1 and bool(words_in(name) & CATEGORY_WORDS)


def guess_pair(names: Sequence[str]) -> Pair | None:
    """The columns whose names say that they hold ids and items, the surest first; None if none do or two do equally."""
    ids = sorted((-rank_of_ids(name), place) for place, name in enumerate(names) if rank_of_ids(name))
    if not ids or (len(ids) > 1 and ids[0][0] == ids[1][0] and ids[0][0] == -1):
        return None
    id_position = ids[0][1]
    items = sorted(
        (-rank_of_items(name), place)
        for place, name in enumerate(names)
        if rank_of_items(name) and place != id_position and rank_of_ids(name) < 2
    )
    if not items or (len(items) > 1 and items[0][0] == items[1][0]):
        return None
    return Pair(id_position, items[0][1])


def numbered_columns(names: Sequence[str]) -> dict[str, list[int]]:
    """``dx1 … dx8`` or ``Item 1 … Item 32``: the positions of columns that differ in a running number only, by their
    common name.
    """
    found: dict[str, list[tuple[int, int]]] = {}
    for place, name in enumerate(names):
        match = NUMBERED.fullmatch(name.strip())
        if match and re.search(r"[^\W\d_]", match.group(1)):
            found.setdefault(match.group(1), []).append((int(match.group(2)), place))
    runs = {}
    for stem, members in found.items():
        numbers = sorted(number for number, _ in members)
        if len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] < 2:
            runs[stem] = [place for _, place in sorted(members)]
    return runs


def words_in(name: str) -> set[str]:
    """The words of a column name, in small letters: ``PatientNbr`` has two."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}
