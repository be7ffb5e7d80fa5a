"""The experiments of clustering-based anonymization: PCTA and UPCTA against COAT and Apriori.

A. Gkoulalas-Divanis, G. Loukides: Utility-guided clustering-based transaction data anonymization, Transactions on Data
Privacy 5, 2012; the worked examples (``examples``), section 5.2 (``privacy``) and section 5.3 (``utility``).

The paper's pictures carry no numbers; what is compared is what the text says about them.
"""

from __future__ import annotations

from experiments.experiment import Experiment, Headline, Paper
from experiments.paper000 import examples, privacy, utility
from experiments.paper000.claims import CLAIMS, ERRATA, REBUILT

QUERIES = (
    "AvgRE: 1,000 queries for five items that some record has, answered by counting the published items "
    "they became; to answer 0 to all of them is an AvgRE of 1. As in section 5.1 their items are drawn from the "
    "generalized items, those that the "
    "release in question publishes as part of a set (each method is asked about what it changed itself), "
    "of a random record or through a random item; and, shown next to it and not judged, from all items, the same "
    "queries for all methods. Our default for k^m-anonymity generalizes nothing: it is asked about the items of which "
    "it suppressed entries."
)
APRIORI = "Apriori is our AA with a balanced hierarchy of fan-out 5 over ascending ids."
GROUPS = (
    "k = 5, at most 15 % of the items suppressed. Utility constraints UR1 to UR5: groups of 25, 50, "
    "125, 250 and 500 consecutive ids."
)
BOTH = ("BMS1", "BMS2")

EXPERIMENTS = (
    Experiment(
        "000-examples",
        "Examples 3, 4, 5, 8 and 9",
        "Figure 1 (a) could not be read; the six records used agree with what is said about it elsewhere in "
        "the paper, except for examples 8 and 9.",
        (),
        examples.examples,
    ),
    Experiment("000-table2", "Table 2: the data sets", "VNEC and VNEC_KC are not at hand.", BOTH, examples.table_2),
    Experiment(
        "000-fig7",
        "Figures 7 to 9: k^2-anonymity over k",
        f"m = 2, k = 2 to 50. {APRIORI} {QUERIES}",
        BOTH,
        privacy.over_k,
    ),
    Experiment(
        "000-fig10",
        "Figures 10 to 12: k^m-anonymity over m",
        f"k = 5, m = 1 to 3. {APRIORI} Queries as in 000-fig7. Figure 12 on the first {privacy.PART:,} "
        "records of BMS-WebView-2: COAT takes over a minute on all of them.",
        BOTH,
        privacy.over_m,
    ),
    Experiment(
        "000-fig13",
        "Figures 13 and 14: pairs over a share of the items",
        "k = 5. PR1 to PR5: all pairs of a random 2, 5, 10, 25, 50 % of the items. Apriori protects all "
        f"pairs, so that its line is flat but for the queries. {APRIORI} Queries as in 000-fig7.",
        ("BMS1",),
        privacy.over_pairs,
    ),
    Experiment(
        "000-fig15",
        "Figures 15 and 16: itemsets of one to four items",
        "k = 5. PR6 to PR9: 1,000 occurring itemsets, sizes as in table 3. Apriori protects all itemsets of "
        f"up to four items. {APRIORI}",
        BOTH,
        privacy.over_mixes,
    ),
    Experiment(
        "000-fig17",
        "Figures 17 and 18: complete k-anonymity",
        f"Constraints of Pgen, verified one by one; Apriori with m = the longest record. {APRIORI} Figure 18 "
        "for k = 10 and 50.",
        BOTH,
        privacy.complete,
    ),
    Experiment(
        "000-fig19",
        "Figures 19 and 20: time",
        f"m = 2; k = 5 over random nested parts. {APRIORI}",
        ("BMS1",),
        privacy.runtime,
    ),
    Experiment(
        "000-fig21",
        "Figures 21 to 24: utility constraints, all pairs protected",
        f"{GROUPS} Queries as in 000-fig7. BMS-WebView-2: its first {privacy.PART:,} records, as all pairs of "
        "all records take long.",
        BOTH,
        utility.all_pairs,
    ),
    Experiment(
        "000-fig25",
        "Figures 25 to 28: utility constraints and PR5",
        f"{GROUPS} Queries as in 000-fig7. BMS-WebView-2: {utility.N_PAIRS:,} random pairs of the 1.4 million.",
        BOTH,
        utility.half_of_the_pairs,
    ),
    Experiment(
        "000-fig29",
        "Figures 29 to 32: utility constraints and PR9",
        f"{GROUPS} Queries as in 000-fig7. PR9 as in table 3.",
        BOTH,
        utility.mixed_sizes,
    ),
    Experiment(
        "000-fig33",
        "Figures 33 and 34: utility constraints and complete 5-anonymity",
        f"{GROUPS} Queries as in 000-fig7. Constraints of Pgen. UR1, still finer than UR2, is not run. "
        "Besides: what share of the items is suppressed without a bound.",
        ("BMS2",),
        utility.complete,
    ),
    Experiment(
        "000-fig35",
        "Figures 35 to 39: patients",
        "Generated patients, as many as VNEC and VNEC_KC have. Constraints: the diagnoses of each visit; "
        "utility constraints: the codes of each disease group; no bound on suppression, as with the paper's "
        "2 % there is no release of these patients. AvgRE: 1,000 itemsets that 0.5 % of the patients have; "
        "none is in the paper's 5 %. The text calls UPCTA PCTA here.",
        (),
        utility.medical,
    ),
    Experiment(
        "000-fig40",
        "Figures 40 to 42: time under utility constraints",
        "All pairs protected, UR2 and k = 5 where they do not vary; random nested parts. No bound on "
        "suppression, so that every run ends.",
        ("BMS1",),
        utility.runtime,
    ),
)

PAPER = Paper(
    "000",
    "Gkoulalas-Divanis, Loukides 2012",
    "Utility-guided clustering-based transaction data anonymization",
    EXPERIMENTS,
    CLAIMS,
    ERRATA,
    (
        (
            "Figures 1 (b) and (c), 2, 3, 5 and 6",
            "drawings of the worked examples; 000-examples runs the examples themselves.",
        ),
        (
            "Figures 35 to 39, VNEC and VNEC_KC",
            "the patient records are not at hand; 000-fig35 runs on generated patients.",
        ),
        ("Tables 3 and 4", "settings, not results; they are used from 000-fig15 and 000-fig21 on."),
    ),
    Headline("coat-least", "000-fig7", "Figure 7, generalized items, by item", 5.0, ("PCTA", "COAT", "Apriori")),
    (
        ("000-fig7", "Figure 7, generalized items, by item"),
        ("000-fig7", "Figure 7, all items, by item"),
        ("000-fig7", "Figure 9"),
        ("000-fig33", "Without a bound"),
    ),
    REBUILT,
)
