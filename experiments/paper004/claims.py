"""What the paper claims."""

from __future__ import annotations

from experiments.claims import Cause, Claim, Kind

LEFTOVERS = (
    "Whose classes the leftovers join is not said clearly: Algorithm 3 goes through one segment at a "
    "time, the text of section IV-C speaks of the class with the most similar centre."
)
TSP = "Gray-TSP is a reconstruction (see there)."
REBUILT = (
    (
        "Gray-TSP",
        "its genetic search, and how long it goes on, is not described; ours is one of many. The original publishes "
        "each record generalized with its successors on the tour, so that published records are not identical; the "
        "model here asks for identical ones, so the tour is cut into runs of k.",
    ),
)

CLAIMS = (
    Claim(
        "pta-best",
        "VI-B, Figs. 10 and 11",
        "better results",
        "PTA loses less than Gray-TSP and GSC",
        cause=Cause.PROTOCOL,
        why=LEFTOVERS,
    ),
    Claim(
        "gsc-worst",
        "VI-B, Figs. 10 and 11",
        "clearly the worst",
        "GSC loses most on T10I4D100K (said of pumsb, accidents and T10I4D100K)",
        cause=Cause.COMPARATOR,
        why=TSP,
    ),
    Claim(
        "segments-loss",
        "VI-A, Fig. 9",
        "little influence",
        "the number of segments hardly changes the loss of PTA",
        cause=Cause.PROTOCOL,
        why=LEFTOVERS,
    ),
    Claim(
        "segments-falls",
        "VI-B, Fig. 10",
        "generally decreases",
        "the loss of PTA and Gray-TSP falls with more segments",
        cause=Cause.PAPER,
        why="Section VI-A says that it stays more or less the same.",
    ),
    Claim(
        "k-loss",
        "VI-A, Fig. 9",
        "rapidly increases",
        "the loss grows rapidly with k",
        cause=Cause.PROTOCOL,
        why="How fast “rapidly” is, is not said; the rule is ours. Of T10I4D100K more than half is lost at k=5 "
        "already, so that the loss cannot grow so many times.",
    ),
    Claim(
        "k-slip",
        "VI-B, Fig. 11",
        "loss decreases",
        "how the loss changes with k",
        cause=Cause.PAPER,
        why="The sentence says that it decreases, and gives the reason for an increase; section VI-A says increases.",
    ),
    Claim(
        "mushroom-pta",
        "VI-B, Fig. 10b",
        "19.5%",
        "PTA loses 19.5 % of mushroom with 100 segments and 19 % with 200, k = 15",
        Kind.NUMBER,
        Cause.PROTOCOL,
        LEFTOVERS,
    ),
    Claim(
        "mushroom-tsp", "VI-B, Fig. 10b", "about 28%", "Gray-TSP loses 28 and 23 %", Kind.NUMBER, Cause.COMPARATOR, TSP
    ),
    Claim("example-safe", "Table 2", "", "Table 2 is 3-anonymous", Kind.EXAMPLE),
    Claim("example-loss", "III", "", "its information loss is 4", Kind.EXAMPLE),
    Claim(
        "example-order",
        "Fig. 2c",
        "",
        "sorted by Gray code the records are T8 T3 T13 T1 T10 T11 T6 T5 T2 T7 T12 T4 T9",
        Kind.EXAMPLE,
    ),
    Claim(
        "example-loop",
        "Figs. 3 and 4",
        "",
        "the shortest loop of the first segment is T8 T6 T1 T10 T11 T13 T3, of length 6",
        Kind.EXAMPLE,
    ),
    Claim(
        "example-classes",
        "Fig. 7",
        "",
        "the first segment is published as BD for T1 T10 T11 T13 and DE for T3 T6 T8",
        Kind.EXAMPLE,
    ),
    Claim(
        "segments-time",
        "VI-A, Fig. 8",
        "greatly influences",
        "more segments take much less time (T10I4D100K, 50 to 100 segments: 4.1 times less)",
        Kind.TIME,
    ),
    Claim(
        "k-time",
        "VI-A, Fig. 8",
        "not influenced",
        "k does not influence the time of PTA where finding loops decides it",
        Kind.TIME,
    ),
    Claim(
        "k-time-steady",
        "VI-C, Fig. 13",
        "steady",
        "over k the times of Gray-TSP and GSC are steady and PTA's changes slightly",
        Kind.TIME,
        Cause.PROTOCOL,
        "CPU times of programs of ours that take a few hundredths of a second.",
    ),
    Claim(
        "time-segments",
        "VI-C, Fig. 12",
        "one to two orders",
        "PTA and GSC are one to two orders of magnitude faster than Gray-TSP and about equally fast",
        Kind.TIME,
    ),
    Claim(
        "time-k",
        "VI-C, Fig. 13",
        "one or two orders",
        "PTA and GSC are one to two orders of magnitude faster than Gray-TSP when k is varied",
        Kind.TIME,
    ),
)

ERRATA = (
    (
        "Algorithm 1",
        "the distance is added after the end has moved, so that it is always 0, and the closing edge that "
        "section V counts is missing.",
    ),
    ("Algorithm 3, line 14", "leftovers join “∈ MG”, the candidates; the equivalence classes must be meant."),
    ("Algorithm 2", "in a segment smaller than k a group wraps around and holds records twice."),
    ("Figure 2 (c)", "T2 and T7 are misprinted; the order is right."),
    (
        "Sections VI-A and VI-B",
        "the number of segments has “little influence” on the loss in one, and the loss “generally "
        "decreases” with it in the other.",
    ),
    (
        "Section VI-B",
        "“As k is increased, the ratio of information loss decreases” should read “increases”: so does VI-A, "
        "and so goes the reason given.",
    ),
    ("Section VI-C", "accidents is Fig. 12 (e), not (f)."),
)
