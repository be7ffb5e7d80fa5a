"""What the tests of the papers' experiments share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.catalogue import PAPERS
from experiments.claims import Kind
from experiments.experiment import OURS, Experiment, Outcome, Workshop


def write_stand_in(path: Path, n_records: int, n_items: int, longest: int, seed: int) -> None:
    """Records of one to ``longest`` items; low numbers are frequent."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.sqrt(np.arange(1, n_items + 1))
    sizes = (rng.integers(1, longest + 1) for _ in range(n_records))
    rows = [rng.choice(n_items, size, replace=False, p=chance / chance.sum()) for size in sizes]
    path.write_text("".join(" ".join(map(str, sorted(row))) + "\n" for row in rows))


def run_checked(experiment: Experiment, workshop: Workshop) -> Outcome:
    """Run an experiment; whatever it says must be about its paper's claims, in whole sentences, with figures to
    draw.
    """
    outcome = experiment.run(workshop)
    (paper,) = [paper for paper in PAPERS if paper.number == experiment.paper]
    assert outcome.readings
    claims = {claim.id: claim for claim in paper.claims}
    keys = [(reading.claim, reading.name) for reading in outcome.readings]
    assert len(keys) == len(set(keys)), "readings of a claim have names of their own"
    for reading in outcome.readings:
        assert reading.claim in claims, reading.claim
        is_judged = reading.holds is not None and claims[reading.claim].kind not in (Kind.EXAMPLE, Kind.DATA)
        assert not is_judged or "ule: " in reading.ours, reading  # examples and shapes are equal or not
        assert reading.ours.endswith(".")
        assert "nan" not in reading.ours.lower().split()
    titles = [panel.title for panel in outcome.panels]
    assert len(titles) == len(set(titles))
    for panel in outcome.panels:
        assert len({line.name for line in panel.lines}) == len(panel.lines)
        for line in panel.lines:
            assert line.note or all(y is not None for _, y in line.points)
        assert not panel.is_loss or panel.line(OURS), panel.title
    if experiment.name == paper.headline.experiment:
        panel = outcome.panel(paper.headline.panel)
        assert all(panel.line(name).at(paper.headline.x) is not None for name in paper.headline.lines)
        assert panel.line(OURS)
    for name, title in paper.picture:
        assert name != experiment.name or outcome.panel(title)
    return outcome


def holding(outcome: Outcome, claim: str) -> dict[str, bool | None]:
    """What became of each reading of a claim."""
    return {reading.name: reading.holds for reading in outcome.readings if reading.claim == claim}
