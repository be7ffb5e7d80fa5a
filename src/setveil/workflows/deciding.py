"""The decision that ``setveil demo`` shows: three candidates on bundled data, their lights, and the one to publish."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any, NamedTuple

from setveil.algorithms import find
from setveil.core.progress import Progress, no_progress
from setveil.errors import unheard_warnings
from setveil.policy.schema import Policy
from setveil.report.figures import Unchanged
from setveil.report.lights import GRADES, LEVELS, crowd_of
from setveil.report.profiles import Profile, find_profile
from setveil.report.words import percent
from setveil.workflows.hierarchy import resolve_hierarchy
from setveil.workflows.inputs import as_transactions
from setveil.workflows.policies import make_policy
from setveil.workflows.proposals import Choice
from setveil.workflows.samples import demo_files
from setveil.workflows.settings import measure_setting, profile_of

PROFILE = "ons-10"
CANDIDATES: tuple[dict[str, Any], ...] = (  # model and algorithm of each
    {"model": {"name": "km", "k": 10, "m": 2}, "algorithm": {"name": "trim"}},
    {"model": {"name": "km", "k": 10, "m": 2}, "algorithm": {"name": "lra"}},
    {"model": {"name": "counts", "k": 10}, "algorithm": {"name": "tally"}},
)


class Row(NamedTuple):
    """One candidate with its lights."""

    letter: str
    choice: Choice
    is_chosen: bool
    reason: str

    @property
    def policy(self) -> Policy:
        """The candidate as a policy."""
        return self.choice.policy

    def cells(self) -> tuple[str, ...]:
        """The candidate in a table."""
        model, worst = self.policy.model, self.choice.residual
        given = [f"{name}={value}" for name, value in model.given().items()]
        pairs = self.choice.utility.errors.get("pairs")
        guarantee = "met" if _meets(self.choice) else f"below k={self.choice.profile.k}"
        return (
            f"{self.letter}  {model.name} {', '.join([*given, str(self.policy.algorithm.name)])}",
            guarantee,
            LEVELS[self.choice.risk_colour],
            percent(0.0 if worst is None else worst.of_all_people),
            GRADES[self.choice.colour],
            "–" if pairs is None else percent(pairs.mean),
            "publish" if self.is_chosen else "reject",
        )


@dataclass(frozen=True)
class Decision:
    """The raw risk, the candidates and the choice."""

    source: str
    hierarchy: str
    raw: tuple[float | None, ...]  # share of all people singled out by 1, 2, 3, 4 known items
    profile: Profile
    rows: tuple[Row, ...]

    @property
    def chosen(self) -> Row:
        """The candidate to publish."""
        return next(row for row in self.rows if row.is_chosen)

    def command(self, out: str) -> str:
        """The command that publishes the chosen candidate, with the names of the bundled files."""
        policy, names = self.chosen.policy, [path.name for path in demo_files()]
        words = ["setveil", "anonymize", names[0], "-o", out, "--model", policy.model.name]
        words += [word for name, value in policy.model.given().items() for word in (f"-{name}", str(value))]
        words += ["--algorithm", str(policy.algorithm.name)]
        words += ["--hierarchy", names[1]] if policy.hierarchy.source else []
        return shlex.join([*words, "--profile", self.profile.name])


def decide_demo(progress: Progress = no_progress) -> Decision:
    """Measure the candidates and choose: no red light, then the highest utility, as ``suggest`` does."""
    baskets, taxonomy = map(str, demo_files())
    progress("reading", None)
    data = as_transactions(baskets)
    tree = resolve_hierarchy(taxonomy, data)
    choices = []
    for number, candidate in enumerate(CANDIDATES):
        progress("measuring candidates", number / len(CANDIDATES))
        uses_tree = find(candidate["algorithm"]["name"]).hierarchy != "none"
        source = {"hierarchy": {"source": taxonomy}} if uses_tree else {}
        policy = make_policy({**candidate, **source, "assessment": {"profile": PROFILE}})
        with unheard_warnings():
            choices.append(measure_setting(data, policy, tree if uses_tree else None))
    best = max(choices, key=lambda choice: (_is_free_of_red(choice), choice.score))
    rows = tuple(
        Row(letter, choice, choice is best, _reason(choice, best))
        for letter, choice in zip("ABC", choices, strict=True)
    )
    return Decision(baskets, taxonomy, profile_of(data).singled_out, find_profile(PROFILE), rows)


def _meets(choice: Choice) -> bool:
    return crowd_of(choice.profile).colour(choice.policy.model.given()["k"]) == "good"


def _is_free_of_red(choice: Choice) -> bool:
    return _meets(choice) and "bad" not in (choice.risk_colour, choice.colour)


def _reason(choice: Choice, best: Choice) -> str:
    """Why a candidate is published or rejected, with what it would have cost."""
    worst = choice.residual
    if choice is best:
        return "no red light; " + "; ".join(_cost(choice)) + "."
    reasons = []
    if not _meets(choice):
        reasons.append(f"k is below the {choice.profile.k} of the profile")
    if choice.risk_colour == "bad" and worst is not None:
        reasons.append(
            f"publishing it would let an attacker who knows {worst.known} items single out "
            f"{percent(worst.of_all_people)} of all people"
        )
    if choice.colour == "bad":
        reasons.append("its utility is poor: " + "; ".join(_cost(choice)))
    if not reasons:
        reasons.append("its utility is lower: " + "; ".join(_cost(choice)))
    return "; ".join(reasons) + "."


def _cost(choice: Choice) -> list[str]:
    """What analysts lose."""
    pairs, categories = choice.utility.errors.get("pairs"), choice.utility.categories
    losses = [choice.shown_entries or Unchanged(choice.exact, "entries", choice.largest_set).words]
    if categories is not None:
        losses.append(f"counts of published categories: {categories.words}")
    if pairs is not None:
        losses.append(f"counts of pairs: {pairs.words}")
    return losses
