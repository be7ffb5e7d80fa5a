"""Three lights for whoever decides: is the promise kept, what remains to be found, what is the data still good for.

The thresholds stand here and in ``docs/report.md``. A light is ``good`` only where a person may act on it without
reading further.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from setveil.report.words import figure, percent

if TYPE_CHECKING:
    from setveil.report.facts import Facts

Colour = Literal["good", "care", "bad"]
ORDER: tuple[Colour, ...] = ("good", "care", "bad")

CROWD = 5  # records to hide among: fewer are narrow
REACH = 2  # items an attacker may know: fewer are narrow
FEW, MANY = 0.01, 0.10  # share of records singled out with more knowledge than assumed
EXACT, LITTLE = 0.5, 0.1  # share of entries published exactly
OFF = 0.25  # typical error of pair counts
EMPTY = 0.5  # share of records published empty

KEEPS_IDS = (
    "Record ids are published: whoever knows a person's id has that person's record, whatever the "
    "promise says about items."
)
KEEPS_ORDER = "Records are in the order of the input: whoever knows a person's place in it has that person's record."


class Light(NamedTuple):
    """A question of the decision, its answer in two or three words, and one sentence."""

    question: str
    colour: Colour
    answer: str
    sentence: str


def lights_of(facts: Facts) -> tuple[Light, Light, Light]:
    """Promise, what remains, usefulness."""
    return promise_of(facts), remains_of(facts), usefulness_of(facts)


def headline_of(facts: Facts) -> tuple[Colour, str]:
    """The verdict in one line, no better than its worst light."""
    promise, remains, useful = lights_of(facts)
    if promise.colour == "bad":
        return "bad", "The guarantee does not hold" if not facts.holds else "The guarantee holds, but ids are published"
    if "bad" in (remains.colour, useful.colour):
        problems = []
        if remains.colour == "bad":
            problems.append("much remains to be found")
        if useful.colour == "bad":
            problems.append("little is left to use")
        return "bad", f"The guarantee holds, but {' and '.join(problems)}"
    if "care" in (promise.colour, remains.colour, useful.colour):
        return "care", "The guarantee holds, with limits"
    return "good", "The guarantee holds"


def kept_words(kept: Sequence[str]) -> list[str]:
    """What publishing ids or order gives away."""
    return [words for name, words in (("ids", KEEPS_IDS), ("order", KEEPS_ORDER)) if name in kept]


# -- the promise -------------------------------------------------------------------------------------------------------


def promise_of(facts: Facts) -> Light:
    """Verified, and for which attacker."""
    question = "The promise"
    if not facts.holds:
        return Light(
            question,
            "bad",
            "broken",
            f"Do not release: the published files do not keep what was asked. {facts.guarantee}",
        )
    if "ids" in facts.kept:
        return Light(question, "bad", "undone by ids", KEEPS_IDS)
    options = facts.model_options
    crowd = options.get("p") if facts.model == "degree" else options.get("k")
    reach = options.get("m", REACH)
    checked = "Verified on the published files by code that shares nothing with the algorithm"
    narrow = []
    if crowd is not None and crowd < CROWD:
        narrow.append(f"a crowd of {crowd} is small (below {CROWD})")
    if reach != "all" and reach < REACH:
        narrow.append(f"attackers who know {REACH} items are not covered")
    if "order" in facts.kept:
        narrow.append("records are in the order of the input")
    if narrow:
        return Light(question, "care", "kept, but narrow", f"{facts.guarantee} {checked}; {', and '.join(narrow)}.")
    return Light(question, "good", "kept", f"{facts.guarantee} {checked}.")


# -- what remains ------------------------------------------------------------------------------------------------------


def remains_of(facts: Facts) -> Light:
    """What attackers with more knowledge than assumed still find."""
    question = "What remains"
    rows = [row for row in facts.risk_after if row["singled_out"] is not None]
    if not rows:
        return Light(question, "good", "nothing to know", "No published record has an item that could be known.")
    worst = max(rows, key=lambda row: (row["singled_out"], row["known"]))
    share = worst["singled_out"]
    colour: Colour = "good" if share <= FEW else "care" if share <= MANY else "bad"
    items = f"{worst['known']} known item{'s' if worst['known'] > 1 else ''}"
    if facts.kind == "grouping":
        linked = percent(facts.shape.get("linked"))
        sentence = f"Records can be recognized by their public items: {items} single out {percent(share)} of them. "
        sentence += (
            f"A sensitive item is then linked with a probability of at most {linked}, if all of a group look alike."
        )
    elif share > 0:
        sentence = f"With {items} {percent(share)} of the records are singled out{_before(facts, worst['known'])}."
    else:
        most = rows[-1]["known"]
        known = f"up to {most} known items" if most > 1 else "one known item"
        sentence = f"Nobody is singled out by {known}{_before(facts, most)}."
    homogeneous = (facts.shape.get("diversity") or {}).get("homogeneous", 0)
    if homogeneous:
        colour = max(colour, "care", key=ORDER.index)
        sentence += f" In {figure(homogeneous)} classes everyone has the same sensitive item."
    answer = {"good": "little", "care": "some", "bad": "much"}[colour]
    return Light(question, colour, answer, sentence + _attacked(facts))


def _before(facts: Facts, known: int) -> str:
    shares = [row["singled_out"] for row in facts.risk_before if row["known"] == known]
    return f" (before: {percent(shares[0])})" if shares and shares[0] is not None else ""


def _attacked(facts: Facts) -> str:
    """The attack that was carried out within the promise, against its control."""
    rows = [row for row in facts.attacks if row["strategy"] == "random" and row["linked"] is not None]
    if not rows:
        return ""
    reach = facts.model_options.get("m")
    row = next((row for row in rows if row["known"] == reach), rows[min(1, len(rows) - 1)])
    items = f"{row['known']} random item{'s' if row['known'] > 1 else ''}"
    text = f" Attacked with {items} per person, the right record was picked in {percent(row['linked'])} of the cases"
    if row["inferred"] is not None and row["control"] is not None:
        text += (
            f", and a sensitive item guessed in {percent(row['inferred'])} (people whose record is taken out: "
            f"{percent(row['control'])})"
        )
    return text + "."


# -- usefulness --------------------------------------------------------------------------------------------------------


def usefulness_of(facts: Facts) -> Light:
    """What is left for analysts."""
    question = "Usefulness"
    exact, largest = exactness_of(facts)
    n_published = facts.metrics.get("n_published_items")
    if n_published is None:
        n_published = facts.shape.get("n_published")
    empty = facts.metrics.get("empty_records") or 0
    unknown = {
        "grouping": "all items that are not sensitive are published exactly, sensitive ones only as counts per group",
        "replacement": "records stand for the centre of their class; how many "
        "entries kept their item only the owner knows",
    }.get(facts.kind, "how many entries kept their item only the owner knows")
    is_partly_known = not facts.is_internal and facts.has_suppression and exact is not None
    if is_partly_known:
        told = [f"{percent(exact)} of the published entries are exact; how many were left out only the owner knows"]
    else:
        told = [f"{percent(exact)} of the entries are published exactly" if exact is not None else unknown]
    if largest and largest > 1:
        told.append(f"the largest set stands for {figure(largest)} items")
    if facts.kind == "replacement" and facts.metrics.get("added_ratio"):
        told.append(f"{percent(facts.metrics['added_ratio'])} as many were added")
    errors = typical_errors(facts)
    if errors:
        told.append(
            f"counts of single items are typically off by {percent(errors[0])}, of pairs by {percent(errors[1])}"
        )
    if empty:
        told.append(f"{figure(empty)} records are empty")
    sentence = "; ".join(told) + "."
    sentence = sentence[0].upper() + sentence[1:]
    if exact is None and facts.kind == "grouping":
        exact = 1.0  # of what is published
    colour = colour_of_use(exact, errors[1] if errors else None, n_published, empty / max(facts.records, 1))
    if n_published is not None and n_published <= 1:
        what = "Nothing" if n_published == 0 else "Only one item"
        return Light(
            question, "bad", "nothing left", f"{what} is published for everybody: nothing can be learned. {sentence}"
        )
    if is_partly_known and colour == "good":
        return Light(question, "care", "partly known", sentence)
    return Light(question, colour, {"good": "useful", "care": "limited", "bad": "little left"}[colour], sentence)


def colour_of_use(exact: float | None, pair_error: float | None, n_published: int | None, empty: float) -> Colour:
    """The light for usefulness: share of exact entries, typical error of pair counts, items published, share of empty
    records.
    """
    if (n_published is not None and n_published <= 1) or (exact is not None and exact < LITTLE) or empty > EMPTY:
        return "bad"
    if exact is None or exact < EXACT or (pair_error is not None and pair_error > OFF):
        return "care"
    return "good"


def exactness_of(facts: Facts) -> tuple[float | None, int | None]:
    """Share of entries published exactly and the largest set an item is published as."""
    exact, largest = facts.metrics.get("exact_ratio"), facts.metrics.get("largest_set")
    if exact is None:
        exact = facts.shape.get("exact")
    if largest is None:
        largest = facts.shape.get("largest_set")
    return exact, largest


def typical_errors(facts: Facts) -> tuple[float, float] | None:
    """The typical relative error of single and pair counts, with whichever estimator does better."""
    best: list[float] = []
    for size in ("singles", "pairs"):
        found: Any = facts.query_errors.get(size)
        if not found:
            return None
        best.append(min(figures["typical"] for figures in found.values()))
    return best[0], best[1]
