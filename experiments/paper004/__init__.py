"""The experiments of PTA: loss and time of classes of identical records, over k and the number of segments.

J. C.-W. Lin, Q. Liu, P. Fournier-Viger, T.-P. Hong: PTA: An Efficient System for Transaction Database Anonymization,
IEEE Access 4, 2016; sections III, V and VI.

The methods of the paper take the bits of the Gray code in the order of the items, as its example does. Its pictures
carry no numbers; what is compared is what the text says about them.
"""

from __future__ import annotations

from experiments.experiment import Experiment, Headline, Paper
from experiments.paper004 import examples, figures
from experiments.paper004.claims import CLAIMS, ERRATA, REBUILT

BITS = (
    "Bits of the Gray code in the order of the items for the paper's three methods. chess and mushroom "
    "(23 items per record) as in the FIMI collection, T10I4D100K made by our Quest generator; pumsb, "
    "connect and accidents are not at hand. PTA's leftovers join a class of their segment, as in "
    "Algorithm 3, or any class, as section IV-C can be read."
)
NEEDS = ("chess", "mushroom-fimi")

PAPER = Paper(
    "004",
    "Lin, Liu, Fournier-Viger, Hong 2016",
    "PTA: an efficient system for transaction database anonymization",
    (
        Experiment(
            "004-table2", "Tables 1 and 2: a 3-anonymous database", "The classes as printed.", (), examples.table_2
        ),
        Experiment(
            "004-fig2",
            "Figures 2 to 7: PTA step by step",
            "Thirteen records, k = 3, two segments.",
            (),
            examples.figure_2,
        ),
        Experiment(
            "004-fig8",
            "Figures 8 and 9: time and loss of PTA over segments and k",
            f"k = 5 to 25 for the loss and 5, 15, 25 for the time. {BITS} The numbers of segments of figure 8 are "
            "ours: few enough for the search of loops to decide the time. T10I4D100K has no fewer than 400, as "
            "50 take more than four minutes.",
            NEEDS,
            figures.segments_and_k,
        ),
        Experiment(
            "004-fig10",
            "Figures 10 and 12: loss and time over segments",
            f"k = {figures.K}. {BITS} Gray-TSP cuts its tour into runs of k identical records (see its page).",
            NEEDS,
            figures.over_segments,
        ),
        Experiment(
            "004-fig11",
            "Figures 11 and 13: loss and time over k",
            f"60, 150 and 1,000 segments. {BITS}",
            NEEDS,
            figures.over_k,
        ),
    ),
    CLAIMS,
    ERRATA,
    (
        ("Figures 8 to 13, (c) pumsb, (d) connect, (e) accidents", "the data sets are not at hand."),
        ("Figure 1", "a flow chart."),
        ("Table 3", "the Gray code of 0 to 7; the order of records in 004-fig2 rests on it."),
    ),
    Headline(
        "pta-best",
        "004-fig10",
        "Figure 10 (b)",
        100.0,
        ("PTA, leftovers in their segment", "PTA, leftovers anywhere", "Gray-TSP", "GSC"),
    ),
    (
        ("004-fig10", "Figure 10 (a)"),
        ("004-fig10", "Figure 10 (b)"),
        ("004-fig10", "Figure 10 (f)"),
        ("004-fig11", "Figure 11 (b)"),
    ),
    REBUILT,
)
