"""A recoding decided once, applied to new people."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.algorithms import ENTRIES, Context, make_algorithm
from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.engines import engine_for
from setveil.errors import GuaranteeError, InputError, name_some, one_line, times, unheard_warnings, warn
from setveil.models import PrivacyModel
from setveil.releases import Release, RunRecord
from setveil.workflows.assess import verify
from setveil.workflows.folder import open_release, owners_reading
from setveil.workflows.inputs import as_transactions, read_twice
from setveil.workflows.outputs import staging_for
from setveil.workflows.policies import policy_of
from setveil.workflows.publish import Outcome, publish

TAKEN_OVER = "the recoding comes from an earlier release; it was not made for these records"
UNKNOWN = ("error", "suppress")


def apply(
    release: Release,
    new_data: Any,
    model: PrivacyModel | None = None,
    *,
    unknown_items: str = "error",
    read_options: Mapping[str, Any] | None = None,
    **reading: Any,
) -> Release:
    """Apply the recoding of ``release`` to new records; an error if they do not meet its guarantee."""
    promise = release.model if model is None else model
    if promise is None:
        raise InputError("the release does not name its privacy model; set model.")
    if unknown_items not in UNKNOWN:
        raise InputError(f'unknown_items="{unknown_items}": choose error or suppress.')
    data = as_transactions(read_twice(new_data, **{**(read_options or {}), **reading}))
    _refuse_other_columns(release, data)
    applied, notes = _applied(release, data, promise, unknown_items)
    applied = replace(applied, names=release.names)
    known = release.shown_items.union(release.codebook().get("", ()))
    strangers = sorted(set(data.used_items().vocabulary) - known)
    new = []
    if strangers:
        new = [
            f"{times(len(strangers), 'item')} that the earlier release does not know: {name_some(strangers)}. "
            "Such items are suppressed, or published as the hierarchy of that release says."
        ]
        warn(new[0])
    earlier = release.record or RunRecord(data, promise, release.algorithm, {}, None, "", 0)
    record = replace(
        earlier,
        data=data,
        original=None,
        model=promise,
        hierarchy=applied.hierarchy,
        warnings=(*earlier.warnings, *new, *notes, TAKEN_OVER),
    )
    applied = replace(applied, record=record, model=promise, algorithm=release.algorithm)
    verdict = verify(applied, promise)
    if not verdict.holds:
        raise GuaranteeError(
            f"the recoding does not meet the guarantee for these records: {verdict.reason} Anonymize them, or "
            "all together."
        )
    return applied


def _applied(release: Release, data: Transactions, model: PrivacyModel, unknown: str) -> tuple[Release, list[str]]:
    """By the algorithm that made the release, as far as it is known here."""
    options = {} if release.record is None else release.record.options
    entry = next((one for one in ENTRIES if one.name == release.algorithm), None)
    if entry is None:
        return release.recoded(data, unknown), []
    algorithm = make_algorithm(entry.load(), entry.name, options)
    return algorithm.apply(release, data, model, Context(engine=engine_for(data)), unknown)


def _refuse_other_columns(release: Release, data: Transactions) -> None:
    roles = [{column.name: column.role for column in rows.columns or ()} for rows in (release.published, data)]
    if roles[0] != roles[1]:
        ours, theirs = (
            ", ".join(f'"{one_line(name, 40)}" ({role})' for name, role in sorted(some.items())) or "none"
            for some in roles
        )
        raise InputError(
            f"the earlier release has the columns {ours}, the new data has {theirs}; read it with the same roles "
            "(--known-columns, --sensitive-columns, --carry)."
        )


def apply_folder(
    old: str | os.PathLike[str],
    new_data: Any,
    out: str | os.PathLike[str],
    *,
    unknown_items: str = "error",
    to: str | None = None,
    force: bool = False,
    progress: Progress = no_progress,
    tell: Callable[[str], object] = lambda line: None,
    **read_options: Any,
) -> Outcome:
    """Apply the recoding in a release folder to new records, and publish them in ``out``."""
    with staging_for(out, force) as staging:
        progress("reading", None)
        earlier = open_release(old, in_input_order=False)
        reading = {**owners_reading(Path(old)), **read_options}
        data = read_twice(new_data, **reading)
        tell(data.summary())
        with unheard_warnings():  # the record has them, and the command shows those
            applied = apply(earlier, data, unknown_items=unknown_items)
        assert applied.record is not None
        policy = policy_of(applied.record, reading)
        return publish(
            applied, out, to=to, force=force, policy=policy, input_facts=data.facts(), progress=progress,
            staging=staging,
        )  # fmt: skip
