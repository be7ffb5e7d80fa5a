"""One setting of a suggestion, run, verified and measured on all records or on a sample of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from setveil.algorithms import Context
from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError
from setveil.policy.resolve import model_of
from setveil.policy.schema import Policy
from setveil.report.figures import utility_of, worst_inference, worst_of
from setveil.workflows.anonymize import make_release
from setveil.workflows.assess import public_risk, quick_attacks, quick_risk, risk, verify
from setveil.workflows.proposals import Choice, Profile


@dataclass(frozen=True)
class Sample:
    """Records to try settings on."""

    data: Transactions
    share: float  # of all records

    @property
    def is_sampled(self) -> bool:
        """Whether some records are not in it."""
        return self.share < 1

    def crowd(self, k: int) -> int:
        """The crowd that means in the sample what k means in all records."""
        return max(2, round(k * self.share))


def sample_of(data: Transactions, occurrences: int, seed: int) -> Sample:
    """Random records with about so many occurrences, or all of them."""
    if data.n_occurrences <= occurrences:
        return Sample(data, 1.0)
    n = min(max(int(data.n_records * occurrences / data.n_occurrences), 200), data.n_records)
    chosen = np.sort(np.random.default_rng(seed).choice(data.n_records, size=n, replace=False))
    return Sample(data.select(chosen).used_items(), n / data.n_records)


def profile_of(data: Transactions) -> Profile:
    """The shape of the data and what known items reveal."""
    supports = data.supports[data.supports > 0]
    rows = risk(data, inference=False).rows
    return Profile(
        n_records=data.n_records,
        n_filled=data.n_records - data.n_empty,
        n_items=len(supports),
        mean_length=float(data.lengths.mean()) if data.n_records else 0.0,
        longest=int(data.lengths.max(initial=0)),
        density=density_of(data),
        rare_items=float((supports < 5).mean()) if len(supports) else 0.0,
        singled_out=tuple(row.worst_singled_out for row in rows if row.known),
        by_columns=next((row.singled_out for row in rows if not row.known), None),
    )


def density_of(data: Transactions) -> float:
    """The share of the records that an item is in, on average."""
    supports = data.supports[data.supports > 0]
    return float(supports.mean() / data.n_records) if len(supports) else 0.0


def measure_setting(data: Transactions, policy: Policy, tree: Hierarchy | None) -> Choice:
    """Run, verify and measure one setting on all records."""
    return measure_on(Sample(data, 1.0), policy, tree, "", False, lambda: False)


def measure_on(
    sample: Sample,
    policy: Policy,
    tree: Hierarchy | None,
    role: str,
    has_sensitive: bool,
    cancelled: Callable[[], bool],
) -> Choice:
    """The same on a sample, whose k means in it what the policy's means in all records."""
    from setveil.utility.avg_re import query_errors
    from setveil.utility.loss import spread_of

    data, seed = sample.data, policy.seed
    asked = model_of(policy, data, tree)
    # k counts records, so it shrinks with them; p of the model degree is a share.
    model = replace(asked, **{"k": sample.crowd(asked.crowd or 1)}) if "k" in asked.options() else asked
    started = time.monotonic()
    context = Context(hierarchy=tree, seed=seed, cancelled=cancelled)
    release = make_release(data, model, policy.algorithm.name, policy.algorithm.options, context)
    verdict = verify(release, model)
    if not verdict.holds:
        raise InputError(f"the release did not verify: {verdict.reason}")
    assert release.record is not None
    data = release.record.data.rows  # in line with the release: groupings leave records out that cannot be published
    spread = spread_of(data, release)
    attacks, before = quick_attacks(data, release, seed), quick_risk(data, model)
    risk_after = public_risk(release, model).to_dict()["rows"]
    named = policy.algorithm.model_copy(update={"name": release.record.algorithm})
    return Choice(
        policy=policy.model_copy(update={"algorithm": named}),
        role=role,
        guarantee=asked.guarantee(),
        exact=1.0 if spread.exact_ratio is None else spread.exact_ratio,  # of data without entries
        largest_set=spread.largest,
        n_published=int((release.published.supports > 0).sum()),
        empty=release.published.n_empty / max(data.n_records, 1),
        utility=utility_of(query_errors(data, release, seed=seed)),
        residual=worst_of(attacks, risk_after, before.to_dict()["rows"]),
        inference=worst_inference(attacks),
        risk_after=risk_after,
        reach=model.covered_items,
        n_tried=data.n_records,
        is_sampled=sample.is_sampled,
        seconds=time.monotonic() - started,
        warning=_leaves_exposed(release.has_groups, has_sensitive and "sensitive" not in policy.model.given()),
        shown_entries="" if release.has_own_records else release.shown_entries,
        has_own_records=release.has_own_records,
    )


def _leaves_exposed(is_grouping: bool, has_sensitive: bool) -> str:
    if is_grouping:
        return (
            "Not protected: records can be recognized by all items that are not sensitive. Only who has a sensitive "
            "item is hidden."
        )
    words = "Not protected: sensitive items are published like all others, and all matching records may share one."
    return words if has_sensitive else ""
