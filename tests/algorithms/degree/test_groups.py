"""Algorithms for the privacy degree: against their twins, on the paper's example, and on bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from setveil.algorithms import default_for, find
from setveil.algorithms.base import Context
from setveil.algorithms.degree.cahd import group_in_sequence
from setveil.algorithms.degree.groups import split_records
from setveil.core import Transactions
from setveil.errors import CancelledError, InfeasibleError, InputError, SetveilWarning
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order
from setveil.releases import Grouping
from setveil.workflows.anonymize import anonymize
from tests.naive.degree_cases import assert_degree, groups_of, random_cases, run

ALL = ["blocks", "nn+", "cahd", "nn", "lsh", "permmondrian", "random"]
NAMES = ["Bob", "David", "Claire", "Andrea", "Ellen"]
SHOPPING = [
    ["wine", "meat", "viagra"],
    ["wine", "meat"],
    ["strawberries", "cream", "pregnancy test"],
    ["strawberries", "meat"],
    ["wine", "meat", "cream"],
]
SHOPPING_SECRETS = ["viagra", "pregnancy test"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("blocks", {}),
        ("nn+", {}),
        ("nn+", {"reach": 1, "needed": 0, "rounds": 3}),
        ("lsh", {"w": 2, "B": 2}),
        ("lsh", {"w": 3, "B": 3, "projection": "uniform"}),
    ],
)
def test_the_degree_holds_and_public_items_stay(name: str, options: dict[str, Any]) -> None:
    for number, (data, records, sensitive, p) in enumerate(random_cases(11, 500)):
        release = run(name, data, PrivacyDegree(p, sensitive), number, **options)
        assert_degree(release, records, sensitive, p)


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_gives_the_same_groups(name: str) -> None:
    for data, _, sensitive, p in random_cases(12, 20):
        one, two = (run(name, data, PrivacyDegree(p, sensitive), 7) for _ in range(2))
        assert (one.group_of == two.group_of).all()


def test_the_papers_example() -> None:
    """Bits in the printed order of columns; what the algorithm does, and with absorption what Figure 1d shows."""
    data, model = Transactions.from_lists(SHOPPING), PrivacyDegree(2, SHOPPING_SECRETS)
    split = split_records(data, model)
    printed = ["wine", "strawberries", "meat", "cream"]
    order = gray_order(split.public, [printed.index(label) for label in split.public.vocabulary])

    def named(absorb: bool) -> set[frozenset[str]]:
        group_of = group_in_sequence(split, order, 1, "hamming", absorb, Context())
        return {frozenset(NAMES[record] for record in group) for group in groups_of(split.release(group_of, {}))}

    assert named(False) == {frozenset({"Andrea", "Claire"}), frozenset({"Bob", "David"}), frozenset({"Ellen"})}
    assert named(True) == {frozenset({"Andrea", "Claire"}), frozenset({"Bob", "David", "Ellen"})}


def test_the_default_gives_nothing_away() -> None:
    assert default_for("degree").name == "blocks"
    assert not default_for("degree").guessable


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("cahd", {"alpha": 0}, "alpha"),
        ("cahd", {"ordering": "other"}, "ordering"),
        ("nn", {"distance": "none"}, "distance"),
        ("nn+", {"reach": 0}, "reach"),
        ("lsh", {"w": 63}, '"w"'),
        ("lsh", {"B": 0}, '"B"'),
        ("lsh", {"delta": 1.5}, "delta"),
        ("lsh", {"delta": "much"}, "delta"),
    ],
)
def test_bad_options(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(name, Transactions.from_lists(SHOPPING), PrivacyDegree(2, SHOPPING_SECRETS), **options)


@pytest.mark.parametrize("name", ALL)
class TestBadInput:
    def test_too_frequent(self, name: str) -> None:
        data = Transactions.from_lists([["a", "x"], ["b", "x"], ["c", "y"], ["d"], ["e"]])
        with pytest.raises(InfeasibleError, match=r'"x" \(2\); the largest p that works is 2') as caught:
            run(name, data, PrivacyDegree(4, ["x", "y"]))
        assert caught.value.items == ("x",)

    def test_suppressing_the_excess(self, name: str) -> None:
        data = Transactions.from_lists([["a", "x"], ["b", "x"], ["c", "y"], ["d"], ["e"]])
        release = run(name, data, PrivacyDegree(4, ["x", "y"]), suppress_excess=True)
        assert release.details["suppressed_occurrences"] == {"x": 1}
        assert release.count.tolist() == [1, 1]
        assert release.transactions() == [{"a"}, {"b"}, {"c"}, {"d"}, {"e"}]

    def test_p_above_the_number_of_records(self, name: str) -> None:
        data = Transactions.from_lists([["a", "x"], ["b"]])
        with pytest.raises(InfeasibleError, match="largest p that works is 2"):
            run(name, data, PrivacyDegree(3, ["x"]))
        release = run(name, data, PrivacyDegree(3, ["x"]), suppress_excess=True)
        assert len(release.count) == 0

    def test_a_sensitive_item_that_does_not_occur(self, name: str) -> None:
        data = Transactions.from_lists([["a"], ["b"], ["a", "b"], ["c", "y"]])
        with pytest.raises(InputError, match="no item of the list is in the data"):
            anonymize(data, PrivacyDegree(2, ["x"]), name)
        with pytest.warns(SetveilWarning, match='"x" not in the data'):
            assert isinstance(anonymize(data, PrivacyDegree(2, ["x", "y"]), name), Grouping)

    def test_all_records_sensitive(self, name: str) -> None:
        same = Transactions.from_lists([["a", "x"]] * 4)
        with pytest.raises(InfeasibleError, match="no protection"):
            run(name, same, PrivacyDegree(2, ["x"]))
        mixed = Transactions.from_lists([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]])
        release = run(name, mixed, PrivacyDegree(2, ["x", "y"]))
        assert (release.count * 2 <= np.bincount(release.group_of)[release.count_group]).all()

    def test_records_without_public_items(self, name: str) -> None:
        """Whether such a record held something must not show: none is published."""
        data = Transactions.from_lists([["x"], ["x"], ["a"], ["b", "x"], [], ["y"], ["c"]])
        release = run(name, data, PrivacyDegree(3, ["x", "y"]))
        assert release.transactions() == [{"a"}, {"b"}, {"c"}]
        assert release.details["left_out_records"] == 4
        assert release.count.tolist() == [1]

    def test_what_always_occurs_together_is_counted(self, name: str) -> None:
        """Counts are those of the data; "a" never lacks "x", which changes nothing."""
        data = Transactions.from_lists([["a", "b", "x"], ["a", "c", "x"], *([letter] for letter in "bcdefghi")])
        release = run(name, data, PrivacyDegree(2, ["x"]))
        assert release.count.sum() == 2

    def test_nothing(self, name: str) -> None:
        assert run(name, Transactions.from_lists([]), PrivacyDegree(2, ["x"])).n_groups == 0

    def test_stopping(self, name: str) -> None:
        context = Context(cancelled=lambda: True)
        with pytest.raises(CancelledError):
            find(name).load()().run(Transactions.from_lists(SHOPPING), PrivacyDegree(2, SHOPPING_SECRETS), context)


def test_an_empty_list_of_sensitive_items() -> None:
    with pytest.raises(InputError, match="empty"):
        PrivacyDegree(2, [])
