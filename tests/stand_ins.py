"""What the tests of the papers' experiments share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.experiment import Experiment, Outcome, Workshop


def write_stand_in(path: Path, n_records: int, n_items: int, longest: int, seed: int) -> None:
    """Records of one to ``longest`` items; low numbers are frequent."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.sqrt(np.arange(1, n_items + 1))
    sizes = (rng.integers(1, longest + 1) for _ in range(n_records))
    rows = [rng.choice(n_items, size, replace=False, p=chance / chance.sum()) for size in sizes]
    path.write_text("".join(" ".join(map(str, sorted(row))) + "\n" for row in rows))


def run_checked(experiment: Experiment, workshop: Workshop) -> Outcome:
    """Run an experiment; whatever it says must be whole sentences and figures that can be drawn."""
    outcome = experiment.run(workshop)
    assert experiment.name.startswith(f"{experiment.paper}-")
    assert outcome.statements
    for statement in outcome.statements:
        assert statement.paper.endswith(".")
        assert statement.ours.endswith(".")
        assert "nan" not in statement.ours.lower().split()
    for panel in outcome.panels:
        assert len({line.name for line in panel.lines}) == len(panel.lines)
        for line in panel.lines:
            assert line.note or all(y is not None for _, y in line.points)
    return outcome


def agreement(outcome: Outcome) -> dict[str, bool | None]:
    """What became of each statement."""
    return {statement.paper: statement.agrees for statement in outcome.statements}
