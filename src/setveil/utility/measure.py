"""All metrics that apply to a release, in one flat table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from setveil.core import Dataset
from setveil.plugins import foreign
from setveil.releases import KINDS, Release

Metrics = dict[str, float | int | None]


@dataclass(frozen=True)
class Family:
    """A function ``(original, release) -> Metrics``, the kinds of release it is about, and what its figures mean.

    Another package adds a family through an entry point of the group ``setveil.metrics`` whose value is a ``Family``.
    """

    where: str  # "package.module:function"; imported only when it applies
    kinds: tuple[str, ...] = tuple(KINDS)
    by_record: bool = False  # compares record with record, so it needs the release in input order
    labels: Mapping[str, str] = field(default_factory=dict)  # figures that reports show, with their meaning

    def applies_to(self, release: Release) -> bool:
        """Whether the figures have a meaning for a release."""
        return release.kind in self.kinds

    def load(self) -> Callable[[Dataset, Any], Metrics]:
        """The function."""
        module, _, name = self.where.partition(":")
        function: Callable[[Dataset, Any], Metrics] = getattr(import_module(module), name)
        return function


FAMILIES: tuple[Family, ...] = (
    Family("setveil.utility.loss:recoding_loss", ("recoding",)),
    Family("setveil.utility.loss:local_recoding_loss", ("local-recoding",), by_record=True),
    Family("setveil.utility.edits:added_and_removed", ("replacement",), by_record=True),
    Family("setveil.utility.classes:class_figures", ("replacement",)),
    Family("setveil.utility.groups:grouping_cost", ("grouping",)),
    Family("setveil.utility.counts:published_counts"),
    Family("setveil.utility.columns:column_loss"),
    Family("setveil.utility.count_tables:table_figures", ("count-table",)),
    Family("setveil.utility.categories:category_purity", ("recoding", "local-recoding")),
    *foreign("metrics"),
)


def measure(original: Dataset, release: Release, *, aligned: bool = True) -> Metrics:
    """What the release cost; ``docs/metrics.md`` defines every figure.

    ``aligned=False``: the release's records are not in the order of the original (files read back without the internal
    folder); metrics that compare record with record are not computed.
    """
    original = release.published_part(original)
    release.check_made_from(original, "measure a release against the data it was made from.")
    metrics: Metrics = {}
    for family in FAMILIES:
        if family.applies_to(release) and (aligned or not family.by_record):
            metrics |= family.load()(original, release)
    return metrics
