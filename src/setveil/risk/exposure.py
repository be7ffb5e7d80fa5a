"""What known items reveal about further ones in data as they are: the figures of ``inference`` without any release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.core import Transactions
from setveil.risk.attackers import inference_base
from setveil.risk.intervals import Rate
from setveil.risk.knowledge import People
from setveil.risk.surface import Surface
from setveil.risk.targets import Targets

TARGETS = 1_000  # people drawn for each number of known items: those that a run attacks with the same seed


@dataclass(frozen=True)
class ExposureRow:
    """For one number of known items, drawn at random: of how many people something further is certain, or likely."""

    known: int
    base: str
    n_targets: int  # people of that base among those drawn
    certain: Rate
    certain_control: Rate  # the same for people who are not in the data
    likely: Rate
    likely_control: Rate

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; a rate is [value, low, high]."""
        return {
            "known": self.known,
            "base": self.base,
            "n_targets": self.n_targets,
            "certain": {"value": list(self.certain), "control": list(self.certain_control)},
            "likely": {"value": list(self.likely), "control": list(self.likely_control)},
        }


def expose(
    data: Transactions, known: Iterable[int], sensitive: Iterable[str] = (), seed: int = 0, targets: int = TARGETS
) -> tuple[ExposureRow, ...]:
    """A row for each number of known items that some person with something left to infer has."""
    numbers = data.vocabulary.numbers(set(sensitive))
    secrets = np.sort(numbers[numbers >= 0])
    people, surface = People.of(data, secrets), Surface.of_original(data, secrets)
    rows = []
    for size in [0, *sorted(known)] if surface.column_classes is not None else sorted(known):
        if not people.can_be_known(size):
            continue
        group = Targets(people, size, targets, seed, 0.0)
        inferred = group.inferred(surface, "random", True)
        if not inferred.asked.any():
            continue
        sides = inferred.found.certain, inferred.control.certain, inferred.found.likely, inferred.control.likely
        rows.append(
            ExposureRow(
                size,
                inference_base(size, bool(len(secrets))),
                len(np.unique(group.own[inferred.asked]))
                if group.group.weights is not None
                else int(inferred.asked.sum()),
                *(group.rate("random", side, inferred.asked) for side in sides),
            )
        )
    return tuple(rows)
