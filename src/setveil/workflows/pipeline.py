"""read → assess → anonymize → verify → measure → publish: the one place that knows the whole sequence.

The command line, the web page and a notebook all call the functions here. Nothing is published that ``verify`` has not
accepted, and what it accepts are the files as written, read back.
"""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.algorithms import Context, default_for, find, make_algorithm
from setveil.core import Grouping, Hierarchy, Recoding, Release, RunRecord, Transactions, Vocabulary
from setveil.errors import GuaranteeError, InputError, SetveilWarning, name_some
from setveil.io.releases.folders import Staging, internal_beside
from setveil.io.transactions.reading import layout_for, read_transactions
from setveil.models import PrivacyModel, make_model

if TYPE_CHECKING:
    from setveil.policy.schema import Policy
    from setveil.risk import RiskTable
    from setveil.verify import Verdict

Report = Callable[[str, float | None], None]
KNOWN = (1, 2, 3, 4)
QUICK = 12_000_000  # combinations looked at for the risk in passing; `setveil risk` takes its time


@dataclass(frozen=True, eq=False)
class Outcome:
    """A published release and everything said about it."""

    path: Path
    internal: Path
    release: Release
    verdict: Verdict
    risk_before: RiskTable
    risk_after: RiskTable
    metrics: Mapping[str, Any]
    achieved: Mapping[str, Any]
    certificate: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)


# -- anonymize --------------------------------------------------------------------------------------------------------


def anonymize(
    data: Any,
    model: PrivacyModel,
    algorithm: str | None = None,
    hierarchy: Hierarchy | str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    unknown_items: str = "error",
    report: Report | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Release:
    """Make a release of ``data`` that keeps ``model``; ``algorithm=None`` takes the model's default.

    ``hierarchy`` is a Hierarchy or any text the command line takes. The release is not verified yet: ``verify`` and
    ``publish`` do that.
    """
    data = as_transactions(data)
    entry = find(algorithm) if algorithm else default_for(model.name)
    if model.name not in entry.models:
        raise InputError(
            f'algorithm "{entry.name}" cannot enforce model "{model.name}"; it enforces {", ".join(entry.models)}.'
        )
    chosen = make_algorithm(entry.load(), entry.name, options or {})
    source = hierarchy if isinstance(hierarchy, str) else "given" if hierarchy else ""
    with _collected_warnings() as notes:
        _warn_about(data, model)
        tree = resolve_hierarchy(hierarchy, data, unknown_items)
        if tree is not None and entry.hierarchy == "none":
            warnings.warn(f'algorithm "{entry.name}" does not use a hierarchy.', SetveilWarning, stacklevel=2)
        context = Context(hierarchy=tree, seed=seed)
        if report is not None:
            context = replace(context, report=report)
        if cancelled is not None:
            context = replace(context, cancelled=cancelled)
        started = time.perf_counter()
        release = chosen.run(data, model, context)
        seconds = time.perf_counter() - started
    record = RunRecord(
        data=data,
        model=model,
        algorithm=entry.name,
        options=dict(options or {}),
        hierarchy=tree,
        hierarchy_source=source,
        seed=seed,
        seconds={"anonymize": seconds},
        warnings=tuple(notes),
    )
    return replace(release, record=record)


def as_transactions(data: Any) -> Transactions:
    """Data as given to the library: Transactions, or anything ``read`` understands."""
    if isinstance(data, Transactions):
        return data
    from setveil.io.transactions.objects import from_object

    return from_object(data)


def read(source: Any, format: str | None = None, **options: Any) -> Transactions:
    """Read a file (any layout, plain or .gz), standard input (``-``) or a Python object (lists, frames, sparse matrix)."""
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return read_transactions(source, format=format, **options)
    return as_transactions(source)


def resolve_hierarchy(
    hierarchy: Hierarchy | str | None, data: Transactions, unknown_items: str = "error"
) -> Hierarchy | None:
    """What ``--hierarchy`` takes: a file, ``fanout:D``, ``prefix:1,3``, ``auto`` or ``auto:METHOD``; checked against the data."""
    if isinstance(hierarchy, str):
        kind, _, parameter = hierarchy.partition(":")
        if kind == "fanout":
            if not parameter.isdigit() or int(parameter) < 2:
                raise InputError(f'--hierarchy {hierarchy}: write a fan-out of at least 2, as in "fanout:5".')
            hierarchy = Hierarchy.balanced(data, int(parameter))
        elif kind == "prefix":
            lengths = parameter.split(",")
            if not all(length.strip().isdigit() for length in lengths):
                raise InputError(f'--hierarchy {hierarchy}: write prefix lengths, as in "prefix:1,3,4".')
            hierarchy = Hierarchy.prefix(data, [int(length) for length in lengths])
        elif kind == "auto":
            hierarchy = Hierarchy.auto(data, parameter)
        else:
            hierarchy = Hierarchy.from_file(hierarchy)
    if hierarchy is None:
        return None
    if unknown_items == "root":
        inner = set(hierarchy.labels[hierarchy.n_items :])
        strangers = [label for label in data.vocabulary if label not in hierarchy.vocabulary and label not in inner]
        if strangers:
            hierarchy = hierarchy.with_items_below_root(strangers)
    hierarchy.leaf_of_items(data.vocabulary)  # raises, naming the items that are missing
    return hierarchy


def _warn_about(data: Transactions, model: PrivacyModel) -> None:
    if getattr(model, "k", None) == 1:
        warnings.warn("k=1 protects nobody: every record may be unique.", SetveilWarning, stacklevel=3)
    for what in ("sensitive", "constraints", "utility"):
        given = getattr(model, what, None) or ()
        labels = {label for part in given for label in ([part] if isinstance(part, str) else part)}
        strangers = sorted(label for label in labels if label not in data.vocabulary)
        if strangers:
            warnings.warn(
                f"{what}: {name_some(strangers)} not in the data; check the spelling.", SetveilWarning, stacklevel=3
            )


@contextmanager
def _collected_warnings() -> Iterator[list[str]]:
    """Warnings meant for the user go to the record and are shown once more by whoever called."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SetveilWarning)
        yield notes
    for warning in caught:
        if isinstance(warning.message, SetveilWarning):
            notes.append(str(warning.message))
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def call_before_compiling(tell: Callable[[], None]) -> None:
    """Call ``tell`` once if kernels have to be compiled, so that nobody wonders about the wait."""
    from setveil.arrays.compile import call_before_compiling as call

    call(tell)


# -- assess, verify, measure: the other rooms' functions, for anything the library takes -----------------------------------


def risk(data: Any, known: Sequence[int] = KNOWN, **options: Any) -> RiskTable:
    """The attacker's view of data or of a release: what so many known items reveal."""
    from setveil.risk import risk as assess

    return assess(data.published if isinstance(data, Release) else as_transactions(data), known=known, **options)


def verify(what: Any, model: PrivacyModel, progress: Report | None = None) -> Verdict:
    """Whether a release, or any iterable of sets of labels, keeps a model; with a witness if not."""
    from setveil.verify import verify as check

    return check(what, model, progress or _nobody)


def measure(data: Any, release: Release, *, aligned: bool = True) -> dict[str, Any]:
    """What the release cost: NCP, UL, suppression, added and removed items, as far as they apply.

    ``aligned=False``: the release's records are not in the order of ``data``; what compares record with record is left out.
    """
    from setveil.utility import measure as compute

    return compute(as_transactions(data), release, aligned=aligned)


# -- publish ----------------------------------------------------------------------------------------------------------


def publish(
    release: Release,
    out: str | os.PathLike[str],
    *,
    to: str | None = None,
    force: bool = False,
    keep_order: bool = False,
    keep_ids: bool = False,
    publish_constraints: bool = False,
    policy: Policy | None = None,
    input_facts: Mapping[str, Any] | None = None,
    risk_before: RiskTable | None = None,
    report: Report | None = None,
) -> Outcome:
    """Write ``OUT`` and ``OUT.internal`` as a whole, or raise and leave nothing behind.

    A release whose files do not keep the claim is refused with GuaranteeError.
    """
    from setveil.io.releases.files import read_release, write_release
    from setveil.report.certificate import certificate_of, hash_file, write_json
    from setveil.report.page import write_report
    from setveil.report.record import facts_of, run_json
    from setveil.utility import histograms
    from setveil.verify import achieved as achieve

    record = release.record
    if record is None:
        raise InputError("only a release made by anonymize can be published; this one was read from its files.")
    tell = report or _nobody
    seconds = dict(record.seconds)
    if to and isinstance(release, Grouping):
        raise InputError("a grouping is written as JSON lines with a group number per record; leave out --to.")
    layout = layout_for(to or record.data.layout.name, record.data.layout)
    with Staging(out, force) as staging:
        tell("writing", None)
        with _timed(seconds, "write"):
            written = write_release(release, staging.public, layout, keep_order=keep_order, keep_ids=keep_ids)
        with _timed(seconds, "verify"):
            tell("verifying", None)
            sensitive = tuple(getattr(record.model, "sensitive", ()))
            again = read_release(staging.public, release.kind, written.published, written.layout, sensitive)
            if isinstance(release, Recoding) and isinstance(again, Recoding):
                # Files do not tell absent items from suppressed ones; the owner knows.
                again = replace(again, suppressed=release.suppressed)
            verdict = verify(again, record.model, tell)
            if not verdict.holds:
                raise GuaranteeError(f"not published, the release breaks its claim: {verdict.reason}")
            achieved = achieve(again, record.model, tell)
        with _timed(seconds, "measure"):
            tell("measuring", None)
            metrics = measure(record.data, release)
            risk_before = risk_before or risk(record.data, seed=record.seed, budget=QUICK, k=_k_of(record.model))
            risk_after = risk(release, seed=record.seed, budget=QUICK, k=_k_of(record.model))
        with _timed(seconds, "report"):
            tell("reporting", None)
            facts = facts_of(
                release, written.labels, verdict.holds, achieved, metrics, risk_before.to_dict(), risk_after.to_dict()
            )
            facts = replace(
                facts,
                seconds=seconds,
                input_facts=dict(input_facts or {}),
                histograms=histograms(record.data, release),
                hidden_options=() if publish_constraints else record.model.is_about_original,
            )
            files = {name: hash_file(staging.public / name) for name in written.files}
            write_report(facts.public().with_files(files), staging.public / "report.html")
            files["report.html"] = hash_file(staging.public / "report.html")
            certificate = certificate_of(
                facts.public().with_files(files), written.published, written.layout, keep_order, keep_ids
            )
            write_json(certificate, staging.public / "certificate.json")
            write_report(facts.with_files(files), staging.internal / "report.html")
            toml = (policy or policy_of(record)).seen_from(internal_beside(staging.out)).to_toml()
            (staging.internal / "policy.toml").write_text(toml, encoding="utf-8", newline="\n")
            np.save(staging.internal / "order.npy", written.order)
        write_json(run_json(facts, record, certificate["digest"]), staging.internal / "run.json")
        staging.commit()
    out = staging.out
    return Outcome(
        out, internal_beside(out), release, verdict, risk_before, risk_after, metrics, achieved,
        certificate, seconds,
    )  # fmt: skip


def _k_of(model: PrivacyModel) -> int:
    """The number of records the risk tables compare with: the model's k, or its p."""
    return int(getattr(model, "k", None) or getattr(model, "p", None) or 5)


def _nobody(stage: str, share: float | None) -> None:
    """Nobody is watching."""


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - started


# -- policy -----------------------------------------------------------------------------------------------------------


def policy_of(record: RunRecord) -> Policy:
    """The policy that repeats a run made from the library."""
    from setveil.policy.schema import Policy

    content: dict[str, Any] = {
        "schema": 1,
        "seed": record.seed,
        "model": {"name": record.model.name, **{k: v for k, v in record.model.options().items() if v is not None}},
        "algorithm": {"name": record.algorithm, "options": dict(record.options)},
    }
    if record.hierarchy_source and record.hierarchy_source != "given":
        content["hierarchy"] = {"source": record.hierarchy_source}
    return Policy.from_dict(content)


def run(
    policy: Policy,
    source: Any,
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    report: Report | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Outcome:
    """The whole flow of one policy over one input."""
    from setveil.policy.resolve import resolve_model

    tell = report or _nobody
    Staging(out, force)  # complain about the output before the long work
    tell("reading", None)
    data, input_facts = read_input(source, policy)
    tree = resolve_hierarchy(policy.hierarchy.source, data, policy.hierarchy.unknown_items)
    model = make_model(policy.model.name, resolve_model(policy.model, data.vocabulary, tree))
    tell("assessing the risk", None)
    risk_before = risk(data, seed=policy.seed, budget=QUICK, k=_k_of(model))
    release = anonymize(
        data,
        model,
        algorithm=policy.algorithm.name,
        hierarchy=tree,
        options=policy.algorithm.options,
        seed=policy.seed,
        report=report,
        cancelled=cancelled,
    )
    assert release.record is not None
    record = replace(release.record, hierarchy_source=policy.hierarchy.source or "")
    return publish(
        replace(release, record=record),
        out,
        to=policy.output.to,
        force=force,
        keep_order=policy.output.keep_order,
        keep_ids=policy.output.keep_ids,
        publish_constraints=policy.output.publish_constraints,
        policy=policy,
        input_facts=input_facts,
        risk_before=risk_before,
        report=report,
    )


def make_policy(given: Mapping[str, Any], file: str | os.PathLike[str] | None = None) -> Policy:
    """A policy from what was given, on top of a policy file; ``None`` means not given."""
    from setveil.policy.schema import Policy

    content: dict[str, Any] = {"schema": 1}
    if file is not None:
        content = Policy.from_file(Path(file)).model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        content["schema"] = 1
    for section, values in given.items():
        if isinstance(values, Mapping):
            kept = {key: value for key, value in values.items() if value is not None}
            changed = section == "model" and "name" in kept and kept["name"] != content.get("model", {}).get("name")
            content[section] = kept if changed else {**content.get(section, {}), **kept}
        elif values is not None:
            content[section] = values
    return Policy.from_dict(content)


def read_input(source: Any, policy: Policy) -> tuple[Transactions, dict[str, Any]]:
    """The data and what the internal record says about where it came from."""
    options = policy.input
    data = read_transactions(
        source,
        format=options.format,
        delimiter=options.delimiter,
        id_column=options.id_column,
        item_column=options.item_column,
        keep_ids=policy.output.keep_ids,
    )
    if options.domain:
        from setveil.policy.selection import read_items

        data = data.over(Vocabulary({*data.vocabulary, *read_items(options.domain)}))
    facts: dict[str, Any] = {"name": "standard input" if source == "-" else Path(source).name}
    if source != "-":
        with open(source, "rb") as file:
            facts["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    return data, facts


def list_sensitive(given: str, data: Transactions, hierarchy: str | None = None) -> tuple[str, ...]:
    """Sensitive items as the command line takes them: a file with one per line, or ``a,b,c``; patterns expanded."""
    from setveil.policy.selection import read_items, select_items

    patterns = (
        read_items(given) if Path(given).is_file() else [part.strip() for part in given.split(",") if part.strip()]
    )
    tree = resolve_hierarchy(hierarchy, data) if hierarchy else None
    return tuple(select_items(patterns, data.vocabulary, tree))


def describe_algorithm(name: str) -> tuple[Any, str, list[Any]]:
    """An algorithm's entry, its documentation and its options."""
    import sys

    from setveil.algorithms import options_of

    entry = find(name)
    kind = entry.load()
    return entry, sys.modules[kind.__module__].__doc__ or "", options_of(kind)
