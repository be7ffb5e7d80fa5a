"""All metrics that apply to a release, in one flat table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from setveil.core import Grouping, Release, Transactions
from setveil.errors import InputError

Metrics = dict[str, float | int | None]
ALL = ("recoding", "local-recoding", "replacement", "grouping")


@dataclass(frozen=True)
class Family:
    """A function ``(original, release) -> Metrics`` and the kinds of release it is about."""

    where: str  # "module:function" below setveil.utility; imported only when it applies
    kinds: tuple[str, ...]
    by_record: bool = False  # compares record with record, so it needs the release in input order

    def load(self) -> Callable[[Transactions, Release], Metrics]:
        """The function."""
        module, _, name = self.where.partition(":")
        function: Callable[[Transactions, Release], Metrics] = getattr(import_module(f"setveil.utility.{module}"), name)
        return function


FAMILIES: tuple[Family, ...] = (
    Family("loss:recoding_loss", ("recoding",)),
    Family("loss:local_recoding_loss", ("local-recoding",), by_record=True),
    Family("edits:added_and_removed", ("replacement",), by_record=True),
    Family("classes:class_figures", ("replacement",)),
    Family("groups:grouping_cost", ("grouping",)),
    Family("counts:published_counts", ALL),
)


def measure(original: Transactions, release: Release, *, aligned: bool = True) -> Metrics:
    """What the release cost; ``docs/metrics.md`` defines every figure.

    ``aligned=False``: the release's records are not in the order of the original (files read back without the internal
    folder); metrics that compare record with record are left out.
    """
    if isinstance(release, Grouping) and release.published.n_records < original.n_records:
        original = original.select(Grouping.publishable(original, release.sensitive))
    if release.published.n_records != original.n_records:
        raise InputError(
            f"the release has {release.published.n_records:,} records and the original {original.n_records:,}; "
            "measure a release against the data it was made from."
        )
    metrics: Metrics = {}
    for family in FAMILIES:
        if release.kind in family.kinds and (aligned or not family.by_record):
            metrics |= family.load()(original, release)
    return metrics
