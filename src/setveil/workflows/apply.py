"""A recoding decided once, applied to new people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.core import Transactions, Vocabulary
from setveil.errors import GuaranteeError, InputError, name_some
from setveil.models import PrivacyModel
from setveil.releases import Recoding, Release
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
) -> Recoding:
    """Apply the recoding of ``release`` to new records; an error if they do not meet its guarantee."""
    if not isinstance(release, Recoding):
        raise InputError(
            f"a {release.kind} cannot be applied to new records, only a recoding can; anonymize the new records."
        )
    promise = model if model is not None or release.record is None else release.record.model
    if promise is None:
        raise InputError("the release does not name its privacy model; set model.")
    if unknown_items not in UNKNOWN:
        raise InputError(f'unknown_items="{unknown_items}": choose error or suppress.')
    data = as_transactions(new_data, **(read_options or {}))
    applied = _recoded(release, data, unknown_items)
    if release.record is not None:
        told = (*release.record.warnings, TAKEN_OVER)
        record = replace(release.record, data=data, model=promise, hierarchy=applied.hierarchy, warnings=told)
        applied = replace(applied, record=record)
    verdict = verify(applied, promise)
    if not verdict.holds:
        raise GuaranteeError(
            f"the recoding does not meet the guarantee for these records: {verdict.reason} Anonymize them, or "
            "all together."
        )
    return applied


def _recoded(release: Recoding, data: Transactions, unknown_items: str) -> Recoding:
    data = data.used_items()
    domain, target, labels = release.domain, release.target, list(release.published.vocabulary)
    tree, cut = release.hierarchy, release.node_of_leaf
    if tree is not None and cut is not None:  # what did not occur yet has a place in the tree
        target, labels = cut, list(tree.published_labels)
    place = domain.numbers(data.vocabulary)
    is_known = place >= 0
    is_known[is_known] = (target[place[is_known]] >= 0) | release.suppressed[place[is_known]]
    strangers = [data.vocabulary[int(item)] for item in np.flatnonzero(~is_known)]
    if not strangers:
        applied = Recoding.from_targets(data, domain, place, target, labels)
        return replace(applied, suppressed=release.suppressed, hierarchy=tree, node_of_leaf=cut)
    if unknown_items == "error":
        raise InputError(
            f'the recoding does not have {name_some(strangers)}; remove these items, or set unknown_items="suppress".'
        )
    wider = Vocabulary({*domain, *strangers})
    spread = np.full(len(wider), -1, dtype=np.int32)
    spread[wider.numbers(domain)] = target
    suppressed = np.zeros(len(wider), dtype=bool)
    suppressed[wider.numbers(domain)] = release.suppressed
    suppressed[wider.numbers(strangers)] = True
    applied = Recoding.from_targets(data, wider, wider.numbers(data.vocabulary), spread, labels)
    return replace(applied, suppressed=suppressed)
