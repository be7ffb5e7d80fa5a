"""Figures 12 to 17: error and time of the methods, over the parameters of table 2, and clusters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop
from experiments.paper003.clusters import WAYS, own_similarity, similarities
from experiments.paper003.sweeps import (
    ALL,
    DEFAULT,
    DEFAULTS,
    GRAY,
    LSH,
    M_VALUES,
    NN,
    P_VALUES,
    PAPERS,
    PM,
    PROPOSED,
    PROTOCOLS,
    RANDOM,
    RCM,
    SPOKEN,
    Floats,
    Sweep,
    ask,
    draw,
    ranked_by_error,
    rising_error,
    similar_error,
    sweep,
    sweep_queries,
    timed,
)

ADVANTAGE = 1.1  # times the error of Gray: less is no advantage to speak of
OTHERS = tuple(one for one in PAPERS if one is not GRAY)

# -- Figures 12 to 16 -------------------------------------------------------------------------------------------------


def over_p(workshop: Workshop) -> Outcome:
    """Figure 12."""
    return _over_p(sweep(workshop, "BMS1", workshop.data("BMS1"), "p", P_VALUES, ALL))


def over_p_on_more_items(workshop: Workshop) -> Outcome:
    """Figure 13."""
    found = sweep(workshop, "BMS2", workshop.data("BMS2"), "p", P_VALUES, ALL)
    outcome = _over_p(found)
    return Outcome(outcome.panels, (*outcome.readings, timed("time-lsh-rcm", found, (LSH, RCM))))


def _over_p(found: Sweep) -> Outcome:
    return _outcome(
        found,
        *ranked_by_error("gray-lowest", found, (GRAY,), OTHERS),
        *similar_error("nn-lsh", found, LSH, NN),
        *ranked_by_error("nn-rcm", found, (NN, LSH), (RCM,)),
        *ranked_by_error("pm-worst", found, PROPOSED, (PM,)),
        *ranked_by_error("random-worse", found, PROPOSED, (RANDOM,)),
        *rising_error("rises-p", found),
        timed("time-gray", found, PAPERS),
        timed("time-orders", found, (GRAY, LSH, NN)),
        timed("time-lsh-nn", found, (LSH, NN)),
        timed("time-pm", found, PAPERS),
    )


def over_m(workshop: Workshop) -> Outcome:
    """Figure 14."""
    return _over_m(sweep(workshop, "BMS1", workshop.data("BMS1"), "m", M_VALUES, (*PAPERS, DEFAULT)))


def over_m_on_more_items(workshop: Workshop) -> Outcome:
    """Figure 15."""
    found = sweep(workshop, "BMS2", workshop.data("BMS2"), "m", M_VALUES, (*PAPERS, DEFAULT))
    outcome = _over_m(found)
    more = (
        *ranked_by_error("pm-worst", found, PROPOSED, (PM,)),
        timed("time-lsh-rcm-m", found, (LSH, RCM)),
        timed("time-gap-m", found, (LSH, RCM)),
    )
    return Outcome(outcome.panels, (*outcome.readings, *more))


def _over_m(found: Sweep) -> Outcome:
    return _outcome(
        found,
        *ranked_by_error("gray-lowest", found, (GRAY,), OTHERS),
        *ranked_by_error("nn-rcm", found, (NN, LSH), (RCM,)),
        timed("time-gray", found, PAPERS),
        timed("time-rcm-nn", found, (RCM, NN, LSH)),
    )


def over_r(workshop: Workshop) -> Outcome:
    """Figure 16, and how Gray's advantage on one data set compares with the other (text on Figure 13)."""
    both = [sweep_queries(workshop, name, workshop.data(name), ALL) for name in ("BMS1", "BMS2")]
    readings: list[Reading] = []
    for found in both:
        readings += ranked_by_error("gray-lowest", found, (GRAY,), OTHERS)
        readings += rising_error("rises-r", found)
        readings += _narrowing(found)
    readings += _advantage(*both)
    return Outcome(tuple(panel for found in both for panel in found.error_panels()), tuple(readings))


def _narrowing(found: Sweep) -> Iterator[Reading]:
    for protocol in PROTOCOLS:
        errors = np.array([found.error(one, protocol) for one in PAPERS])
        gap: Floats = errors.max(axis=0) / errors.min(axis=0) - 1
        yield Reading(
            "gap-r",
            f"{found.data}, {SPOKEN[protocol]} queries",
            f"the worst of the paper's methods has {100 * gap[0]:.0f} % more error than the best at r=2, "
            f"{100 * gap[-1]:.0f} % more at r=8. Rule: half.",
            bool(gap[-1] <= gap[0] / 2),
        )


def _advantage(one: Sweep, two: Sweep) -> Iterator[Reading]:
    for protocol in PROTOCOLS:
        first, second = (
            min(found.at_default(found.error(other, protocol)) for other in OTHERS)
            / found.at_default(found.error(GRAY, protocol))
            for found in (one, two)
        )
        yield Reading(
            "gray-pronounced",
            f"{SPOKEN[protocol]} queries",
            f"the best other method has {first:.2f} times the error of Gray on BMS1 and {second:.2f} times on "
            f"BMS2. Rule: at least {ADVANTAGE} and above BMS1's.",
            second > first and second >= ADVANTAGE,
        )


def _outcome(found: Sweep, *readings: Reading) -> Outcome:
    return Outcome((*found.error_panels(), found.distance_panel(), found.time_panel()), readings)


# -- Figure 17 ---------------------------------------------------------------------------------------------------------

CLUSTER_SEEDS = range(2)
CLUSTER_P = (4, 10, 20)
N_CLUSTERS = 20
POWER = 0.02  # where all methods lie within so little of the original, nothing can be told from them


def clusters(workshop: Workshop) -> Outcome:
    """Figure 17: similarity of records to their k-means centres, of the records as published and of group means."""
    data = workshop.data("BMS1")
    methods = (*PAPERS, DEFAULT)
    fits = np.empty((len(WAYS), len(methods), len(CLUSTER_P), len(CLUSTER_SEEDS)))  # as a share of the original's
    for seed in CLUSTER_SEEDS:
        drawn = draw(data, DEFAULTS["m"], seed)
        best = own_similarity(data, ask(workshop, data, drawn, GRAY)[2], N_CLUSTERS, seed)
        for column, p in enumerate(CLUSTER_P):
            for row, method in enumerate(methods):
                workshop.step(f"BMS1, p={p}: clusters of {method.name}, seed {seed}")
                release = ask(workshop, data, drawn, method, p)[2]
                fits[:, row, column, seed] = np.array(similarities(data, release, p, N_CLUSTERS, seed)) / best
    mean = 100 * fits.mean(axis=3)
    panels: list[Panel] = []
    readings: list[Reading] = []
    for way, table in zip(WAYS, mean, strict=True):
        of = {method.name: row for method, row in zip(methods, table, strict=True)}
        lines = tuple(Line(name, tuple(zip(CLUSTER_P, row.tolist(), strict=True))) for name, row in of.items())
        panels.append(Panel(f"BMS1, 20 clusters, {way}", "p", "% of the original's accuracy", lines))
        readings += _cluster_readings(way, of)
    return Outcome(tuple(panels), tuple(readings))


def _cluster_readings(way: str, of: dict[str, Floats]) -> Iterator[Reading]:
    papers = np.array([of[method.name] for method in PAPERS])
    n_falls, n_steps = int((np.diff(papers, axis=1) < 0).sum()), papers[:, 1:].size
    above = int((of["PM"] > of["RCM"]).sum())
    apart = float(np.abs(of["NN"] / of["LSH"] - 1).max())
    worst = float(of["Gray"].min())
    spread = f"all methods between {papers.min():.1f} and {papers.max():.1f} %"
    has_power = papers.max() - papers.min() > 100 * POWER

    def told(claim: str, ours: str, holds: bool) -> Reading:
        if has_power:
            return Reading(claim, way, f"{ours} ({spread}).", holds)
        return Reading(claim, way, f"{ours}, but {spread}: nothing can be told from this.", None)

    yield told("cluster-p", f"it falls at {n_falls} of {n_steps} steps; rule: at all", n_falls == n_steps)
    yield told("cluster-gray", f"at worst {worst:.1f} %; rule: 93 to 97", 93 <= worst <= 97)
    yield told(
        "cluster-pm",
        f"PM is above RCM at {above} of {len(CLUSTER_P)} values of p; rule: at all",
        above == len(CLUSTER_P),
    )
    yield told("cluster-nn", f"NN and LSH differ by at most {100 * apart:.2f} %; rule: up to 1", apart <= 0.01)
