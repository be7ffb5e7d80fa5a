"""Proposes a privacy model, an algorithm and their parameters for a data set.

The purpose says how much protection is needed. Settings are tried: first on a small sample, so that there is an answer
within seconds, then on the whole data, or on a sample of it if the data is large. What is tried depends on the data
alone, so the same data gets the same answer; only a time limit can end the search early, and then the answer says so.
Every release is verified and measured. The search begins with the profile of the purpose and attackers who know two
items. While the residual risk is high, the guarantee is strengthened; where the utility is poor, a smaller k is tried.
Among those that meet a guarantee the one with the highest utility is proposed, together with one of higher utility and
one of stronger protection. Rejected settings are listed with the reason. Nothing is proposed of which the report would
show a red light: then the answer is that these data should not be published record by record.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from setveil.algorithms import Entry, proposed_for
from setveil.core import Hierarchy, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import CancelledError, InfeasibleError, InputError, times, unheard_warnings
from setveil.io.roles import HIERARCHIES, pairs_in
from setveil.models import MODELS, PARAMETERS, parameters_of
from setveil.models.registry import usual_model
from setveil.policy.schema import Policy
from setveil.report.profiles import DEFAULT, PROFILES, find_profile
from setveil.report.words import percent
from setveil.workflows.code_systems import code_system_of
from setveil.workflows.hierarchy import resolve_hierarchy
from setveil.workflows.inputs import as_transactions
from setveil.workflows.policies import make_policy
from setveil.workflows.progress_bars import shows_progress
from setveil.workflows.proposals import PURPOSES, Choice, Profile, Purpose, Suggestion, name_of
from setveil.workflows.request_checks import check_lists
from setveil.workflows.roles import with_proposed_hierarchies
from setveil.workflows.settings import Sample, density_of, measure_on, profile_of, sample_of
from setveil.workflows.trials import OUT_OF_TIME, TOOK_LONGER, try_each

SECONDS = 600.0  # the time limit: far more than the sizes below need, so that the clock decides nothing
MORE_TIME = "Allow more time with --seconds."
SAMPLES = (15_000, 100_000)  # occurrences tried one after the other; smaller data is taken as it is
AUTO = 100_000  # occurrences up to which several trees are tried for --hierarchy auto
DENSE = 0.05  # an item is in this share of the records on average: records then resemble each other
BETTER = 0.05  # of the score: less is no reason for a weaker guarantee
CROWDS = 4  # times k people must have items
USED = ("k", "l", "sensitive")  # optional parameters of models that are set, where a model has them
PROTECTS = "Protects sensitive items"
INSTEAD = "Another release with the same protection"


@shows_progress
def suggest(
    data: Any,
    *,
    purpose: str = "publish",
    hierarchy: str | None = None,
    sensitive: Sequence[str] = (),
    profile: str | float | None = None,
    seconds: float = SECONDS,
    seed: int = 0,
    source: str = "INPUT",
    given: Mapping[str, Any] | None = None,
    progress: Progress | bool = no_progress,
    first: Callable[[Choice], None] | None = None,
    **options: Any,
) -> Suggestion:
    """Propose model, parameters, hierarchy and algorithm for a data set and a purpose.

    Args:
        data: anything that ``read`` takes.
        purpose: ``"publish"``, ``"share"`` or ``"internal"``.
        hierarchy: as in ``anonymize``, as text.
        sensitive: the sensitive items.
        profile: a profile or threshold, as in ``[assessment]`` of a policy; that of the purpose unless given.
        seconds: the time limit; a search that it ends early says so.
        seed: seed of all random numbers.
        source: the input's name in the commands.
        given: sensitive items and reading options that the commands repeat.
        progress: called with a stage name and a fraction between 0 and 1.
        first: called with the first proposal, which later ones may improve on.
        options: how to read ``data``, as in ``read``: ``person``, ``item``, …

    Returns:
        The proposal, alternatives, and rejected settings with reasons.

    Raises:
        InfeasibleError: no setting that was tried is both safe and useful.
        InputError: the data cannot be read, or the purpose is unknown.

    Examples:
        >>> import setveil as sv
        >>> baskets = sv.generate("quest", D=200, T=4, N=20, L=20)
        >>> found = sv.suggest(baskets, purpose="internal", hierarchy="fanout:4", seconds=5)
        >>> found.choices[0].policy.model.name
        'km'
    """
    assert callable(progress)
    if purpose not in PURPOSES:
        raise InputError(f'the purpose is one of {", ".join(PURPOSES)}, not "{purpose}".')
    if isinstance(sensitive, str):
        raise InputError(f"sensitive must be a list of item labels, not one string; write [{sensitive!r}].")
    records = as_transactions(data, **options)
    if records.n_records - records.n_empty < 2:
        raise InputError("the data has fewer than two records with items; it cannot be anonymized.")
    asked = {"sensitive": None, "reading": options, **(given or {})}
    stated = dict(pairs_in(asked["reading"].get(HIERARCHIES)))
    if records.reading is not None and records.reading.doubts:
        raise InfeasibleError(
            f"{' and '.join(records.reading.doubts)}; k counts records, so that no release can be proposed. Name the "
            "column of people with --person, or remove repeated records."
        )
    records, proposed = with_proposed_hierarchies(records, stated)
    if proposed:
        asked["reading"] = {**asked["reading"], HIERARCHIES: stated | proposed}
    system, reason = (None, "") if hierarchy else code_system_of(records)
    hierarchy = hierarchy or system
    ask = {"seed": seed, "hierarchy": hierarchy, "sensitive": list(sensitive), "profile": profile}
    if sensitive:
        check_lists(records, {"sensitive": tuple(sensitive)})
    if hierarchy:
        resolve_hierarchy(hierarchy, records)  # complain before the long work
    search = _Search(records, PURPOSES[purpose], ask, time.monotonic() + seconds, progress, first)
    choices = search.choices()
    if not choices:
        raise InfeasibleError(_refusal(records.n_records - records.n_empty, search))
    shape = profile_of(records)
    steps = [f'The values of column "{name}" suggest its hierarchy: {source}.' for name, source in proposed.items()]
    late = search.late()
    short = [f"The time limit ended the search: {len(late)} not finished. With more --seconds the answer may differ."]
    reasons = (*([reason] if reason else []), *steps, *search.reasons, *(short if late else []), _exposure(shape))
    return Suggestion(shape, PURPOSES[purpose], tuple(choices), tuple(search.rejected), reasons, source, asked)


def _refusal(n_people: int, search: _Search) -> str:
    """That nothing can be proposed, what to do instead, and why."""
    late = search.late()
    if late and len(late) == len(search.rejected):  # nothing was measured, so nothing is known about these data
        return (
            f"No setting was finished within the time limit ({len(late)} were tried or waiting), so nothing can be "
            f"proposed. {MORE_TIME}"
        )
    refusal = (
        f"With {n_people:,} people no release of these data is both safe and useful: publish counts, or give access "
        "under a data use agreement."
    )
    measured = [f"{name}: {why.rstrip('.')}." for name, why in search.rejected if name not in late]
    reasons = (search.reasons or measured)[:1]  # either says why; a message is short
    if late:
        reasons.append(f"Not finished in time: {len(late)}. {MORE_TIME}")
    return " ".join([refusal, *reasons])


def _exposure(profile: Profile) -> str:
    shares = [
        f"{times(known, 'item')}: {percent(share)}"
        for known, share in enumerate(profile.singled_out, 1)
        if share is not None
    ]
    if profile.by_columns is None:
        return (
            "Without anonymization, the most identifying items single out this share of all people: "
            f"{', '.join(shares)}."
        )
    alone = f"no item: {percent(profile.by_columns)}"
    return (
        "Without anonymization, the known columns and the most identifying items single out this share of all people: "
        f"{', '.join([alone, *shares])}."
    )


# -- trying ------------------------------------------------------------------------------------------------------------


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
        self.data, self.ask = data, ask
        self.has_columns = data.columns is not None and len(data.columns.with_role("known")) > 0
        self.model = usual_model(self.has_columns)
        self.entries = proposed_for(self.model)
        given = ask["profile"]
        self.asked = purpose.profile if given is None else given  # the profile, as it is written
        self.profile = find_profile(self.asked, purpose.environment)
        self.least = min(purpose.least, self.profile.k) if given is None else self.profile.k
        self.deadline, self.progress, self.first = deadline, progress, first
        self.rejected: list[tuple[str, str]] = []
        self.trees: dict[tuple[float, str | None], Hierarchy | None] = {}  # by sample and source
        self.reasons: list[str] = []
        self.n_items = int((data.supports > 0).sum())
        self.n_given = 0  # reasons that apply whatever is tried

    def late(self) -> list[str]:
        """Settings that the time limit ended, or that came after it."""
        return [name for name, why in self.rejected if why.startswith((TOOK_LONGER, OUT_OF_TIME))]

    def choices(self) -> list[Choice]:
        """The proposal and up to two others."""
        ks = self._ks()
        if not ks:
            return []
        best, part = None, Sample(self.data, 1.0)
        for occurrences in SAMPLES:
            tried = sample_of(self.data, occurrences, self.ask["seed"])
            earlier, reasons = list(self.rejected), list(self.reasons)
            self.rejected.clear()
            found = self._aim(tried, ks, occurrences == SAMPLES[0] and tried.is_sampled)
            if found is None and best is not None and self.late():  # what the smaller sample showed stands
                self.rejected[:], self.reasons[:] = earlier + self.rejected, reasons
                break
            best, part = found, tried
            if not tried.is_sampled:
                break
        for entry in () if self.ask["hierarchy"] else self.entries:
            if not self._is_small_for(entry):
                why = f"not tried: too slow for {self.n_items:,} items (limit: {entry.most_items:,})"
                self._reject(self._policy(self._guarantee(ks[0], self.ms[0]), entry.name, None), why)
        k, m = (ks[0], "all") if best is None else (best.policy.model.given()[name] for name in ("k", "m"))
        shown = self._tried(part, list(self._protecting(k)), PROTECTS) if self.ask["sensitive"] else []
        policies = [self._policy({"name": name, "k": k}, None, None) for name in self._alternatives(m)]
        instead = self._safe(self._tried(part, policies, INSTEAD))
        if best is None:  # nothing with a red light comes first
            safe = sorted([*self._safe(shown), *instead], key=lambda choice: -choice.score)[:3]
            return [
                replace(choice, role="Proposal" if choice.role == INSTEAD else f"Proposal: {PROTECTS.lower()}")
                for choice in safe
            ]
        protecting = [choice for choice in shown if choice.colour != "bad"]  # red ones say what they leave exposed
        self._safe([choice for choice in shown if choice.colour == "bad"])
        protecting.sort(key=lambda choice: (choice.risk_colour == "bad", -choice.score))
        others = [*instead, *protecting, *self._others(part, best)]
        if density_of(self.data) >= DENSE and not self.ask["sensitive"]:
            names = [name for name, model in MODELS.items() if model.suggested_if_dense]
            alike = [self._policy({"name": name, "k": k}, None, None) for name in names]
            others += self._safe(self._tried(part, alike, "Makes whole records alike"))
        return [best, *others[: max(2, len(protecting))]]

    def _ks(self) -> list[int]:
        """The profile's k, and the least that is acceptable, as far as the data is large enough for them."""
        n_filled = self.data.n_records - self.data.n_empty
        ks = [k for k in dict.fromkeys((self.profile.k, self.least)) if k * CROWDS <= n_filled]
        if self.profile.k not in ks:
            self.reasons.append(
                f"k={self.profile.k} needs at least {self.profile.k * CROWDS:,} people with items; there are "
                f"{n_filled:,}."
            )
        self.n_given = len(self.reasons)
        return ks

    @property
    def ms(self) -> list[int | str]:
        """How many items of a person attackers may know, from the usual number on."""
        longest = max(1, int(self.data.lengths.max(initial=0)))
        return list(dict.fromkeys([min(2, longest), min(3, longest), "all"]))

    def _aim(self, part: Sample, ks: Sequence[int], only_quick: bool) -> Choice | None:
        """The weakest guarantee of the largest k without a red light, and the best way to meet it."""
        self.reasons = self.reasons[: self.n_given]
        closed: set[int] = set()
        for k, m in ((k, m) for k in ks for m in self.ms):
            if k in closed:
                continue
            found = self._tried(part, list(self._ways(k, m, only_quick)), "Proposal")
            best = max(self._safe(found), key=lambda choice: choice.score, default=None)
            if best is None:
                if found and all(choice.colour == "bad" for choice in found):
                    closed.add(k)  # a stronger guarantee keeps even less
                    kept = _kept(max(found, key=lambda choice: choice.score))
                    self.reasons.append(f"k={k}, m={m}: the utility is poor: {kept}.")
                elif found:
                    self.reasons.append(f"k={k}, m={m}: the residual risk is high; a larger m is needed.")
                continue
            self.rejected += [
                (name_of(one.policy), f"utility score {one.score:.2f}, proposal {best.score:.2f}: {_kept(one)}")
                for one in found
                if one is not best and _is_safe(one)
            ]
            known = "all items" if m == "all" else f"any {times(int(m), 'item')}"
            self.reasons.append(
                f"k={k}: at least {k} records match; m={m}: for an attacker who knows {known} of a person."
            )
            return best
        return None

    def _safe(self, found: Sequence[Choice]) -> list[Choice]:
        """Those without a red light; the others are rejected, with the reason."""
        for choice in found:
            if choice.colour == "bad":
                self._reject(choice.policy, f"utility: poor; {_kept(choice)}")
            elif choice.risk_colour == "bad":
                self._reject(choice.policy, f"residual risk: high; {choice.risk_words}")
        return [choice for choice in found if _is_safe(choice)]

    def _others(self, part: Sample, best: Choice) -> Iterator[Choice]:
        """A weaker guarantee that keeps clearly more, and a stronger one that still has utility."""
        given, ms = best.policy.model.given(), self.ms
        k, m = int(given["k"]), given["m"]
        place = ms.index(m)
        weaker = [(k, ms[place - 1])] if place else []
        weaker += [(self.least, m)] if self.least < k else []
        for ask in weaker:
            found = self._safe(self._tried(part, [self._like(best, *ask)], "More utility, less protection"))
            if found and found[0].score >= best.score + BETTER:
                yield found[0]
                break
            for one in found:
                scores = f"utility score {one.score:.2f}, proposal {best.score:.2f}"
                self._reject(one.policy, f"a weaker guarantee with little more utility ({scores})")
        if place + 1 < len(ms):
            stronger = self._like(best, k, ms[place + 1])
            yield from self._safe(self._tried(part, [stronger], "More protection, less utility"))

    # -- settings ------------------------------------------------------------------------------------------------------

    def _ways(self, k: int, m: int | str, only_quick: bool) -> Iterator[Policy]:
        """Algorithms with their options that give the guarantee, the quickest to be useful first."""
        guarantee, given = self._guarantee(k, m), self.ask["hierarchy"]
        if self.has_columns:
            for entry in self.entries:
                for options in ({}, *entry.variants):
                    yield self._policy(guarantee, entry.name, given, **options)
            return
        several = self.data.n_occurrences <= AUTO  # otherwise trying several trees would use up the time
        source = given or ("auto" if several else "auto:frequency")
        for entry in self.entries:
            if entry.plain is not None:
                yield self._policy(guarantee, entry.name, given, **(entry.plain if given else {}))
        for entry in self.entries:
            if entry.most_items is not None:
                if not given and not only_quick and self._is_small_for(entry):
                    yield self._policy(guarantee, entry.name, None)
            elif not only_quick or (entry.is_quick and entry.plain is None):
                yield self._policy(guarantee, entry.name, source)

    def _is_small_for(self, entry: Entry) -> bool:
        return entry.most_items is None or self.n_items <= entry.most_items

    def _guarantee(self, k: int, m: int | str) -> dict[str, Any]:
        """Among all people, or among those with the same columns where columns are known."""
        return {"name": self.model, "k": k, "m": m}

    def _like(self, choice: Choice, k: int, m: int | str) -> Policy:
        like = choice.policy
        guarantee = self._guarantee(k, m)
        return self._policy(guarantee, like.algorithm.name, like.hierarchy.source, **like.algorithm.options)

    def _alternatives(self, m: int | str) -> list[str]:
        """Models that declare themselves an alternative where attackers may know ``m`` items."""
        reach = float(self.data.lengths.max(initial=0)) if m == "all" else float(m)
        return [
            name for name, model in MODELS.items() if model.suggested_from <= reach and model.suits(self.has_columns)
        ]

    def _protecting(self, k: int) -> Iterator[Policy]:
        """Every model that has sensitive items, with the parameters that it needs."""
        usual = {"k": k, "h": 50, "rho": "1/2", "l": 2, "m": 2, "sensitive": self.ask["sensitive"]}
        for name in PARAMETERS["sensitive"]:
            if not MODELS[name].suits(self.has_columns):
                continue
            declared = parameters_of(MODELS[name])
            asked = {one: usual[one] for one in declared if one in usual and (declared[one].is_required or one in USED)}
            if "p" in declared and declared["p"].is_required:
                asked["p"] = 2 if "k" in declared else k  # items known, or people among whom an item is hidden
            if all(one in asked for one in declared if declared[one].is_required):
                yield self._policy({"name": name, **asked}, None, None)

    def _policy(self, model: dict[str, Any], algorithm: str | None, source: str | None, **options: Any) -> Policy:
        return make_policy(
            {
                "model": model,
                "algorithm": {"name": algorithm, "options": options},
                "hierarchy": {"source": source},
                "assessment": self._assessment(model),
                "seed": self.ask["seed"],
            }
        )

    def _assessment(self, model: Mapping[str, Any]) -> dict[str, Any]:
        """The profile that a setting is compared with: that of the purpose, if its k is large enough."""
        usual = PROFILES[self.profile.name].environment if self.profile.name in PROFILES else DEFAULT.environment
        surroundings: dict[str, Any] = (
            {} if self.profile.environment == usual else {"environment": self.profile.environment}
        )
        crowd = model.get("k") or model.get("p")  # None: the guarantee is about something else, and no k is too small
        if crowd is None or crowd >= self.profile.k:
            return {**surroundings, "profile": self.asked}
        return {"environment": self.profile.environment} if self.profile.environment != DEFAULT.environment else {}

    # -- one setting ---------------------------------------------------------------------------------------------------

    def _tried(self, sample: Sample, policies: Sequence[Policy], role: str) -> list[Choice]:
        """The settings that work; the time left is shared out among them. For others the reason is kept."""

        def attempt(policy: Policy, is_over: Callable[[], bool]) -> Choice:
            key = (sample.share, policy.hierarchy.source)
            with unheard_warnings():
                if key not in self.trees:
                    self.trees[key] = resolve_hierarchy(policy.hierarchy.source, sample.data)
                return measure_on(sample, policy, self.trees[key], role, bool(self.ask["sensitive"]), is_over)

        found = []
        for trial in try_each(
            policies, attempt, name_of, progress=lambda stage, _: self.progress(stage, None),
            refused=(InfeasibleError, InputError), deadline=self.deadline,
        ):  # fmt: skip
            if trial.result is not None:
                self.rejected[:] = [one for one in self.rejected if one[0] != name_of(trial.candidate)]
                if sample.is_sampled and _is_safe(trial.result):
                    self._tell_first(trial.result)
                found.append(trial.result)
                continue
            is_refused = trial.problem is not None and not isinstance(trial.problem, CancelledError)
            self._reject(trial.candidate, f"infeasible: {trial.reason}" if is_refused else trial.reason)
        return found

    def _tell_first(self, choice: Choice) -> None:
        """The first proposal is reported once, as soon as there is one."""
        if self.first is not None:
            self.first(choice)
            self.first = None

    def _reject(self, policy: Policy, why: str) -> None:
        if (name_of(policy), why) not in self.rejected:
            self.rejected.append((name_of(policy), why))


def _is_safe(choice: Choice) -> bool:
    """Whether its report shows no red light."""
    return "bad" not in (choice.colour, choice.risk_colour) and choice.n_published > 1


def _kept(choice: Choice) -> str:
    """What a setting keeps, in the figures of its report."""
    pairs = choice.utility.errors.get("pairs")
    entries = choice.shown_entries or f"{percent(choice.exact)} of entries unchanged"
    return f"{entries}, counts of pairs: {pairs.words}" if pairs else entries
