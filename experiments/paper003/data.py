"""What the paper says about its example and its data, before any method is compared: Figures 1, 2, 4 and 8, Tables 1
and 3, orderings.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import setveil as sv
from experiments.claims import Reading
from experiments.experiment import Line, Outcome, Panel, Workshop, name_of_default
from experiments.paper003.sweeps import DEFAULTS, GRAY, RCM, draw, list_values, warm_up
from setveil.algorithms.base import Context
from setveil.algorithms.degree.cahd import group_in_sequence
from setveil.algorithms.degree.groups import split_records
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order, order_records, rcm_order
from setveil.releases import Grouping
from setveil.utility.reconstruction import Query, kl_divergences, query

SETS = ("BMS1", "BMS2")
NARROWER = 0.1  # share by which a reduced bandwidth is less, at least: any two orders differ by a little

# -- the example of Figure 1 ------------------------------------------------------------------------------------------

ITEMS = ("wine", "strawberries", "meat", "cream")  # in the order of the columns
PATTERNS = {"Bob": "1010", "David": "1010", "Claire": "0101", "Andrea": "0110", "Ellen": "1011"}
HIDDEN = {"Bob": "viagra", "Claire": "pregnancy test"}
PEOPLE = tuple(PATTERNS)
PRINTED_ORDERS = {
    "Figure 1b": ("Bob", "David", "Ellen", "Andrea", "Claire"),
    "Figure 1c": ("Andrea", "Claire", "Bob", "David", "Ellen"),
}
PAPERS_GROUPS = (("Bob", "David", "Ellen"), ("Andrea", "Claire"))


def worked_example(workshop: Workshop) -> Outcome:
    """Figures 1, 2, 4 and 8."""
    workshop.step("the example")
    public = [[item for item, bit in zip(ITEMS, PATTERNS[one], strict=True) if bit == "1"] for one in PEOPLE]
    data = Transactions.from_lists(
        [*items, HIDDEN[one]] if one in HIDDEN else items for one, items in zip(PEOPLE, public, strict=True)
    )
    model = PrivacyDegree(2, tuple(HIDDEN.values()))
    group_of = np.array([[one in group for group in PAPERS_GROUPS].index(True) for one in PEOPLE])
    releases = {"the paper's groups": Grouping.from_groups(data, group_of, model.sensitive)}
    for title, order in PRINTED_ORDERS.items():
        releases[title] = _groups_in(data, model, order, absorb=False)
        releases[f"{title}, absorb"] = _groups_in(data, model, order, absorb=True)
    ours, _ = workshop.release(data, model, None)
    assert isinstance(ours, Grouping)
    releases[name_of_default("degree")] = ours
    return Outcome(
        (_example_panel(data, releases),),
        (*_order_readings(Transactions.from_lists(public)), *_group_readings(data, model, releases)),
    )


def _groups_in(data: Transactions, model: PrivacyDegree, people: tuple[str, ...], absorb: bool) -> Grouping:
    """What CAHD makes of a printed order."""
    split = split_records(data, model)
    place_of = np.argsort(split.order)  # of each person among the sorted records
    order = place_of[[PEOPLE.index(one) for one in people]]
    release = split.release(group_in_sequence(split, order, 1, "hamming", absorb, Context()), {})
    if not sv.verify(release, model).holds:
        raise sv.GuaranteeError(f"the groups of {', '.join(people)} do not keep {model}; nothing is measured on them.")
    return release


def _order_readings(public: Transactions) -> list[Reading]:
    """Gray, band matrix, hashing, the code itself."""
    in_columns = [ITEMS.index(label) for label in public.vocabulary]
    gray = tuple(PEOPLE[record] for record in gray_order(public, in_columns))
    walk = rcm_order(public)
    walked, printed = tuple(PEOPLE[record] for record in walk), PRINTED_ORDERS["Figure 1b"]
    width, printed_width = (
        _bandwidth(public, np.array([PEOPLE.index(one) for one in order])) for order in (walked, printed)
    )
    bits = np.array([[int(bit) for bit in PATTERNS[one]] for one in PEOPLE])
    n_buckets = [len(np.unique(bits[:, columns], axis=0)) for columns in ([0, 1], [1, 3])]
    distance = np.abs(bits[:, None] - bits[None]).sum(axis=2).tolist()
    near = [f"t{other + 1}" for other in range(len(bits)) if other != 1 and distance[1][other] <= 1]
    cube = [format(number, "03b") for number in range(8)]
    rows = Transactions.from_lists([[str(place) for place in range(3) if one[place] == "1"] for one in cube])
    code = [cube[record] for record in gray_order(rows, "id")]
    return [
        Reading(
            "example-code",
            "",
            f"All eight sets in Gray order: {', '.join(code)}.",
            code == ["000", "001", "011", "010", "110", "111", "101", "100"],
        ),
        Reading(
            "example-gray",
            "",
            f"{', '.join(gray)} (bits in the order of the printed columns).",
            gray == PRINTED_ORDERS["Figure 1c"],
        ),
        Reading(
            "example-rcm",
            "",
            f"{', '.join(walked)}. Two records that share an item are at most {width} apart, in the printed "
            f"order {printed_width}.",
            printed in (walked, walked[::-1]),
        ),
        Reading(
            "example-buckets",
            "",
            f"{n_buckets[0]} and {n_buckets[1]} buckets.",
            n_buckets == [2, 4],
        ),
        Reading(
            "example-near",
            "",
            f"Within distance 1 of t2: {' and '.join(near)}; t4 is at distance {distance[2][3]} of t3, the others at "
            f"{min(distance[2][other] for other in (0, 1, 4))} or more.",
            near == ["t1", "t5"] and distance[2][3] == 2 == min(distance[2][other] for other in (0, 1, 3, 4)),
        ),
    ]


def _achieved_p(release: Grouping) -> dict[str, float]:
    """The degree each sensitive item really has: the smallest group size per occurrence; infinite if it never
    occurs.
    """
    size = np.bincount(release.group_of, minlength=release.n_groups)
    least = np.full(len(release.sensitive), np.inf)
    np.minimum.at(least, release.count_item, size[release.count_group] / release.count)
    return dict(zip(release.sensitive, least.tolist(), strict=True))


def _group_readings(data: Transactions, model: PrivacyDegree, releases: dict[str, Grouping]) -> list[Reading]:
    """What is published, what it protects, what can be told from it."""
    printed = releases["the paper's groups"]
    degree = _achieved_p(printed)
    answer = query(printed, "pregnancy test", ["cream"], ["meat"]).estimate
    truth = query(Grouping.from_groups(data, np.arange(5), model.sensitive), "pregnancy test", ["cream"], ["meat"])
    groups = {name: _groups_of(release) for name, release in releases.items()}
    plain = {title: groups[title] for title in PRINTED_ORDERS}
    absorbed = [groups[f"{title}, absorb"] == groups["the paper's groups"] for title in PRINTED_ORDERS]
    told = "; ".join(f"{title} {_in_braces(found)}" for title, found in plain.items())
    return [
        Reading(
            "example-degree",
            "",
            f"1/{degree['viagra']:g} and 1/{degree['pregnancy test']:g}; degree 2 "
            f"{'holds' if sv.verify(printed, model).holds else 'does not hold'}.",
            degree == {"viagra": 3.0, "pregnancy test": 2.0},
        ),
        Reading(
            "example-groups",
            "CAHD as printed",
            f"CAHD makes of {told}. Records that no group needs are left over.",
            all(found == groups["the paper's groups"] for found in plain.values()),
        ),
        Reading(
            "example-groups",
            "leftovers join the nearest group (absorb=true)",
            f"the printed groups in {sum(absorbed)} of 2 orders.",
            all(absorbed),
        ),
        Reading(
            "example-query",
            "",
            f"{truth.estimate:g} of 1 in the original, {answer:g} of 1 estimated from the printed groups.",
            (truth.estimate, answer) == (1.0, 0.5),
        ),
    ]


def _groups_of(release: Grouping) -> set[frozenset[str]]:
    """Who is with whom."""
    return {
        frozenset(PEOPLE[record] for record in np.flatnonzero(release.group_of == group).tolist())
        for group in range(release.n_groups)
    }


def _in_braces(groups: set[frozenset[str]]) -> str:
    return ", ".join(f"{{{', '.join(group)}}}" for group in sorted(sorted(group) for group in groups))


def _example_panel(data: Transactions, releases: dict[str, Grouping]) -> Panel:
    """Figure 2: where pregnancy tests are, over cream and meat, and the divergence from it."""
    exact = Grouping.from_groups(data, np.arange(data.n_records), releases["the paper's groups"].sensitive)
    cells = (("cream", "meat"), ("cream", ""), ("", "meat"), ("", ""))
    lines = []
    for name, release in {"original": exact, **releases}.items():
        points = []
        for cell in cells:
            absent = [item for item in ("cream", "meat") if item not in cell]
            found = query(release, "pregnancy test", [item for item in cell if item], absent)
            points.append((" and ".join(item for item in cell if item) or "neither", found.estimate))
        kl = float(kl_divergences(data, release, [Query("pregnancy test", ("cream", "meat"))])[0])
        lines.append(Line(name, tuple(points), f"KL divergence {kl:.4f}"))
    return Panel("Pregnancy tests over cream and meat", "bought", "share of pregnancy tests", tuple(lines))


# -- Tables 1 and 3 ----------------------------------------------------------------------------------------------------

TABLE_1 = {"BMS1": (59_602, 497, 267, 2.5), "BMS2": (77_512, 3_340, 161, 5.0)}
TABLE_3 = {"BMS1": (0.3, 9.5, 24.3, 50.0), "BMS2": (0.8, 18.8, 41.6, 91.1)}
KNOWN = (1, 2, 3, 4)
EXACT = 1_000_000_000  # subsets of one size: more than the data sets have


def data_sets(workshop: Workshop) -> Outcome:
    """Table 1."""
    readings = []
    for name, printed in TABLE_1.items():
        workshop.step(name)
        data = workshop.data(name)
        mean = data.n_occurrences / data.n_records
        ours = (data.n_records, int((data.supports > 0).sum()), int(data.lengths.max()), round(mean, 1))
        readings.append(Reading(f"data-{name.lower()}", name, f"{_shape(ours)} (mean {mean:.2f}).", ours == printed))
    return Outcome((), tuple(readings))


def _shape(row: tuple[int, int, int, float]) -> str:
    return f"{row[0]:,} transactions, {row[1]:,} items, at most {row[2]} and on average {row[3]:.1f} items"


def re_identification(workshop: Workshop) -> Outcome:
    """Table 3."""
    panels, readings = [], []
    guessed: dict[str, list[float]] = {}
    for name, printed in TABLE_3.items():
        workshop.step(f"{name}, known items")
        rows = sv.risk(workshop.data(name), KNOWN, k=2, budget=EXACT).rows
        lines = {
            "right guesses (mean 1/support)": [100 * (row.mean_inverse_support or 0.0) for row in rows],
            "singled out by random own items": [100 * (row.singled_out or 0.0) for row in rows],
            "singled out by some choice of own items": [100 * (row.below_k or 0.0) for row in rows],
        }
        guessed[name] = next(iter(lines.values()))
        panels.append(
            Panel(
                f"Table 3: {name}",
                "known items",
                "% of transactions",
                (
                    Line("paper", tuple(zip(KNOWN, printed, strict=True)), is_paper=True),
                    *(Line(title, tuple(zip(KNOWN, values, strict=True))) for title, values in lines.items()),
                ),
            )
        )
        wanted = ", ".join(f"{value:g}" for value in printed)
        for title, values in lines.items():
            near = [abs(ours - value) <= max(value / 10, 0.05) for ours, value in zip(values, printed, strict=True)]
            readings.append(
                Reading(
                    f"table3-{name.lower()}",
                    title,
                    f"{', '.join(f'{value:.3g}' for value in values)} %, printed {wanted}: {sum(near)} of "
                    f"{len(near)} agree. Rule: all within a tenth, or the rounding.",
                    all(near),
                )
            )
    higher = sum(two > one for one, two in zip(guessed["BMS1"], guessed["BMS2"], strict=True))
    readings.append(
        Reading(
            "sparser",
            "right guesses",
            f"more in BMS2 for {higher} of {len(KNOWN)} numbers of known items. Rule: all.",
            higher == len(KNOWN),
        )
    )
    return Outcome(tuple(panels), tuple(readings))


# -- orderings --------------------------------------------------------------------------------------------------------


def orderings(workshop: Workshop) -> Outcome:
    """Sections 5.1 to 5.3: how similar neighbours are, how wide the band, what ordering costs."""
    warm_up(workshop, (GRAY, RCM))
    distance: dict[str, dict[str, float]] = {}
    band: dict[str, dict[str, float]] = {}
    for name in SETS:
        data = workshop.data(name)
        workshop.step(f"{name}, orderings")
        orders = {
            "Gray": gray_order(data),
            "Gray, bits by id": gray_order(data, "id"),
            "RCM": rcm_order(data),
            "as stored": np.arange(data.n_records),
            "random": np.random.default_rng(0).permutation(data.n_records),
        }
        distance[name] = {title: _neighbour_distance(data, order) for title, order in orders.items()}
        band[name] = {title: float(_bandwidth(data, order)) for title, order in orders.items()}
    panels = tuple(
        Panel(title, "data", unit, tuple(Line(one, tuple((name, table[name][one]) for name in SETS)) for one in orders))
        for title, unit, table in (
            ("Neighbours in the sequence", "mean Hamming distance", distance),
            ("Bandwidth", "records", band),
        )
    )
    return Outcome(
        panels,
        (
            *_lower("gray-near", distance, "Gray", "as stored"),
            *_lower("gray-bits", distance, "Gray", "Gray, bits by id"),
            *_lower("rcm-near", distance, "RCM", "as stored"),
            *_lower("rcm-band", band, "RCM", "as stored", ",.0f", NARROWER),
            *_cost_readings(workshop),
        ),
    )


def _lower(
    claim: str, table: dict[str, dict[str, float]], one: str, other: str, form: str = ".3f", by: float = 0.0
) -> Iterator[Reading]:
    """Lower by more than a share; a random order stands beside it."""
    rule = f"lower by more than {by:.0%}" if by else "lower"
    for name, row in table.items():
        shown = list_values({key: row[key] for key in (one, other, "random")}, form)
        yield Reading(claim, name, f"{shown}. Rule: {rule}.", row[one] < (1 - by) * row[other])


def _neighbour_distance(data: Transactions, order: NDArray[np.int64]) -> float:
    """Mean Hamming distance of consecutive records."""
    rows = data.select(order)
    keys = rows.owners * rows.n_items + rows.items  # ascending
    n_common = len(np.intersect1d(keys, keys + rows.n_items, assume_unique=True))
    lengths = rows.lengths
    return float((lengths[1:].sum() + lengths[:-1].sum() - 2 * n_common) / max(rows.n_records - 1, 1))


def _bandwidth(data: Transactions, order: NDArray[np.int64]) -> int:
    """The largest distance in the sequence of two records that share an item (section 5.1)."""
    indptr, records = data.select(order).used_items().inverted()  # records ascending, so first and last are the ends
    return int((records[indptr[1:] - 1] - records[indptr[:-1]]).max())


def _cost_readings(workshop: Workshop) -> list[Reading]:
    """Time of ordering against grouping; memory of RCM."""
    shares, forming = {}, {}
    for name in SETS:
        data = workshop.data(name)
        split = split_records(data, PrivacyDegree(DEFAULTS["p"], draw(data, DEFAULTS["m"], 0).sensitive))
        for method, ordering in ((GRAY, "gray"), (RCM, "rcm")):
            workshop.step(f"{name}, time of {method.name}")
            ordered, grouped = [], []
            for _ in range(3):
                order, seconds = workshop.timed(partial(order_records, split.public, ordering))
                ordered.append(seconds)
                form_groups = partial(group_in_sequence, split, order, 1, "hamming", False, Context())
                grouped.append(workshop.timed(form_groups)[1])
            title = f"{name} {method.name}"
            forming[title] = min(grouped)
            shares[title] = min(ordered) / (min(ordered) + forming[title])
    data = workshop.data("BMS2")
    workshop.step("BMS2, memory of RCM")
    tracemalloc.start()
    rcm_order(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_pairs = _non_zeros(data)
    return [
        Reading(
            "time-ordering",
            "",
            f"Share of ordering in the time of both: {list_values(shares, '.0%')}.",
            None,
        ),
        Reading(
            "time-forming",
            "",
            f"Seconds: {list_values(forming, '.3f')}.",
            None,
        ),
        Reading(
            "time-memory",
            "",
            f"A·Aᵀ has {n_pairs / 1e6:.0f} million non-zeros: {4 * n_pairs / 1e9:.2f} GB with 4 bytes each, "
            f"{8 * n_pairs / 1e9:.2f} GB with 8. setveil never writes it out: {peak / 1e6:.0f} MB.",
            None,
        ),
    ]


def _non_zeros(data: Transactions, block: int = 4_000) -> int:
    """Pairs of records that share an item, themselves included."""
    from scipy import sparse

    ones = np.ones(data.n_occurrences, dtype=np.int32)
    rows = sparse.csr_array((ones, data.items, data.indptr), shape=(data.n_records, data.n_items))
    columns = rows.T.tocsr()
    return sum((rows[first : first + block] @ columns).nnz for first in range(0, data.n_records, block))
