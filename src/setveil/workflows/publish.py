"""Write a release, verify what was written, measure it, report it: the folder appears whole, or not at all."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.algorithms import by_kind
from setveil.algorithms.registry import ENTRIES, may_suppress_entries
from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.core.regular_files import LARGEST_CERTIFICATE
from setveil.errors import GuaranteeError, InfeasibleError, InputError, name_some, warn
from setveil.io.releases.addresses import Address
from setveil.io.releases.canonical import PARTS, bare_layout
from setveil.io.releases.folders import Staging
from setveil.io.releases.people import asked_layout, numbered
from setveil.io.transactions.reading import layout_for
from setveil.releases import Release, RunRecord
from setveil.workflows.assess import measure, public_risk, quick_attacks, quick_guesses, quick_left_out, quick_risk
from setveil.workflows.cluster import judge_parts, read_parts
from setveil.workflows.outputs import staging_for
from setveil.workflows.policies import policy_of
from setveil.workflows.recheck import Staged, check_staged

if TYPE_CHECKING:
    from setveil.io.releases.files import Written
    from setveil.policy.schema import Policy
    from setveil.report.facts import Facts
    from setveil.report.lights import Light
    from setveil.risk import RiskTable
    from setveil.verify import Verdict


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """A published release and everything said about it."""

    path: Path | Address
    internal: Path
    release: Release
    verdict: Verdict
    risk_before: RiskTable
    risk_after: RiskTable
    metrics: Mapping[str, Any]
    achieved: Mapping[str, Any]
    certificate: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
    headline: str = ""  # the verdict in one line
    lights: tuple[Light, ...] = ()  # guarantee, residual risk, utility
    advice: tuple[str, ...] = ()  # the most pressing first
    facts: Facts | None = None  # all that the internal report says

    def __repr__(self) -> str:
        return f"Outcome({self.path}, {'verified' if self.verdict.holds else 'not verified'}, {self.release!r})"


def publish(
    release: Release,
    out: str | os.PathLike[str],
    *,
    to: str | None = None,
    force: bool = False,
    keep_order: bool = False,
    keep_ids: bool = False,
    publish_constraints: bool = False,
    accept_guessable: bool = False,
    safe_csv: bool = False,
    item_counts: bool = True,
    policy: Policy | None = None,
    input_facts: Mapping[str, Any] | None = None,
    risk_before: RiskTable | None = None,
    sign: str | os.PathLike[str] | None = None,
    population: Any = None,
    progress: Progress = no_progress,
    staging: Staging | None = None,
    earlier: str | None = None,
) -> Outcome:
    """Verify a release and write ``OUT`` and ``OUT.internal``; on an error neither is written.

    In groups that were formed around sensitive records, attackers can guess who has a sensitive item. Such groups are
    published only with ``accept_guessable``, and the certificate then says how often guesses are right.

    Args:
        release: made by ``anonymize``.
        out: the folder, or an address such as ``"s3://bucket/out"`` (``setveil[remote]``); ``OUT.internal`` then
            is written into the current folder.
        to: the layout; by default that of the input.
        force: replace an earlier release.
        keep_order: keep the order of the input; recorded in the certificate.
        keep_ids: keep record ids; recorded in the certificate.
        publish_constraints: publish lists that describe the original.
        accept_guessable: publish groups in which attackers can guess who has a sensitive item.
        safe_csv: protect labels that a spreadsheet could read as a formula.
        item_counts: write ``item_counts.csv`` where exact counts of generalized items are safe.
        policy: the content of ``policy.toml``; by default it is made from the run.
        input_facts: where the data came from, for the internal record.
        risk_before: the risk of the original, if it is already known.
        sign: a private key of OpenSSH; writes ``certificate.sig``.
        population: people among whom those of the data are, with the same items: anything that ``read`` takes.
        progress: called with a stage name and a fraction between 0 and 1.
        staging: for callers that reserved ``out``.
        earlier: the digest of the release that is in ``out``; nothing is written over it.

    Returns:
        The paths, the verdict, and the record of the run.

    Raises:
        GuaranteeError: the files as written do not meet the guarantee; nothing is published.
        InputError: ``out`` exists, or an option does not fit the release.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> outcome = sv.publish(release, "published-baskets")
        >>> sorted(path.name for path in outcome.path.iterdir())
        ['certificate.json', 'codebook.csv', 'item_counts.csv', 'published.csv', 'report.html']
    """
    from setveil.io.releases.files import write_release
    from setveil.report.certificate import write_json
    from setveil.report.lights import headline_of, kept_words, lights_of
    from setveil.report.profiles import DEFAULT, find_profile
    from setveil.report.prose import advice_of
    from setveil.report.record import facts_of, run_json
    from setveil.workflows.population import match_population
    from setveil.workflows.repeated import refuse_repeated
    from setveil.workflows.signing import sign_certificate, try_key

    if not isinstance(release, Release):
        raise InputError("publish takes the release first, then the folder: publish(release, out).")
    record = release.record
    if record is None:
        raise InputError("only a release made by anonymize can be published; this one was read from its files.")
    if to and release.has_groups:
        raise InputError("a grouping is written as JSON lines with a group number per record; remove --to.")
    if safe_csv and release.no_guards:
        raise InputError(f"--safe-csv does not go with a {release.kind}: {release.no_guards}. Remove --safe-csv.")
    if sign is not None and staging is None:
        try_key(sign)
    asked = None if policy is None else policy.assessment
    profile = DEFAULT if asked is None else find_profile(asked.profile, asked.environment)
    kept = tuple(name for name, is_kept in (("ids", keep_ids), ("order", keep_order)) if is_kept)
    for words in kept_words(kept):
        warn(words)
    is_guessable = refuse_guessable(record.algorithm, accept_guessable)
    if not item_counts:
        release = replace(release, item_counts={})
    _refuse_nothing_sensitive(release, record)
    if record.data.written_in_parts and (kept or to not in (None, "parquet")):
        raise InputError("a cluster writes Parquet in canonical order; remove --to, --keep-order and --keep-ids.")
    if safe_csv and release.has_groups and record.data.written_in_parts:
        raise InputError("labels of a grouping stay as they are on Spark; remove --safe-csv, or use --engine local.")
    if release.published.columns:
        layout = asked_layout(to, record.data.layout.name)
    else:
        layout = layout_for(to or record.data.layout.name, record.data.layout)
        layout = layout if keep_ids else numbered(layout)
    seconds = dict(record.seconds)
    second = _read_again(record, seconds)
    store = "local[*]" if record.data.written_in_parts else None
    with staging_for(out, force, store) if staging is None else nullcontext(staging) as staging:
        with _stage("write", "writing", seconds, progress):
            written = write_release(
                release,
                staging.public,
                layout,
                keep_order=keep_order,
                keep_ids=keep_ids,
                safe_csv=safe_csv,
                public_items=_public_items(record, policy),
                owners_folder=staging.internal,
            )
            release.published.forget_index()  # of its canonical order
        with _stage("verify", "verifying", seconds, progress):
            again, verdict, achieved = _verified(release, record, staging.public, written, keep_ids, safe_csv, progress)
        with _stage("measure", "measuring", seconds, progress):
            metrics = measure(record.data, release)
            if risk_before is None or risk_before.n_records != record.data.n_records:  # of the people of the release
                risk_before = quick_risk(record.data, record.model)
            risk_after = public_risk(again, record.model)
            of_records: dict[str, Any] = record.data.look(partial(_figures_of_records, release, record.seed), dict)
            table = quick_guesses(record.data, release)
            guesses = {} if table is None else table.to_dict()
            lacks_entries = release.can_lack_entries(may_suppress_entries(record.algorithm))
            matched = match_population(again, record, population, lacks_entries) if population is not None else {}
        with _stage("report", "reporting", seconds, progress):
            facts = facts_of(
                release,
                written.labels,
                verdict.holds,
                achieved,
                metrics,
                risk_before.to_dict(),
                risk_after.to_dict(),
                kept,
                guesses if is_guessable else None,
                may_suppress_entries(record.algorithm),
                guesses=guesses,
                about=about_of(policy),
                profile=profile,
                recipient=(asked and asked.recipient) or "",
                population=matched,
                signer="" if sign is None else os.path.basename(sign),  # noqa: PTH119 (a name, not a path)
                read=(record.original or record.data).summary(),  # people without public items were read, too
                **of_records,
                is_checkable=publish_constraints or not record.model.private,
                seconds=seconds,
                input_facts=dict(input_facts or {}),
                other_algorithms=by_kind(record.model.name),
                hidden_options=() if publish_constraints else record.model.private,
            )
            certificate = _write_public(facts, again, staging.public, written, keep_order, keep_ids, safe_csv)
            _write_internal(facts, certificate, policy or policy_of(record), staging, written)
        if not record.data.written_in_parts:
            with _stage("check", "comparing with the original", seconds, progress):
                owners = policy or policy_of(record)
                _refuse_unfaithful(record, owners, staging, again, verdict, achieved, risk_after, progress)
        run = run_json(facts, record, certificate["digest"])
        write_json({**run, "seconds": seconds, "second_reading": second}, staging.internal / "run.json")
        if earlier is not None:
            refuse_repeated(staging.place, certificate["digest"], earlier)
        if sign is not None:
            sign_certificate(staging.public, sign)
        staging.commit()
    return Outcome(
        path=staging.place,
        internal=staging.internal_folder,
        release=release,
        verdict=verdict,
        risk_before=risk_before,
        risk_after=risk_after,
        metrics=metrics,
        achieved=achieved,
        certificate=certificate,
        seconds=seconds,
        headline=headline_of(facts)[1],
        lights=lights_of(facts),
        advice=tuple(advice_of(facts)),
        facts=facts,
    )


def refuse_guessable(algorithm: str, is_accepted: bool) -> bool:
    """Whether an algorithm's groups can be guessed; an error unless the owner accepts that."""
    is_guessable = any(entry.name == algorithm and entry.guessable for entry in ENTRIES)  # others are made by hand
    if is_guessable and not is_accepted:
        raise InputError(
            f'who has which item in the groups of "{algorithm}" can be guessed more often than 1 in p; remove '
            "--algorithm, "
            "or set --accept-guessable."
        )
    return is_guessable


def _refuse_nothing_sensitive(release: Release, record: RunRecord) -> None:
    """A guarantee about sensitive items needs at least one that the files show; other labels must not be named."""
    from setveil.report.record import options_that_occur

    asked = record.model.options().get("sensitive")
    if not asked or record.model.is_about_other_items:
        return
    if not options_that_occur(release, record.model, record.data)["sensitive"]:
        asked = [label for label in asked if label in record.data.vocabulary]
        raise InfeasibleError(
            f"{name_some(asked)}: only records without public items have it, and these are not published; remove it "
            "from the data and from the list of sensitive items, and publish the rest with another model.",
            asked,
        )


def _figures_of_records(release: Release, seed: int, rows: Transactions) -> dict[str, Any]:
    """What looks at single records; it is missing where they are not at hand."""
    from setveil.utility import histograms
    from setveil.utility.avg_re import query_errors

    figures = {
        "attacks": quick_attacks(rows, release, seed),
        "left_out": quick_left_out(rows, release, seed),
        "query_errors": query_errors(rows, release, seed=seed),
        "histograms": histograms(rows, release),
    }
    for indexed in (rows, release.published, release.meaning):  # nothing asks for their index any more
        indexed.forget_index()
    return figures


def about_of(policy: Policy | None) -> dict[str, str]:
    """What the owner says about the decision."""
    return {} if policy is None else policy.about.model_dump(exclude_none=True)


@contextmanager
def _stage(name: str, words: str, seconds: dict[str, float], progress: Progress) -> Iterator[None]:
    """Tell what is going on, and keep how long it took."""
    progress(words, None)
    started = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - started


def _public_items(record: RunRecord, policy: Policy | None) -> set[str]:
    """Items whose names anybody may know: of the domain or the hierarchy that was given, not those the data alone
    shows.
    """
    from setveil.policy.selection import read_items

    tree, domain = record.hierarchy, None if policy is None else policy.input.domain
    known = set() if tree is None or tree.derived_from_data else set(tree.vocabulary)
    return known | set(read_items(domain)) if domain else known


def _verified(
    release: Release,
    record: RunRecord,
    folder: Path,
    written: Written,
    keep_ids: bool,
    safe_csv: bool,
    progress: Progress,
) -> tuple[Release, Verdict, Mapping[str, Any]]:
    """The release read back from the files as written, its verdict, and what it achieves; a broken claim is refused."""
    from setveil.io.releases.files import read_release
    from setveil.io.releases.names import guard, unguard
    from setveil.report.record import options_that_occur
    from setveil.verify import judge

    sensitive = tuple(options_that_occur(release, record.model, record.data).get("sensitive") or ())
    if safe_csv:
        sensitive = tuple(guard(label) for label in sensitive)
    parts = read_parts(folder) if release.published.written_in_parts else None
    kind, layout = release.kind, written.layout
    spelled = read_release(
        folder,
        kind,
        written.published,
        layout,
        sensitive,
        keep_ids=keep_ids,
        parts=parts,
        columns=[(column.name, column.role) for column in release.published.columns or ()],
    ).with_certified(release.certified())
    again = spelled.relabelled(unguard) if safe_csv else spelled
    again = again.completed_by(release)
    if parts is None:
        verdict, achieved = judge(again, record.model, progress)
    else:
        verdict, achieved = judge_parts(folder, record.model, progress)
    if not verdict.holds:
        raise GuaranteeError(f"not published, the release does not meet its guarantee: {verdict.reason}")
    return spelled, verdict, achieved


def _read_again(record: RunRecord, seconds: dict[str, float]) -> dict[str, Any] | None:
    """What came of reading the input a second time, now or before; None where the data came from no input."""
    from setveil.verify.originals import compare_readings

    original = record.original or record.data
    reading = original.look(lambda rows: compare_readings(rows).reading, lambda: None)
    if reading is None or reading.second is None:
        return None
    seconds["second_reading"] = reading.second.seconds
    return reading.second.to_dict()


def _each_once(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options whose lists have no order and nothing twice: a policy names each item and each constraint once."""
    return {
        name: frozenset(map(_entry, value)) if isinstance(value, list | tuple) else value
        for name, value in options.items()
    }


def _entry(one: Any) -> Any:
    """An itemset without order; a rule with its sides in order."""
    if not isinstance(one, list | tuple):
        return one
    return frozenset(one) if all(isinstance(part, str) for part in one) else tuple(map(_entry, one))


def _refuse_unfaithful(
    record: RunRecord,
    policy: Policy,
    staging: Staging,
    spelled: Release,
    verdict: Verdict,
    achieved: Mapping[str, Any],
    risk: RiskTable,
    progress: Progress,
) -> None:
    """All that the owner can check of the files, before anybody sees them."""
    from setveil.policy.resolve import model_of
    from setveil.policy.schema import Policy, read_toml

    original = record.original or record.data
    text = policy.seen_from(staging.internal_folder).to_toml()
    model = model_of(policy, original, record.hierarchy)
    is_same = Policy.from_dict(read_toml(staging.internal / "policy.toml")).to_toml() == text
    if not is_same or _each_once(model.options()) != _each_once(record.model.options()):
        raise GuaranteeError("not published: the policy that was written does not describe the same privacy model.")
    staged = Staged(staging.internal, spelled, model, verdict, achieved, risk.to_dict()["rows"])
    problems = check_staged(staging.public, original, staged, progress)
    if problems:
        raise GuaranteeError(f"not published: the files differ from what the original gives: {problems[0]}")


def _write_public(
    facts: Facts,
    again: Release,
    folder: Path,
    written: Written,
    keep_order: bool,
    keep_ids: bool,
    safe_csv: bool,
) -> Mapping[str, Any]:
    """The public report, and the certificate over all files."""
    from setveil.io.releases.names import guarded_labels
    from setveil.report.certificate import certificate_of, hash_file, write_json
    from setveil.report.page import write_report
    from setveil.report.record import public_facts

    files = {name: hash_file(folder / name) for name in written.files}
    is_guarded = safe_csv and guarded_labels(again, again.codebook_rows())[0]

    def certified() -> dict[str, Any]:
        public = facts.public().with_files(files)
        layout = bare_layout(written.layout, again.kind, keep_ids, bool(facts.columns))
        return certificate_of(public, written.published, layout, keep_order, keep_ids, is_guarded)

    write_report(public_facts(certified(), again, facts.other_algorithms), folder / "report.html")
    files["report.html"] = hash_file(folder / "report.html")
    certificate = certified()
    write_json(certificate, folder / "certificate.json")
    if (folder / "certificate.json").stat().st_size > LARGEST_CERTIFICATE:
        raise InputError(
            f"the published constraints make the certificate larger than {LARGEST_CERTIFICATE:,} bytes, which nobody "
            "could verify; remove --publish-constraints."
        )
    return certificate


def _write_internal(
    facts: Facts, certificate: Mapping[str, Any], policy: Policy, staging: Staging, written: Written
) -> None:
    """The files for internal use only: the full report, the assessment, the policy, the order of the records."""
    from setveil.report.assessment import write_assessment
    from setveil.report.page import write_report

    facts = facts.with_files(certificate["files"])
    write_report(facts, staging.internal / "report.html")
    write_assessment(facts, certificate["digest"], staging.internal / "assessment.html")
    toml = policy.seen_from(staging.internal_folder).to_toml()
    (staging.internal / "policy.toml").write_text(toml, encoding="utf-8", newline="\n")
    if written.published != PARTS:  # a cluster does not keep it
        np.save(staging.internal / "order.npy", written.order)
