"""``assessment.html``: what a data protection officer signs, on two printed pages.

The order is that of ISO/IEC 27559:2022: context, threats, data, attacks, risk, mitigation, governance. The three tests
are those of Opinion 05/2014 (WP216) of the Article 29 Working Party. The page proposes a decision; people decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from setveil.errors import times
from setveil.report.figures import (
    highest_probability,
    inference_by_known,
    mean_risk,
    residual_of,
    unchanged_of,
    utility_of,
    worst_by_known,
    worst_inference,
)
from setveil.report.lights import (
    NO_CONTROL_OF_COUNTS,
    Colour,
    average_risk,
    certain_of,
    crowd_of,
    journalist_knows,
    journalist_risk,
    lights_of,
    risk_words,
    singled_out_of,
)
from setveil.report.profiles import ENVIRONMENTS
from setveil.report.words import figure, named, percent

if TYPE_CHECKING:
    from setveil.report.facts import Facts

NOT_MEASURED = "not measured: single records were not at hand"
LISTED = 4  # sensitive items that are named
LIMITS = 6  # sentences about what is not protected; the report has all


class Decision(NamedTuple):
    """What the figures support."""

    colour: Colour
    words: str
    reasons: list[str]


class Risk(NamedTuple):
    """One quantified risk beside its threshold."""

    name: str
    value: str
    threshold: str
    colour: Colour | None  # None where no threshold applies
    note: str = ""


ASSUMPTIONS = (
    "Each record holds all items of one person, and each person has one record.",
    "The items of the list of sensitive items, or the absence of such a list, were decided by someone who knows the "
    "data.",
    "No attacker is expected to know more about a person than the section on threats says.",
    "The same people are in no other release, and no earlier version of this release was published.",
    "The hierarchy and the labels contain no information about single people.",
    "The internal folder stays with the owner and is deleted when it is no longer needed.",
)


def write_assessment(facts: Facts, digest: str, path: Path) -> None:
    """Write the page of the internal folder; ``digest``: of the certificate that it is about."""
    path.write_text(render_assessment(facts, digest), encoding="utf-8", newline="\n")


def render_assessment(facts: Facts, digest: str) -> str:
    """The page; the same facts give the same text."""
    from setveil.report.template import render_page

    environment = ENVIRONMENTS[facts.profile.environment]
    return render_page(
        "assessment.html.j2",
        facts=facts,
        digest=digest,
        decision=decision_of(facts),
        lights=lights_of(facts),
        profile=facts.profile,
        environment=environment,
        singling_out=singling_out(facts),
        linkability=linkability(facts),
        inference=inference(facts),
        risks=risks_of(facts),
        features=_features(facts),
        mitigation=_mitigation(facts),
        conditions=[*conditions_of(facts), *facts.about.get("conditions", ())],
        confirmed=set(facts.about.get("confirmed", ())),
        limits=list(facts.not_protected)[:LIMITS],
        n_limits=len(facts.not_protected),
        assumptions=ASSUMPTIONS,
    )


def decision_of(facts: Facts) -> Decision:
    """Release, release under conditions, or do not release: the worst light decides."""
    guarantee, risk, use = lights_of(facts)
    reasons = [f"{light.question}: {light.answer}" for light in (guarantee, risk, use)]
    if not facts.holds:
        return Decision("bad", "Release not supported: the guarantee is not met", reasons)
    if facts.doubts:
        return Decision("bad", "Release not supported: how the input was read is in doubt", [*reasons, *facts.doubts])
    if guarantee.colour == "bad":
        return Decision("bad", f"Release not supported: the guarantee is {guarantee.answer}", reasons)
    if risk.colour == "bad":
        return Decision("bad", "Release not supported: the residual risk is too high", reasons)
    if use.colour == "bad":
        return Decision("bad", "Release not supported: the utility is poor", reasons)
    if "care" in (guarantee.colour, risk.colour):
        return Decision("care", "Release supported under conditions", reasons)
    if use.colour == "care":
        return Decision("good", "Release supported, if the limited utility suffices for the purpose", reasons)
    return Decision("good", "Release supported", reasons)


# -- the three tests ---------------------------------------------------------------------------------------------------


def singling_out(facts: Facts) -> list[str]:
    """Can a person be singled out: within the guarantee, with one known item more, by the worst attacker tried."""
    lines = [
        f"{facts.guarantee} Verified on the published files." if facts.holds else f"Not verified. {facts.guarantee}"
    ]
    worst, reach = residual_of(facts), facts.known_items
    if worst is None:
        return [*lines, "No published record has an item that could be known."]
    for row in worst_by_known(facts.attacks, facts.risk_after, facts.risk_before):
        if reach is not None and row.known == reach + 1 and row != worst:
            lines.append(f"With one known item more ({row.known}), {row.sentence[0].lower()}{row.sentence[1:]}.")
    return [*lines, risk_words(worst)]


def linkability(facts: Facts) -> list[str]:
    """How likely an attacker links a person to the right record, beside a control."""
    rows = [row for row in facts.attacks if row.get("linked")]
    others = "Other releases about the same people: none declared. Two releases together can reveal more."
    if not facts.traits.has_own_records:
        return ["No published record belongs to a person, so that no person can be linked to one.", others]
    if rows:
        row = max(rows, key=lambda row: (row["linked"]["after"][0], row["known"]))
        (value, low, high), control = row["linked"]["after"], row["linked"]["control"]
        interval = "exact" if low == high else f"95 % interval {percent(low)} to {percent(high)}"
        text = (
            f"The worst attacker tried {row['words']}. The probability of picking the right record is {percent(value)} "
            f"({interval}; base: {row['base']})."
        )
        if control:
            text += f" Control, a record picked at random: {percent(control[0])}."
        if row["linked"]["before"]:
            text += f" Before anonymization: {percent(row['linked']['before'][0])}."
    else:
        text = f"Linking records: {NOT_MEASURED}."
    return [text, others]


def inference(facts: Facts) -> list[str]:
    """How sure an attacker can become of a sensitive item; of any item where none is named."""
    worst, highest = worst_inference(facts.attacks), highest_probability(facts.attacks)
    lines = []
    if worst is not None:
        lines.append(f"{worst.sentence}.")
        if worst.certain and worst.control is None and not facts.traits.has_own_records:
            lines.append(NO_CONTROL_OF_COUNTS)
        above = max(inference_by_known(facts.attacks), key=lambda row: (row.likely, row.known))
        line = f"More than 50 % sure of {above.what}: {percent(above.likely)} of {above.base}"
        lines.append(line + ("." if above.likely_control is None else f" (control: {percent(above.likely_control)})."))
    if highest is not None:
        lines.append(f"Highest probability of a named sensitive item: {percent(highest)}, {_tried(facts, highest)}.")
    linked = facts.shape.get("linked")
    if facts.traits.has_groups and linked is not None:
        lines.append(
            f"Highest share of a sensitive item in a group, counted exactly: {percent(facts.shape['linked'])}."
        )
    if facts.guessing:
        lines.append(facts.guessing)
    if "largest_percentage" in facts.achieved:
        share = percent(facts.achieved["largest_percentage"] / 100)
        lines.append(f"Within the guarantee, at most {share} of matching records share a sensitive item (exact).")
    if not facts.sensitive and (worst is None or not worst.is_named):
        lines.append("No sensitive items were named, so that any item counts.")
    if worst is None:
        reason = "not measured: nobody with enough items has a sensitive item" if facts.attacks else NOT_MEASURED
        lines.append(f"Inference by attackers: {reason}.")
    return lines


def _tried(facts: Facts, highest: float) -> str:
    """Over whom the highest probability was looked for."""
    rows = [row for row in facts.attacks if row.get("certain")]
    most = max(row["known"] for row in rows)
    if all(row["n_targets"] >= row["n_people"] for row in rows):
        return f"over all people, with up to {most} known items"
    others = "" if highest >= 1 else "; for others it can be higher"
    return f"over the people attacked, a random sample, with up to {most} known items{others}"


# -- figures -----------------------------------------------------------------------------------------------------------


def risks_of(facts: Facts) -> list[Risk]:
    """Prosecutor, journalist and marketer risk, and people singled out beyond the guarantee."""
    profile = facts.profile
    limit = f"at most {percent(float(profile.limit))}"
    rows = [_prosecutor(facts, limit), _journalist(facts, limit)]
    linked = facts.shape.get("linked") if facts.traits.has_groups else None
    if linked is not None:
        colour: Colour = "good" if linked <= float(profile.limit) else "bad"
        note = "the largest share of a sensitive item in a group, if all its records look alike"
        if facts.guessing:
            colour, note = "bad", f"{note}; attackers can guess more often who has it (see inference)"
        rows.append(Risk("Maximum probability of a sensitive item", percent(linked), limit, colour, note))
    rows.append(_marketer(facts, limit))
    worst = residual_of(facts)
    if worst is not None:
        rule = singled_out_of(profile)
        _, good, bad = rule.words()
        rows.append(
            Risk(
                "Singled out by the worst attacker tried",
                f"{percent(worst.of_all_people)} of all people",
                f"low: {good}; high: {bad}",
                rule.colour(worst.of_all_people),
                f"the attacker {worst.words.rstrip(',')}; within the guarantee or beyond it",
            )
        )
    inferred = worst_inference(facts.attacks)
    if inferred is not None:
        rule = certain_of(profile, inferred.is_named)
        _, good, bad = rule.words()
        base = inferred.base if inferred.is_named else "all people"
        control = "" if inferred.control is None else f"; control {percent(inferred.control)} of {inferred.base}"
        rows.append(
            Risk(
                f"Attacker certain of {inferred.what}",
                f"{percent(inferred.share)} of {base}",
                f"low: {good}; high: {bad}",
                rule.colour(inferred.share),
                f"the attacker {inferred.words}{control}",
            )
        )
    return rows


def _prosecutor(facts: Facts, limit: str) -> Risk:
    name = "Maximum prosecutor risk"
    counted = [facts.achieved.get(name) for name in ("smallest_class", "smallest_support")]
    smallest = min(filter(None, counted), default=None)  # the columns alone match more people than columns and items
    crowd = facts.crowd
    if facts.traits.has_groups:
        return Risk(name, "no limit", limit, "care", "public items are unchanged: a record can be recognized by them")
    if crowd is None:
        return Risk(name, "no limit", limit, "care", "the guarantee does not limit the number of matching people")
    meets = 1 / crowd <= float(facts.profile.limit)
    colour = "good" if meets else crowd_of(facts.profile).colour(crowd)
    note = f"1/k with k = {crowd}, for the attacker of the guarantee"
    if not facts.traits.has_own_records:
        note = f"1/k with k = {crowd}, the smallest count that is published; no record belongs to a person"
    elif smallest:
        note += f"; fewest matching records found: {figure(smallest)}"
    return Risk(name, percent(1 / crowd), limit, colour, note)


def _journalist(facts: Facts, limit: str) -> Risk:
    name, found = "Journalist risk", facts.population
    if not found:
        return Risk(name, "not computed", limit, None, "taken as prosecutor risk: membership assumed known")
    if "reason" in found:
        return Risk(name, "not computed", limit, None, f"taken as prosecutor risk: {found['reason']}")
    note = (
        f"1 / {figure(found['fewest'])} matching people in a population of {figure(found['people'])}, counted exactly, "
        f"for an attacker who knows {journalist_knows(found)} of everyone in it; {percent(found['mean'])} on average"
    )
    if found.get("known") is not None:
        note += f"; at most {percent(found['whole'])} if whole records are known"
    return Risk(name, percent(found["highest"]), limit, journalist_risk(facts)[0], note)


def _marketer(facts: Facts, limit: str) -> Risk:
    """The mean probability of picking the right record, for the attacker of the guarantee where there is one."""
    if not facts.traits.has_own_records:
        return Risk("Average (marketer) risk", "none", limit, "good", "no published record belongs to a person")
    mean, base = mean_risk(facts.risk_after, facts.covered_items)
    value = "none" if mean is None else percent(mean)
    colour, _ = average_risk(facts.risk_after, facts.covered_items, facts.profile)
    return Risk("Average (marketer) risk", value, limit, colour, base)


def _features(facts: Facts) -> list[tuple[str, str]]:
    """What the data is."""
    sensitive = facts.sensitive
    examples = ", ".join(named(label, facts.names) for label in sensitive[:LISTED])
    if len(sensitive) > LISTED:
        examples += ", …"
    none_named = "none named: all items are treated alike"
    if secret := [name for name, role in facts.columns if role == "sensitive"]:
        none_named = f"none named; sensitive columns: {', '.join(secret)}"
    changes = facts.changes
    rows = [
        ("Person", "one record of the input; k counts records"),
        (
            "People published" if facts.traits.has_own_records else "Records made from counts",
            figure(facts.records),
        ),
        ("Input", facts.read or "read from memory"),
        (
            "Sensitive items",
            f"{figure(len(sensitive))}: {examples}" if sensitive else none_named,
        ),
    ]
    n_items = changes.get("n_items") if isinstance(changes, Mapping) else None
    if n_items:
        rows.insert(2, ("Different items", figure(n_items)))
    if facts.columns:
        rows.append(("Columns", ", ".join(f"{name} ({role})" for name, role in facts.columns)))
    return rows


def _mitigation(facts: Facts) -> list[str]:
    """What was done to the data, with its cost."""
    metrics, unchanged = facts.metrics, unchanged_of(facts)
    purpose = facts.model_class.title
    lines = [
        f"{purpose}: model {facts.model}, algorithm {facts.algorithm}; kind of release: {facts.kind.replace('-', ' ')}."
    ]
    if unchanged.share is not None:
        line = unchanged.words
        if unchanged.broadest and unchanged.broadest > 1:
            name = next((f", {row['label']}," for row in facts.shape.get("rows", ())), "")
            line += f"; the broadest category{name} covers {figure(unchanged.broadest)} items"
        lines.append(line[0].upper() + line[1:] + ".")
    suppressed = []
    if metrics.get("suppression_ratio"):
        suppressed.append(f"{percent(metrics['suppression_ratio'])} of all entries")
    if facts.details.get("left_out_records"):
        suppressed.append(f"{times(facts.details['left_out_records'], 'record')} without public items")
    if not facts.traits.has_own_records:
        suppressed.append("all records of people, and counts below the smallest one that is published")
    lines.append(f"Suppressed: {', '.join(suppressed)}." if suppressed else "Suppressed: nothing.")
    lost = {name.partition(":")[2]: value for name, value in metrics.items() if name.startswith("ncp_of_column:")}
    if lost:
        shares = ", ".join(f"{name} {percent(value)}" for name, value in sorted(lost.items()))
        lines.append(f"Detail lost in columns (0 %: values as they are; 100 %: no value is published): {shares}.")
    if metrics.get("empty_records"):
        lines.append(f"{times(metrics['empty_records'], 'record is', 'records are')} published empty.")
    words = utility_of(facts.query_errors).words
    if words:
        lines.append("Utility: " + "; ".join(words[:3]) + ".")
    not_published = "Record ids and the order of the input are not published."
    kept = {"ids": "Record ids are published.", "order": "The order of the input is published."}
    lines += [kept[name] for name in facts.kept] or [not_published]
    return lines


def statements_of(facts: Facts) -> list[str]:
    """What somebody has to confirm before the release is handed over: assumptions and conditions."""
    return [*ASSUMPTIONS, *conditions_of(facts)]


def conditions_of(facts: Facts) -> list[str]:
    """What must hold for the decision."""
    lines = {
        "public": "Publish one release of these data only; later releases need a new assessment.",
        "agreement": "The data use agreement forbids re-identification, linking and passing the data on.",
        "secure": "Results are checked before they leave the secure environment; downloads are disabled.",
    }
    conditions = [lines[facts.profile.environment]]
    worst = residual_of(facts)
    if worst is not None and singled_out_of(facts.profile).colour(worst.of_all_people) != "good":
        conditions.append(
            "Recipients do not hold background knowledge beyond the guarantee, or are bound by a data use agreement."
        )
    if facts.about.get("reason"):
        conditions.append(f"Reason given for a red light: {facts.about['reason']}")
    return conditions


def summary_of(facts: Facts) -> dict[str, Any]:
    """The decision for JSON."""
    decision = decision_of(facts)
    return {"colour": decision.colour, "decision": decision.words, "profile": facts.profile.name}
