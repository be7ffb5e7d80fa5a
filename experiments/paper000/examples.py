"""The worked examples and the data sets of the paper."""

from __future__ import annotations

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Outcome, Workshop
from experiments.paper000.privacy import NAMES
from setveil.core import Itemsets, Transactions
from setveil.models import ConstraintAnonymity
from setveil.releases import Recoding
from setveil.utility import estimates
from setveil.utility.loss import utility_loss

FIGURE_1 = ("ab", "abcde", "abdef", "ace", "bcg", "ceg")
FIGURE_4 = ("i1 i2 i7", "i2 i7", "i3 i5", "i4 i6 i7", "i5 i7")
TABLE_2 = {"BMS1": (59602, 497, 267, 2.5), "BMS2": (77512, 3340, 161, 5.0)}


def examples(workshop: Workshop) -> Outcome:
    """The worked examples."""
    workshop.step("worked examples")
    data = Transactions.from_lists([list(row) for row in FIGURE_1])
    two, _ = workshop.release(
        data, ConstraintAnonymity(5, [["a"]], [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"]]), "upcta"
    )
    assert isinstance(two, Recoding)
    merged = next(label for label, members in two.codebook().items() if members == ["a", "b"])
    loss = float(utility_loss(two, {label: 0.0 for label in two.published.vocabulary if label != merged}))

    halves = Recoding.from_clusters(data, np.array([0, 0, 0, 1, 1, 1, 1]))
    queries = [["a", "d"]]
    support = _support(halves, data, queries)

    four = Transactions.from_lists([row.split() for row in FIGURE_4])
    fifth, _ = workshop.release(four, ConstraintAnonymity(3, [["i1"], ["i5", "i6"]]), "pcta")
    eighth, _ = workshop.release(data, ConstraintAnonymity(3, [list("abef")]), "pcta")
    ninth, _ = workshop.release(
        data, ConstraintAnonymity(3, [list("bef"), ["g"]], [["a"], ["b", "c"], ["d", "e", "f"], ["g"]], 15), "upcta",
        order="static",
    )  # fmt: skip
    return Outcome(
        (),
        (
            Reading("example-3", "", f"{loss:.4f}. Rule: equal when rounded.", round(loss, 2) == 0.02),
            Reading("example-4", "", f"in {support}.", support == 5),
            _clusters("example-5", ["i1 i2 i3 i4", "i5 i6", "i7"], fifth),
            _clusters("example-8", ["a b", "c", "d e f", "g"], eighth),
            _clusters("example-9", ["a", "b c", "d e f"], ninth),
        ),
    )


def _support(release: Recoding, data: Transactions, queries: list[list[str]]) -> int:
    """In how many published records the first query's image is."""
    encoded, _ = Itemsets.from_lists(queries, data.vocabulary)
    return int(estimates.SupportEstimates.of(release, data.vocabulary).supports(encoded, "expand")[0])


def _clusters(example: str, printed: list[str], release: object) -> Reading:
    assert isinstance(release, Recoding)
    found = sorted(" ".join(members) for label, members in release.codebook().items() if label)
    gone = release.codebook().get("", [])
    suppressed = f"; suppressed: {' '.join(gone)}" if gone else ""
    text = ", ".join(f"({members})" for members in found)
    return Reading(example, "", f"{text}{suppressed}.", found == sorted(printed))


def table_2(workshop: Workshop) -> Outcome:
    """The data sets."""
    readings = []
    for stem, printed in TABLE_2.items():
        workshop.step(f"counting {stem}")
        data = workshop.data(stem)
        ours = (data.n_records, data.n_items, int(data.lengths.max()), round(float(data.lengths.mean()), 1))
        readings.append(
            Reading(f"data-{stem.lower()}", NAMES[stem], f"{_sizes(ours)}. Rule: all equal.", ours == printed)
        )
    return Outcome((), tuple(readings))


def _sizes(sizes: tuple[int, int, int, float]) -> str:
    return f"{sizes[0]:,} records, {sizes[1]:,} items, at most {sizes[2]} and on average {sizes[3]} per record"
