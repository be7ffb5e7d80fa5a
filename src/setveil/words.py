"""The glossary: one term per idea, used by messages, pages, reports and docs.

``docs/glossary.md`` and the glossary of each report are made from it: ``python -m setveil.words > docs/glossary.md``.
"""

from __future__ import annotations

TERMS: dict[str, str] = {
    "algorithm": "the method that makes a release",
    "assessment": "the internal page on which a person decides about a release: risk, utility, assumptions, signatures",
    "attacker": "a person who knows something about somebody in the data and tries to learn more from the release",
    "AvgRE": "average relative error of counts that are estimated from the release",
    "background knowledge": "what an attacker knows before seeing the release, such as a few items of a person",
    "category": "a published label that covers several items",
    "centre": "the items that most records of a class have; published in place of each of these records",
    "certificate": "certificate.json: guarantee, figures and file hashes of a release; anyone can verify it again",
    "class": "records that are published with the same items",
    "codebook": "codebook.csv: the original items that each published item covers",
    "observable item": "an item that an attacker can know; if the owner lists these, only they are protected",
    "item counts": "item_counts.csv: how many people have an item of a category, where such counts are safe",
    "control": "the success of the same attack on people who are not in the data, or without the release",
    "cut": "one hierarchy node for every item, the item itself or a category above it",
    "entry": "one item of one record",
    "generalized": "published as a category instead of the item itself",
    "group": "records that are published together, with common counts of their sensitive items",
    "guarantee": "what a privacy model ensures; it is verified from the published files",
    "hierarchy": "a tree whose leaves are the items; an inner node is a category that covers all items below it",
    "IL": "items added to records plus items removed; the ratio divides by all entries of the original",
    "inference": "learning an item of a person from the release, without or after re-identification",
    "item": "one thing a person may have: a product, a diagnosis code, a page",
    "itemset": "a set of items",
    "KL": "Kullback-Leibler divergence between true and estimated shares of sensitive items; 0 means no error",
    "label": "the name of an item or of a category, as published records show it",
    "k-anonymity": "every published record occurs at least k times",
    "(k, k^m)-anonymity": "all known columns and any m items of a person match at least k people, or none",
    "known column": "a column that an attacker may know, such as age or region; also called quasi-identifier",
    "k^m-anonymity": "any m known items of a person match at least k published records, or none",
    "linkability": "connecting a published record with a person or with another record of the same person",
    "LM": "like NCP, with one item counted as no loss: (size - 1) / (items - 1), averaged over all entries",
    "local recoding": "a release in which the same item may be published differently in different records",
    "NCP": "information loss from 0 to 1: 0 for an unchanged entry, 1 for a suppressed one, otherwise the share of all "
    "items that the category covers; averaged over all entries",
    "person": "the individual that a record belongs to",
    "privacy constraint": "a combination of items that an attacker may know",
    "privacy degree": "p: no person is linked to a sensitive item with a probability above 1/p",
    "privacy model": "the definition of a guarantee, such as k^m-anonymity, with its parameters",
    "public item": "an item that is not sensitive",
    "published item": "a label in the published file: an item, or a category",
    "quasi-identifier": "another word for known column",
    "re-identified": "an attacker has found the record of a known person",
    "recoding": "a release in which each item is published as one item or category, the same in every record",
    "record": "the set of items of one person; no order, no repeats",
    "release": "what is published",
    "replacement": "a release in which each record is replaced by the centre of its class",
    "residual risk": "what attackers can still achieve with the release: low, moderate or high",
    "sensitive item": "an item that must not be linked to a person",
    "sensitive rule": "public items that an attacker may know, and the sensitive items that they must not reveal",
    "singled out": "exactly one published record matches what the attacker knows, and it is that person's",
    "support": "the number of records that contain an itemset",
    "suppressed": "not published: an entry, an item or a record",
    "UL": "number of meanings that the published items may have, weighted by how often they occur; lower is better",
    "utility": "how well counts and patterns of the original survive in the release: good, limited or poor",
    "utility constraint": "a group of items that must not be generalized together with others",
    "verified": "checked from the published files by code that shares nothing with the algorithms",
    "witness": "the itemset, or the item of a group, that shows why a guarantee is not met",
    "(h, k, p)-coherence": "any p public items match at least k records, or none, and at most h % of them share a "
    "sensitive item",
    "ρ-uncertainty": "known items reveal a further sensitive item with a probability of at most ρ",
}


def terms(*names: str) -> dict[str, str]:
    """The given terms with their meanings."""
    return {name: TERMS[name] for name in names}


def glossary_page() -> str:
    """``docs/glossary.md``."""
    rows = "\n".join(f"| **{term}** | {TERMS[term]} |" for term in sorted(TERMS, key=_by_letters))
    return f"# Glossary\n\nThe terms that messages, reports and docs use.\n\n| term | meaning |\n|---|---|\n{rows}\n"


def _by_letters(term: str) -> str:
    return "".join(sign for sign in term.lower() if sign.isalnum())


if __name__ == "__main__":
    import sys

    sys.stdout.write(glossary_page())
