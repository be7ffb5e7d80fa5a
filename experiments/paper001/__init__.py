"""The experiments of the paper that introduced k^m-anonymity.

M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008.

What it compares: the optimal cut of an item hierarchy (OA) with two greedy ones (DA, AA), on click streams whose items
were reduced to a few dozen (``small``); then AA alone on whole data sets (``large``). It reports time, nodes of the
count-tree, and NCP.
"""

from __future__ import annotations

from experiments.experiment import Experiment, Headline, Paper
from experiments.paper001 import large, small
from experiments.paper001.claims import CLAIMS, ERRATA

SMALL = (
    "BMS-WebView-2 reduced as in the paper: the first records, items modulo |I|, repeats removed, where "
    "the modulo is of the rank of an item, of its rank shifted by 1, 2 or 3, or of its id in the file. "
    "Balanced hierarchy with fan-out 4, k=100"
)
LARGE = (
    "Hierarchy with fan-out 5 over items in ascending order, and over items in order of their "
    "frequency, as the paper does not say which"
)
INSTEAD = "The paper draws this on BMS-POS, which is not at hand"
BOTH = ("BMS1", "BMS2")

EXPERIMENTS = (
    Experiment(
        "001-example",
        "the worked example, Figures 1 to 6",
        "The four records of the paper, k=2, m=2.",
        (),
        small.worked_example,
    ),
    Experiment("001-fig7", "the data sets", "The two of the three data sets that are at hand.", BOTH, small.data_sets),
    Experiment("001-fig8", "growing database", f"{SMALL}, |I|=40, m=3.", ("BMS2",), small.figure_8),
    Experiment("001-fig9", "growing domain", f"{SMALL}, 10,000 records, m=3.", ("BMS2",), small.figure_9),
    Experiment("001-fig10", "growing m", f"{SMALL}, 10,000 records, |I|=40.", ("BMS2",), small.figure_10),
    Experiment(
        "001-fig11a", "AA on whole data sets", f"k=5, m=3. {LARGE}. BMS-POS is not at hand.", BOTH, large.figure_11a
    ),
    Experiment(
        "001-fig11b",
        "AA, growing k",
        f"m=3. {LARGE}. {INSTEAD}; its text does not give its values of k.",
        BOTH,
        large.figure_11b,
    ),
    Experiment(
        "001-fig11c",
        "AA, flat and tall hierarchies",
        "k=5, m=3; evenly split hierarchies of 4 to 7 levels. Beside them, not judged, packed ones with the smallest "
        "fan-out that gives that many levels: their last branch is a remainder that nothing but the root can "
        f"protect. Items in ascending order, and by frequency. {INSTEAD}.",
        BOTH,
        large.figure_11c,
    ),
    Experiment(
        "001-fig11d",
        "AA, growing m",
        f"k=5. {LARGE}. {INSTEAD}. Beside it the optimum, proven by integer programming.",
        BOTH,
        large.figure_11d,
    ),
)

PAPER = Paper(
    "001",
    "Terrovitis, Mamoulis, Kalnis 2008",
    "Privacy-preserving anonymization of set-valued data",
    EXPERIMENTS,
    CLAIMS,
    ERRATA,
    (
        (
            "Figure 11 on BMS-POS",
            "the data set is not at hand; what the paper draws on it alone (Figures 11b, 11c and 11d) is run on "
            "BMS-WebView-1 and 2",
        ),
    ),
    Headline(
        "large-loss", "001-fig11a", "Loss of AA", "BMS-WebView-1", ("AA, by id", "AA, by frequency"), "Counts of pairs"
    ),
    (
        ("001-fig11a", "Loss of AA"),
        ("001-fig11a", "Counts of pairs"),
        ("001-fig10", "AA above the optimum"),
        ("001-fig11c", "Loss of AA"),
        ("001-fig11d", "Loss of AA"),
        ("001-fig11d", "AA above the proven optimum"),
    ),
)
