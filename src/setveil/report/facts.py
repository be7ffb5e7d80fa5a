"""The record of a run, as the pages and the certificate show it: plain values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from setveil.models import MODELS, Attacker, PrivacyModel
from setveil.releases import KINDS, Release
from setveil.report.profiles import DEFAULT, Profile
from setveil.report.words import PUBLIC_METRICS

VISITS_ONLY = (
    "Visits, not people: a record is a visit, an order or the like. A person with several of them hides among fewer "
    "than k people."
)
GUESSING = "Guessing: "  # how the sentence about what groups reveal begins


@dataclass(frozen=True)
class Facts:
    """Everything a report may say. ``public()`` removes what reveals more about the original than the release does."""

    version: str
    model: str
    model_options: Mapping[str, Any]
    guarantee: str
    attacker: Attacker
    reach: float | None  # up to how many known items the guarantee speaks, of all items alike
    crowd: int | None  # smallest number of records that an attacker cannot tell apart, if the model has one
    known_items: float | None  # how many items that attacker may know; None where no number limits them
    alternatives: Sequence[str]  # other guarantees to consider
    glossary: Mapping[str, str]  # the model's words
    algorithm: str
    kind: str
    records: int
    holds: bool
    achieved: Mapping[str, Any]
    metrics: Mapping[str, Any]
    risk_after: Sequence[Mapping[str, Any]]
    not_protected: Sequence[str]
    files: Mapping[str, str]
    has_suppression: bool = False  # single entries may be suppressed, not only whole items
    is_internal: bool = True
    package: str = "setveil"  # which has the algorithm
    hidden_options: Sequence[str] = ()  # options of the model that reveal something about the original
    shape: Mapping[str, Any] = field(default_factory=dict)  # what the published files show of themselves
    other_algorithms: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # for the same guarantee, by kind of release
    columns: Sequence[tuple[str, str]] = ()  # name and role of each published column
    certified: Mapping[str, Any] = field(default_factory=dict)  # what the certificate says about the files besides
    names: Mapping[str, str] = field(default_factory=dict)  # of items and categories, where the owner gave a list
    kept: Sequence[str] = ()  # "ids", "order": published with the records
    is_checkable: bool = True  # anyone with the folder can repeat the check
    profile: Profile = DEFAULT  # the thresholds that the lights follow
    # From here on: only in the internal version.
    about: Mapping[str, Any] = field(default_factory=dict)  # data set, date, responsible, purpose
    recipient: str = ""  # who will receive the data
    sensitive: Sequence[str] = ()  # every item that the owner named as sensitive, published or not
    population: Mapping[str, Any] = field(default_factory=dict)  # matches in a population, where one was given
    signer: str = ""  # the key that signs the certificate
    read: str = ""  # how the input was read, in one line
    risk_before: Sequence[Mapping[str, Any]] = ()
    attacks: Sequence[Mapping[str, Any]] = ()  # carried out, as ``risk.attack.AttackRow.to_dict`` has them
    guesses: Mapping[str, Any] = field(
        default_factory=dict
    )  # who of a group has its sensitive item: guaranteed and measured
    left_out: Mapping[str, Any] = field(default_factory=dict)  # what suppressed entries reveal
    query_errors: Mapping[str, Any] = field(default_factory=dict)  # of counts read off the release
    algorithm_options: Mapping[str, Any] = field(default_factory=dict)
    input_facts: Mapping[str, Any] = field(default_factory=dict)
    hierarchy: str = ""
    seed: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)  # what became of the items of the original
    histograms: Mapping[str, Any] = field(default_factory=dict)
    examples: Sequence[Mapping[str, Any]] = ()
    warnings: Sequence[str] = ()
    doubts: Sequence[str] = ()  # what puts the guarantee in question, to follow "but"

    @property
    def made_by(self) -> str:
        """The algorithm, named as that of another package where it is."""
        return named_algorithm(self.algorithm, self.package)

    @property
    def traits(self) -> type[Release]:
        """What is true of every release of this kind."""
        return KINDS[self.kind]

    @property
    def model_class(self) -> type[PrivacyModel]:
        """What the model says without its parameters."""
        return MODELS[self.model]

    @property
    def covered_items(self) -> float | None:
        """Up to how many known items the guarantee limits the number of matching people; None where it does not."""
        return None if self.crowd is None else self.known_items

    @property
    def guessing(self) -> str:
        """The sentence on how often guessers are right, where groups give something away; else empty."""
        return next((sentence for sentence in self.not_protected if sentence.startswith(GUESSING)), "")

    @property
    def optimum(self) -> str:
        """How near the release is to the best possible one, where the algorithm can tell; internal."""
        return str(self.details.get("optimum", ""))

    def public(self) -> Facts:
        """The version that may be published."""
        shown = {"version", "model", "guarantee", "algorithm", "kind", "records", "holds"}
        shown |= {"attacker", "reach", "crowd", "known_items", "alternatives", "glossary", "other_algorithms"}
        shown |= {"risk_after", "not_protected", "files", "has_suppression", "shape", "kept", "is_checkable"}
        shown |= {"package", "profile", "columns", "certified"}
        kept = {name: getattr(self, name) for name in shown}
        options = {name: value for name, value in self.model_options.items() if name not in self.hidden_options}
        metrics = {name: value for name, value in self.metrics.items() if name in PUBLIC_METRICS}
        achieved = public_achieved(self.model, self.achieved)
        return Facts(**kept, model_options=options, metrics=metrics, achieved=achieved, is_internal=False)

    def with_files(self, files: Mapping[str, str]) -> Facts:
        """The same with the hashes of the files written so far."""
        return replace(self, files=dict(files))


def named_algorithm(name: str, package: str) -> str:
    """An algorithm as people see it: with its package, if that is another one."""
    return name if package == "setveil" else f"{name} (package {package})"


def public_achieved(model: str, achieved: Mapping[str, Any]) -> dict[str, Any]:
    """What anyone with the files can count again; of lists about the original, published or not, only the owner can."""
    return {} if MODELS[model].private else dict(achieved)
