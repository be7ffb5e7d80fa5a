"""The experiments of PTA: all of them on small stand-ins, fixed figures on the real data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from stand_ins import run_checked

from experiments import paper004
from experiments.experiment import Experiment, Workshop
from experiments.paper004 import GSC, KS, PTA, Run, Set, run_once

BY_NAME = {experiment.name: experiment for experiment in paper004.EXPERIMENTS}
SMALL = tuple(Set(name, letter, (2, 3), (1, 2), 3) for name, letter in (("chess", "a"), ("T10I4D100K", "f")))
MUSHROOM = Set("mushroom", "b", (100, 200), (1, 2), 100)  # as few records as there are allow fewer segments


def write_stand_in(path: Path, n_records: int, n_items: int, seed: int) -> None:
    """Dense records."""
    rows = np.random.default_rng(seed).random((n_records, n_items)) < 0.4
    path.write_text("".join(" ".join(map(str, np.flatnonzero(row) + 1)) + "\n" for row in rows))


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setattr(paper004, "SETS", (*SMALL, MUSHROOM))
    monkeypatch.setattr(paper004, "N_BASKETS", 120)
    write_stand_in(tmp_path / "chess.dat", 120, 12, 1)
    write_stand_in(tmp_path / "mushroom.dat", 150, 10, 2)
    return Workshop(tmp_path, lambda what: None)


@pytest.mark.parametrize("experiment", paper004.EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_experiment_runs(experiment: Experiment, workshop: Workshop) -> None:
    run_checked(experiment, workshop)


@pytest.mark.parametrize("name", ["004-table2", "004-fig2"])
def test_worked_examples_agree(name: str, workshop: Workshop) -> None:
    assert all(statement.agrees for statement in BY_NAME[name].run(workshop).statements)


def test_rules_tell_right_from_wrong() -> None:
    def runs(*losses: float) -> dict[int, Run]:
        return {x: Run(loss, 1.0, None) for x, loss in enumerate(losses)}

    lines = {"PTA": runs(1, 2), "Gray-TSP": runs(2, 3), "GSC": runs(3, 4)}
    assert paper004._best("data", lines).agrees
    assert paper004._worst("data", lines).agrees
    swapped = {"PTA": runs(3, 2), "Gray-TSP": runs(2, 3), "GSC": runs(1, 1)}
    assert not paper004._best("data", swapped).agrees
    assert not paper004._worst("data", swapped).agrees
    each = Set("data", "a", (0, 1), (0, 1), 0)
    rising = {k: runs(k, k + 1) for k in KS}
    assert paper004._grows(each, rising).agrees
    assert not paper004._grows(each, {**rising, KS[-1]: runs(0, 99)}).agrees
    assert paper004._steady_loss(each, rising).agrees
    assert not paper004._steady_loss(each, {**rising, KS[0]: runs(1, 4)}).agrees


def test_known_losses(real_data: Callable[[str], Path]) -> None:
    """Bits by id: the losses that PTA is known to have."""
    real_data("chess.dat.gz")
    workshop = Workshop(real_data("mushroom.dat.gz").parent, lambda what: None)
    mushroom, chess = workshop.data("mushroom"), workshop.data("chess")
    assert [round(run_once(workshop, mushroom, PTA, 15, n).loss, 1) for n in (100, 150, 200)] == [20.5, 21.1, 22.4]
    assert [round(run_once(workshop, mushroom, PTA, k, 100).loss, 1) for k in (5, 25)] == [11.6, 25.6]
    assert run_once(workshop, mushroom, PTA, 15, 100).leftovers == 1824
    assert round(run_once(workshop, chess, PTA, 15, 60).loss, 1) == 16.6
    assert run_once(workshop, chess, GSC, 15, 60).leftovers is None
