"""A smallest number of people that depends on how many items an attacker knows: ``k_known`` of several models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from setveil.errors import InputError
from setveil.models.base import PrivacyModel
from setveil.models.parameters import CrowdSizes, parameter

MOST_KNOWN = 1_000  # items: an attacker who knows more knows whole records, and every size is counted on its own
HELP = "Smallest number of matching people for each number of known items, such as 0:20,1:10,2:5."


def crowds_parameter() -> Any:
    """The parameter ``k_known``."""
    return parameter(CrowdSizes(), HELP, default=None, label="k for each number of known items, such as 0:20,1:10,2:5")


class GradedCrowds(PrivacyModel):
    """A model with parameters ``k``, ``m`` and ``k_known``, which must agree with each other."""

    if TYPE_CHECKING:  # declared by the models
        k: int
        m: int | Literal["all"]
        k_known: str | None

    @classmethod
    def completed(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """``k`` and ``m`` follow from ``k_known`` where they are not given."""
        given = CrowdSizes().check("k_known", options.get("k_known"))
        if given is None:
            return dict(options)
        crowds = _numbers(given)
        return {"k": crowds[-1], "m": len(crowds) - 1, **options}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k_known is None:
            return
        crowds = _numbers(self.k_known)
        if self.m == "all":
            raise InputError('k_known needs a largest number of known items; choose a number for m instead of "all".')
        if len(crowds) != self.m + 1:
            raise InputError(
                f"k_known gives numbers of people for 0 to {len(crowds) - 1} known items, and m is {self.m}; give one "
                f"for each of 0 to {self.m}."
            )
        if crowds[-1] != self.k:
            raise InputError(
                f"k_known asks for {crowds[-1]} people for {self.m} known items, and k is {self.k}; remove k, or make "
                "them equal."
            )

    def options(self) -> dict[str, Any]:
        """Without ``k_known`` and ``observable`` where there are none, as before they existed."""
        later = ("k_known", "observable")
        return {name: value for name, value in super().options().items() if name not in later or value is not None}

    @property
    def crowd(self) -> int:
        return self.k

    @property
    def known_items(self) -> float:
        return inf if self.m == "all" else float(self.m)

    @property
    def violated_by(self) -> Literal["combination", "record", "part", "group"]:
        return "part" if self.m == "all" else "combination"

    @property
    def largest(self) -> int | None:
        """The largest number of known items; None for any number."""
        return None if self.m == "all" else self.m

    def k_for(self, n_known: int) -> int:
        """Smallest number of people who match all that an attacker with ``n_known`` known items knows."""
        return self._crowds[min(n_known, len(self._crowds) - 1)]

    @cached_property
    def _crowds(self) -> tuple[int, ...]:
        return (self.k,) if self.k_known is None else _numbers(self.k_known)

    @property
    def graded(self) -> tuple[tuple[int, int, int | None], ...]:
        """``(k, first, last)``: numbers of known items from 1 to m with the same ``k``, ascending; None: any number."""
        if self.m == "all":
            return ((self.k, 1, None),)
        runs: list[tuple[int, int, int | None]] = []
        for size in range(1, self.m + 1):
            k = self.k_for(size)
            if runs and runs[-1][0] == k:
                runs[-1] = (k, runs[-1][1], size)
            else:
                runs.append((k, size, size))
        return tuple(runs)

    def _matches(self, nothing: str) -> str:
        """``at least 20 published records with nothing else known, at least 10 with 1 item, …``."""
        parts = [f"at least {self.k_for(0)} with {nothing}"]
        parts += [
            f"at least {self.k_for(size)} with {size} item{'' if size == 1 else 's'}"
            for size in range(1, len(self._crowds))
        ]
        return ", ".join(parts)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part.partition(":")[2]) for part in text.split(","))
