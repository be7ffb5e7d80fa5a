"""Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011.

Groups of records in which no sensitive item belongs to more than one in p: CAHD on records in Gray or RCM order,
nearest neighbours exact (NN) and hashed (LSH), and PermMondrian (PM) as the method to beat. The paper's figures are
curves without printed numbers, so what can be compared is its text. Beside its methods stand random groups, as a
control, and our default.
"""

from __future__ import annotations

from experiments.experiment import Experiment, Headline, Paper
from experiments.paper003 import data, figures, parameters
from experiments.paper003.claims import CLAIMS, ERRATA, REBUILT
from experiments.paper003.sweeps import N_QUERIES, SEEDS

DRAWS = (
    f"Error: mean KL divergence (natural logarithm) of {N_QUERIES} queries per seed, then the mean over "
    f"{len(SEEDS)} seeds; the paper asks 10 queries per seed, 10 seeds. Sensitive items are drawn among "
    "those that p=20 allows, the same for all p and methods. The items of a query are drawn uniformly, "
    "by frequency, or among those that occur with the sensitive item. LSH draws its items by frequency; "
    "as printed it takes far longer for the same error (003-lsh)."
)
SAME = "Draws and queries as in 003-fig12."
EXTRA = " Random groups and our default are additions."
BOTH = ("BMS1", "BMS2")

EXPERIMENTS = (
    Experiment(
        "003-fig1",
        "Figures 1, 2, 4 and 8: the worked example",
        "The five purchases of Figure 1a, p=2.",
        (),
        data.worked_example,
    ),
    Experiment(
        "003-orders",
        "Sections 5.1 and 5.2: orderings",
        "All items count as public. Bandwidth: the largest distance in the sequence of two records that "
        "share an item. Time of ordering: best of three, against forming the groups for p=10 and m=10.",
        BOTH,
        data.orderings,
    ),
    Experiment("003-table1", "Table 1: the data", "The copies of the data at hand.", BOTH, data.data_sets),
    Experiment(
        "003-table3",
        "Table 3: re-identification",
        "The paper does not say how targets and items are drawn, nor what becomes of transactions with fewer "
        "items. Here: every transaction with at least that many items, every choice of its own items equally "
        "likely.",
        BOTH,
        data.re_identification,
    ),
    Experiment("003-fig12", "Figure 12: BMS1 over p", f"m=10, r=4. {DRAWS}{EXTRA}", ("BMS1",), figures.over_p),
    Experiment(
        "003-fig13", "Figure 13: BMS2 over p", f"m=10, r=4. {SAME}{EXTRA}", ("BMS2",), figures.over_p_on_more_items
    ),
    Experiment(
        "003-fig14",
        "Figure 14: BMS1 over the number of sensitive items",
        f"p=10, r=4. {SAME}",
        ("BMS1",),
        figures.over_m,
    ),
    Experiment(
        "003-fig15",
        "Figure 15: BMS2 over the number of sensitive items",
        f"p=10, r=4. {SAME}",
        ("BMS2",),
        figures.over_m_on_more_items,
    ),
    Experiment(
        "003-fig16", "Figure 16: error over the items per query", f"p=10, m=10. {SAME}{EXTRA}", BOTH, figures.over_r
    ),
    Experiment(
        "003-fig17",
        "Figure 17: clusters of BMS1 over p",
        f"m=10, {figures.N_CLUSTERS} clusters by spherical k-means, {len(figures.CLUSTER_SEEDS)} seeds, p = "
        "4, 10, 20. Centres are found in the release, taken as records with their group's shares of "
        "sensitive items, as means of groups, or as means but for what CAHD leaves over, and compared with the "
        "original records; all runs start from the same records.",
        ("BMS1",),
        figures.clusters,
    ),
    Experiment(
        "003-lsh",
        "Sections 4.2 and 6.2: parameters of LSH",
        "BMS1, p=10, m=10, r=4, one seed, 100 uniform queries. B varies with w=32 and w with B=32. Items "
        "drawn uniformly, as in the paper, at three settings only, as that is slow; drawn by frequency is our way.",
        ("BMS1",),
        parameters.hashing,
    ),
    Experiment("003-alpha", "Section 5.3: alpha of CAHD", f"p=10, m=10, r=4. {SAME}", BOTH, parameters.over_alpha),
    Experiment(
        "003-size",
        "Sections 5.2 and 5.3: cost over the number of records",
        "The paper states costs without measuring them. Quest baskets of five items on average out of 1,000, "
        "p=10, m=10, r=4, one seed; a smaller set is the beginning of a larger one, with the same sensitive "
        "items.",
        (),
        parameters.over_size,
    ),
)

PAPER = Paper(
    "003",
    "Ghinita, Kalnis, Tao 2011",
    "Anonymous publication of sensitive transactional data",
    EXPERIMENTS,
    CLAIMS,
    ERRATA,
    (("Figures 3, 5, 6, 7, 9, 10, 11", "pseudocode and a sketch: they are the algorithms, not experiments."),),
    Headline("gray-lowest", "003-fig12", "BMS1, uniform queries", 10.0, ("Gray", "NN", "LSH", "RCM", "PM")),
    (
        ("003-fig12", "BMS1, uniform queries"),
        ("003-fig12", "BMS1, distance inside groups"),
        ("003-fig13", "BMS2, uniform queries"),
        ("003-table3", "Table 3: BMS2"),
    ),
    REBUILT,
)
