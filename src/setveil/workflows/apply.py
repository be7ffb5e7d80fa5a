"""A recoding decided once, applied to new people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from setveil.errors import GuaranteeError, InputError
from setveil.models import PrivacyModel
from setveil.releases import Release
from setveil.workflows.assess import verify
from setveil.workflows.reading import as_transactions

TAKEN_OVER = "the recoding comes from an earlier release; it was not made for these records"
UNKNOWN = ("error", "suppress")


def apply(
    release: Release,
    new_data: Any,
    model: PrivacyModel | None = None,
    *,
    unknown_items: str = "error",
    read_options: Mapping[str, Any] | None = None,
) -> Release:
    """Apply the recoding of ``release`` to new records; an error if they do not meet its guarantee."""
    promise = model if model is not None or release.record is None else release.record.model
    if promise is None:
        raise InputError("the release does not name its privacy model; set model.")
    if unknown_items not in UNKNOWN:
        raise InputError(f'unknown_items="{unknown_items}": choose error or suppress.')
    data = as_transactions(new_data, **(read_options or {}))
    applied = release.recoded(data, unknown_items)
    if release.record is not None:
        told = (*release.record.warnings, TAKEN_OVER)
        record = replace(
            release.record, data=data, original=None, model=promise, hierarchy=applied.hierarchy, warnings=told
        )
        applied = replace(applied, record=record)
    verdict = verify(applied, promise)
    if not verdict.holds:
        raise GuaranteeError(
            f"the recoding does not meet the guarantee for these records: {verdict.reason} Anonymize them, or "
            "all together."
        )
    return applied
