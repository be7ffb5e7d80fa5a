"""The sentences of the report that no model says itself: what stays safe to compute, what else one could do, what the
words mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from setveil.models.base import SENSITIVE_ITEM
from setveil.report.lights import EXACT, MANY, exactness_of
from setveil.report.words import percent

if TYPE_CHECKING:
    from setveil.report.facts import Facts

MUCH = 0.5  # of the items: a replacement that loses more is hard to use


class Analyses(NamedTuple):
    """What can be computed from a release and what cannot."""

    safe: list[str]
    unsafe: list[str]


def analyses_of(facts: Facts) -> Analyses:
    """Which results on the published data are right, and which would mislead."""
    shape = facts.shape
    if facts.kind == "recoding":
        safe = [
            "Counts of published items are exact: so many people have at least one of the items that the "
            "codebook lists behind it.",
            "Counts of combinations of published items, frequent itemsets and association rules among them are "
            "exact in the same sense.",
            "A record without a published item has none of the items behind it.",
        ]
        unsafe = []
        if shape.get("n_general"):
            unsafe = [
                "Counts of a single item behind a more general one: only an estimate, at most the count of the "
                "published item.",
                "How many items a person has: items behind the same published item count once, so this is a "
                "lower bound.",
            ]
        if shape.get("n_unpublished"):
            unsafe.append(
                f"{shape['n_unpublished']:,} items of the codebook have no published item: they were left out or "
                "do not occur. Nothing can be said about them."
            )
        return Analyses(safe, unsafe)
    if facts.kind == "local-recoding":
        gone = facts.has_suppression
        safe = [
            "A published item tells that the person has at least one of the items behind it.",
            "The count of an item under its own name is a lower bound."
            + (
                ""
                if gone
                else " Records with any published item that can stand for it are an upper bound; the codebook lists "
                "these items."
            ),
        ]
        if not gone:
            safe.append(
                "The number of people with something below a category is exact if nothing more general than that "
                "category is published."
            )
        unsafe = [
            "Comparing counts of published items of different generality: the same item is published "
            "differently in different records.",
            "Association rules that mix levels: a missing specific item may be hidden behind a general one.",
        ]
        if gone:
            unsafe.append("Absence: single occurrences may have been left out, so a missing item proves nothing.")
        return Analyses(safe, unsafe)
    if facts.kind == "replacement":
        safe = [
            "Typical records: frequent combinations that many people share keep roughly their counts.",
            "Clusters and segments: every record stands for the centre of a class of similar ones.",
        ]
        if facts.model_options.get("sensitive"):
            safe.append("Counts of sensitive items are exact: they are published unchanged.")
        unsafe = [
            "Anything about rare items: they tend to disappear from the centres, or to be added to records "
            "that lack them.",
            "Exact counts: items were added to records and removed from them.",
            "Single records: a published record is typical of its class and need not be anyone's.",
        ]
        return Analyses(safe, unsafe)
    safe = ["Everything about public items alone is exact: counts, combinations, rules, numbers of items per record."]
    unsafe = [
        "Whether a given record has a sensitive item: the release only says how many of its group have it.",
        "Combinations of sensitive items with each other: they are counted one by one.",
    ]
    if facts.has_suppression:
        safe.append(
            "Counts of sensitive items, in all and per group, are lower bounds: some occurrences may be missing."
        )
    else:
        safe.append("Counts of sensitive items are exact, in all and per group.")
    safe.append(
        "How a sensitive item goes with public ones can be estimated: the count of a group spread evenly "
        "over its records. The command setveil query does it."
    )
    return Analyses(safe, unsafe)


WAYS_TO_KEEP_MORE = {
    "km": "Leaving out a few rare entries (--algorithm trim), a hierarchy that keeps frequent items apart, or a "
    "smaller m can keep more.",
    "constraints": "Counts of utility groups stay exact, counts of single items do not. Fewer or smaller constraints, "
    "or a larger --max-suppressed, can keep more.",
}


def advice_of(facts: Facts) -> list[str]:
    """What to do about a release that keeps its promise and still should not go out as it is; the shortest first."""
    lines = []
    lost, empty = facts.metrics.get("il_ratio"), facts.metrics.get("empty_records") or 0
    exact, _ = exactness_of(facts)
    n_published = facts.metrics.get("n_published_items", facts.shape.get("n_published"))
    is_recoded = facts.kind in ("recoding", "local-recoding")
    if is_recoded and n_published is not None and n_published <= 1:
        lines.append(
            "Do not release this: everybody has the same one item, or none. "
            + (
                "Ask for a smaller k, or for less."
                if facts.model != "km"
                else "Ask for a smaller k or m."
                if facts.algorithm == "trim"
                else "Let a few rare entries go instead of generalizing everything (--algorithm trim), or ask for a "
                "smaller k or m."
            )
        )
    elif is_recoded and exact is not None and exact < EXACT and facts.algorithm != "trim":
        lines.append(
            f"Much was generalized: {percent(exact)} of the entries are exact. "
            + WAYS_TO_KEEP_MORE.get(facts.model, "A smaller k, or another model, can keep more.")
        )
    if facts.kind == "replacement" and (
        (lost or 0) > MUCH or facts.shape.get("in_empty", 0) > MUCH * facts.records / 2
    ):
        lines.append(
            "Much is lost here. Whole records of sparse data are seldom alike, so making them alike costs most "
            "of their items. If attackers know only a few items of a person, k^m-anonymity (model km) hurts far "
            "less; if all items may be known, a local recoding over a hierarchy (algorithm lg) usually keeps "
            "more than replacing whole records."
        )
    if empty > 0.2 * facts.records and facts.kind != "replacement":
        lines.append(f"{empty:,} records are published empty: nothing can be learned from them.")
    worst = max((row["singled_out"] or 0 for row in facts.risk_after), default=0)
    if worst > MANY:
        lines.append(
            "Release this only to people who will not look for anybody and are bound not to: known items "
            "single out many records."
            if facts.kind == "grouping"
            else "Attackers who know more than was assumed still find many: promise more "
            f"({'a larger m' if facts.model == 'km' else 'another model, or a larger k'}), or bind the recipients by "
            "contract."
        )
    return sorted(lines, key=len)


def alternatives_of(facts: Facts) -> list[str]:
    """What else the owner could have done, most of it by giving another promise."""
    lines = list(facts.alternatives)
    local = facts.other_algorithms.get("local-recoding")
    if local and facts.kind in ("replacement", "recoding"):
        named = f"algorithm{'s' if len(local) > 1 else ''} {' and '.join(local)}"
        lines.append(
            f"A local recoding over a hierarchy ({named}), which generalizes items instead of adding and removing them."
            if facts.kind == "replacement"
            else f"A local recoding ({named}), which generalizes an item only where it has to; harder to analyse."
        )
    return lines


EVERYWHERE = ("item", "record", "support", "attacker", "singled out", "codebook", "certificate")
BY_KIND = {
    "recoding": ("published item", "generalize", "leave out", "hierarchy", "NCP", "LM", "UL"),
    "local-recoding": ("published item", "generalize", "leave out", "hierarchy", "local recoding", "NCP", "LM", "UL"),
    "replacement": ("class", "centre", "sensitive item", "IL"),
    "grouping": ("group", "public item", "sensitive item", "privacy degree"),
}
GLOSSARY: dict[str, str] = {
    "attacker": "someone who knows a few items of a person and looks for that person's record",
    "centre": "the items that most records of a class have; published in place of each of them",
    "certificate": "certificate.json: the promise, the figures and the hashes of "
    "all files, to be checked again by anyone",
    "class": "records that are published alike",
    "codebook": "codebook.csv: what every published item stands for",
    "generalize": "publish a category or a set instead of an item",
    "group": "records that are published together with common counts of their sensitive items",
    "hierarchy": "a tree whose leaves are the items; an inner node stands for all items below it",
    "IL": "items added to records plus items removed; the ratio divides by all items of the original",
    "item": "one thing a person may have: a product, a diagnosis code, a page",
    "leave out": "suppress: publish nothing in place of an item",
    "LM": "like NCP, with a size of one item counted as no loss: (size − 1) / (items − 1), averaged",
    "local recoding": "the same item may be published differently in different records",
    "NCP": "information lost: 0 for an item published as it is, 1 for one left out, in between the share of all "
    "items that the published one stands for; averaged over all items of all records",
    "privacy degree": "p: nobody is linked to a sensitive item with a probability above 1/p",
    "public item": "an item that is not sensitive; published exactly",
    "published item": "what stands in the published file: an item, or something more general",
    "record": "the set of items of one person",
    "sensitive item": SENSITIVE_ITEM,
    "singled out": "only one record fits what the attacker knows",
    "support": "in how many records an item or a combination is found",
    "UL": "how many meanings the published items may have, weighted by how often they occur; lower is better",
}


def glossary_of(facts: Facts) -> list[tuple[str, str]]:
    """The words this page uses, in alphabetical order."""
    words = {word: GLOSSARY[word] for word in (*EVERYWHERE, *BY_KIND.get(facts.kind, ()))} | dict(facts.glossary)
    return [(word, words[word]) for word in sorted(words, key=str.lower)]
