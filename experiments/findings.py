"""What a reader should take away, each sentence with its numbers looked up in the results."""

from __future__ import annotations

from collections.abc import Callable

from experiments.experiment import OURS, Outcome
from experiments.results import Results


def findings(results: Results) -> list[str]:
    """The findings whose experiments were run; one that the numbers no longer bear out says so."""
    found = []
    for finding, needed in FINDINGS.items():
        if all(name in results and results[name].panels for name in needed):
            try:
                text, is_so = finding(*(results[name] for name in needed))
            except IndexError:  # results of an earlier version lack a panel or a line
                continue
            found.append(text if is_so else f"*No longer found:* {text}")
    return found


def value(outcome: Outcome, panel: str, line: str, x: float | str) -> float:
    """One point; panels and lines by the beginning of their names."""
    y = outcome.panel(panel).line(line).at(x)
    assert y is not None, (panel, line, x)
    return y


Finding = Callable[..., tuple[str, bool]]


def gray(fig12: Outcome, fig13: Outcome) -> tuple[str, bool]:
    """003: the method the paper recommends."""
    parts, is_so = [], True
    for outcome, data in ((fig12, "BMS1"), (fig13, "BMS2")):
        errors = {name: value(outcome, f"{data}, uniform", name, 10) for name in ("Gray", "NN", "RCM")}
        alike = {name: value(outcome, f"{data}, distance", name, 10) for name in ("Gray", "NN", "RCM", "random groups")}
        is_so = is_so and errors["NN"] < errors["Gray"]
        parts.append(
            f"{data} KL {', '.join(f'{name} {y:.4f}' for name, y in errors.items())}, where two records of a "
            f"group differ in {', '.join(f'{y:.1f} ({name})' for name, y in alike.items())} items"
        )
    return (
        "**Gray order is not the best way to form groups (003); nearest neighbours are.** At p = 10, uniform "
        f"queries: {'; '.join(parts)}. How similar the records of a group are does not decide the error.",
        is_so,
    )


def table_3(outcome: Outcome) -> tuple[str, bool]:
    """003: re-identification."""
    lines = ("paper", "right guesses", "singled out by random", "singled out by some")
    rows = {line: [value(outcome, "Table 3: BMS2", line, known) for known in (1, 2, 3, 4)] for line in lines}
    shown = "; ".join(f"{line} {', '.join(f'{y:.3g}' for y in row)} %" for line, row in rows.items())
    is_so = all(
        any(abs(y - printed) > 0.1 * printed for y, printed in zip(rows[line], rows["paper"], strict=True))
        for line in lines[1:]
    )
    return f"**Table 3 of paper 003 cannot be obtained.** BMS2, one to four known items: {shown}.", is_so


def bound(outcome: Outcome) -> tuple[str, bool]:
    """000: complete k-anonymity under utility constraints."""
    shares = [
        value(outcome, "Without a bound", method, group) for method in ("UPCTA", "COAT") for group in ("UR2", "UR3")
    ]
    return (
        f"**Complete 5-anonymity of BMS-WebView-2 (000) needs {min(shares):.0f} to {max(shares):.0f} % of the "
        "items suppressed** under UR2 and UR3, where the paper's bound is 15 %.",
        min(shares) > 15,
    )


def lsh(outcome: Outcome) -> tuple[str, bool]:
    """003: hashing."""
    printed = next(reading for reading in outcome.readings if reading.claim == "lsh-prunes")
    return (
        f"**LSH as printed (003) hardly prunes:** {printed.ours.partition('. Rule')[0]}.",
        printed.holds is False,
    )


def measures(outcome: Outcome) -> tuple[str, bool]:
    """000: PCTA against COAT."""
    parts, wins = [], []
    for words in (
        "generalized items, by record",
        "generalized items, by item",
        "all items, by record",
        "all items, by item",
    ):
        one, two = (value(outcome, f"Figure 7, {words}", method, 5) for method in ("PCTA", "COAT"))
        parts.append(f"{one:.2g} against {two:.2g} ({words})")
        wins.append(one < two)
    one, two = (value(outcome, "Figure 9", method, 5) for method in ("PCTA", "COAT"))
    return (
        "**Whether PCTA or COAT loses less (000) depends on the measure.** BMS-WebView-1, k = 5, m = 2: log2 "
        f"of UL {one:.1f} against {two:.1f}; AvgRE {'; '.join(parts)}.",
        any(wins) and not all(wins),
    )


def trees(fig11a: Outcome, fig11c: Outcome, fig11d: Outcome) -> tuple[str, bool]:
    """001: hierarchies."""
    by_id, by_frequency = (
        value(fig11a, "Loss of AA", f"AA, {order}", "BMS-WebView-1") for order in ("by id", "by frequency")
    )
    shapes = [
        y
        for title in ("Loss of AA", "Loss of AA, packed")
        for line in fig11c.panel(title).lines
        if line.name.startswith("WebView-1")
        for _, y in line.points
        if y is not None
    ]
    of_aa = [line for line in fig11d.panel("AA above").lines if line.name.startswith("WebView")]
    above = max(y for line in of_aa for _, y in line.points if y is not None)
    return (
        "**The shape of the tree and the order of its items outweigh the algorithm (001).** AA on "
        f"BMS-WebView-1, k = 5, m = 3: NCP {by_id:.3f} with items by id, {by_frequency:.3f} by frequency; "
        f"over trees of 4 to 7 levels {min(shapes):.3f} to {max(shapes):.3f}. On one and the same tree AA is "
        f"at worst {above:.0f} % above the proven optimum.",
        by_id > (1 + above / 100) * by_frequency,
    )


def yardsticks(fig11a: Outcome, fig3ab: Outcome) -> tuple[str, bool]:
    """001 and 002: NCP against what counts are off by."""
    web, sales = "BMS-WebView-1", "Groceries, fan-out 5 by name, k=5"
    cases = (
        (f"{web}, k = 5, m = 3", "AA, by frequency", fig11a, "Loss of AA", "Counts of pairs", web),
        ("Groceries, k = 5, m = 2", "mHgHs", fig3ab, sales, f"{sales}, counts", 2),
    )
    parts, is_so = [], True
    for where, method, outcome, loss, off, x in cases:
        ncp, pairs = ([value(outcome, panel, line, x) for line in (method, OURS)] for panel in (loss, off))
        is_so = is_so and ncp[0] < ncp[1] and pairs[0] > pairs[1]
        parts.append(
            f"{where}: NCP {ncp[0]:.3f} with {method.split(',')[0]} and {ncp[1]:.3f} with {OURS}, which leaves entries "
            f"out; counts of pairs are off by {100 * pairs[0]:,.0f} % and {100 * pairs[1]:,.0f} % on average"
        )
    return (
        f"**NCP, the papers' yardstick, does not tell what can still be counted (001, 002).** {'. '.join(parts)}.",
        is_so,
    )


FINDINGS: dict[Finding, tuple[str, ...]] = {
    gray: ("003-fig12", "003-fig13"),
    table_3: ("003-table3",),
    bound: ("000-fig33",),
    lsh: ("003-lsh",),
    measures: ("000-fig7",),
    trees: ("001-fig11a", "001-fig11c", "001-fig11d"),
    yardsticks: ("001-fig11a", "002-fig3ab"),
}
