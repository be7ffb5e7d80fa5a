"""Thresholds for residual risk, by the rule that an owner follows: ``PROFILES`` is the only place that has them.

A profile says how many people must share what the attacker of the guarantee knows (k), so that the probability of
re-identification is at most 1/k. The environment says what attackers beyond the guarantee may achieve.
``docs/assessment.md`` shows the same tables and where each number comes from. None of them is legal advice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from setveil.errors import InputError, one_line

LARGEST_K = 10**9


class Environment(NamedTuple):
    """Who can obtain the data, and how many people attackers beyond the guarantee may single out."""

    words: str
    low: float  # share of all people up to which residual risk is low
    high: float  # and above which it is high


ENVIRONMENTS = {
    "public": Environment("anyone can obtain the data", 0.01, 0.10),
    "agreement": Environment("known recipients under a data use agreement", 0.05, 0.20),
    "secure": Environment("access in a secure environment only; results are checked before release", 0.10, 0.33),
}


@dataclass(frozen=True)
class Profile:
    """A threshold and the rule it comes from."""

    name: str
    k: int  # people who share what the attacker of the guarantee knows
    limit: Fraction  # the highest probability of re-identification
    source: str  # where the number comes from
    environment: str = "public"
    is_declared: bool = True  # the owner chose it; a release that misses it is red

    @property
    def words(self) -> str:
        """Name and threshold."""
        return f"{self.name} (probability of at most {float(self.limit):.3g}: k of at least {self.k})"

    def to_dict(self) -> dict[str, Any]:
        """What a certificate says of it."""
        return {"profile": self.name, "k": self.k, "environment": self.environment}


def _by_k(name: str, k: int, source: str, environment: str = "public") -> Profile:
    return Profile(name, k, Fraction(1, k), source, environment)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "ema-0070",
            12,
            Fraction(9, 100),
            "European Medicines Agency, external guidance on Policy 0070: threshold of 0.09 for clinical reports "
            "that are published",
        ),
        _by_k(
            "cms-11",
            11,
            "Centers for Medicare & Medicaid Services (USA), cell size suppression policy: no cell with 1 to 10 people "
            "is shown",
        ),
        _by_k(
            "ons-10",
            10,
            "Office for National Statistics (UK), Secure Research Service: unweighted counts of at least 10 in results "
            "that leave the service",
        ),
        _by_k(
            "opensafely-7",
            8,
            "OpenSAFELY (UK), permitted results policy: counts of 7 or fewer are suppressed, so that 8 is the smallest "
            "count shown",
        ),
        _by_k(
            "internal-3",
            3,
            "convention for use inside an organization: the minimum frequency of 3 that is usual for tables of counts",
            "secure",
        ),
    )
}
DEFAULT = replace(_by_k("default", 5, "convention of setveil where no profile was chosen"), is_declared=False)


def find_profile(given: str | float | None, environment: str | None = None) -> Profile:
    """The profile of that name, or of a threshold: a share such as 0.05 or 1/20, or a number of people such as 20."""
    if environment is not None and environment not in ENVIRONMENTS:
        raise InputError(
            f'the environment is one of {", ".join(ENVIRONMENTS)}, not "{one_line(str(environment), 40)}".'
        )
    profile = DEFAULT if given is None else PROFILES.get(str(given)) or _own(str(given))
    return profile if environment is None else replace(profile, environment=environment)


def _own(text: str) -> Profile:
    try:
        value = Fraction(text.strip()) if len(text) <= 40 else None
    except (ValueError, ZeroDivisionError):
        value = None
    if value is not None and 0 < value < 1 and ceil(1 / value) <= LARGEST_K:
        return Profile(f"threshold-{float(value):.3g}", ceil(1 / value), value, "threshold of the owner")
    if value is not None and value.denominator == 1 and 2 <= value <= LARGEST_K:
        return _by_k(f"threshold-{value}", int(value), "threshold of the owner")
    raise InputError(
        f"the profile is one of {', '.join(PROFILES)}, a share such as 0.05, or a number of people of at least 2, not "
        f'"{one_line(text, 40)}".'
    )


def certified_profile(certified: dict[str, Any] | None) -> Profile:
    """The profile that a certificate names; names of other versions keep their number."""
    if certified is None:
        return DEFAULT
    known = PROFILES.get(certified["profile"]) or (DEFAULT if certified["profile"] == DEFAULT.name else None)
    if known is None or known.k != certified["k"]:
        known = _by_k(certified["profile"], certified["k"], "threshold of the owner")
    return replace(known, environment=certified["environment"])
