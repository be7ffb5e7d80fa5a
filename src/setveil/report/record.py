"""From a release and what was found about it to the facts that reports and records show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from setveil import __version__
from setveil.core import Grouping, LocalRecoding, Release, RunRecord, Transactions
from setveil.models import certified_model
from setveil.report.changes import Cover, changes_of, examples_of, shape_of
from setveil.report.facts import GUESSING, Facts
from setveil.report.lights import kept_words
from setveil.report.words import ACHIEVED, METRICS

DERIVED = "A hierarchy derived from the data: it tells which items occur, and its shape may tell how often."
SEQUENCES = (
    "Order and time: records are sets; what order or dates within a record would tell is neither used nor protected."
)
STEP, FEWEST_FOR_FIGURES = 0.05, 1000  # how coarse a figure about the original is made before it may be public
NOTHING_FITS = (
    "Items that fit no record together: whoever knows them learns that the person's record does not show all of them, "
    "or that the person is not in the data."
)
MEMBERSHIP = "Membership: that a person is in the data at all is not hidden."


def facts_of(
    release: Release,
    labels: Sequence[str],
    holds: bool,
    achieved: Mapping[str, Any],
    metrics: Mapping[str, Any],
    risk_before: Mapping[str, Any],
    risk_after: Mapping[str, Any],
    kept: Sequence[str] = (),
    guesses: Mapping[str, Any] | None = None,
    may_leave_out: bool = False,
) -> Facts:
    """All facts, internal ones included; ``Facts.public()`` takes them out again.

    ``labels``: the published items' names in the files; ``kept``: "ids" and "order" if they are published;
    ``guesses``: how often guessers were right, where groups were formed around those who hold something sensitive;
    ``may_leave_out``: the algorithm may leave out single entries of a local recoding.
    """
    record = release.record
    assert record is not None, "a release is reported with the record of its run"
    not_protected = [*kept_words(kept), *record.model.not_protected()]
    if record.hierarchy is not None and record.hierarchy.derived_from_data:
        not_protected.append(DERIVED)
    not_protected += [SEQUENCES, MEMBERSHIP]
    if isinstance(release, Grouping):
        not_protected.append(left_out_words(release))
    if isinstance(release, LocalRecoding):
        not_protected.append(NOTHING_FITS)
    if guesses:
        not_protected.insert(0, guessing_words(guesses, release.published.n_records))
    cover = Cover(release)
    return Facts(
        version=__version__,
        model=record.model.name,
        model_options=options_that_occur(release, record.model.options(), record.data),
        guarantee=record.model.guarantee(),
        attacker=record.model.attacker(),
        reach=record.model.reach,
        alternatives=record.model.alternatives,
        glossary=record.model.glossary,
        algorithm=record.algorithm,
        kind=release.kind,
        records=release.published.n_records,
        holds=holds,
        achieved=dict(achieved),
        metrics=dict(metrics),
        risk_after=risk_after["rows"],
        risk_before=risk_before["rows"],
        not_protected=not_protected,
        files={},
        has_suppression=_leaves_out_occurrences(release, may_leave_out),
        algorithm_options=dict(record.options),
        hierarchy=record.hierarchy_source,
        seed=record.seed,
        details=dict(release.details),
        shape=shape_of(release, labels, cover),
        changes=changes_of(release, labels, record.data, cover),
        examples=examples_of(release, labels, record.data, cover),
        warnings=record.warnings,
        kept=tuple(kept),
    )


def options_that_occur(release: Release, options: Mapping[str, Any], data: Transactions) -> dict[str, Any]:
    """The model's options as they may be published: with no label that neither the data nor the codebook has.

    A list may hold more than the data does, and what it holds is nobody's business. Of sensitive items only those that
    the published files show are named; a constraint with an item that does not occur is kept by every release.
    """
    told = dict(options)
    if options.get("sensitive"):
        shown = _occurring(release.published)
        if isinstance(release, Grouping):
            shown |= {release.sensitive[int(item)] for item in set(release.count_item.tolist())}
        told["sensitive"] = [label for label in options["sensitive"] if label in shown]
    if options.get("constraints") or options.get("utility"):
        cover = Cover(release)
        occurring = _occurring(data) | {cover.domain[int(item)] for item in cover.items}
        told["constraints"] = [one for one in options["constraints"] if occurring.issuperset(one)]
        if options["utility"] is not None:
            groups = ([item for item in group if item in occurring] for group in options["utility"])
            told["utility"] = [group for group in groups if group]
    return told


def _occurring(data: Transactions) -> set[str]:
    """The labels that a record has."""
    return {label for label, support in zip(data.vocabulary, data.supports, strict=True) if support}


def left_out_words(release: Grouping) -> str:
    """What no group can protect and is therefore missing, no finer than in steps of 5 %; the same words if nothing
    is.
    """
    told = "Left out: records whose items are all sensitive, and sensitive items that something public gives away"
    n_records, details = release.published.n_records, release.details
    if n_records < FEWEST_FOR_FIGURES:
        return f"{told}; how many, only the owner knows."
    n_left_out = int(details.get("left_out_records", 0)) + int(details.get("implied_occurrences", 0))
    steps = n_left_out / n_records // STEP + 1
    return f"{told}: together fewer than {100 * STEP * steps:.0f} per 100 published records."


def guessing_words(guesses: Mapping[str, Any], n_records: int) -> str:
    """What groups that are formed around sensitive records give away, no finer than in steps of 5 %."""
    promised = guesses.get("promised")
    part = guesses.get("random") or guesses.get("real")
    told = f"{GUESSING}groups are formed around the records with sensitive items, and that shows. "
    if promised is None or part is None or n_records < FEWEST_FOR_FIGURES:
        return told + "Whoever picks a member of a group by its looks is right more often than promised."
    best = max(right[0] for right in part["guessers"].values())
    rate = STEP * ceil(best / STEP - 1e-9)
    return told + f"Promised: {100 * promised:.3g} %. Measured: about {100 * rate:.0f} %, by the best guesser."


def public_facts(
    certificate: Mapping[str, Any], release: Release, other_algorithms: Mapping[str, Sequence[str]]
) -> Facts:
    """What the public page shows: the certificate, and what the published files show of themselves. Nothing else.

    ``release`` is read from the files. So whoever has the folder can draw the page again and see whether it is the
    same.
    """
    told = certificate["release"]
    model, is_hidden = certified_model(certificate["model"]["name"], certificate["model"]["options"])
    return Facts(
        version=certificate["setveil"],
        model=model.name,
        model_options=certificate["model"]["options"],
        guarantee=certificate["guarantee"],
        attacker=model.attacker(),
        reach=model.reach,
        alternatives=model.alternatives,
        glossary=model.glossary,
        algorithm=certificate["algorithm"]["name"],
        kind=told["kind"],
        records=certificate["records"],
        holds=certificate["verified"],
        achieved={name: certificate["achieved"][name] for name in ACHIEVED if name in certificate["achieved"]},
        metrics={name: certificate["metrics"][name] for name in METRICS if name in certificate["metrics"]},
        risk_after=certificate["risk"]["after"],
        not_protected=certificate["not_protected"],
        files={name: digest for name, digest in certificate["files"].items() if name != "report.html"},
        has_suppression=told["suppression"],
        shape=shape_of(release, list(release.published.vocabulary), Cover(release)),
        other_algorithms=other_algorithms,
        kept=tuple(
            name
            for name, is_kept in (("ids", certificate["record_ids"]), ("order", certificate["record_order"] == "input"))
            if is_kept
        ),
        is_checkable=not is_hidden,
        is_internal=False,
    )


def _leaves_out_occurrences(release: Release, may_leave_out: bool) -> bool:
    """Whether single occurrences may be missing: of nodes in a local recoding, of sensitive items in a grouping.

    The answer is the same whether something is missing or not: it follows from the algorithm and from what the owner
    asked for, never from the data.
    """
    if isinstance(release, LocalRecoding):
        return may_leave_out
    if not isinstance(release, Grouping) or release.record is None:
        return False
    asked = release.record.options.get(
        "suppress_excess", False
    )  # the owner's decision, whether anything was in excess or not
    return asked if isinstance(asked, bool) else str(asked).lower() == "true"


def run_json(facts: Facts, record: RunRecord, certificate_digest: str) -> dict[str, Any]:
    """The full record of a run; it stays in the house."""
    return {
        "setveil": facts.version,
        "input": dict(facts.input_facts),
        "data": {
            "records": record.data.n_records,
            "items": record.data.n_items,
            "occurrences": record.data.n_occurrences,
            "empty_records": record.data.n_empty,
        },
        "model": facts.model,
        "algorithm": {"name": facts.algorithm, "options": dict(facts.algorithm_options)},
        "hierarchy": facts.hierarchy,
        "seed": facts.seed,
        "risk": {"before": list(facts.risk_before), "after": list(facts.risk_after)},
        "metrics": dict(facts.metrics),
        "query_errors": dict(facts.query_errors),
        "histograms": dict(facts.histograms),
        "achieved": dict(facts.achieved),
        "guesses": dict(facts.guesses),
        "left_out": dict(facts.left_out),
        "details": dict(facts.details),
        "seconds": dict(facts.seconds),
        "warnings": list(facts.warnings),
        "certificate_digest": certificate_digest,
    }
