"""Section 5.2: PCTA against Apriori and COAT, without utility constraints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.experiment import Outcome, Statement, Workshop
from experiments.paper000_runs import (
    PLUS,
    Model,
    Table,
    X,
    at_least,
    compile_kernels,
    join,
    lower,
    magnitude,
    more_accurate,
    seconds_apart,
    span,
    sweep,
    up_to,
)
from setveil.algorithms.constraints.generators import PAIR_SHARES, SIZE_SHARES, random_mix, random_pairs, rare_records
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity

K = 5
KS = (2, 5, 10, 25, 50)
MS = (1, 2, 3)
N_MIX = 1000  # itemsets of PR6 to PR9
FEW_KS = (10, 50)  # complete k-anonymity of BMS-WebView-2 takes seconds per run
PART = 20_000  # records of BMS-WebView-2 where all of them would take minutes per run
NAMES = {"BMS1": "BMS-WebView-1", "BMS2": "BMS-WebView-2"}
THREE = ("PCTA", "COAT", "Apriori")
OTHERS = ("Apriori", "COAT")


def first_records(data: Transactions, n: int) -> Transactions:
    """The first n records and the items in them."""
    return data.select(np.arange(min(n, data.n_records))).used_items()


# -- figures 7 to 9 -----------------------------------------------------------------------------------------------------


def over_k(workshop: Workshop) -> Outcome:
    """k^2-anonymity over k."""
    tables = {}
    for (stem, name), methods in zip(NAMES.items(), ((*THREE, PLUS), THREE), strict=True):
        data = workshop.data(stem)
        cases: dict[X, tuple[Transactions, Model]] = {k: (data, KmAnonymity(k, 2)) for k in KS}
        tables[stem] = sweep(workshop, name, "k", cases, methods)
    one, two = tables["BMS1"], tables["BMS2"]
    panels = (*one.error_panels("Figure 7"), *two.error_panels("Figure 8"), one.ul_panel("Figure 9"))
    statements = [
        statement
        for table in tables.values()
        for statement in (
            at_least(
                f"{table.data}: Apriori's error is at least 7 (up to 26) times that of PCTA.",
                table,
                "PCTA",
                "Apriori",
                7,
            ),
            at_least(
                f"{table.data}: COAT's error is at least 2 (up to 6) times that of PCTA.", table, "PCTA", "COAT", 2
            ),
            _slower_growth(table),
            _smaller_groups(table, KS),
        )
    ]
    statements += [
        lower(f"{one.data}: PCTA loses less UL than Apriori and COAT.", one, "PCTA", OTHERS, "log2 of UL", "ul"),
        magnitude(f"{one.data}: the UL of PCTA is smaller by several orders of magnitude.", one, "PCTA", OTHERS, 2),
    ]
    return Outcome(panels, tuple(statements))


def _slower_growth(table: Table) -> Statement:
    growth: dict[str, dict[str, float]] = {}
    for method in THREE:
        runs = [run for run in table.runs[method].values() if run is not None]
        growth[method] = {name: runs[-1].errors[name] - runs[0].errors[name] for name in runs[0].errors}
    text = "; ".join(
        f"{method} " + ", ".join(f"{value:.1f} ({name})" for name, value in values.items())
        for method, values in growth.items()
    )
    return Statement(
        f"{table.data}: the errors of Apriori and COAT grow much faster with k.",
        f"AvgRE grows from the least to the largest k by: {text}. Rule: both grow by more than PCTA's, in both workloads.",
        all(growth[other][name] > growth["PCTA"][name] for other in OTHERS for name in growth["PCTA"]),
    )


def _smaller_groups(table: Table, ks: tuple[int, ...]) -> Statement:
    sizes: Mapping[str, list[float]] = {
        method: [float(run.largest) for k in ks if (run := table.runs[method].get(k)) is not None] for method in THREE
    }
    text = ", ".join(f"{method} {span(found)}" for method, found in sizes.items())
    return Statement(
        f"{table.data}: Apriori and COAT make much larger groups of items than PCTA"
        + ("." if ks[0] < 10 else " when k is 10 or more."),
        f"items of the largest group: {text}. Rule: both larger at every k.",
        all(one < two for other in OTHERS for one, two in zip(sizes["PCTA"], sizes[other], strict=False)),
    )


# -- figures 10 to 12 ---------------------------------------------------------------------------------------------------


def over_m(workshop: Workshop) -> Outcome:
    """5^m-anonymity over m."""
    tables = []
    parts = {
        "BMS1": (NAMES["BMS1"], workshop.data("BMS1")),
        "BMS2": (f"{NAMES['BMS2']}, first {PART:,} records", first_records(workshop.data("BMS2"), PART)),
    }
    for name, data in parts.values():
        cases: dict[X, tuple[Transactions, Model]] = {m: (data, KmAnonymity(K, m)) for m in MS}
        tables.append(sweep(workshop, name, "m", cases, (*THREE, PLUS)))
    one, two = tables
    panels = (*one.error_panels("Figure 10"), one.ul_panel("Figure 11"), two.ul_panel("Figure 12"))
    return Outcome(
        panels,
        (
            _grows_with_m(one),
            at_least(f"{one.data}: Apriori's error is at least 8 times that of PCTA.", one, "PCTA", "Apriori", 8),
            at_least(f"{one.data}: COAT's error is at least 1.6 times that of PCTA.", one, "PCTA", "COAT", 1.6),
            *(
                lower(f"{table.data}: PCTA loses less UL than Apriori and COAT.", table, "PCTA", OTHERS, "log2 of UL", "ul")
                for table in tables
            ),
        ),
    )  # fmt: skip


def _grows_with_m(table: Table) -> Statement:
    growing = {
        method: all(
            one.errors[name] <= two.errors[name]
            for one, two in zip(list(runs.values()), list(runs.values())[1:], strict=False)
            if one is not None and two is not None
            for name in one.errors
        )
        for method, runs in table.runs.items()
        if method in THREE
    }
    return Statement(
        f"{table.data}: all methods lose more the more items an attacker knows (the text says less, and gives the reason for more).",
        "AvgRE never falls as m grows for "
        + (", ".join(method for method, grows in growing.items() if grows) or "none")
        + ".",
        all(growing.values()),
    )


# -- figures 13 to 16 ---------------------------------------------------------------------------------------------------


def over_pairs(workshop: Workshop) -> Outcome:
    """PR1 to PR5: pairs over a share of the items."""
    data = workshop.data("BMS1")
    cases: dict[X, tuple[Transactions, Model]] = {
        name: (data, ConstraintAnonymity(K, list(random_pairs(data, share)))) for name, share in PAIR_SHARES.items()
    }
    table = sweep(
        workshop, NAMES["BMS1"], "privacy constraints", cases, (*THREE, PLUS), apriori=lambda x: KmAnonymity(K, 2)
    )
    flat = [run.ul for run in table.runs["Apriori"].values() if run is not None]
    return Outcome(
        (*table.error_panels("Figure 13"), table.ul_panel("Figure 14")),
        (
            Statement(
                "Apriori does not take constraints, so its loss is the same for all of them.",
                f"log2 of UL from {min(flat):.1f} to {max(flat):.1f}.",
                min(flat) == max(flat),
            ),
            up_to("Apriori's error is up to 26 times that of PCTA.", table, "PCTA", "Apriori", 26),
            up_to("COAT's error is up to 2.5 times that of PCTA.", table, "PCTA", "COAT", 2.5),
            more_accurate("PCTA's error is lower than COAT's for every set of constraints.", table, "PCTA", "COAT"),
            _growing_gap(table),
            lower("PCTA loses less UL than Apriori and COAT.", table, "PCTA", OTHERS, "log2 of UL", "ul"),
        ),
    )


def _growing_gap(table: Table) -> Statement:
    pairs = table.pairs("PCTA", "COAT")
    gaps = {name: [two.errors[name] - one.errors[name] for one, two in pairs] for name in ("T", "I")}
    text = "; ".join(f"workload {name} " + ", ".join(f"{gap:.2f}" for gap in found) for name, found in gaps.items())
    return Statement(
        "The difference between COAT's and PCTA's error grows from PR1 to PR5.",
        f"COAT's error minus PCTA's: {text}.",
        all(a <= b for found in gaps.values() for a, b in zip(found, found[1:], strict=False)),
    )


def over_mixes(workshop: Workshop) -> Outcome:
    """PR6 to PR9: 1,000 itemsets of one to four items."""
    tables = []
    for stem, name in NAMES.items():
        data = workshop.data(stem)
        cases: dict[X, tuple[Transactions, Model]] = {
            mix: (data, ConstraintAnonymity(K, list(random_mix(data, shares, N_MIX))))
            for mix, shares in SIZE_SHARES.items()
        }
        tables.append(sweep(workshop, name, "privacy constraints", cases, THREE, apriori=lambda x: KmAnonymity(K, 4)))
    one, two = tables
    return Outcome(
        (one.ncp_panel("Figure 15"), two.ul_panel("Figure 16")),
        (
            lower(f"{one.data}: PCTA has a lower NCP than Apriori and COAT.", one, "PCTA", OTHERS, "NCP", "ncp"),
            lower(f"{two.data}: PCTA loses less UL than Apriori and COAT.", two, "PCTA", OTHERS, "log2 of UL", "ul"),
        ),
    )


# -- figures 17 and 18 --------------------------------------------------------------------------------------------------


def complete(workshop: Workshop) -> Outcome:
    """Complete k-anonymity through the constraints of Pgen."""
    tables = []
    for (stem, name), ks in zip(NAMES.items(), (KS, FEW_KS), strict=True):
        data = workshop.data(stem)
        cases: dict[X, tuple[Transactions, Model]] = {
            k: (data, ConstraintAnonymity(k, list(rare_records(data, k)))) for k in ks
        }
        longest = int(data.lengths.max())
        tables.append(
            sweep(workshop, name, "k", cases, THREE, apriori=lambda k, m=longest: KmAnonymity(int(k), m))  # type: ignore[misc]
        )
    one, two = tables
    return Outcome(
        (one.ncp_panel("Figure 17"), two.ul_panel("Figure 18")),
        (
            lower(f"{one.data}: PCTA has a lower NCP than Apriori and COAT.", one, "PCTA", OTHERS, "NCP", "ncp"),
            lower(f"{two.data}: PCTA loses less UL than Apriori and COAT.", two, "PCTA", OTHERS, "log2 of UL", "ul"),
            *(_smaller_groups(table, tuple(k for k in KS if k >= 10)) for table in tables),
        ),
    )


# -- figures 19 and 20 --------------------------------------------------------------------------------------------------


def nested_parts(data: Transactions, shares: tuple[float, ...] = (0.25, 0.5, 0.75, 1.0)) -> dict[int, Transactions]:
    """Random parts of the records, each contained in the next; by number of records."""
    order = np.random.default_rng(0).permutation(data.n_records)
    sizes = [int(share * data.n_records) for share in shares]
    return {size: data.select(np.sort(order[:size])).used_items() for size in sizes}


def runtime(workshop: Workshop) -> Outcome:
    """Time over records and k."""
    compile_kernels(workshop, THREE)
    data = workshop.data("BMS1")
    parts: dict[X, tuple[Transactions, Model]] = {
        size: (part, KmAnonymity(K, 2)) for size, part in nested_parts(data).items()
    }
    ks: dict[X, tuple[Transactions, Model]] = {k: (data, KmAnonymity(k, 2)) for k in KS}
    by_size = sweep(workshop, NAMES["BMS1"], "records", parts, THREE, queries=lambda data: {})
    by_k = sweep(workshop, NAMES["BMS1"], "k", ks, THREE, queries=lambda data: {})
    return join(
        Outcome((by_size.seconds_panel("Figure 19"),), _compared(by_size)),
        Outcome((by_k.seconds_panel("Figure 20"),), _trends(by_k)),
    )


def _compared(table: Table) -> tuple[Statement, ...]:
    def times(other: str) -> str:
        return span([two.seconds / max(one.seconds, 1e-9) for one, two in table.pairs("PCTA", other)])

    return (
        seconds_apart(
            "PCTA is faster than Apriori, and more so on large data.",
            f"our Apriori takes {times('Apriori')} times as long as our PCTA, over the numbers of records.",
        ),
        seconds_apart("PCTA is slower than COAT.", f"our COAT takes {times('COAT')} times as long as our PCTA."),
    )


def _trends(table: Table) -> tuple[Statement, ...]:
    def growth(method: str) -> str:
        runs = [run for run in table.runs[method].values() if run is not None]
        return f"{runs[-1].seconds / max(runs[0].seconds, 1e-9):.1f}"

    saved = max((1 - one.seconds / max(two.seconds, 1e-9) for one, two in table.pairs("PCTA", "COAT")), default=0.0)
    return (
        seconds_apart(
            "Apriori becomes slightly faster with larger k, PCTA and COAT slower.",
            f"from k={KS[0]} to k={KS[-1]} the time changes {growth('Apriori')} times (Apriori), {growth('PCTA')} times (PCTA), "
            f"{growth('COAT')} times (COAT).",
        ),
        seconds_apart(
            "PCTA is up to 44 % faster than COAT (the paragraph before says slower).",
            f"at best {abs(100 * saved):.0f} % {'faster' if saved > 0 else 'slower'}.",
        ),
    )
