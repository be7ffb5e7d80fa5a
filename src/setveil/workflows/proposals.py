"""What is proposed to a data owner, and in which words: purpose, shape of the data, choices and their commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from setveil.policy.schema import Policy
from setveil.report.lights import Colour, colour_of_use
from setveil.report.words import figure, percent
from setveil.workflows.policies import make_policy


@dataclass(frozen=True)
class Purpose:
    """Who will have the data, and the promises that suit it, the one to aim at first."""

    name: str
    words: str
    steps: tuple[tuple[int, int], ...]  # (k, m), from the aim down to the least that is acceptable
    more: tuple[int, int]  # a stronger promise, shown beside the aim


PURPOSES = {
    "publish": Purpose(
        "publish",
        "Anyone may have published data, for ever, and nobody can be held to a contract: neighbours, "
        "colleagues and search engines know two or three things about a person",
        ((10, 2), (5, 2)),
        (10, 3),
    ),
    "share": Purpose(
        "share",
        "A known recipient under contract will not look for people, but may come across someone of whom "
        "they know two things",
        ((5, 2), (3, 2)),
        (10, 2),
    ),
    "internal": Purpose(
        "internal",
        "Inside the house access is controlled; a small crowd keeps colleagues from recognizing somebody by chance",
        ((3, 2), (2, 2)),
        (5, 2),
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
    singled_out: tuple[float | None, ...]  # by 1, 2, 3, 4 known items


@dataclass(frozen=True)
class Choice:
    """One setting that was tried and works."""

    policy: Policy
    role: str  # why it is shown
    guarantee: str
    exact: float  # share of entries published exactly
    largest_set: int
    n_published: int
    errors: tuple[float, float] | None  # typical relative error of single and of pair counts
    singled_out: tuple[float | None, ...]  # by 1, 2, 3, 4 known items, after
    n_tried: int  # people it was tried on
    is_sampled: bool
    seconds: float
    warning: str = ""  # what it leaves exposed

    @property
    def usefulness(self) -> float:
        """From 0 to 1: entries kept and pair counts right, in equal parts."""
        right = 1 / (1 + self.errors[1]) if self.errors else self.exact
        return (self.exact + right) / 2

    @property
    def colour(self) -> Colour:
        """The light that the report would show for usefulness."""
        return colour_of_use(self.exact, self.errors[1] if self.errors else None, self.n_published, 0.0)

    def words(self) -> list[str]:
        """What a data steward has to know: what it protects, keeps and leaves."""
        kept = f"{percent(self.exact)} of the entries are published exactly"
        if self.largest_set > 1:
            kept += f", the largest set stands for {figure(self.largest_set)} items"
        if self.errors:
            kept += f"; counts of single items are {_off(self.errors[0])}, counts of pairs {_off(self.errors[1])}"
        left = [
            f"{share_words(share)} by {known}" for known, share in enumerate(self.singled_out, 1) if share is not None
        ]
        lines = [self.guarantee, kept + ".", "Records singled out by known items: " + ", ".join(left[1:] or left) + "."]
        return [*lines, self.warning] if self.warning else lines


def _off(error: float) -> str:
    return "exact" if error == 0 else f"typically off by {percent(error)}"


def share_words(share: float) -> str:
    """A share, and "none" for nothing."""
    return "none" if share == 0 else percent(share)


@dataclass(frozen=True, repr=False)
class Suggestion:
    """The profile, the best choice and what else would work."""

    profile: Profile
    purpose: Purpose
    choices: tuple[Choice, ...]  # the first is the proposal
    rejected: tuple[tuple[str, str], ...]  # what was tried in vain, and why
    reasons: tuple[str, ...]  # why this k and m
    source: str = "INPUT"
    given: Mapping[str, Any] = field(default_factory=dict)  # sensitive items and reading options as they were given

    def _repr_html_(self) -> str:
        from setveil.report.cards import card

        facts = [(choice.role, " ".join(choice.words())) for choice in self.choices]
        return card(f"Suggestion ({self.purpose.name})", facts=facts, note=f"$ {self.command()}")

    def command(self, choice: Choice | None = None, out: str = "release") -> str:
        """The command that does what was proposed; it runs as pasted in the folder where the suggestion was asked
        for.
        """
        chosen = choice or self.choices[0]
        model, policy = chosen.policy.model, chosen.policy
        words = ["setveil", "anonymize", self.source, "-o", out, "--model", model.name]
        for name, value in model.given().items():
            if name == "sensitive":
                words += ["--sensitive", str(self.given.get("sensitive") or ",".join(value))]
            elif isinstance(value, int | str):
                words += [f"-{name}", str(value)]
        if policy.algorithm.name:
            words += ["--algorithm", policy.algorithm.name]
        for name, value in policy.algorithm.options.items():
            words += ["--option", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        if policy.hierarchy.source:
            words += ["--hierarchy", policy.hierarchy.source]
        if policy.seed:
            words += ["--seed", str(policy.seed)]
        for name, value in self.given.get("reading", {}).items():
            if value is True:
                words.append("--" + name.replace("_", "-"))
            elif value not in (None, False):
                words += ["--" + name.replace("_", "-"), str(value)]
        return shlex.join(words)

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
                f"Tried on {n_tried:,} of {self.profile.n_records:,} people, with k scaled accordingly: the "
                "figures are estimates.",
            ]
        return "\n".join(lines)

    __repr__ = __str__


def name_of(policy: Policy) -> str:
    """A setting in a few words."""
    told = [f"{name}={value}" for name, value in policy.model.given().items() if name != "sensitive"]
    options = [f"{name}={value}" for name, value in policy.algorithm.options.items()]
    words = [policy.model.name, *told, policy.algorithm.name or "", *options, policy.hierarchy.source or ""]
    return " ".join(word for word in words if word)
