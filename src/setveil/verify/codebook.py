"""Whether a codebook accounts for everything exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from setveil.core.vocabulary import ascending
from setveil.errors import times
from setveil.verify.verdict import naming

KINDS = ("recoding", "local-recoding", "replacement", "grouping", "count-table")


def check_codebook(rows: Sequence[tuple[str, str]], published_labels: Iterable[str], kind: str) -> list[str]:
    """Problems of ``codebook.csv``, one line each; ``rows`` are ``(published_item, item)``, "" for an item not
    published.

    ``published_labels`` are the labels that occur in the published records. Every kind: published items that occur have
    a row, those in the codebook occur, no row occurs twice, every row names an item. Recodings: every item stands once.
    Local recodings: an item may stand under several published items, but not also as unpublished. Replacements and
    groupings: every published item stands for itself.
    """
    if kind not in KINDS:
        return [f'codebook.csv: there are no rules for a release of kind "{kind}"; it is one of {", ".join(KINDS)}.']
    occurring = set(published_labels)
    explained = {label for label, _ in rows if label}
    nameless = sum(1 for _, item in rows if not item)
    repeated = {item for (_, item), count in Counter(rows).items() if count > 1 and item}
    times_listed = Counter(item for _, item in set(rows) if item)
    problems = [f"{times(nameless, 'row')} without an item; name every original item."] if nameless else []
    problems += naming("published items without a row:", ascending(occurring - explained))
    problems += naming("published items that never occur:", ascending(explained - occurring))
    problems += naming("items with the same row more than once:", ascending(repeated))
    if kind == "recoding":
        several = {item for item, count in times_listed.items() if count > 1}
        problems += naming("items with more than one published item:", ascending(several))
    elif kind == "local-recoding":
        published = {item for label, item in rows if label and item}
        both = published & {item for label, item in rows if not label}
        problems += naming("items that are both published and listed as not published:", ascending(both))
    else:
        strange = {item or label for label, item in rows if label != item}
        problems += naming(f"in a {kind} every item is published under its own name, except these:", ascending(strange))
    return [f"codebook.csv: {problem}" for problem in problems]
