"""What the paper claims."""

from __future__ import annotations

from experiments.claims import Cause, Claim, Kind

PHASE = (
    "“A modulo on the items ids” leaves open whether ids or ranks are meant and where they begin, "
    "which decides what becomes siblings."
)
ORDER = "The order of the items below the artificial hierarchy is not said; by frequency it holds."
POS = "BMS-POS, on which the paper draws this, is not at hand"

CLAIMS = (
    Claim(
        "same-loss",
        "5.2, Fig. 8c",
        "same (optimal) loss",
        "over records, OA, DA and AA reach the same loss",
        cause=Cause.PROTOCOL,
        why=PHASE,
    ),
    Claim(
        "tree-records",
        "5.2, Fig. 8b",
        "not very sensitive",
        "the count-tree of OA and DA hardly grows with the number of records",
    ),
    Claim(
        "tree-converges", "5.2, Fig. 8b", "converge", "AA's count-tree is smaller at first and comes close to theirs"
    ),
    Claim(
        "domain-loss",
        "5.2, Fig. 9",
        "same as that of the optimal",
        "over the domain, AA loses no more than the optimum",
        cause=Cause.PROTOCOL,
        why=PHASE,
    ),
    Claim("tree-domain", "5.2, Fig. 9", "super-linearly", "the count-tree of OA and DA grows faster than the items"),
    Claim(
        "tree-domain-aa",
        "5.2, Fig. 9",
        "better scalability",
        "AA's count-tree grows more slowly with the items than theirs",
    ),
    Claim(
        "m-loss",
        "5.2, Fig. 10",
        "very close",
        "over m, the loss of DA and AA is very close to the optimum",
        cause=Cause.PROTOCOL,
        why=PHASE,
    ),
    Claim("tree-m", "5.2, Fig. 10", "better scalability", "AA's count-tree grows much more slowly with m than theirs"),
    Claim(
        "large-loss",
        "5.2, Fig. 11a",
        "low information loss (maximum 3%)",
        "AA loses at most 3 % on whole data sets",
        cause=Cause.PROTOCOL,
        why=ORDER,
    ),
    Claim(
        "k-memory",
        "5.2, Fig. 11b",
        "insensitive to k",
        "AA's memory does not depend on k",
        cause=Cause.DATA,
        why=f"{POS}, and its values of k are not printed.",
    ),
    Claim(
        "flat-worst",
        "5.2, Fig. 11c",
        "produces worse solutions",
        "the flattest hierarchy loses most",
        cause=Cause.DATA,
        why=f"{POS}; how its items are ordered is not said.",
    ),
    Claim(
        "flat-root",
        "5.2, Fig. 11c",
        "fails to find a non-trivial",
        "with 4 levels everything is generalized to the root",
        cause=Cause.DATA,
        why=f"{POS}.",
    ),
    Claim(
        "tall-loss",
        "5.2, Fig. 11c",
        "close to 1%",
        "with more levels the loss is close to 1 %",
        cause=Cause.DATA,
        why=f"{POS}; how its items are ordered is not said.",
    ),
    Claim(
        "large-m", "5.2, Fig. 11d", "slightly worse", "the loss grows a little with m", cause=Cause.PROTOCOL, why=ORDER
    ),
    Claim(
        "near-optimal",
        "6",
        "near-optimal",
        "AA comes close to the optimum (at this size the paper could not tell)",
        cause=Cause.GENUINE,
        why="The proven optimum is found here by integer programming; the farthest points are where a rare item "
        "sits in a small last branch.",
    ),
    Claim("example-before", "Fig. 1", "", "some pairs of items occur only once before", Kind.EXAMPLE),
    Claim("example-cut", "Fig. 2b", "", "OA, DA and AA find {a1, a2} → A", Kind.EXAMPLE),
    Claim("example-supports", "3.2", "{A, b2}", "afterwards {A, b2} is in 3 records and {A} in 4", Kind.EXAMPLE),
    Claim("example-loss", "3.3", "", "the loss is 2.5/11", Kind.EXAMPLE),
    Claim(
        "example-order",
        "Fig. 6",
        "",
        "the count-tree has the order and supports A:4 B:4 a2:3 b1:3 b2:3 a1:2",
        Kind.EXAMPLE,
    ),
    Claim(
        "data-bms1",
        "Fig. 7",
        "59,602",
        "BMS-WebView-1 has 59,602 records, 497 items, at most 267 and on average 2.5 per record",
        Kind.DATA,
    ),
    Claim(
        "data-bms2",
        "Fig. 7",
        "77,512",
        "BMS-WebView-2 has 77,512 records, 3,340 items, at most 161 and on average 5.0 per record",
        Kind.DATA,
        Cause.PAPER,
        "Three of the papers print the same mean of 5.0 for a file whose other figures are exactly these; "
        "its mean is 4.62.",
    ),
    Claim(
        "time-records",
        "5.2, Fig. 8a",
        "increases linearly",
        "OA and DA take equally long, linear in the records; AA is faster at first",
        Kind.TIME,
    ),
    Claim(
        "time-domain",
        "5.2, Fig. 9",
        "exponential",
        "DA and AA take time linear in the items, OA exponential",
        Kind.TIME,
    ),
    Claim(
        "time-m", "5.2, Fig. 10", "does not scale well", "OA and DA take time exponential in m, AA linear", Kind.TIME
    ),
    Claim(
        "time-large",
        "5.2, Fig. 11a",
        "acceptable time",
        "AA's time is acceptable and its count-tree manageable",
        Kind.TIME,
    ),
    Claim("time-k", "5.2, Fig. 11b", "insensitive to k", "AA's time does not depend on k", Kind.TIME),
    Claim("time-h", "5.2, Fig. 11c", "faster", "flat hierarchies are faster", Kind.TIME),
    Claim("time-large-m", "5.2, Fig. 11d", "Time increases", "time grows with m", Kind.TIME),
)

ERRATA = (
    ("Definition 1", "“more than k” should read “at least k”, as everywhere else."),
    (
        "Algorithm 1, line 4",
        "the negation is missing: a combination is inserted only if no two of its members are ancestor and descendant.",
    ),
    (
        "Section 4",
        "that itemsets of size m suffice is false for records shorter than m; smaller itemsets have to be "
        "checked, too.",
    ),
    ("Optimal algorithm", "without a set of visited cuts the pseudocode pushes the same cut many times."),
    ("Figure 7", "BMS-WebView-2 has 4.62 items per record, not 5.0."),
)
