"""What an experiment is, and what comes out of it: lines to draw and statements of the paper with ours beside them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TypeVar

from setveil.core import Hierarchy, Release, Transactions
from setveil.models import PrivacyModel

Step = Callable[[str], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """One method over the values of an axis; None where it gave no result, and why."""

    name: str
    points: tuple[tuple[float | str, float | None], ...]
    note: str = ""
    is_paper: bool = False  # numbers printed in the paper, drawn dashed

    def __post_init__(self) -> None:
        points = ((x if isinstance(x, str) else float(x), _finite(y)) for x, y in self.points)
        object.__setattr__(self, "points", tuple(points))


@dataclass(frozen=True)
class Panel:
    """One picture: several lines over the same axis."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_y: bool = False
    is_timing: bool = False  # seconds of one machine: drawn, but never compared with the paper's seconds


@dataclass(frozen=True)
class Statement:
    """Something the paper states, and what was measured; ``agrees`` is None where the two cannot be compared."""

    paper: str
    ours: str
    agrees: bool | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "agrees", None if self.agrees is None else bool(self.agrees))


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave."""

    panels: tuple[Panel, ...]
    statements: tuple[Statement, ...]


@dataclass
class Workshop:
    """What experiments share: the data (read once), progress, and a stopwatch."""

    folder: Path
    step: Step
    _read: dict[str, Transactions] = field(default_factory=dict)

    def data(self, name: str) -> Transactions:
        """A data set by the stem of its file, for example ``BMS1``."""
        if name not in self._read:
            from setveil.workflows.reading import read

            self._read[name] = read(self.path(name))
        return self._read[name]

    def path(self, name: str) -> Path:
        """Where a data set lies."""
        from setveil.errors import InputError

        found = sorted(self.folder.glob(f"{name}.*"))
        if not found:
            raise InputError(f"{self.folder}: no file {name}.*; put it there or leave the experiment out.")
        return found[0]

    def release(
        self,
        data: Transactions,
        model: PrivacyModel,
        algorithm: str,
        hierarchy: Hierarchy | str | None = None,
        **options: object,
    ) -> tuple[Release, float]:
        """A release that was found to keep its model, and the CPU seconds of making it (verifying not counted)."""
        from setveil.errors import GuaranteeError
        from setveil.workflows.anonymize import anonymize
        from setveil.workflows.assess import verify

        release, seconds = self.timed(lambda: anonymize(data, model, algorithm, hierarchy, options))
        if not verify(release, model).holds:
            raise GuaranteeError(f"the release of {algorithm} does not keep {model}; nothing is measured on it.")
        return release, seconds

    def timed(self, what: Callable[[], T]) -> tuple[T, float]:
        """A result and the CPU seconds it took, kernels already compiled."""
        start = time.process_time()
        result = what()
        return result, time.process_time() - start


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper."""

    name: str  # as typed: "001-fig9"
    paper: str  # "001"
    title: str
    setting: str  # data and parameters, and what differs from the paper's setting and why
    needs: tuple[str, ...]  # stems of data files; the experiment is skipped, and said to be, without them
    run: Callable[[Workshop], Outcome]


@dataclass(frozen=True)
class Result:
    """An experiment and what it gave, or why it was not run."""

    experiment: Experiment
    outcome: Outcome | None
    reason: str = ""


def _finite(value: float | None) -> float | None:
    """A plain number, or None for what cannot be drawn."""
    return None if value is None or not isfinite(value) else float(value)


def data_folder(path: str | os.PathLike[str]) -> Path:
    """The folder given with ``--data``, or an error that says what it is for."""
    from setveil.errors import InputError

    folder = Path(path)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; --data names the folder with BMS1.dat.gz, BMS2.dat.gz and the others."
        )
    return folder
