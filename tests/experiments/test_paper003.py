"""The experiments on sensitive items: all of them on small stand-ins, fixed figures on the real data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from experiments import paper003
from experiments.experiment import Experiment, Workshop, name_of_default
from experiments.paper003 import data as paper003_data
from experiments.paper003 import parameters, sweeps
from experiments.paper003.sweeps import GRAY, NN, PAPERS, PM, Method, Sweep
from setveil.core import Transactions
from setveil.orderings import gray_order
from setveil.releases import Grouping
from tests.stand_ins import run_checked, write_stand_in

BY_NAME = {experiment.name: experiment for experiment in paper003.PAPER.experiments}


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setattr(parameters, "SIZES", (600, 1200))
    monkeypatch.setattr(sweeps, "SEEDS", range(1))
    monkeypatch.setattr(sweeps, "N_QUERIES", 5)
    write_stand_in(tmp_path / "BMS1.dat", 700, 60, 6, 1)
    write_stand_in(tmp_path / "BMS2.dat", 900, 120, 6, 2)
    return Workshop(tmp_path)


@pytest.mark.parametrize("experiment", paper003.PAPER.experiments, ids=lambda experiment: experiment.name)
def test_every_experiment_runs(experiment: Experiment, workshop: Workshop) -> None:
    run_checked(experiment, workshop)


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(paper003.PAPER.experiments)


def test_an_experiment_gives_the_same_apart_from_seconds(workshop: Workshop) -> None:
    one, two = (BY_NAME["003-fig12"].run(workshop) for _ in range(2))
    assert [panel for panel in one.panels if not panel.is_timing] == [
        panel for panel in two.panels if not panel.is_timing
    ]


def test_the_worked_example_agrees_but_for_the_band_and_the_leftover(workshop: Workshop) -> None:
    outcome = BY_NAME["003-fig1"].run(workshop)
    assert [(reading.claim, reading.name) for reading in outcome.readings if not reading.holds] == [
        ("example-rcm", ""),
        ("example-groups", "CAHD as printed"),
    ]
    assert any("{Andrea, Claire}, {Bob, David}, {Ellen}" in reading.ours for reading in outcome.readings)
    by_paper = [line for line in outcome.panels[0].lines if line.name not in ("original", name_of_default("degree"))]
    assert {line.note for line in by_paper} == {"KL divergence 0.6931"}


# -- the figures that orderings are judged by --------------------------------------------------------------------------


def test_distance_and_band_of_an_order_by_hand() -> None:
    data = Transactions.from_lists([["a", "b"], ["c"], ["a"], ["c"], ["a", "b"]])
    stored, sorted_rows = np.arange(5), np.array([1, 3, 2, 0, 4])
    assert paper003_data._neighbour_distance(data, stored) == (3 + 2 + 2 + 3) / 4
    assert paper003_data._neighbour_distance(data, sorted_rows) == (0 + 2 + 1 + 0) / 4
    assert paper003_data._bandwidth(data, stored) == 4
    assert paper003_data._bandwidth(data, sorted_rows) == 2


def test_distance_of_an_order_against_sets() -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        rows = [set(rng.choice(6, size=rng.integers(0, 5), replace=False).tolist()) for _ in range(rng.integers(2, 9))]
        data = Transactions.from_lists(rows)
        order = rng.permutation(len(rows))
        expected = np.mean([len(rows[one] ^ rows[two]) for one, two in zip(order, order[1:], strict=False)])
        assert paper003_data._neighbour_distance(data, order) == pytest.approx(expected)


def test_pairs_that_share_an_item() -> None:
    data = Transactions.from_lists([["a", "b"], ["c"], ["a"], ["c", "b"], []])
    # every record with items meets itself; 0 meets 2 and 3, 1 meets 3
    assert paper003_data._non_zeros(data, block=2) == 4 + 2 * 3


# -- how statements are judged -----------------------------------------------------------------------------------------


def made_up_sweep() -> Sweep:
    """NN is best twice of three; Gray's error rises, PM's does not at every step."""
    methods: tuple[Method, ...] = (GRAY, NN, PM)
    uniform = np.array([[0.2, 0.3, 0.4], [0.1, 0.2, 0.5], [0.6, 0.5, 0.4]])
    errors = np.stack([uniform, uniform[::-1], uniform])
    seconds = np.array([[1.0, 1, 1], [90, 110, 100], [20, 2, 0.5]])
    return Sweep("data", "p", (4, 10, 20), methods, errors, seconds, seconds)


def test_a_ranking_holds_only_if_it_holds_everywhere() -> None:
    found = made_up_sweep()
    uniform, by_frequency, _ = sweeps.ranked_by_error("c", found, (NN,), (GRAY,))
    assert not uniform.holds
    assert uniform.name == "data over p, uniform queries"
    assert "NN below Gray at 2 of 3 values; p=10: NN 0.2000, Gray 0.3000." in uniform.ours
    assert by_frequency.holds is False
    assert next(sweeps.ranked_by_error("c", found, (GRAY,), (PM,))).holds is False  # equal at the last
    swapped = Sweep("data", "p", (4, 10, 20), (GRAY, NN), found.errors[:, [1, 2]], found.distances, found.seconds)
    assert next(sweeps.ranked_by_error("c", swapped, (GRAY,), (NN,))).holds is False
    assert next(sweeps.ranked_by_error("c", found, (NN,), (NN,))).holds is False
    lower = Sweep(
        "data",
        "p",
        (4, 10, 20),
        (GRAY, NN),
        np.stack([[[0.1, 0.1, 0.1], [0.2, 0.2, 0.2]]] * 3),
        found.distances,
        found.seconds,
    )
    assert all(reading.holds for reading in sweeps.ranked_by_error("c", lower, (GRAY,), (NN,)))


def test_rises_and_factors() -> None:
    found = made_up_sweep()
    assert next(sweeps.rising_error("c", found, (GRAY, NN))).holds
    assert not next(sweeps.rising_error("c", found, (GRAY, PM))).holds
    assert not next(sweeps.similar_error("c", found, NN, GRAY)).holds
    assert next(sweeps.similar_error("c", found, NN, GRAY, at_most=0.5)).holds
    assert next(sweeps.similar_error("c", found, NN, GRAY, at_most=5)).holds is None  # so do all methods
    assert sweeps.timed("c", found, (GRAY, NN)).holds is None


def test_distance_inside_groups_against_pairs() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        rows = [set(rng.choice(6, size=rng.integers(0, 5), replace=False).tolist()) for _ in range(12)]
        data = Transactions.from_lists([[str(item) for item in row] for row in rows] + [["s"]])
        group_of = np.append(rng.integers(0, 4, 12), 0)
        release = Grouping.from_groups(data, group_of, ("s",))
        public = [*rows, set()]
        means = []
        for group in range(release.n_groups):
            members = np.flatnonzero(group_of == group).tolist()
            if 1 < len(members) <= 4:
                means.append(np.mean([len(public[a] ^ public[b]) for a, b in combinations(members, 2)]))
        assert sweeps.group_distance(release, 2) == pytest.approx(np.mean(means) if means else 0.0)


def test_sensitive_items_are_allowed_by_every_p_and_nested(workshop: Workshop) -> None:
    data = workshop.data("BMS1")
    few, many = (sweeps.draw(data, m, 3).sensitive for m in (5, 20))
    assert many[:5] == few
    supports = data.supports[data.vocabulary.numbers(many)]
    assert (supports > 0).all()
    assert (supports * 20 <= data.n_records).all()


# -- the real data -----------------------------------------------------------------------------------------------------


@pytest.fixture
def real_workshop(real_data: Callable[[str], Path]) -> Workshop:
    real_data("BMS2.dat.gz")
    return Workshop(real_data("BMS1.dat.gz").parent)


def test_the_data_are_the_papers_but_for_one_mean(real_workshop: Workshop) -> None:
    outcome = BY_NAME["003-table1"].run(real_workshop)
    assert [reading.holds for reading in outcome.readings] == [True, False]
    assert "on average 4.6 items (mean 4.62)" in outcome.readings[1].ours


@pytest.mark.slow
def test_re_identification_of_the_real_data(real_workshop: Workshop) -> None:
    outcome = BY_NAME["003-table3"].run(real_workshop)
    expected = {
        "BMS1": ([0.27, 5.3, 15.8, 25.9], [0.0, 1.1, 5.8, 12.1]),
        "BMS2": ([0.83, 20.2, 49.0, 67.5], [0.02, 10.2, 37.0, 58.0]),
    }
    for panel in outcome.panels:
        lines = {line.name: [y for _, y in line.points] for line in panel.lines}
        guesses, singled = expected[panel.title.removeprefix("Table 3: ")]
        assert lines["right guesses (mean 1/support)"] == pytest.approx(guesses, abs=0.1)
        assert lines["singled out by random own items"] == pytest.approx(singled, abs=0.1)


def test_gray_order_of_the_real_data(real_workshop: Workshop) -> None:
    data = real_workshop.data("BMS1")
    order = gray_order(data)
    assert paper003_data._neighbour_distance(data, order) == pytest.approx(1.7209, abs=1e-4)


def test_neighbours_beat_orderings_on_the_real_data(real_workshop: Workshop) -> None:
    """What the paper says of Gray holds for NN here."""
    data = real_workshop.data("BMS1")
    drawn = sweeps.draw(data, 10, 0)
    error = {one.name: sweeps.ask(real_workshop, data, drawn, one)[0][0, 0] for one in PAPERS}
    assert error["NN"] < error["Gray"] < error["PM"]
    assert error["LSH"] == pytest.approx(error["NN"], rel=0.1)
