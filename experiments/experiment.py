"""What an experiment is, and what comes out of it: lines to draw, and readings of the paper's claims."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TypeVar

from experiments.claims import Claim, Reading
from experiments.store import Made, Store
from setveil.algorithms import default_for
from setveil.core import Hierarchy, Transactions
from setveil.errors import GuaranteeError, InfeasibleError, InputError
from setveil.models import KmAnonymity, PrivacyModel
from setveil.workflows.anonymize import anonymize
from setveil.workflows.assess import verify
from setveil.workflows.inputs import read

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

    def at(self, x: float | str) -> float | None:
        """The value at one place of the axis."""
        return dict(self.points).get(x)


def _finite(value: float | None) -> float | None:
    """A plain number, or None for what cannot be drawn."""
    return None if value is None or not isfinite(value) else float(value)


NOT_LOSSES = (
    "nodes",  # memory
    "records",  # bandwidth
    "mean Hamming distance",
    "% of transactions",  # re-identified before anything is done
    "percent above the optimum of the same tree",  # our default has no tree
)


@dataclass(frozen=True)
class Panel:
    """One picture: several lines over the same axis."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_y: bool = False
    is_timing: bool = False  # seconds of one machine: drawn, but never compared with the paper's seconds

    @property
    def is_loss(self) -> bool:
        """Whether it shows what a release costs those who use it: there our default stands beside the methods."""
        return not self.is_timing and self.y_label not in NOT_LOSSES

    @property
    def has_default(self) -> bool:
        """Whether the default of setveil has a point in it."""
        return any(y is not None for line in self.lines if line.name.startswith(OURS) for _, y in line.points)

    def line(self, name: str) -> Line:
        """By the beginning of its name."""
        found = [line for line in self.lines if line.name.startswith(name)]
        return found[0]


@dataclass(frozen=True)
class Outcome:
    """What an experiment gave, or why it was not run."""

    panels: tuple[Panel, ...] = ()
    readings: tuple[Reading, ...] = ()
    not_run: str = ""
    cpu_seconds: int | None = None  # what it took, all in all; None if that is not known
    remark: str = ""  # what is out of date about it; a run has none

    def panel(self, title: str) -> Panel:
        """By the beginning of its title."""
        found = [panel for panel in self.panels if panel.title.startswith(title)]
        return found[0]  # results of an earlier version may lack one: IndexError


OURS = "our default"
REFINE = "aa+refine (ours)"  # what setveil offers to those who bring a hierarchy and ask for little NCP
EFFORT = "fast"  # of the default for k^m-anonymity: with more effort the experiments would not end within minutes


def name_of_default(model: str) -> str:
    """What the line of setveil's default for a model is called.

    The registry knows which algorithm that is, but for k^m-anonymity: without a hierarchy, on data of any size, that is
    ``trim``, and a hierarchy it does not need.
    """
    return f"{OURS} (trim, effort={EFFORT})" if model == "km" else f"{OURS} ({default_for(model).name})"


@dataclass
class Workshop:
    """What experiments share: the data (read once), releases that were made before, progress, and a stopwatch."""

    folder: Path
    store: Store | None = None  # without one, every release is made anew
    step: Step = lambda _: None
    _read: dict[str, Transactions] = field(default_factory=dict)

    def data(self, name: str) -> Transactions:
        """A data set by the stem of its file, for example ``BMS1``."""
        if name not in self._read:
            self._read[name] = read(self.path(name))
        return self._read[name]

    def path(self, name: str) -> Path:
        """Where a data set lies."""
        found = sorted(self.folder.glob(f"{name}.*"))
        if not found:
            raise InputError(f"{self.folder}: no file {name}.*; put it there or leave the experiment out.")
        return found[0]

    def release(
        self,
        data: Transactions,
        model: PrivacyModel,
        algorithm: str | None,
        hierarchy: Hierarchy | str | None = None,
        **options: object,
    ) -> Made:
        """A verified release, made now or before, and the CPU seconds of making it (verifying not counted)."""
        if self.store is None:
            return self.make(data, model, algorithm, hierarchy, **options)
        name = self.store.name(data, model, algorithm, hierarchy, options)
        found = self.store.find(name)
        if found is None:
            try:
                found = self.make(data, model, algorithm, hierarchy, **options)
            except (InfeasibleError, InputError) as problem:
                found = problem
            self.store.keep(name, found)
        if isinstance(found, tuple):
            return found
        raise found

    def make(
        self,
        data: Transactions,
        model: PrivacyModel,
        algorithm: str | None,
        hierarchy: Hierarchy | str | None = None,
        **options: object,
    ) -> Made:
        """The same, made now: for who compares seconds, which may not hold those of compiling."""
        release, seconds = self.timed(lambda: anonymize(data, model, algorithm, hierarchy, options))
        if not verify(release, model).holds:
            raise GuaranteeError(f"the release of {algorithm} does not keep {model}; nothing is measured on it.")
        return release, seconds

    def default_release(self, data: Transactions, model: PrivacyModel) -> Made | None:
        """What setveil does when neither an algorithm nor a hierarchy is named; None if it finds nothing."""
        options = {"effort": EFFORT} if isinstance(model, KmAnonymity) else {}
        try:
            return self.release(data, model, None, **options)
        except InfeasibleError:
            return None

    def timed(self, what: Callable[[], T]) -> tuple[T, float]:
        """A result and the CPU seconds it took, kernels already compiled."""
        start = time.process_time()
        result = what()
        return result, time.process_time() - start


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper."""

    name: str  # as typed: "001-fig9"
    title: str
    setting: str  # data and parameters, and what differs from the paper's setting and why
    needs: tuple[str, ...]  # stems of data files; the experiment is skipped, and said to be, without them
    run: Callable[[Workshop], Outcome]

    @property
    def paper(self) -> str:
        """The number of its paper."""
        return self.name.partition("-")[0]


@dataclass(frozen=True)
class Headline:
    """What a paper is cited for, and where the number that decides it stands."""

    claim: str
    experiment: str
    panel: str
    x: float | str
    lines: tuple[str, ...]  # whose values are shown; the default of setveil stands in a column of its own
    counts: str = ""  # the panel of the same experiment that shows how far counts of pairs are off


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments are run here."""

    number: str
    authors: str
    title: str
    experiments: tuple[Experiment, ...]  # in the order of its figures and tables
    claims: tuple[Claim, ...]
    errata: tuple[tuple[str, str], ...]  # where, what
    left_out: tuple[tuple[str, str], ...]  # figures that are not run, each with the reason
    headline: Headline
    picture: tuple[tuple[str, str], ...]  # the panels shown on its page: experiment and beginning of the title
    rebuilt: tuple[tuple[str, str], ...] = ()  # methods that the paper compares with, and how far ours are guesses


def data_folder(path: str | os.PathLike[str]) -> Path:
    """The folder given with ``--data``, or an error that says what it is for."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; --data names the folder with BMS1.dat.gz, BMS2.dat.gz and the others."
        )
    return folder
