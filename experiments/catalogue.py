"""Which papers and experiments there are."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import paper000, paper001, paper002, paper003, paper004
from experiments.experiment import Experiment, Paper
from setveil.errors import InputError

PAPERS: tuple[Paper, ...] = (paper000.PAPER, paper001.PAPER, paper002.PAPER, paper003.PAPER, paper004.PAPER)


def choose(names: Sequence[str]) -> list[Experiment]:
    """The experiments that some names stand for: an experiment, a paper, or ``all``; in the order of the papers."""
    wanted, known = set(names), all_names()
    for name in names:
        if name not in known:
            raise InputError(f'there is no experiment "{name}"; it is one of {", ".join(known)}.')
    return [
        experiment
        for paper in PAPERS
        for experiment in paper.experiments
        if wanted & {"all", paper.number, experiment.name}
    ]


def all_names() -> list[str]:
    """Everything that can be asked for."""
    return ["all"] + [name for paper in PAPERS for name in (paper.number, *(each.name for each in paper.experiments))]
