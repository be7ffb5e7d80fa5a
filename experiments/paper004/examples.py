"""Tables 1 and 2, and section V: PTA step by step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.claims import Reading
from experiments.experiment import Outcome, Workshop
from setveil.algorithms.base import Context
from setveil.algorithms.k_anonymity.pta import distances, prim_tsp
from setveil.core import Transactions
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from setveil.releases import Replacement
from setveil.workflows.assess import measure, verify

SENSITIVE = tuple(f"S{number}" for number in range(1, 8))
FIGURE_2 = (
    "B D S1", "A B C S2", "C D E S3", "A C D E S3", "A B D S2", "B D E S4", "A C S5", "D E S6", "A E S7", "B D S2",
    "B D S1", "A C E S5", "B C D S7",
)  # fmt: skip
TABLE_1 = ("ab", "bc", "bc", "abc", "abd", "acd")
TABLE_2 = ("abd", "bc", "bc", "bc", "abd", "abd")


def table_2(workshop: Workshop) -> Outcome:
    """The two classes of the introduction, given by hand."""
    workshop.step("the example of tables 1 and 2")
    data = Transactions.from_lists([list(row) for row in TABLE_1])
    numbers = {row: number for number, row in enumerate(sorted(set(TABLE_2)))}
    cells = [(number, data.vocabulary.numbers([item])[0]) for row, number in numbers.items() for item in row]
    owners, items = np.array(cells).T
    centres = Transactions.from_pairs(owners, items, len(numbers), data.vocabulary)
    given = Replacement.from_centres(data, np.array([numbers[row] for row in TABLE_2]), centres)
    best, _ = workshop.release(data, KAnonymity(3), None)
    loss, least = measure(data, given)["il"], measure(data, best)["il"]
    holds = verify(given, KAnonymity(3)).holds
    return Outcome(
        (),
        (
            Reading("example-safe", "", f"verify says {'yes' if holds else 'no'}.", holds),
            Reading("example-loss", "", f"{loss}; our default loses {least} with 3-anonymous records.", loss == 4),
        ),
    )


def figure_2(workshop: Workshop) -> Outcome:
    """Section V: thirteen records, two segments, k = 3."""
    workshop.step("the example of section V")
    data = Transactions.from_lists([row.split() for row in FIGURE_2])
    public = Transactions.from_lists([[item for item in row.split() if item not in SENSITIVE] for row in FIGURE_2])
    order = gray_order(public, "id")
    first = np.array_split(order, 2)[0]
    (loop,) = prim_tsp([public.select(first)], Context())
    distance = distances(public.select(first))
    length = int(distance[loop, np.roll(loop, -1)].sum())
    release, _ = workshop.release(data, KAnonymity(3, SENSITIVE), "pta", bits="id", segments=2)
    rows = {int(number) + 1: sorted(release.transactions()[number] - set(SENSITIVE)) for number in first}
    classes = {"".join(row): sorted(number for number, other in rows.items() if other == row) for row in rows.values()}
    printed = {"BD": [1, 10, 11, 13], "DE": [3, 6, 8]}
    names = [int(number) + 1 for number in order]
    return Outcome(
        (),
        (
            Reading(
                "example-order",
                "",
                f"{' '.join(f'T{name}' for name in names)}.",
                names == [8, 3, 13, 1, 10, 11, 6, 5, 2, 7, 12, 4, 9],
            ),
            Reading(
                "example-loop",
                "",
                f"{' '.join(f'T{int(first[node]) + 1}' for node in loop)}; {length}.",
                [int(first[node]) + 1 for node in loop] == [8, 6, 1, 10, 11, 13, 3] and length == 6,
            ),
            Reading("example-classes", "", f"{_classes(classes)}.", classes == printed),
        ),
    )


def _classes(classes: Mapping[str, list[int]]) -> str:
    members = {row: " ".join(f"T{number}" for number in numbers) for row, numbers in sorted(classes.items())}
    return ", ".join(f"{row} for {names}" for row, names in members.items())
