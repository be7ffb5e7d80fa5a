"""What the paper claims."""

from __future__ import annotations

from experiments.claims import Cause, Claim, Kind

DATA = "BMS-POS and the AOL query log are not at hand; Groceries and BMS-WebView-2 stand in their place."
ORDER = "and which items are siblings is not said; tree shape and order of the items outweigh the method."

CLAIMS = (
    Claim(
        "mm-worst",
        "5.1, Fig. 3",
        "highest for all cases",
        "MM loses most of all wherever m is at least 2",
        cause=Cause.DATA,
        why=DATA,
    ),
    Claim(
        "aa-second",
        "5.1, Fig. 3",
        "second highest in general",
        "AA loses more than LG and mHgHs",
        cause=Cause.DATA,
        why=f"{DATA} The paper's tree for AOL comes from WordNet, {ORDER}",
    ),
    Claim(
        "mhghs-best",
        "5.1, Fig. 3",
        "least information loss",
        "mHgHs loses least",
        cause=Cause.DATA,
        why=f"{DATA} The paper's tree for AOL comes from WordNet, {ORDER}",
    ),
    Claim(
        "gap-k",
        "5.1, Fig. 3",
        "gap increases",
        "the gap between LG and mHgHs grows with k",
        cause=Cause.DATA,
        why=f"{DATA} The paper's tree for AOL comes from WordNet, {ORDER}",
    ),
    Claim(
        "gain-sales", "5.1", "moderate on POS", "mHgHs gains moderately over LG on sales", cause=Cause.DATA, why=DATA
    ),
    Claim(
        "gain-clicks",
        "5.1",
        "significant on AOL",
        "mHgHs gains significantly over LG on very sparse data",
        cause=Cause.DATA,
        why=DATA,
    ),
    Claim(
        "mm-pos",
        "5.1, Fig. 3",
        "between 7.5% and 70%",
        "MM loses 7.5 to 70 % on BMS-POS where m is at least 2",
        Kind.NUMBER,
    ),
    Claim(
        "mm-aol", "5.1, Fig. 3", "between 46% and 96%", "MM loses 46 to 96 % on AOL where m is at least 2", Kind.NUMBER
    ),
    Claim("aa-aol", "5.1, Fig. 3", "around 39%", "AA loses about 39 % on AOL, even with m=1", Kind.NUMBER),
    Claim("lg-aol", "5.1, Fig. 3", "27%", "LG loses up to 27 % on AOL; 12 % with k=5, 17 % with k=50", Kind.NUMBER),
    Claim(
        "mhghs-aol",
        "5.1, Fig. 3",
        "under 10%",
        "mHgHs stays below 10 % on AOL; 7.9 % with k=5, 9 % with k=50, m of at least 5",
        Kind.NUMBER,
    ),
    Claim(
        "example-published",
        "Fig. 1",
        "",
        "what LG, AA, MM and HgHs publish of eight records",
        Kind.EXAMPLE,
        is_fitted=True,
    ),
    Claim("example-costs", "2 and 3", "", "all at the root costs 23, HgHs 5.6", Kind.EXAMPLE, is_fitted=True),
    Claim(
        "walk-costs",
        "Fig. 2",
        "",
        "what five cuts cost, each with what is suppressed of it",
        Kind.EXAMPLE,
        is_fitted=True,
    ),
    Claim("walk-threats", "4", "", "the minimal privacy threats of cuts, and 25 in all", Kind.EXAMPLE, is_fitted=True),
    Claim(
        "walk-round-1",
        "4.3",
        "{a, b, c, d, f, g, M, e, i}",
        "mHgHs ends round 1 with {a, b, c, d, f, g, M, e, i}",
        Kind.EXAMPLE,
        is_fitted=True,
    ),
    Claim(
        "walk-round-5",
        "4.3",
        "{P, f, g, M, e, i}",
        "mHgHs ends round 5 with {P, f, g, M, e, i} without i",
        Kind.EXAMPLE,
        Cause.PAPER,
        "Round 2 already joins f and g, and no later round can part them, as each round works below the cut "
        "of the one before.",
        True,
    ),
    Claim("time", "5.2", "LG is the most efficient", "LG is fastest, then mHgHs; AA and MM are slower", Kind.TIME),
    Claim("time-scale", "5.2", "quite scalable", "mHgHs is quite scalable", Kind.TIME),
)

ERRATA = (
    (
        "Section 4.3",
        "the walk-through of mHgHs contradicts the algorithm: round 2 gives {H, K, J, M, e, i} at 4.2 and "
        "round 5 {P, J, M, e, i} without i at 6.2; 5.6 is what HgHs finds in its one round.",
    ),
    ("Figure 2", "for the cut {T} nothing is suppressed; the set printed, {e, i}, belongs to another cut."),
    (
        "Figure 1 (b)",
        "the taxonomy could not be read in the copy at hand; it is put together from the printed cuts and costs.",
    ),
)
