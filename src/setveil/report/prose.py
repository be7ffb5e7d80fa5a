"""The sentences of the report that no model says itself: which analyses are valid, what to do next, what terms mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from setveil.errors import times
from setveil.report.figures import Inference, residual_of, unchanged_of, utility_of, worst_inference
from setveil.report.lights import (
    PAIRS_MEAN,
    PAIRS_MEDIAN,
    RESIDUAL_RISK,
    UNCHANGED,
    UTILITY,
    certain_of,
    crowd_of,
    lights_of,
    singled_out_of,
)
from setveil.report.words import percent
from setveil.words import terms

if TYPE_CHECKING:
    from setveil.report.facts import Facts

MUCH = 0.5  # of the items: a replacement that loses more is hard to use
MANY_EMPTY = 0.2  # of the records


class Analyses(NamedTuple):
    """What can be computed from a release and what cannot."""

    safe: list[str]
    unsafe: list[str]


def analyses_of(facts: Facts) -> Analyses:
    """Which results on the published data are right, and which would mislead."""
    return ANALYSES[facts.kind](facts)


def _of_recoding(facts: Facts) -> Analyses:
    shape = facts.shape
    safe = [
        "Counts of published labels are exact: they say how many people have at least one of the items that the "
        "codebook lists for the label.",
        "Counts of combinations of labels, frequent itemsets and association rules among labels are exact in the "
        "same sense.",
        "A record without a label has none of the items that the label covers.",
    ]
    unsafe = []
    if shape.get("n_general"):
        unsafe = [
            "Counts of a single item that is published as a category: they are estimates, at most the count of the "
            "category.",
            "The number of items per person: several items of one category count once, so the number is a lower bound.",
        ]
    if shape.get("n_unpublished"):
        unsafe.append(
            f"{shape['n_unpublished']:,} items of the codebook have no label: they were suppressed or do not "
            "occur. Nothing can be said about them."
        )
    return Analyses(safe, unsafe)


def _of_local_recoding(facts: Facts) -> Analyses:
    is_suppressed = facts.has_suppression
    safe = [
        "A label says that the person has at least one of the items that it covers.",
        "The count of an item under its own name is a lower bound."
        + (
            ""
            if is_suppressed
            else " The count of records with any label that covers the item is an upper bound; the codebook lists "
            "these labels."
        ),
    ]
    if not is_suppressed:
        safe.append("The number of people with any item of a category is exact if no broader category is published.")
    unsafe = [
        "Comparing counts of labels at different levels of the hierarchy: the same item is published differently "
        "in different records.",
        "Association rules that mix levels: a category may hide an item that seems to be missing.",
    ]
    if is_suppressed:
        unsafe.append("Absence: single entries may be suppressed, so a missing item proves nothing.")
    return Analyses(safe, unsafe)


def _of_replacement(facts: Facts) -> Analyses:
    safe = [
        "Typical records: the counts of frequent combinations that many people share change little.",
        "Clusters and segments: every record shows the centre of a class of similar records.",
    ]
    if facts.model_options.get("sensitive"):
        safe.append("Counts of sensitive items are exact: they are published unchanged.")
    unsafe = [
        "Rare items: they often disappear from the centres, or are added to records that lack them.",
        "Exact counts: items were added to records and removed from them.",
        "Single records: a published record is typical of its class and need not be the record of any person.",
    ]
    return Analyses(safe, unsafe)


def _of_grouping(facts: Facts) -> Analyses:
    safe = ["Everything about public items alone is exact: counts, combinations, rules, numbers of items per record."]
    unsafe = [
        "Whether a given record has a sensitive item: the release only says how many records of its group have it.",
        "Combinations of sensitive items: each sensitive item is counted separately.",
    ]
    if facts.has_suppression:
        safe.append("Counts of sensitive items, in total and per group, are lower bounds: entries may be suppressed.")
    else:
        safe.append("Counts of sensitive items are exact, in total and per group.")
    safe.append(
        "How a sensitive item is related to public items can be estimated: the count of a group is spread evenly over "
        "its records. The command setveil query does it."
    )
    return Analyses(safe, unsafe)


def _of_count_table(facts: Facts) -> Analyses:
    step, least = facts.model_options.get("r"), facts.certified.get("triples_from")
    triples = "; a triple also if as many people have one of its pairs" if facts.model_options.get("m", 3) > 2 else ""
    if least:
        triples += f", or if its count is below {least:,}"
    suppressed = (
        "; some were suppressed, because they would have revealed a small count"
        if facts.certified.get("repaired")
        else ""
    )
    safe = [
        f"Counts in counts.csv are rounded to multiples of {step}: each is off by at most half of that. Counts of the "
        "rarest listed sets may be off by a little more.",
        "Frequent itemsets and association rules of listed sets can be read off counts.csv.",
        "Counts of other sets can be estimated: the command setveil query does it, and says what it used.",
    ]
    unsafe = [
        f"Sets that are not listed: fewer than {facts.model_options.get('k')} people have them{triples}{suppressed}.",
        "Single records: a published record is made from counts and is not the record of any person.",
        "Numbers of items per person: items that are not listed are not counted.",
    ]
    return Analyses(safe, unsafe)


ANALYSES: dict[str, Callable[[Facts], Analyses]] = {
    "recoding": _of_recoding,
    "local-recoding": _of_local_recoding,
    "replacement": _of_replacement,
    "grouping": _of_grouping,
    "count-table": _of_count_table,
}


MOST_LOST = (
    "Most items were lost. Whole records of sparse data are seldom alike, so making them alike costs most of their "
    "items. If attackers know only a few items of a person, k^m-anonymity (model km) costs far less. If attackers may "
    "know all items, a local recoding over a hierarchy (algorithm lg) usually keeps more than replacing whole records."
)


def advice_of(facts: Facts) -> list[str]:
    """What to do about a release that is verified and should still not be published as it is; most pressing first.

    A release that should not be published at all comes first, then people at risk, then what analysts lose. A red light
    is never without advice.
    """
    lights = lights_of(facts)
    is_red = {light.question: light.colour == "bad" for light in lights}
    lost, empty = facts.metrics.get("il_ratio"), facts.metrics.get("empty_records") or 0
    unchanged = unchanged_of(facts).share
    n_published = facts.metrics.get("n_published_items", facts.shape.get("n_published"))
    is_recoded = not facts.traits.keeps_labels
    is_useless = is_recoded and n_published is not None and n_published <= 1
    is_risky = singled_out_of(facts.profile).colour(getattr(residual_of(facts), "of_all_people", None)) == "bad"
    inferred = worst_inference(facts.attacks)
    is_revealing = (
        inferred is not None and certain_of(facts.profile, inferred.is_named).colour(inferred.share) != "good"
    )
    is_coarse = is_recoded and not is_useless and not facts.has_suppression and UNCHANGED.colour(unchanged) != "good"
    in_empty = facts.shape.get("in_empty", 0)
    is_lost = not facts.traits.is_truthful and ((lost or 0) > MUCH or in_empty > MUCH * facts.records / 2)
    is_empty = facts.traits.is_truthful and empty > MANY_EMPTY * facts.records
    is_below = crowd_of(facts.profile).colour(facts.crowd) == "bad"
    is_poor = is_red[UTILITY] and not (is_useless or is_lost or is_coarse)
    by_urgency = {
        f"Do not publish this release: all people have the same label, or none. {_weaker(facts)}": is_useless,
        f"The profile {facts.profile.words} asks for more: increase k to {facts.profile.k}.": is_below,
        _protect(facts): is_risky or (is_red[RESIDUAL_RISK] and not is_revealing and not facts.doubts),
        _hide(facts, inferred): is_revealing and not is_risky,
        MOST_LOST: is_lost,
        f"{times(empty, 'record is', 'records are')} published empty, and nothing can be learned from there.": is_empty,
        f"Many entries were generalized: {unchanged_of(facts).words}. " + facts.model_class.advice.keep_more: is_coarse,
        f"{_poor(facts)} {facts.model_class.advice.keep_more}": is_poor,
    }
    found = [words for words, applies in by_urgency.items() if applies]
    return found or [light.sentence for light in lights if light.colour == "bad"]


def _poor(facts: Facts) -> str:
    """Why utility is poor, where nothing else says so."""
    found = utility_of(facts.query_errors)
    pairs = found.errors.get("pairs")
    if pairs is not None and PAIRS_MEAN.colour(pairs.mean) == "bad":
        return f"Utility is poor: counts of pairs of items are off by {percent(pairs.mean)} on average."
    if pairs is not None and PAIRS_MEDIAN.colour(pairs.median) == "bad":
        return f"Utility is poor: half of the counts of pairs of items are off by more than {percent(pairs.median)}."
    return f"Utility is poor: {percent(found.mixed_of_all)} of published entries have a category that mixes branches."


def _weaker(facts: Facts) -> str:
    advice = facts.model_class.advice
    return advice.weaker if facts.has_suppression else advice.instead or advice.weaker


def _protect(facts: Facts) -> str:
    if facts.traits.has_groups:
        return (
            "A few known items single out many records. Share the data only with recipients who are bound by a data "
            "use agreement not to re-identify anyone."
        )
    return (
        "Attackers with more background knowledge can still re-identify many people. "
        f"{facts.model_class.advice.protect_more}, or share the data under a data use agreement."
    )


def _hide(facts: Facts, inferred: Inference | None) -> str:
    """What to do about items that become certain."""
    if inferred is not None and inferred.is_named:
        return (
            "The release lets attackers become certain of sensitive items. Use a model that limits this (uncertainty, "
            "degree, coherence, or k-anonymity with -l), or suppress these items."
        )
    return (
        "The release lets attackers become certain of further items of some people. If an item must not be inferred, "
        "name it as sensitive and use a model that limits this (uncertainty, degree, coherence)."
    )


def alternatives_of(facts: Facts) -> list[str]:
    """What else the owner could do, mostly with another guarantee."""
    lines = list(facts.alternatives)
    local = facts.other_algorithms.get("local-recoding")
    instead = LOCAL_INSTEAD.get(facts.kind)
    if local and instead:
        lines.append(instead.format(f"algorithm{'s' if len(local) > 1 else ''} {' and '.join(local)}"))
    return lines


LOCAL_INSTEAD = {
    "recoding": "A local recoding ({}), which generalizes an item only where necessary; it is harder to analyse.",
    "replacement": "A local recoding over a hierarchy ({}), which generalizes items instead of adding and removing "
    "them.",
}


EVERYWHERE = ("item", "entry", "record", "label", "support", "attacker", "singled out", "codebook", "certificate")
GENERALIZED = ("category", "generalized", "suppressed", "hierarchy", "NCP", "LM", "UL")
BY_KIND = {
    "recoding": GENERALIZED,
    "local-recoding": (*GENERALIZED, "local recoding"),
    "replacement": ("class", "centre", "sensitive item", "IL"),
    "grouping": ("group", "public item", "sensitive item", "privacy degree"),
}


def glossary_of(facts: Facts) -> list[tuple[str, str]]:
    """The terms of this page, in alphabetical order."""
    words = terms(*EVERYWHERE, *BY_KIND.get(facts.kind, ())) | dict(facts.glossary)
    return [(word, words[word]) for word in sorted(words, key=str.lower)]
