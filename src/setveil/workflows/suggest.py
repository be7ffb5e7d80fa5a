"""Proposes a privacy model, an algorithm and their parameters for a data set.

The purpose says how much protection is needed. Settings are tried: first on a small sample, so that there is an answer
within seconds, then on the whole data (or a large sample of it), as long as the time budget lasts. Every release is
verified and measured. Among those that meet the guarantee the one with the highest utility is proposed, together with
one of higher utility and one of stronger protection. Rejected settings are listed with the reason. Nothing infeasible
is proposed, and no release in which everything became one label.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from setveil.algorithms import Context, find
from setveil.core import Hierarchy, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import CancelledError, InfeasibleError, InputError
from setveil.policy.resolve import model_of
from setveil.policy.schema import Policy
from setveil.report.figures import utility_of, worst_of
from setveil.report.words import percent
from setveil.workflows.anonymize import make_release
from setveil.workflows.asks import check_lists
from setveil.workflows.assess import public_risk, quick_attacks, risk, verify
from setveil.workflows.hierarchy import resolve_hierarchy
from setveil.workflows.policies import make_policy
from setveil.workflows.proposals import PURPOSES, Choice, Profile, Purpose, Suggestion, name_of
from setveil.workflows.reading import as_transactions

SECONDS = 60.0  # the time budget
SAMPLES = (15_000, 80_000, 400_000)  # occurrences tried one after the other; smaller data is taken as it is
FIRST = 10.0  # seconds for the first sample, so that there is a proposal soon
PLAIN = "trim without groups"  # leaves entries out and raises none: quick however many items there are
QUICK = (PLAIN, "aa")  # tried on it
MERGEABLE = 4_000  # items up to which merging any two of them is tried
AUTO = 100_000  # occurrences up to which several trees are tried for --hierarchy auto
DENSE = 0.05  # an item is in this share of the records on average: records then resemble each other
BETTER = 0.05  # of the score: less is no reason for a weaker guarantee
WAYS = (
    PLAIN,
    "trim",
    "mhghs+refine",
    "aa+refine",
    "aa",
)  # that generalize along a hierarchy, the most careful with entries first


def suggest(
    data: Any,
    *,
    purpose: str = "publish",
    hierarchy: str | None = None,
    sensitive: Sequence[str] = (),
    seconds: float = SECONDS,
    seed: int = 0,
    source: str = "INPUT",
    given: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    first: Callable[[Choice], None] | None = None,
) -> Suggestion:
    """Propose model, parameters, hierarchy and algorithm for a data set and a purpose, within a time budget.

    ``hierarchy`` is any text the command line takes. ``first`` is called with the first proposal, which later ones may
    improve on. ``source`` and ``given`` (sensitive items, reading options) are repeated in the commands.

    Args:
        data: anything that ``read`` takes.
        purpose: ``"publish"``, ``"share"`` or ``"internal"``.
        hierarchy: as in ``anonymize``, as text.
        sensitive: the sensitive items.
        seconds: the time budget.
        seed: seed of all random numbers.
        source: the input's name in the commands.
        given: further options that the commands repeat.
        progress: called with a stage name and a fraction between 0 and 1.
        first: called with the first proposal.

    Returns:
        The proposal, alternatives, and rejected settings with reasons.

    Raises:
        InfeasibleError: no setting that was tried is feasible.
        InputError: the data cannot be read, or the purpose is unknown.

    Examples:
        >>> import setveil as sv
        >>> baskets = sv.generate("quest", D=200, T=4, N=20, L=20)
        >>> found = sv.suggest(baskets, purpose="internal", hierarchy="fanout:4", seconds=5)
        >>> found.choices[0].policy.model.name
        'km'
    """
    if purpose not in PURPOSES:
        raise InputError(f'the purpose is one of {", ".join(PURPOSES)}, not "{purpose}".')
    if isinstance(sensitive, str):
        raise InputError(f"sensitive must be a list of item labels, not one string; write [{sensitive!r}].")
    records = as_transactions(data)
    if records.n_records - records.n_empty < 2:
        raise InputError("the data has fewer than two records with items; it cannot be anonymized.")
    ask = {"seed": seed, "hierarchy": hierarchy, "sensitive": list(sensitive)}
    if sensitive:
        check_lists(records, {"sensitive": tuple(sensitive)})
    if hierarchy:
        resolve_hierarchy(hierarchy, records)  # complain before the long work
    search = _Search(records, PURPOSES[purpose], ask, time.monotonic() + seconds, progress, first)
    choices = search.choices()
    profile = profile_of(records)
    if not choices:
        told = "; ".join(f"{name}: {why}" for name, why in search.rejected)
        raise InfeasibleError(f"no setting that was tried gives a usable release. {told}")
    reasons = (*search.reasons, _exposure(profile))
    told_given = {"sensitive": None, "reading": {}, **(given or {})}
    return Suggestion(profile, PURPOSES[purpose], tuple(choices), tuple(search.rejected), reasons, source, told_given)


def profile_of(data: Transactions) -> Profile:
    """The shape of the data and what known items reveal."""
    supports = data.supports[data.supports > 0]
    return Profile(
        n_records=data.n_records,
        n_filled=data.n_records - data.n_empty,
        n_items=len(supports),
        mean_length=float(data.lengths.mean()) if data.n_records else 0.0,
        longest=int(data.lengths.max(initial=0)),
        density=_density(data),
        rare_items=float((supports < 5).mean()) if len(supports) else 0.0,
        singled_out=tuple(
            None if row.singled_out is None else row.singled_out * row.share_of_records for row in risk(data).rows
        ),
    )


def _density(data: Transactions) -> float:
    supports = data.supports[data.supports > 0]
    return float(supports.mean() / data.n_records) if len(supports) else 0.0


def _exposure(profile: Profile) -> str:
    shares = [
        f"{known} item{'s' if known > 1 else ''}: {percent(share)}"
        for known, share in enumerate(profile.singled_out, 1)
        if share is not None
    ]
    return f"Without anonymization, known items single out this share of all people: {', '.join(shares)}."


# -- trying ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """Records to try settings on."""

    data: Transactions
    share: float  # of all records

    @property
    def is_sampled(self) -> bool:
        return self.share < 1

    def crowd(self, k: int) -> int:
        """The crowd that means in the sample what k means in all records."""
        return max(2, round(k * self.share))


class _Search:
    """Tries settings as long as the budget lasts, and keeps what was rejected and why."""

    def __init__(
        self,
        data: Transactions,
        purpose: Purpose,
        ask: Mapping[str, Any],
        deadline: float,
        progress: Progress,
        first: Callable[[Choice], None] | None,
    ) -> None:
        self.data, self.purpose, self.ask = data, purpose, ask
        self.deadline, self.progress, self.first = deadline, progress, first
        self.rejected: list[tuple[str, str]] = []
        self.trees: dict[tuple[float, str | None], Hierarchy | None] = {}  # by sample and source
        self.reasons: list[str] = []
        self.n_items = int((data.supports > 0).sum())
        self.n_given = 0  # reasons that hold whatever is tried

    def choices(self) -> list[Choice]:
        """The proposal and up to two others."""
        steps, end = self._steps(), self.deadline
        aim, best, part = steps[0], None, _Part(self.data, 1.0)
        for occurrences in SAMPLES:
            tried = _sample(self.data, occurrences, self.ask["seed"])
            earlier, reasons = list(self.rejected), list(self.reasons)
            self.rejected.clear()
            left = end - time.monotonic()
            is_first, is_last = (
                occurrences == SAMPLES[0] and tried.is_sampled,
                occurrences == SAMPLES[-1] or not tried.is_sampled,
            )
            self.deadline = time.monotonic() + (
                left * 0.7 if is_last else min(FIRST, left / 3) if is_first else left / 3
            )
            found_aim, found = self._aim(tried, steps, QUICK if is_first else WAYS)
            if found is not None:
                aim, best, part = found_aim, found, tried
                if is_first:
                    self._tell_first(found)
            else:  # too large for the time: what a smaller sample showed stands
                self.rejected[:], self.reasons[:] = earlier + self.rejected, reasons
            if is_last or (found is None and best is not None):
                break
        if best is None and time.monotonic() >= self.deadline:
            # A slow machine, or kernels to compile: an answer comes before the budget.
            self.deadline, end = inf, inf
            self.rejected.clear()
            part = _sample(self.data, SAMPLES[0], self.ask["seed"])
            aim, best = self._aim(part, steps, [PLAIN])
        self.deadline = end
        if not self.ask["hierarchy"] and self.n_items > MERGEABLE:
            why = f"not tried: it weighs every two of {self.n_items:,} items, too slow above {MERGEABLE:,}"
            self._reject(self._policy({"name": "km", "k": aim[0], "m": aim[1]}, "pcta+", None), why)
        if best is None:
            return []
        others = list(self._others(part, aim, best, steps))
        if self.ask["sensitive"]:
            others[:0] = self._tried(part, [self._degree(aim[0])], "Protects sensitive items only", keep_bad=False)
        if _density(self.data) >= DENSE:
            others += self._tried(part, [self._identical(aim[0])], "Makes whole records alike", keep_bad=False)
        return [best, *others[:2]]

    def _steps(self) -> list[tuple[int, int]]:
        """The guarantees of the purpose, as far as the data is large enough for them."""
        n_filled, longest = self.data.n_records - self.data.n_empty, int(self.data.lengths.max(initial=0))
        steps = []
        for k, m in self.purpose.steps:
            fitting = next((crowd for crowd in (k, 5, 3, 2) if crowd <= k and crowd * 4 <= n_filled), 2)
            steps.append((fitting, max(1, min(m, longest))))
        if steps[0][0] < self.purpose.steps[0][0]:
            self.reasons.append(f"With {n_filled:,} people, k={steps[0][0]} is the largest sensible value.")
        self.n_given = len(self.reasons)
        return list(dict.fromkeys(steps))

    def _aim(
        self, part: _Part, steps: Sequence[tuple[int, int]], ways: Sequence[str]
    ) -> tuple[tuple[int, int], Choice | None]:
        """The strongest guarantee of the purpose with some utility, and the best algorithm for it."""
        fallback: tuple[tuple[int, int], Choice | None] = (steps[0], None)
        self.reasons = self.reasons[: self.n_given]
        for step in steps:
            k, m = step
            found = self._tried(part, list(self._ways(k, m, ways)), "Proposal")
            if not found:
                continue
            best = max(found, key=lambda choice: choice.score)
            self.rejected += [
                (name_of(choice.policy), f"lower utility: {_kept(choice)}") for choice in found if choice is not best
            ]
            if best.colour != "bad":
                self.reasons.append(
                    f"k={k}: at least {k} records match; m={m}: for an attacker who knows any {m} "
                    f"item{'s' if m > 1 else ''} of a person."
                )
                return step, best
            if fallback[1] is None:
                fallback = (step, best)
            self.reasons.append(f"k={k}, m={m} is preferred, but its utility is poor: {_kept(best)}.")
        best_left = fallback[1]
        if best_left is not None:
            if best_left.n_published <= 1:
                return fallback[0], None
            best_left = replace(best_left, role="The best found, but its utility is poor")
        return fallback[0], best_left

    def _others(
        self, part: _Part, aim: tuple[int, int], best: Choice, steps: Sequence[tuple[int, int]]
    ) -> Iterator[Choice]:
        """A weaker guarantee with clearly more utility, and a stronger one that still has some utility."""
        longest = int(self.data.lengths.max(initial=0))
        weaker = [
            step
            for step in (*steps, (aim[0], 1), (max(aim[0] // 2, 2), aim[1]))
            if step != aim and step[0] <= aim[0] and step[1] <= aim[1]
        ]
        for k, m in dict.fromkeys(weaker):
            found = self._tried(part, [self._like(best, k, m)], "More utility, less protection")
            if found and found[0].score >= best.score + BETTER and found[0].n_published > 1:
                yield found[0]
                break
            self.rejected += [(name_of(one.policy), "a weaker guarantee with hardly more utility") for one in found]
        k, m = self.purpose.more
        if k * 4 <= self.data.n_records - self.data.n_empty and m <= longest and (k, m) != aim:
            found = self._tried(part, [self._like(best, k, m)], "More protection, less utility", keep_bad=False)
            yield from found

    # -- settings ------------------------------------------------------------------------------------------------------

    def _ways(self, k: int, m: int, ways: Sequence[str]) -> Iterator[Policy]:
        """Ways to give k^m-anonymity, the quickest to be useful first."""
        quick = self.data.n_occurrences <= AUTO  # otherwise trying several trees would use up the time
        source = self.ask["hierarchy"] or ("auto" if quick else "auto:frequency")
        promise = {"name": "km", "k": k, "m": m}
        for name in ways:
            if name != PLAIN:
                yield self._policy(promise, name, source if find(name).hierarchy != "none" else None)
            elif self.ask["hierarchy"]:
                yield self._policy(promise, "trim", source, raising="none")
            else:
                yield self._policy(promise, "trim", None)
        if not self.ask["hierarchy"] and ways is WAYS and self.n_items <= MERGEABLE:
            yield self._policy(promise, "pcta+", None)

    def _like(self, choice: Choice, k: int, m: int) -> Policy:
        like = choice.policy
        promise = {"name": "km", "k": k, "m": m}
        return self._policy(promise, like.algorithm.name, like.hierarchy.source, **like.algorithm.options)

    def _degree(self, p: int) -> Policy:
        return self._policy({"name": "degree", "p": p, "sensitive": self.ask["sensitive"]}, None, None)

    def _identical(self, k: int) -> Policy:
        sensitive = {"sensitive": self.ask["sensitive"]} if self.ask["sensitive"] else {}
        return self._policy({"name": "k-anonymity", "k": k, **sensitive}, None, None)

    def _policy(self, model: dict[str, Any], algorithm: str | None, source: str | None, **options: Any) -> Policy:
        return make_policy(
            {
                "model": model,
                "algorithm": {"name": algorithm, "options": options},
                "hierarchy": {"source": source},
                "seed": self.ask["seed"],
            }
        )

    # -- one setting ---------------------------------------------------------------------------------------------------

    def _tried(self, part: _Part, policies: Sequence[Policy], role: str, keep_bad: bool = True) -> list[Choice]:
        """The settings that work; the time left is shared out among them."""
        found = []
        for number, policy in enumerate(policies):
            left = self.deadline - time.monotonic()
            if left <= 0:
                self.rejected.append((name_of(policy), "not tried: the time budget is used up"))
                continue
            choice = self._try(part, policy, role, time.monotonic() + left / max(len(policies) - number, 1))
            if choice is None:
                continue
            if part.is_sampled and choice.colour != "bad":
                self._tell_first(choice)
            if not keep_bad and choice.colour == "bad":
                self.rejected.append((name_of(policy), f"utility: poor; {_kept(choice)}"))
                continue
            found.append(choice)
        return found

    def _tell_first(self, choice: Choice) -> None:
        """The first proposal is told once, as soon as there is one."""
        if self.first is not None:
            self.first(choice)
            self.first = None

    def _try(self, part: _Part, policy: Policy, role: str, deadline: float) -> Choice | None:
        """Run, verify and measure a setting; None, with the reason kept, if nothing comes of it."""
        self.progress(f"trying {name_of(policy)}", None)
        started = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                place = (part.share, policy.hierarchy.source)
                if place not in self.trees:
                    self.trees[place] = resolve_hierarchy(policy.hierarchy.source, part.data)
                asked = bool(self.ask["sensitive"])
                return _measured(part, policy, self.trees[place], role, asked, lambda: time.monotonic() > deadline)
        except CancelledError:
            why = f"took longer than {time.monotonic() - started:.0f} s"
        except (InfeasibleError, InputError) as problem:
            why = f"infeasible: {problem}"
        self._reject(policy, why)
        return None

    def _reject(self, policy: Policy, why: str) -> None:
        if (name_of(policy), why) not in self.rejected:
            self.rejected.append((name_of(policy), why))


def _kept(choice: Choice) -> str:
    """What a setting keeps, in the figures of its report."""
    pairs = choice.utility.errors.get("pairs")
    told = f"{percent(choice.exact)} of entries unchanged"
    return f"{told}, counts of pairs: {pairs.words}" if pairs else told


def _sample(data: Transactions, occurrences: int, seed: int) -> _Part:
    """Random records with about so many occurrences, or all of them."""
    if data.n_occurrences <= occurrences:
        return _Part(data, 1.0)
    n = min(max(int(data.n_records * occurrences / data.n_occurrences), 200), data.n_records)
    chosen = np.sort(np.random.default_rng(seed).choice(data.n_records, size=n, replace=False))
    return _Part(data.select(chosen).used_items(), n / data.n_records)


def _measured(
    part: _Part,
    policy: Policy,
    tree: Hierarchy | None,
    role: str,
    has_sensitive: bool,
    cancelled: Callable[[], bool],
) -> Choice:
    from setveil.utility.avg_re import query_errors
    from setveil.utility.exactness import exactness

    data, seed = part.data, policy.seed
    promise = model_of(policy, data, tree)
    # k counts records, so it shrinks with them; p of the model degree is a share.
    model = replace(promise, **{"k": part.crowd(promise.crowd or 1)}) if "k" in promise.options() else promise
    started = time.monotonic()
    context = Context(hierarchy=tree, seed=seed, cancelled=cancelled)
    release = make_release(data, model, policy.algorithm.name, policy.algorithm.options, context, "")
    verdict = verify(release, model)
    if not verdict.holds:
        raise InputError(f"the release did not verify: {verdict.reason}")
    assert release.record is not None
    data = release.record.data  # in line with the release: groupings leave records out that cannot be published
    exact, largest = exactness(data, release)
    residual = worst_of(quick_attacks(data, release, seed), public_risk(release, model).to_dict()["rows"])
    named = policy.algorithm.model_copy(update={"name": release.record.algorithm})
    return Choice(
        policy=policy.model_copy(update={"algorithm": named}),
        role=role,
        guarantee=promise.guarantee(),
        exact=exact,
        largest_set=largest,
        n_published=int((release.published.supports > 0).sum()),
        utility=utility_of(query_errors(data, release, seed=seed)),
        residual=residual,
        n_tried=data.n_records,
        is_sampled=part.is_sampled,
        seconds=time.monotonic() - started,
        warning=_leaves_exposed(release.has_groups, has_sensitive),
    )


def _leaves_exposed(is_grouping: bool, has_sensitive: bool) -> str:
    if is_grouping:
        return (
            "Not protected: records can be recognized by all items that are not sensitive. Only who has a sensitive "
            "item is hidden."
        )
    told = "Not protected: sensitive items are published like all others, and all matching records may share one."
    return told if has_sensitive else ""
