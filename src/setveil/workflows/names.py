"""Names beside the codes of a release."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from setveil.releases import Release


def with_names(release: Release, given: str | os.PathLike[str] | Mapping[str, str] | None) -> Release:
    """The release whose codebook and reports show names beside labels: from a list in a file, or label → name."""
    if given is None:
        return release
    from setveil.io.hierarchies.names import read_names

    record = release.record
    assert record is not None, "names are for releases that were just made"
    tree = record.hierarchy
    groups = tree.published_labels[tree.n_items :] if tree is not None else ()
    labels = dict.fromkeys((*(record.original or record.data).vocabulary, *release.domain_items, *groups))
    if isinstance(given, Mapping):
        names = {label: str(given[label]) for label in labels if given.get(label)}
    else:
        names = read_names(given, labels)
    return replace(release, names=names)
