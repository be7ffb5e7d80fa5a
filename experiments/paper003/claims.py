"""What the paper claims."""

from __future__ import annotations

from experiments.claims import Cause, Claim, Kind

DRAWN = "How the items of a query are drawn is not said beyond “randomly”."
PM = "PM is a reconstruction (see there), and the method that stands out."
REBUILT = (
    (
        "PM (PermMondrian)",
        "the paper favours splits that balance the sensitive items and gives no formula. Ours takes the split with "
        "the highest mean, over the sensitive items, of the share of occurrences on the side that has fewer.",
    ),
    (
        "NN and LSH",
        "give the paper's groups in other ways: NN finds its candidates through an index, and LSH draws its items by "
        "frequency but in 003-lsh, where both ways are shown. So their seconds are not the paper's.",
    ),
)

CLAIMS = (
    Claim(
        "gray-lowest",
        "6.2, Figs. 12 to 16",
        "outperforms all other methods",
        "Gray has the lowest error of all",
        cause=Cause.GENUINE,
        why="NN has the lower error with uniform queries wherever the methods differ, and groups of more similar "
        "records do not have the lower error.",
    ),
    Claim(
        "gray-pronounced",
        "6.2, Fig. 13",
        "more pronounced",
        "Gray's advantage is larger on BMS2 than on BMS1",
        cause=Cause.GENUINE,
        why="Gray has no advantage there.",
    ),
    Claim(
        "nn-lsh",
        "6.2, Figs. 12 and 13",
        "similar reconstruction error",
        "NN and LSH have similar errors",
        cause=Cause.PROTOCOL,
        why=DRAWN,
    ),
    Claim(
        "nn-rcm",
        "6.2, Figs. 12 to 15",
        "lower than that of RCM",
        "the error of NN and LSH is lower than that of RCM",
        cause=Cause.PROTOCOL,
        why=DRAWN,
    ),
    Claim(
        "pm-worst",
        "6.2, Figs. 12, 13 and 15",
        "worst of all methods",
        "PM has the highest error",
        cause=Cause.COMPARATOR,
        why=PM,
    ),
    Claim(
        "random-worse",
        "6.2, said of Anatomy",
        "may not preserve correlations",
        "groups that disregard similarity lose more than the proposed methods",
        cause=Cause.PROTOCOL,
        why=DRAWN,
    ),
    Claim(
        "rises-p",
        "6.2, Figs. 12 and 13",
        "increases … for all methods",
        "a higher p raises the error of every method",
        cause=Cause.PROTOCOL,
        why=DRAWN,
    ),
    Claim(
        "rises-r",
        "6.2, Fig. 16",
        "penalized",
        "more items in a query mean a higher error",
        cause=Cause.PROTOCOL,
        why=DRAWN,
    ),
    Claim(
        "gap-r",
        "6.2, Fig. 16",
        "decreases considerably",
        "the gap between the methods narrows with r",
        cause=Cause.COMPARATOR,
        why=PM,
    ),
    Claim(
        "cluster-p",
        "6.2, Fig. 17",
        "accuracy decreases",
        "the accuracy of clusters falls as p grows",
        cause=Cause.PROTOCOL,
        why="What is clustered is not said; k-means ends in local optima, and means depend on what becomes of the many "
        "records that CAHD leaves over.",
    ),
    Claim(
        "cluster-gray",
        "6.2, Fig. 17",
        "95% of that",
        "at worst Gray reaches 95 % of the original's accuracy",
        cause=Cause.PROTOCOL,
        why="What is clustered is not said.",
    ),
    Claim(
        "cluster-pm",
        "6.2, Fig. 17",
        "marginally better than RCM",
        "PM does marginally better than RCM",
        cause=Cause.PROTOCOL,
        why="What is clustered is not said; PM is a reconstruction.",
    ),
    Claim(
        "cluster-nn",
        "6.2, Fig. 17",
        "virtually identical",
        "NN gives virtually the same as LSH",
        cause=Cause.PROTOCOL,
        why="What is clustered is not said.",
    ),
    Claim(
        "gray-near", "5.2", "low", "records next to each other in Gray order differ less than in the order of the file"
    ),
    Claim(
        "gray-bits",
        "5.2",
        "most significant bits",
        "bits by decreasing frequency make neighbours more alike than bits by id",
    ),
    Claim("rcm-near", "5.1", "close proximity", "RCM places records with common items near each other"),
    Claim(
        "rcm-band",
        "5.1",
        "reduce its bandwidth",
        "RCM reduces the bandwidth",
        cause=Cause.GENUINE,
        why="The largest distance of two records that share an item is that of a few frequent items, which no order "
        "of the rows keeps together; RCM brings neighbours together all the same.",
    ),
    Claim(
        "alpha-similar",
        "5.3",
        "similar items",
        "a larger alpha finds more similar records",
        cause=Cause.GENUINE,
        why="Looking farther helps Gray at every step; RCM already has what it needs nearby.",
    ),
    Claim(
        "alpha-low",
        "5.3",
        "yield good results",
        "even a low alpha gives a low error",
        cause=Cause.PROTOCOL,
        why="How low is not said; the rule is ours.",
    ),
    Claim(
        "lsh-prunes",
        "4.2",
        "considerably smaller",
        "records in the same buckets are far fewer than all records",
        cause=Cause.GENUINE,
        why="32 of 487 items, drawn uniformly, are in few records: most records fall into the bucket of those "
        "that have none.",
    ),
    Claim(
        "lsh-rarely",
        "4.2",
        "rarely occurs",
        "LSH rarely has to search all records",
        cause=Cause.GENUINE,
        why="Where buckets prune, they prune too much for rare kinds of records.",
    ),
    Claim(
        "lsh-robust",
        "4.2",
        "robust",
        "the search is robust to its parameters",
        cause=Cause.PROTOCOL,
        why="How much may change is not said; the rule is ours.",
    ),
    Claim("lsh-p1", "6.2", "always exceed", "p1 exceeds 0.9 for these data"),
    Claim("sparser", "6.1, Table 3", "sparser BMS2", "BMS2 is easier to re-identify than BMS1"),
    Claim(
        "lsh-tables",
        "6.2",
        "B = 32",
        "w=32, p1=0.9 and an accuracy of 90 % require B=32 tables",
        Kind.NUMBER,
        Cause.PAPER,
        "Its own equation 6 gives 66.",
    ),
    Claim(
        "table3-bms1",
        "6.1, Table 3",
        "0.3% 9.5% 24.3% 50.0%",
        "1 to 4 known items re-identify 0.3, 9.5, 24.3 and 50.0 % of BMS1",
        Kind.NUMBER,
        Cause.GENUINE,
        "Neither these nor any other of 22 protocols that were tried gives the table.",
    ),
    Claim(
        "table3-bms2",
        "6.1, Table 3",
        "0.8% 18.8% 41.6% 91.1%",
        "1 to 4 known items re-identify 0.8, 18.8, 41.6 and 91.1 % of BMS2",
        Kind.NUMBER,
        Cause.GENUINE,
        "As for BMS1.",
    ),
    Claim("example-code", "Fig. 8", "", "the Gray code of three bits", Kind.EXAMPLE),
    Claim(
        "example-gray", "Fig. 1c", "Andrea, Claire, Bob, David, Ellen", "the Gray order of five purchases", Kind.EXAMPLE
    ),
    Claim(
        "example-rcm",
        "Fig. 1b",
        "",
        "the RCM order of five purchases",
        Kind.EXAMPLE,
        Cause.PROTOCOL,
        "Start and ties are not defined; the printed order has the same bandwidth.",
    ),
    Claim(
        "example-buckets",
        "Fig. 4",
        "buckets",
        "projecting on items 1 and 2 gives two buckets, on items 2 and 4 four",
        Kind.EXAMPLE,
    ),
    Claim(
        "example-near",
        "Fig. 4",
        "distance 1",
        "t1 and t5 are within distance 1 of t2; nothing is nearer to t3 than t4",
        Kind.EXAMPLE,
    ),
    Claim(
        "example-degree",
        "Fig. 1d",
        "1/3",
        "a member of the first group bought viagra with probability 1/3, one of the second a pregnancy test with 1/2",
        Kind.EXAMPLE,
    ),
    Claim(
        "example-groups",
        "Fig. 1d",
        "{Bob, David, Ellen}",
        "with p=2 both orders lead to the groups {Bob, David, Ellen} and {Andrea, Claire}",
        Kind.EXAMPLE,
        Cause.PAPER,
        "Figure 1d is not what CAHD does: with p=2 groups have two members.",
    ),
    Claim(
        "example-query",
        "Fig. 2",
        "half",
        "all who bought cream but not meat bought a pregnancy test; from the groups it looks like half of them",
        Kind.EXAMPLE,
    ),
    Claim(
        "data-bms1",
        "Table 1",
        "59,602",
        "BMS1 has 59,602 transactions, 497 items, at most 267 and on average 2.5 per transaction",
        Kind.DATA,
    ),
    Claim(
        "data-bms2",
        "Table 1",
        "77,512",
        "BMS2 has 77,512 transactions, 3,340 items, at most 161 and on average 5.0 per transaction",
        Kind.DATA,
        Cause.PAPER,
        "Three of the papers print the same mean of 5.0 for a file whose other figures are exactly these; "
        "its mean is 4.62.",
    ),
    Claim("time-gray", "6.2, Figs. 12 to 15", "the fastest method", "Gray is the fastest method", Kind.TIME),
    Claim(
        "time-orders",
        "6.2, Fig. 12",
        "one and two orders",
        "LSH and NN are slower than Gray by one and two orders of magnitude",
        Kind.TIME,
    ),
    Claim("time-lsh-nn", "6.2, Fig. 12", "up to 6 times", "LSH is up to six times faster than NN", Kind.TIME),
    Claim("time-pm", "6.2, Figs. 12, 13 and 15", "very large", "PM takes longer than all others", Kind.TIME),
    Claim(
        "time-lsh-rcm",
        "6.2, Fig. 13",
        "outperform RCM for low p",
        "for low p LSH is faster than RCM on BMS2",
        Kind.TIME,
    ),
    Claim("time-rcm-nn", "6.2, Fig. 14", "RCM being faster", "RCM is faster than NN and LSH", Kind.TIME),
    Claim(
        "time-lsh-rcm-m",
        "6.2, Fig. 15",
        "not considerably higher",
        "LSH does not take considerably longer than RCM",
        Kind.TIME,
    ),
    Claim(
        "time-gap-m",
        "6.2, Fig. 15",
        "only slightly",
        "the gap between RCM and LSH grows only slightly with m",
        Kind.TIME,
    ),
    Claim("time-ordering", "6.2", "most costly", "ordering takes longer than forming the groups", Kind.TIME),
    Claim("time-forming", "6.2", "at most 5 seconds", "forming the groups takes at most 5 seconds", Kind.TIME),
    Claim("time-memory", "6.2", "close to 1GB", "RCM on BMS2 needs close to 1 GB of memory", Kind.TIME),
    Claim("time-hashing", "4.2", "considerably improved", "hashing improves the time of NN considerably", Kind.TIME),
    Claim("time-alpha", "5.3", "increased execution time", "a larger alpha takes more time", Kind.TIME),
    Claim(
        "size-gray",
        "5.2 and 5.3",
        "O(n log n + n|Q|)",
        "Gray order and CAHD together are nearly linear in the records",
        Kind.TIME,
    ),
    Claim(
        "size-nn",
        "4.2",
        "linear to |T|",
        "NN searches all records for every sensitive one, so that its time grows faster than the data",
        Kind.TIME,
    ),
)

ERRATA = (
    (
        "Fig. 3, line 7, and Fig. 11, line 8",
        "the test compares with the number of records before the group is taken; the guarantee needs the "
        "number after it. As printed it breaks in 16 % of random draws.",
    ),
    ("Fig. 1d", "the groups printed are not CAHD's; with p=2 it makes groups of two and leaves one record over."),
    ("Section 6.2", "equation 6 gives B=66 for w=32, p1=0.9 and an accuracy of 90 %, not 32."),
    (
        "Section 5.3",
        "“the lowest Hamming distance (i.e., the largest number of QID items in common)” are two different "
        "things; both are options here.",
    ),
    ("Table 1", "BMS2 has 4.62 items per transaction, not 5.0."),
    ("Table 3", "no protocol gives its figures."),
)
