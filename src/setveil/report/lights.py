"""Three lights for the person who decides: guarantee, residual risk, utility.

``thresholds_of`` has all thresholds; ``docs/report.md`` shows those of the default profile. A light is ``good`` only
where a person may act on it without reading further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from setveil.errors import name_some, times
from setveil.report.figures import (
    Inference,
    Residual,
    Utility,
    known_words,
    mean_risk,
    residual_of,
    unchanged_of,
    utility_of,
    worst_inference,
)
from setveil.report.profiles import DEFAULT, ENVIRONMENTS, Profile
from setveil.report.words import figure, percent

if TYPE_CHECKING:
    from setveil.report.facts import Facts

Colour = Literal["good", "care", "bad", "note"]  # "note": no light, only a sentence
ORDER: tuple[Colour, ...] = ("good", "care", "bad")


class Threshold(NamedTuple):
    """Where a light changes its colour; None where a figure alone never makes it red."""

    figure: str
    good: float  # the light may be green from here on
    bad: float | None  # and is red beyond this
    is_share: bool = True
    at_least: bool = True  # larger is better

    def colour(self, value: float | None) -> Colour:
        """The light for one figure; what is not known changes nothing."""
        if value is None:
            return "good"
        better = value >= self.good if self.at_least else value <= self.good
        worse = self.bad is not None and (value < self.bad if self.at_least else value > self.bad)
        return "good" if better else "bad" if worse else "care"

    def words(self) -> tuple[str, str, str]:
        """The figure, when it allows a green light, and when it makes a red one."""
        good = f"at {'least' if self.at_least else 'most'} {self._shown(self.good)}"
        bad = "never" if self.bad is None else f"{'below' if self.at_least else 'above'} {self._shown(self.bad)}"
        return self.figure, good, bad

    def _shown(self, value: float) -> str:
        return f"{100 * value:g} %" if self.is_share else f"{value:g}"


REACH = Threshold("items that the attacker of the guarantee may know", 2, None, is_share=False)
UNCHANGED = Threshold("entries published unchanged, of all entries", 0.5, None)
COUNTABLE = Threshold("distinct items that can be counted within 25 %, of all items", 0.5, None)
PAIRS_MEDIAN = Threshold("median relative error of pair counts", 0.25, 0.75, at_least=False)
PAIRS_MEAN = Threshold("mean relative error of pair counts", 0.5, 0.75, at_least=False)
MIXED = Threshold(
    "entries in a category that mixes branches of the hierarchy, of all published entries", 0.1, 0.5, at_least=False
)
EMPTY = Threshold("records published empty, of all records", 0.5, 0.5, at_least=False)
LABELS = Threshold("different labels published", 2, 2, is_share=False)

GUARANTEE, RESIDUAL_RISK, UTILITY = "Guarantee", "Residual risk", "Utility"


def crowd_of(profile: Profile) -> Threshold:
    """How many records must share what the attacker knows: a profile that the owner chose makes fewer red."""
    bad = profile.k if profile.is_declared else None
    return Threshold("records that share what the attacker of the guarantee knows", profile.k, bad, is_share=False)


def singled_out_of(profile: Profile) -> Threshold:
    """How many people an attacker beyond the guarantee may single out in the environment of the profile."""
    _, low, high = ENVIRONMENTS[profile.environment]
    return Threshold("people singled out by the worst attacker tried, of all people", low, high, at_least=False)


def certain_of(profile: Profile, is_named: bool) -> Threshold:
    """Of how many people a further item may become certain. An item that nobody named as sensitive never makes the
    light red: what is certain about people who are not in the data, too, no release can hide.
    """
    _, low, high = ENVIRONMENTS[profile.environment]
    if is_named:
        base = "people of whom a sensitive item becomes certain, of those with one (items are named)"
        return Threshold(base, low, high, at_least=False)
    base = "people of whom a further item becomes certain, of all people (no items are named)"
    return Threshold(base, low, None, at_least=False)


def thresholds_of(profile: Profile = DEFAULT) -> dict[str, tuple[Threshold, ...]]:
    """All thresholds of a profile, by light."""
    return {
        GUARANTEE: (crowd_of(profile), REACH),
        RESIDUAL_RISK: (singled_out_of(profile), certain_of(profile, True), certain_of(profile, False)),
        UTILITY: (UNCHANGED, COUNTABLE, PAIRS_MEDIAN, PAIRS_MEAN, MIXED, EMPTY, LABELS),
    }


KEEPS_IDS = (
    "Record ids are published: anyone who knows a person's id has that person's record, whatever the guarantee says "
    "about items."
)
KEEPS_ORDER = (
    "Records are in the order of the input: anyone who knows a person's position in the input has that person's record."
)


class Light(NamedTuple):
    """A question of the decision, its answer in one to three words, and the reason."""

    question: str
    colour: Colour
    answer: str
    sentence: str


def lights_of(facts: Facts) -> tuple[Light, Light, Light]:
    """Guarantee, residual risk, utility."""
    return guarantee_of(facts), risk_of(facts), use_of(facts)


def headline_of(facts: Facts) -> tuple[Colour, str]:
    """The verdict in one line, no better than its worst light."""
    lights = lights_of(facts)
    colour = worst_colour([light.colour for light in lights if light.colour in ORDER])
    guarantee, risk, use = lights
    if guarantee.colour == "bad" and not facts.doubts:
        return "bad", f"{guarantee.question} {guarantee.answer}"
    clauses = [f"{light.question.lower()}: {light.answer}" for light in (risk, use)]
    if not facts.is_internal:  # the owner judges the rest, unless the files alone decide
        judged = [part for part, light in zip(clauses, (risk, use), strict=True) if light.colour != "note"]
        return colour, "; ".join(["Guarantee met", *judged])
    if facts.doubts:
        return "bad", f"Guarantee met, but {' and '.join(facts.doubts)}; {'; '.join(clauses)}"
    return colour, f"Guarantee met; {'; '.join(clauses)}"


def kept_words(kept: Sequence[str]) -> list[str]:
    """What publishing ids or order gives away."""
    return [words for name, words in (("ids", KEEPS_IDS), ("order", KEEPS_ORDER)) if name in kept]


def worst_colour(colours: Sequence[Colour]) -> Colour:
    """The most careful of some lights."""
    return max(colours, key=ORDER.index, default="good")


# -- the guarantee -----------------------------------------------------------------------------------------------------


def guarantee_of(facts: Facts) -> Light:
    """Verified, and for which attacker."""
    if not facts.holds:
        text = f"Do not publish: the files do not meet the guarantee. {facts.guarantee}"
        return Light(GUARANTEE, "bad", "not met", text)
    if "ids" in facts.kept:
        return Light(GUARANTEE, "bad", "undone: record ids are published", KEEPS_IDS)
    checked = "Verified on the published files by code that shares nothing with the algorithm"
    if facts.doubts:
        text = f"{facts.guarantee} {checked}. Limits: {'; '.join(facts.doubts)}, so that the guarantee may not hold."
        return Light(GUARANTEE, "bad", "verified, but in doubt", text)
    profile, crowd = facts.profile, crowd_of(facts.profile)
    colour = crowd.colour(facts.crowd)
    if colour == "bad":
        text = f"{facts.guarantee} {checked}. The profile {profile.words} asks for more: increase k to {profile.k}."
        return Light(GUARANTEE, "bad", f"below the threshold of {profile.name}", text)
    limits = []
    if colour != "good":
        limits.append(f"{facts.crowd} is a small number of records (below {profile.k})")
    if REACH.colour(facts.known_items) != "good":
        limits.append(f"attackers who know {REACH.good:g} items are not covered")
    if facts.guessing:
        limits.append("attackers can guess who has a sensitive item more often than guaranteed")
    if "order" in facts.kept:
        limits.append("records are in the order of the input")
    if limits:
        return Light(
            GUARANTEE, "care", "verified, with limits", f"{facts.guarantee} {checked}. Limits: {'; '.join(limits)}."
        )
    return Light(GUARANTEE, "good", "verified", f"{facts.guarantee} {checked}.")


# -- residual risk -----------------------------------------------------------------------------------------------------

JUDGED_BY_OWNER = "judged by the owner"
FROM_FILES = (
    "This figure is computed from the published files alone. The owner has tried more attackers and judged the "
    "residual risk with the original data."
)
NOBODYS_RECORDS = "No published record belongs to a person, so that nobody can be singled out."
NO_CONTROL = "There is no control: a person who is not in the data has no record to single out."
NO_CONTROL_OF_COUNTS = (
    "There is no control: the counts include everybody. Some of these conclusions are also true for people who are not "
    "in the data."
)
LEVELS: dict[Colour, str] = {"good": "low", "care": "moderate", "bad": "high"}


def risk_of(facts: Facts) -> Light:
    """What the worst attacker tried can still do, within the guarantee or beyond it."""
    has_own = facts.traits.has_own_records
    worst = residual_of(facts) if has_own else None
    sentence = "No published record has an item that could be known." if has_own else NOBODYS_RECORDS
    sentence = sentence if worst is None else risk_words(worst)
    column_warning = _column_warning(facts)
    if not facts.is_internal:
        return Light(RESIDUAL_RISK, "note", JUDGED_BY_OWNER, f"{sentence}{column_warning} {_linked(facts)}{FROM_FILES}")
    if has_own and worst is None:
        colour: Colour = "care" if column_warning else "good"
        return Light(RESIDUAL_RISK, colour, LEVELS[colour], sentence + column_warning)
    inferred = worst_inference(facts.attacks)
    colour = colour_of_risk(worst, inferred, facts.profile)
    for beyond, words in (journalist_risk(facts), average_risk(facts.risk_after, facts.covered_items, facts.profile)):
        if beyond is not None and beyond != "good":
            colour = worst_colour([colour, beyond])
            sentence += f" {words}"
    if inferred is not None:
        sentence += f" {inferred.sentence}."
        if inferred.certain and inferred.control is None and not has_own:
            sentence += f" {NO_CONTROL_OF_COUNTS}"
    if facts.traits.has_groups:
        sentence += f" {_linked(facts).rstrip()}"
    if column_warning:
        colour = worst_colour([colour, "care"])
        sentence += column_warning
    revealing = facts.achieved.get("people_in_revealing_classes", 0)
    if revealing:
        colour = worst_colour([colour, "care"])
        sentence += (
            f" The columns alone reveal an item or a sensitive value of {figure(revealing)} people with certainty: "
            "everybody with these columns has it."
        )
    homogeneous = (facts.shape.get("diversity") or {}).get("homogeneous", 0)
    if homogeneous:
        colour = worst_colour([colour, "care"])
        sentence += f" In {times(homogeneous, 'class', 'classes')} all people have the same sensitive item."
    if facts.doubts:
        sentence = f"The figures count records, and {' and '.join(facts.doubts)}. {sentence}"
        return Light(RESIDUAL_RISK, "bad", "cannot be judged", sentence + _guessed(facts))
    return Light(RESIDUAL_RISK, colour, LEVELS[colour], sentence + _guessed(facts))


def journalist_risk(facts: Facts) -> tuple[Colour | None, str]:
    """The light for journalist risk, and a sentence; None where no population was given, or matches have no meaning."""
    found = facts.population
    if not found or "reason" in found:
        return None, ""
    limit = float(facts.profile.limit)
    words = (
        f"Journalist risk: {percent(found['highest'])} at most, for an attacker who knows {journalist_knows(found)} of "
        f"everyone in the population (threshold: {percent(limit)})."
    )
    return ("good" if found["highest"] <= limit else "bad"), words


def journalist_knows(found: Mapping[str, Any]) -> str:
    """What the attacker of the journalist risk knows of a person."""
    known = found.get("known")
    if known is None:
        return "whole records"
    items = "one item" if known == 1 else f"up to {known} items"
    if not found.get("columns"):
        return items
    return f"the known columns and {items}" if known else "the known columns"


def average_risk(
    risk_after: Sequence[Mapping[str, Any]], reach: float | None, profile: Profile
) -> tuple[Colour | None, str]:
    """The light for average risk, and a sentence: red only where the owner chose a profile, as for the guarantee."""
    mean, base = mean_risk(risk_after, reach)
    limit = float(profile.limit)
    if mean is None or mean <= limit:
        return (None if mean is None else "good"), ""
    words = f"Average (marketer) risk: {percent(mean)}, {base} (threshold: {percent(limit)})."
    return ("bad" if profile.is_declared else "care"), words


def _column_warning(facts: Facts) -> str:
    """Figures must not comfort where columns are published that attackers are not taken to know."""
    varying = facts.shape.get("varying_columns")
    if not varying:
        return ""
    return (
        f" These figures do not use the carried columns {name_some(varying)}: attackers who know them can single out "
        "more people."
    )


def _linked(facts: Facts) -> str:
    """What the groups of a grouping say about a member."""
    if not facts.traits.has_groups:
        return ""
    return (
        "Records can be recognized by their public items. A sensitive item is then linked to a person with a "
        f"probability of at most {percent(facts.shape.get('linked'))}, if all records of a group look alike. "
    )


def colour_of_risk(worst: Residual | None, inferred: Inference | None, profile: Profile = DEFAULT) -> Colour:
    """The light for residual risk: it goes by people singled out, and by people of whom something becomes certain."""
    singled_out = None if worst is None else worst.of_all_people
    colours = [singled_out_of(profile).colour(singled_out)]
    if worst is not None and worst.is_unsettled:  # nobody knows that the risk is low
        colours.append("care")
    if inferred is not None:
        colours.append(certain_of(profile, inferred.is_named).colour(inferred.share))
    return worst_colour(colours)


def risk_words(worst: Residual) -> str:
    """What the worst attacker achieves, with base, interval and control."""
    if worst.of_all_people == 0 and not worst.is_unsettled:
        return f"With {known_words(worst.known, worst.columns)}, no attacker tried singles out anyone."
    text = f"{worst.sentence}."
    if worst.is_unsettled:
        text += " The share can be higher: for many people the search for identifying items ended without a result."
    if worst.interval is not None:
        low, high = (percent(end) for end in worst.interval)
        text += f" 95 % interval: {low} to {high} of {worst.base}."
    if worst.control is not None:
        text += f" Control, people who are not in the data: one record fits for {percent(worst.control)}."
    elif worst.attacker == "identifying":
        text += f" {NO_CONTROL}"
    return text


def _guessed(facts: Facts) -> str:
    """The best guess of a sensitive item, beside its control."""
    rows = [row for row in facts.attacks if row.get("right_guess") and row["right_guess"]["control"]]
    if not rows:
        return ""
    row = max(rows, key=lambda row: row["right_guess"]["after"][0])
    found = row["right_guess"]
    return (
        f" An attacker who {row['words']} guesses a sensitive item right with a probability of "
        f"{percent(found['after'][0])} on average (control: {percent(found['control'][0])})."
    )


# -- utility -----------------------------------------------------------------------------------------------------------

GRADES: dict[Colour, str] = {"good": "good", "care": "limited", "bad": "poor"}


def use_of(facts: Facts) -> Light:
    """What analysts can still do."""
    unchanged, found = unchanged_of(facts), utility_of(facts.query_errors)
    n_published = facts.metrics.get("n_published_items")
    if n_published is None:
        n_published = facts.shape.get("n_published")
    empty = facts.metrics.get("empty_records") or 0
    is_partly_known = not facts.is_internal and facts.has_suppression and unchanged.share is not None
    clauses = [unchanged.words if unchanged.share is not None else facts.traits.shown_entries]
    if is_partly_known:
        clauses.append("only the owner knows how many entries were suppressed")
    if unchanged.broadest and unchanged.broadest > 1:
        clauses.append(f"the broadest category covers {figure(unchanged.broadest)} items")
    if facts.metrics.get("added_ratio"):
        clauses.append(f"entries were added: {percent(facts.metrics['added_ratio'])} of the original number")
    clauses += found.words
    if empty:
        clauses.append(f"{times(empty, 'record is', 'records are')} published empty")
    sentence = "; ".join(clauses) + "."
    sentence = sentence[0].upper() + sentence[1:]
    is_counted = facts.traits.has_groups or not facts.traits.has_own_records
    share = 1.0 if unchanged.share is None and is_counted else unchanged.share  # of what is published
    colour = colour_of_use(share, found, n_published, empty / max(facts.records, 1))
    if n_published is not None and n_published <= 1:
        what = "Nothing is published" if n_published == 0 else "Only one label is published"
        return Light(UTILITY, "bad", "poor", f"{what} for all people: nothing can be learned. {sentence}")
    if not facts.is_internal:
        return Light(UTILITY, "note", JUDGED_BY_OWNER, f"{sentence} Errors of counts are known to the owner only.")
    return Light(UTILITY, colour, GRADES[colour], sentence)


def colour_of_use(unchanged: float | None, found: Utility, n_published: int | None, empty: float) -> Colour:
    """The light for utility: share of unchanged entries, errors of counts, labels published, share of empty records."""
    pairs = found.errors.get("pairs")
    return worst_colour(
        [
            "care" if unchanged is None else UNCHANGED.colour(unchanged),
            COUNTABLE.colour(found.within_25),
            PAIRS_MEDIAN.colour(pairs and pairs.median),
            PAIRS_MEAN.colour(pairs and pairs.mean),
            MIXED.colour(found.mixed_of_all),
            EMPTY.colour(empty),
            LABELS.colour(n_published),
        ]
    )
