"""From a release and what was found about it to the facts that reports and records show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from setveil import __version__
from setveil.core import Dataset
from setveil.core.provenance import VISITS
from setveil.models import PrivacyModel, certified_model
from setveil.releases import KINDS, Release, RunRecord
from setveil.report.changes import changes_of, examples_of, shape_of
from setveil.report.facts import GUESSING, VISITS_ONLY, Facts
from setveil.report.lights import kept_words
from setveil.report.profiles import certified_profile
from setveil.report.words import ACHIEVED, METRICS

DERIVED = "A hierarchy derived from the data: it reveals which items occur, and its shape may reveal how often."
SEQUENCES = (
    "Order and time: records are sets; the order or dates of items within a record are neither used nor protected."
)
STEP, FEWEST_FOR_FIGURES = 0.05, 1000  # how coarse a figure about the original is made before it may be public
ITEM_COUNTS = (
    "Counts of items: item_counts.csv says how many people have an item of a category. If most people of a category "
    "have the same item, an attacker can infer it with that probability."
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
    revealed: Mapping[str, Any] | None = None,
    may_leave_out: bool = False,
    **others: Any,
) -> Facts:
    """All facts, internal ones included; ``Facts.public()`` takes them out again.

    ``labels``: the published items' names in the files; ``kept``: "ids" and "order" if they are published;
    ``revealed``: how often guessers were right, where groups were formed around those who hold something sensitive;
    ``may_leave_out``: the algorithm may suppress single entries; ``others``: further fields of ``Facts``.
    """
    record = release.record
    assert record is not None, "a release is reported with the record of its run"
    further = [guessing_words(revealed, release.published.n_records)] if revealed else []
    if record.hierarchy is not None and record.hierarchy.derived_from_data:
        further.append(DERIVED)
    if record.data.reading is not None and VISITS in record.data.reading.doubts:
        further.append(VISITS_ONLY)
    columns = column_roles(release)
    return Facts(
        version=__version__,
        model=record.model.name,
        model_options=options_that_occur(release, record.model, record.data),
        guarantee=record.model.guarantee(),
        attacker=record.model.attacker(),
        reach=record.model.reach,
        crowd=record.model.crowd,
        known_items=record.model.known_items,
        alternatives=record.model.alternatives,
        glossary=record.model.glossary,
        algorithm=record.algorithm,
        package=record.package,
        kind=release.kind,
        records=release.published.n_records,
        holds=holds,
        achieved=dict(achieved),
        metrics=dict(metrics),
        risk_after=risk_after["rows"],
        risk_before=risk_before["rows"],
        not_protected=sentences_of(record.model, release.kind, kept, further, columns, bool(release.item_counts)),
        files={},
        columns=columns,
        certified=release.certified(),
        names=dict(release.names),
        has_suppression=release.can_lack_entries(may_leave_out),
        algorithm_options=dict(record.options),
        hierarchy=record.hierarchy_source,
        sensitive=sorted(release.sensitive_items),
        seed=record.seed,
        details=dict(release.details),
        shape=shape_of(release, labels),
        changes=changes_of(release, labels, record.data),
        examples=examples_of(release, labels, record.data),
        warnings=record.warnings,
        doubts=record.data.reading.doubts if record.data.reading else (),
        kept=tuple(kept),
        **others,
    )


def options_that_occur(release: Release, model: PrivacyModel, data: Dataset) -> dict[str, Any]:
    """The model's options as they may be published: with no label that neither the data nor the codebook has.

    A list may hold more than the data does, and what it holds must not become known. Of sensitive items only those that
    the published files show are named; a constraint with an item that does not occur is kept by every release.
    """
    options = model.options()
    if options.get("sensitive"):
        shown = (_occurring(release.published) & _covered(release)) | release.counted_labels
        options["sensitive"] = [label for label in options["sensitive"] if label in shown]
    if model.observable_items is not None:  # what no label covers needs no protection, and no name
        options["observable"] = [label for label in options["observable"] if label in _covered(release)]
    return options | model.lists_within(_occurring(data) | _covered(release) if model.listed_items else ())


def _occurring(data: Dataset) -> set[str]:
    """The labels that a record has."""
    return {label for label, support in zip(data.vocabulary, data.supports, strict=True) if support}


def _covered(release: Release) -> set[str]:
    """The items that a published label covers; a label of a category may look like an item that it does not cover."""
    return {release.domain_items[int(item)] for item in np.flatnonzero(release.meaning.covered)}


def guessing_words(guesses: Mapping[str, Any], n_records: int) -> str:
    """What groups that are formed around sensitive records give away, no finer than in steps of 5 %."""
    promised = guesses.get("promised")
    part = guesses.get("random") or guesses.get("real")
    if promised is None or part is None or n_records < FEWEST_FOR_FIGURES:
        return _guessing_at(None, None)
    best = max(right[0] for right in part["guessers"].values())
    return _guessing_at(promised, ceil(best / STEP - 1e-9))


def _guessing_at(promised: float | None, steps: int | None) -> str:
    text = f"{GUESSING}groups are formed around the records with sensitive items, and their public items show it. "
    if promised is None or steps is None:
        return text + "Attackers who pick a record of a group by its public items are right more often than guaranteed."
    return (
        text + f"Guaranteed: {100 * promised:.3g} %. Measured: about {100 * STEP * steps:.0f} %, by the best guesser."
    )


def column_roles(release: Release) -> list[tuple[str, str]]:
    """Name and role of each published column."""
    return [(column.name, column.role) for column in release.published.columns or ()]


def sentences_of(
    model: PrivacyModel,
    kind: str,
    kept: Sequence[str],
    further: Sequence[str],
    columns: Sequence[tuple[str, str]] = (),
    has_item_counts: bool = False,
) -> list[str]:
    """What a release does not protect, in the order in which it is listed.

    ``further``: what does not follow from model and kind: on visits, on guessing, on the hierarchy.
    """
    sentences = [
        *(sentence for sentence in further if sentence == VISITS_ONLY),
        *(sentence for sentence in further if sentence.startswith(GUESSING)),
        *kept_words(kept),
        *model.column_sentences(columns),
        *model.not_protected(),
        *([ITEM_COUNTS] if has_item_counts else []),
        *(sentence for sentence in further if sentence == DERIVED),
        SEQUENCES,
        MEMBERSHIP,
    ]
    return [*sentences, *KINDS[kind].not_protected]


def further_sentences(
    said: Sequence[str], kind: str, model: PrivacyModel, n_records: int, is_guessable: bool | None
) -> list[str] | None:
    """Those of a certificate's sentences that only its publisher can know; None if they are not those of such a
    release.

    ``is_guessable``: whether the groups of its algorithm can be guessed; None if nobody knows the algorithm.
    """
    derived = [sentence for sentence in said if sentence == DERIVED]
    visits = [sentence for sentence in said if sentence == VISITS_ONLY]
    guessing = [sentence for sentence in said if sentence.startswith(GUESSING)]
    has_figures = n_records >= FEWEST_FOR_FIGURES
    could_guess = {_guessing_at(None, None)}
    if has_figures:
        could_guess |= {_guessing_at(1 / (model.crowd or 1), steps) for steps in range(round(1 / STEP) + 1)}
    fits = (
        max(len(derived), len(visits)) <= 1
        and len(guessing) <= KINDS[kind].has_groups
        and could_guess.issuperset(guessing)
        and (is_guessable is None or len(guessing) == is_guessable)
    )
    return [*visits, *guessing, *derived] if fits else None


def public_facts(
    certificate: Mapping[str, Any], release: Release, other_algorithms: Mapping[str, Sequence[str]]
) -> Facts:
    """What the public page shows: the certificate, and what the published files show of themselves. Nothing else.

    ``release`` is read from the files. So whoever has the folder can draw the page again and see whether it is the
    same.
    """
    certified = certificate["release"]
    model, is_hidden = certified_model(certificate["model"]["name"], certificate["model"]["options"])
    return Facts(
        version=certificate["setveil"],
        model=model.name,
        model_options=certificate["model"]["options"],
        guarantee=certificate["guarantee"],
        attacker=model.attacker(),
        reach=model.reach,
        crowd=model.crowd,
        known_items=model.known_items,
        alternatives=model.alternatives,
        glossary=model.glossary,
        algorithm=certificate["algorithm"]["name"],
        package=certificate["algorithm"].get("package", "setveil"),
        kind=certified["kind"],
        records=certificate["records"],
        holds=certificate["verified"],
        achieved={name: certificate["achieved"][name] for name in ACHIEVED if name in certificate["achieved"]},
        metrics={name: certificate["metrics"][name] for name in METRICS if name in certificate["metrics"]},
        risk_after=certificate["risk"]["after"],
        not_protected=certificate["not_protected"],
        files={name: digest for name, digest in certificate["files"].items() if name != "report.html"},
        has_suppression=certified["suppression"],
        shape=shape_of(release, list(release.published.vocabulary)),
        certified=release.certified(),
        names=dict(release.names),
        other_algorithms=other_algorithms,
        columns=certified_columns(certificate),
        kept=kept_of(certificate),
        is_checkable=not is_hidden,
        profile=certified_profile(certificate.get("assessment")),
        is_internal=False,
    )


def certified_columns(certificate: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Name and role of each column that a certificate names."""
    return [(column["name"], column["role"]) for column in certificate["release"].get("columns", ())]


def kept_of(certificate: Mapping[str, Any]) -> tuple[str, ...]:
    """What is published with the records: "ids", "order"."""
    kept = {"ids": certificate["record_ids"], "order": certificate["record_order"] == "input"}
    return tuple(name for name, is_kept in kept.items() if is_kept)


def run_json(facts: Facts, record: RunRecord, certificate_digest: str) -> dict[str, Any]:
    """The full record of a run; confidential."""
    return {
        "setveil": facts.version,
        "input": dict(facts.input_facts),
        "about": dict(facts.about),
        "data": {
            "records": record.data.n_records,
            "items": record.data.n_items,
            "occurrences": record.data.n_occurrences,
            "empty_records": record.data.n_empty,
        },
        "model": facts.model,
        "algorithm": {
            "name": facts.algorithm,
            "options": dict(facts.algorithm_options),
            **({} if facts.package == "setveil" else {"package": facts.package}),
        },
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
