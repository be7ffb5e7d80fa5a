"""A recoding decided once, applied to new people."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from setveil.core.progress import Progress, no_progress
from setveil.errors import GuaranteeError, InputError, name_some
from setveil.io.releases.folders import Staging
from setveil.models import PrivacyModel
from setveil.releases import Release, RunRecord
from setveil.workflows.assess import verify
from setveil.workflows.folder import open_release
from setveil.workflows.inputs import as_transactions, read_twice
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
    applied = replace(release.recoded(data, unknown_items), names=release.names)
    known = release.shown_items.union(release.codebook().get("", ()))
    strangers = sorted(set(data.used_items().vocabulary) - known)
    new = (
        f"{len(strangers):,} item(s) that the earlier release does not know: {name_some(strangers)}. They are "
        "suppressed, or published as the hierarchy of that release says.",
    )
    earlier = release.record or RunRecord(data, promise, release.algorithm, {}, None, "", 0)
    record = replace(
        earlier,
        data=data,
        original=None,
        model=promise,
        hierarchy=applied.hierarchy,
        warnings=(*earlier.warnings, *(new if strangers else ()), TAKEN_OVER),
    )
    applied = replace(applied, record=record, model=promise, algorithm=release.algorithm)
    verdict = verify(applied, promise)
    if not verdict.holds:
        raise GuaranteeError(
            f"the recoding does not meet the guarantee for these records: {verdict.reason} Anonymize them, or "
            "all together."
        )
    return applied


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
    with Staging(out, force) as staging:
        progress("reading", None)
        earlier = open_release(old, in_input_order=False)
        data = read_twice(new_data, **read_options)
        tell(data.summary())
        applied = apply(earlier, data, unknown_items=unknown_items)
        return publish(applied, out, to=to, force=force, input_facts=data.facts(), progress=progress, staging=staging)
