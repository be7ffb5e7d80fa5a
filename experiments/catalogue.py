"""Which papers and experiments there are. A paper's file is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from experiments.experiment import Experiment
from setveil.errors import InputError


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments are run here."""

    number: str
    authors: str
    title: str

    def experiments(self) -> tuple[Experiment, ...]:
        """In the order of its figures and tables."""
        found: tuple[Experiment, ...] = self._file().EXPERIMENTS
        return found

    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Figures that are not run, each with the reason."""
        found: tuple[tuple[str, str], ...] = self._file().LEFT_OUT
        return found

    def _file(self) -> ModuleType:
        return import_module(f"experiments.paper{self.number}")


PAPERS: tuple[Paper, ...] = (
    Paper(
        "000",
        "Gkoulalas-Divanis, Loukides 2012",
        "Utility-guided clustering-based transaction data anonymization",
    ),
    Paper(
        "001",
        "Terrovitis, Mamoulis, Kalnis 2008",
        "Privacy-preserving anonymization of set-valued data",
    ),
    Paper(
        "002",
        "Liu, Wang 2010",
        "Anonymizing transaction data by integrating suppression and generalization",
    ),
    Paper("003", "Ghinita, Kalnis, Tao 2011", "Anonymous publication of sensitive transactional data"),
    Paper(
        "004", "Lin, Liu, Fournier-Viger, Hong 2016", "PTA: an efficient system for transaction database anonymization"
    ),
)


def choose(names: Sequence[str]) -> list[Experiment]:
    """The experiments that some names stand for: an experiment, a paper, or ``all``; in the order of the papers."""
    wanted = set(names)
    chosen: list[Experiment] = []
    known = {"all"}
    for paper in PAPERS:
        known.add(paper.number)
        if not any(name == "all" or name.partition("-")[0] == paper.number for name in wanted):
            continue
        for experiment in paper.experiments():
            known.add(experiment.name)
            if wanted & {"all", paper.number, experiment.name}:
                chosen.append(experiment)
    for name in names:
        if name not in known:
            raise InputError(f'there is no experiment "{name}"; it is one of {", ".join(all_names())}.')
    return chosen


def all_names() -> list[str]:
    """Everything that can be asked for."""
    return ["all"] + [
        name for paper in PAPERS for name in (paper.number, *(experiment.name for experiment in paper.experiments()))
    ]
