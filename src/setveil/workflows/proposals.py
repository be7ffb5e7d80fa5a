"""Proposals for a data owner: purpose, shape of the data, choices and their commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from setveil.models import MODELS, parameters_of
from setveil.policy.schema import Policy
from setveil.report.figures import Inference, Residual, Unchanged, Utility
from setveil.report.lights import (
    GRADES,
    LEVELS,
    Colour,
    average_risk,
    colour_of_risk,
    colour_of_use,
    risk_words,
    worst_colour,
)
from setveil.report.profiles import Profile as Threshold
from setveil.report.profiles import find_profile
from setveil.report.words import figure
from setveil.workflows.policies import make_policy, option_words


@dataclass(frozen=True)
class Purpose:
    """Who will receive the data, and the threshold that suits them."""

    name: str
    words: str
    profile: str  # the threshold to aim for, and its environment
    environment: str
    least: int  # k that is acceptable where the utility of the profile's is poor


PURPOSES = {
    "publish": Purpose(
        "publish",
        "Anyone can obtain published data, permanently and without an agreement. Neighbours, colleagues and search "
        "engines know two or three items of a person",
        "ons-10",
        "public",
        5,
    ),
    "share": Purpose(
        "share",
        "A known recipient under a data use agreement does not try to re-identify people, but may recognize a person "
        "of whom they know two items",
        "5",
        "agreement",
        3,
    ),
    "internal": Purpose(
        "internal",
        "Access inside the organization is controlled; colleagues should not recognize a person by chance",
        "internal-3",
        "secure",
        2,
    ),
}


@dataclass(frozen=True)
class Profile:
    """The shape of the data."""

    n_records: int
    n_filled: int
    n_items: int
    mean_length: float
    longest: int
    density: float  # mean share of records an item is in
    rare_items: float  # share of items that fewer than 5 people have
    singled_out: tuple[float | None, ...]  # by 1, 2, 3, 4 known items, besides the known columns
    by_columns: float | None = None  # the same by the known columns alone; None where no column is known


@dataclass(frozen=True)
class Choice:
    """One setting that was tried and works."""

    policy: Policy
    role: str  # why it is shown
    guarantee: str
    exact: float  # share of entries published exactly
    largest_set: int
    n_published: int
    empty: float  # share of the records that are published empty
    utility: Utility  # of counts
    residual: Residual | None  # the worst attacker tried
    inference: Inference | None  # the worst attacker who infers further items
    risk_after: Sequence[Mapping[str, Any]]  # what published labels reveal
    reach: float | None  # how many items the attacker of the guarantee knows
    n_tried: int  # people it was tried on
    is_sampled: bool
    seconds: float
    warning: str = ""  # what it leaves exposed
    shown_entries: str = ""  # what records show, where they do not belong to people
    has_own_records: bool = True  # records belong to people

    @property
    def score(self) -> float:
        """From 0 to 1: entries unchanged and pair counts right, in equal parts."""
        pairs = self.utility.errors.get("pairs") or self.utility.errors.get("singles")
        right = 1 / (1 + pairs.median) if pairs else self.exact
        return (self.exact + right) / 2

    @property
    def colour(self) -> Colour:
        """The light for utility in the report."""
        return colour_of_use(self.exact, self.utility, self.n_published, self.empty)

    @property
    def risk_colour(self) -> Colour:
        """The light for residual risk in the report."""
        average, _ = self._average
        return worst_colour([colour_of_risk(self.residual, self.inference, self.profile), average or "good"])

    @property
    def risk_words(self) -> str:
        """The residual risk with its figures."""
        figures = ["" if self.residual is None else risk_words(self.residual), self._average[1]]
        figures.append("" if self.inference is None else f"{self.inference.sentence}.")
        return " ".join(filter(None, figures))

    @property
    def _average(self) -> tuple[Colour | None, str]:
        if not self.has_own_records or self.residual is None:
            return None, ""
        return average_risk(self.risk_after, self.reach, self.profile)

    @property
    def profile(self) -> Threshold:
        """The thresholds of its report."""
        asked = self.policy.assessment
        return find_profile(asked.profile, asked.environment)

    def words(self) -> list[str]:
        """What a data steward has to know: guarantee, utility, residual risk."""
        lights = f"Lights: residual risk {LEVELS[self.risk_colour]}, utility {GRADES[self.colour]}."
        kept = [self.shown_entries or Unchanged(self.exact, "entries", self.largest_set).words]
        if self.largest_set > 1:
            kept.append(f"the broadest category covers {figure(self.largest_set)} items")
        use = "; ".join([*kept, *self.utility.words]) + "."
        lines = [self.guarantee, lights, use[0].upper() + use[1:]]
        if self.risk_words:
            lines.append(f"Residual risk: {LEVELS[self.risk_colour]}. {self.risk_words}")
        return [*lines, self.warning] if self.warning else lines


@dataclass(frozen=True, repr=False)
class Suggestion:
    """The profile, the best choice and the alternatives."""

    profile: Profile
    purpose: Purpose
    choices: tuple[Choice, ...]  # the first is the proposal
    rejected: tuple[tuple[str, str], ...]  # settings that were rejected, and why
    reasons: tuple[str, ...]  # why this k and m
    source: str = "INPUT"
    given: Mapping[str, Any] = field(default_factory=dict)  # sensitive items and reading options as they were given

    def _repr_html_(self) -> str:
        from setveil.report.cards import card

        facts = [(choice.role, " ".join(choice.words())) for choice in self.choices]
        return card(f"Suggestion ({self.purpose.name})", facts=facts, note=f"$ {self.command()}")

    def command(self, choice: Choice | None = None, out: str = "release") -> str:
        """The command of a choice; run it in the folder in which the suggestion was made."""
        chosen = choice or self.choices[0]
        model, policy = chosen.policy.model, chosen.policy
        words = ["setveil", "anonymize", self.source, "-o", out, "--model", model.name]
        for name, value in model.given().items():
            if name == "sensitive":
                words += ["--sensitive", str(self.given.get("sensitive") or ",".join(value))]
            elif isinstance(value, int | str):
                words += [parameters_of(MODELS[model.name])[name].flag, str(value)]
        if policy.algorithm.name:
            words += ["--algorithm", policy.algorithm.name]
        for name, value in policy.algorithm.options.items():
            words += ["--option", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        if policy.hierarchy.source:
            words += ["--hierarchy", policy.hierarchy.source]
        for name, value in (("profile", policy.assessment.profile), ("environment", policy.assessment.environment)):
            if value is not None:
                words += [f"--{name}", str(value)]
        if policy.seed:
            words += ["--seed", str(policy.seed)]
        return shlex.join([*words, *option_words(self.given.get("reading", {}))])

    def policy(self, choice: Choice | None = None) -> Policy:
        """The proposal as a policy, with how to read the input."""
        chosen = (choice or self.choices[0]).policy
        reading = {name: value for name, value in self.given.get("reading", {}).items() if value is not None}
        content = chosen.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        return make_policy({**content, "input": {**content.get("input", {}), **reading}, "seed": chosen.seed})

    def __str__(self) -> str:
        lines = [f"Purpose: {self.purpose.name}. {self.purpose.words}."]
        lines += [f"- {reason}" for reason in self.reasons]
        for number, choice in enumerate(self.choices, start=1):
            lines += ["", f"{number}. {choice.role} ({name_of(choice.policy)})"]
            lines += [f"   {line}" for line in choice.words()]
            lines.append(f"   $ {self.command(choice)}")
        if self.rejected:
            lines += ["", "Rejected:"]
            lines += [f"- {name}: {why}" for name, why in self.rejected]
        n_tried = min(choice.n_tried for choice in self.choices)
        if n_tried < self.profile.n_records:
            lines += [
                "",
                f"Tried on a sample of {n_tried:,} of {self.profile.n_records:,} people, with k scaled accordingly: "
                "the figures are estimates.",
            ]
        return "\n".join(lines)

    __repr__ = __str__


def name_of(policy: Policy) -> str:
    """A setting in a few words."""
    parts = [f"{name}={value}" for name, value in policy.model.given().items() if name != "sensitive"]
    options = [f"{name}={value}" for name, value in policy.algorithm.options.items()]
    words = [policy.model.name, *parts, policy.algorithm.name or "", *options, policy.hierarchy.source or ""]
    return " ".join(word for word in words if word)
