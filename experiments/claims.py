"""What a paper claims, how it was read, and what came of it.

A claim stands once in its paper's list, with a few words quoted from the paper and where they are. An experiment gives
readings of claims: one way of taking the words (a data set, a workload, an order of the items), what was measured with
it, and whether it holds by the rule that stands beside the measured value. The verdict on a claim follows from its
readings. A claim that may fail says what kind of cause that has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Unlike things, tallied apart."""

    COMPARISON = "comparisons and trends"
    NUMBER = "printed numbers"
    EXAMPLE = "worked examples"
    DATA = "shapes of data"
    TIME = "times and memory"


class Cause(StrEnum):
    """Why a reading does not hold."""

    PAPER = "the paper contradicts itself"
    DATA = "other data"
    PROTOCOL = "protocol undefined"
    COMPARATOR = "our comparator"
    GENUINE = "genuine"


class Verdict(StrEnum):
    """What the readings of a claim come to."""

    HOLDS = "holds"
    PARTLY = "holds under some readings"
    FAILS = "fails"
    UNTESTED = "cannot be tested"


FEW = 2  # readings that a verdict names


@dataclass(frozen=True)
class Claim:
    """Something a paper states."""

    id: str  # within the paper
    where: str  # section, figure
    quote: str  # a few of the paper's words; none where it prints a figure
    words: str  # what it says, in ours
    kind: Kind = Kind.COMPARISON
    cause: Cause | None = None  # should a reading not hold
    why: str = ""  # the cause in a sentence
    is_fitted: bool = False  # follows from records or a taxonomy that were fitted to the paper's text


@dataclass(frozen=True)
class Reading:
    """A claim taken in one way and measured; ``holds`` is None where the two cannot be compared."""

    claim: str
    name: str  # "" where there is only one way to take it
    ours: str  # what was measured, and the rule
    holds: bool | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", None if self.holds is None else bool(self.holds))


def verdict(readings: Sequence[Reading]) -> Verdict:
    """All, some or none of the readings that can be compared hold."""
    tested = [reading.holds for reading in readings if reading.holds is not None]
    if not tested:
        return Verdict.UNTESTED
    if all(tested):
        return Verdict.HOLDS
    return Verdict.PARTLY if any(tested) else Verdict.FAILS


def told(readings: Sequence[Reading]) -> str:
    """The verdict in words: which readings it holds under, if not under all."""
    found = verdict(readings)
    if found is not Verdict.PARTLY:
        return str(found)
    holding, failing = ([each.name for each in readings if each.holds is value] for value in (True, False))
    if len(holding) <= FEW:
        return f"holds under: {'; '.join(holding)}"
    if len(failing) <= FEW:
        return f"holds but for: {'; '.join(failing)}"
    return f"holds under {len(holding)} of {len(holding) + len(failing)} readings"
