"""A release against the original it was made of: good ones pass in any order, changed ones are caught and named."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from setveil.core import Hierarchy, Transactions
from setveil.models import ConstraintAnonymity
from setveil.releases import Grouping, LocalRecoding, Recoding, Release, Replacement
from setveil.verify import check_original, fidelity, published
from tests.naive import degree as naive
from tests.verify.test_random import KINDS, encoded, make_data, make_release


def letters(*rows: str) -> Transactions:
    return Transactions.from_lists([list(row) for row in rows])


def shuffled(release: Release, order: list[int]) -> Release:
    """The same release with its records in another order, as a file has them."""
    places = np.array(order, dtype=np.int64)
    published = release.published
    assert isinstance(published, Transactions)
    published = published.select(places)
    if isinstance(release, Grouping):
        return replace(release, published=published, group_of=release.group_of[places])
    if isinstance(release, Replacement):
        return replace(release, published=published, class_of=release.class_of[places])
    if isinstance(release, LocalRecoding):
        return replace(release, published=published, node_of_occurrence=None)
    return replace(release, published=published)


def with_rows(release: Release, rows: list[list[str]]) -> Release:
    return replace(release, published=encoded(rows, release.published))


def made(rng: random.Random, kind: str) -> tuple[Transactions, Release | Transactions]:
    """Data and a release of it; of a grouping's data, what may be published of it."""
    data = make_data(rng)
    release = make_release(rng, data, kind)
    if not isinstance(release, Grouping):
        return data, release
    records = naive.publishable([frozenset(row) for row in data.to_lists()], tuple(release.sensitive))
    data = Transactions.from_lists(sorted(record) for record in records)
    groups = np.array([rng.randrange(3) for _ in records], dtype=np.int64)
    return data, Grouping.from_groups(data, groups, tuple(release.sensitive))


@pytest.mark.parametrize("kind", KINDS[1:])
def test_good_releases_pass_in_input_order_and_in_any_other(kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(120):
        data, release = made(rng, kind)
        if isinstance(release, Transactions):
            continue
        suppression = isinstance(release, LocalRecoding) and bool((np.asarray(release.node_of_occurrence) < 0).any())
        assert check_original(release, data, in_input_order=True) == []
        order = list(range(data.n_records))
        rng.shuffle(order)
        assert check_original(shuffled(release, order), data, suppression=suppression) == []


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_lost_or_added_record_is_caught(kind: str) -> None:
    rng = random.Random(kind)
    n_checked = 0
    for _ in range(60):
        data, release = made(rng, kind)
        if isinstance(release, Transactions) or data.n_records < 2:
            continue
        keep = list(range(data.n_records))
        keep.remove(rng.randrange(data.n_records))
        for order in (keep, [*keep, keep[0], keep[0]]):
            problems = check_original(shuffled(release, order), data, suppression=True)
            assert problems[0].startswith(f"the release has {len(order):,} record")
            n_checked += 1
    assert n_checked > 50


# -- recodings ----------------------------------------------------------------------------------------------------

DATA = letters("ab", "ac", "bc", "abd", "d", "")


def recoding() -> Recoding:
    return Recoding.from_clusters(DATA, np.array([0, 0, 1, -1]))  # a and b as one, d suppressed


@pytest.mark.parametrize("kind", ["recoding", "cut"])
def test_every_changed_item_of_a_recoding_is_caught(kind: str) -> None:
    rng = random.Random(kind)
    n_changed = 0
    for _ in range(150):
        data, release = made(rng, kind)
        if isinstance(release, Transactions) or not release.published.n_items or not data.n_records:
            continue
        rows = release.published.to_lists()
        row = rng.randrange(len(rows))
        label = rng.choice(release.published.vocabulary.labels)
        rows[row] = sorted(set(rows[row]) ^ {label})
        for in_order in (True, False):
            problems = check_original(with_rows(release, rows), data, in_input_order=in_order)
            assert any(f'"{label}" in ' in problem for problem in problems)
        n_changed += 1
    assert n_changed > 100


def test_a_changed_recoding_is_named() -> None:
    release = recoding()
    rows = release.published.to_lists()
    assert check_original(release, DATA) == []
    swapped = [rows[1], rows[0], *rows[2:]]
    assert check_original(with_rows(release, swapped), DATA) == []  # the same multiset
    assert check_original(with_rows(release, swapped), DATA, in_input_order=True) == [
        "published differently from the codebook: 2 records."
    ]
    rows[0] = []
    assert check_original(with_rows(release, rows), DATA) == [
        'published differently from the codebook: 1 record; "a or b" in 3 instead of 4.'
    ]


def test_a_changed_codebook_is_named() -> None:
    release = recoding()
    moved = release.target.copy()
    moved[0] = 1  # a is said to be published as c
    assert any("differently from the codebook" in line for line in check_original(replace(release, target=moved), DATA))
    hidden = replace(release, suppressed=np.zeros(4, dtype=bool))
    assert check_original(hidden, DATA) == ['items of the original that are neither published nor suppressed: "d".']
    other = letters("ab", "ac", "bc", "abd", "d", "x")
    assert check_original(release, other) == ['items of the original that the codebook lacks: "x".']


def test_utility_counts() -> None:
    model = ConstraintAnonymity(k=2, constraints=[], utility=[["a", "b"], ["c"], ["d"]])
    release = recoding()
    assert check_original(release, DATA, model) == []
    mixed = Recoding.from_clusters(DATA, np.array([0, 1, 1, -1]))  # b and c as one
    assert check_original(mixed, DATA, model) == [
        'utility group 2 ("c"): 4 published records hold something of it, 2 original ones.'
    ]


# -- local recodings ----------------------------------------------------------------------------------------------

TREE = Hierarchy.from_paths([["a", "A", "T"], ["b", "A", "T"], ["c", "C", "T"], ["d", "C", "T"]])
NODE = {label: number for number, label in enumerate(TREE.labels)}


def local(original: Transactions, *nodes: str) -> LocalRecoding:
    numbers = np.array([NODE.get(node, -1) for row in nodes for node in row], dtype=np.int32)
    return LocalRecoding.from_nodes(original, TREE, numbers)


def test_local_recodings_record_by_record() -> None:
    data = letters("ab", "cd", "ad", "b")
    release = local(data, "AA", "cC", "aC", "b")
    assert check_original(release, data, in_input_order=True) == []
    rows = release.published.to_lists()
    wrong = with_rows(release, [rows[1], rows[0], *rows[2:]])
    assert check_original(wrong, data, in_input_order=True) == [
        'labels published for records without any item that they cover: "A", "C", "c".',
        'items that are not published for records that have them: "a", "b", "c", "d".',
    ]
    lost = with_rows(release, [*rows[:3], []])
    assert check_original(lost, data, in_input_order=True) == [
        'items that are not published for records that have them: "b".'
    ]
    assert check_original(lost, data, in_input_order=True, suppression=True) == []


def test_local_recodings_by_counts() -> None:
    data = letters("ab", "cd", "ad", "b")
    release = local(data, "AA", "cC", "aC", "b")
    rows = release.published.to_lists()
    turned = with_rows(release, rows[::-1])
    assert check_original(turned, data) == []
    too_often = with_rows(release, [rows[0], ["A", "c"], ["A", "a", "c"], ["A", "b"]])
    assert check_original(too_often, data)[0] == 'labels published in more records than the original allows: "A", "c".'
    lost = with_rows(release, [*rows[:3], []])
    assert check_original(lost, data) == [
        'items that are not published for every record that has them: "b".',
        "parts of the domain that differ from the original: 1 record.",
    ]
    other = letters("ab", "cd", "ad", "x")
    assert check_original(release, other)[0] == 'items of the original that the codebook lacks: "x".'


def test_an_item_without_cover_was_suppressed_or_it_is_no_item_of_this_release() -> None:
    data = letters("ab", "ab", "ab")
    release = local(data, "aA", "aA", "aA").with_items(["x"])
    other = letters("abx", "ab", "ab")
    lost = ['items of the original that are neither published nor suppressed: "x".']
    assert check_original(release, other) == check_original(release, other, in_input_order=True) == lost
    assert check_original(release, other, suppression=True) == []


def test_changed_local_recodings_are_caught_record_by_record() -> None:
    """Every single item that the record cannot explain, or that leaves an item of the record unexplained."""
    rng = random.Random(11)
    n_caught = 0
    for _ in range(150):
        data = make_data(rng)
        release = make_release(rng, data, "local")
        if not isinstance(release, LocalRecoding) or not release.published.n_items or not data.n_records:
            continue
        rows = release.published.to_lists()
        row = rng.randrange(len(rows))
        label = rng.choice(release.published.vocabulary.labels)
        rows[row] = sorted(set(rows[row]) ^ {label})
        behind = {name: set(items) for name, items in release.codebook().items()}
        own = set(data.to_lists()[row])
        complete = (np.asarray(release.node_of_occurrence) >= 0).all()
        founded = all(behind[name] & own for name in rows[row])
        covered = not complete or own <= set().union(*(behind[name] for name in rows[row]), set())
        problems = check_original(with_rows(release, rows), data, in_input_order=True)
        assert (problems == []) == (founded and covered)
        n_caught += bool(problems)
    assert n_caught > 40


# -- replacements -------------------------------------------------------------------------------------------------


def replacement() -> tuple[Replacement, Transactions]:
    data = letters("abs", "act", "bd", "bcds")
    centres = Transactions.from_pairs([0, 1, 1], data.vocabulary.numbers("abd"), 2, data.vocabulary)
    return Replacement.from_centres(data, np.array([0, 0, 1, 1]), centres, ["s", "t"]), data


def test_replacements_keep_sensitive_items() -> None:
    release, data = replacement()
    assert check_original(release, data) == []
    assert check_original(release, data, in_input_order=True) == []
    rows = release.published.to_lists()
    swapped = [["a", "t"], ["a", "s"], *rows[2:]]
    assert check_original(with_rows(release, swapped), data) == []
    assert check_original(with_rows(release, swapped), data, in_input_order=True) == [
        "sensitive items that differ from the original: 2 records."
    ]
    for changed in ([["a"], *rows[1:]], [["a", "s", "t"], *rows[1:]], [["a", "t"], *rows[1:]]):
        problems = check_original(with_rows(release, changed), data)
        assert len(problems) == 1 and "sensitive items that differ" in problems[0]
        assert '"s" in ' in problems[0] or '"t" in ' in problems[0]
    # Sensitive items that change places change no total.
    moved = [["a", "s", "t"], ["a"], *rows[2:]]
    wanted = ["sensitive items that differ from the original: 2 records."]
    assert check_original(with_rows(release, moved), data) == wanted
    published = Transactions.from_lists([*rows[:3], ["b", "d", "s", "new"]])
    assert check_original(replace(release, published=published), data) == [
        'published items that are not in the original: "new".'
    ]


# -- groupings ----------------------------------------------------------------------------------------------------


def grouping() -> tuple[Grouping, Transactions]:
    data = letters("abs", "ac", "bdt", "cs", "d", "ab")
    return Grouping.from_groups(data, np.array([0, 0, 0, 1, 1, 1]), ["s", "t"]), data


def test_groupings_keep_public_items_and_counts() -> None:
    release, data = grouping()
    for in_order in (True, False):
        assert check_original(release, data, in_input_order=in_order) == []
        rows = release.published.to_lists()
        changed = with_rows(release, [["a"], *rows[1:]])
        assert check_original(changed, data, in_input_order=in_order) == [
            'public items that differ from the original: 1 record; "b" in 2 instead of 3.'
        ]
        for count in ([2, 1, 1], [1, 1, 2], [1, 2, 1]):
            problems = check_original(replace(release, count=np.array(count)), data, in_input_order=in_order)
            assert len(problems) == 1 and "is counted" in problems[0]
    open_rows = Transactions.from_lists([["a", "b", "s"], *release.published.to_lists()[1:]])
    problems = check_original(replace(release, published=open_rows), data)
    assert problems == ['sensitive items that records show: "s".']


def test_counts_that_moved_to_another_group_are_caught() -> None:
    release, data = grouping()
    # t belongs to bd, which stands in group 0 only: with the totals unchanged the groups tell.
    moved = replace(release, count_group=np.array([0, 1, 1]), count_item=np.array([0, 0, 1], dtype=np.int32))
    assert check_original(moved, data) == [
        'group 0: "t" is counted 0 times; the original allows 1 to 1.',
        'group 1: "t" is counted 1 time; the original allows 0 to 0.',
    ]
    # s belongs to one of the two ab; which one cannot be told without the order of the records.
    swapped = replace(
        release, count_group=np.array([0, 1]), count_item=np.array([1, 0], dtype=np.int32), count=np.array([1, 2])
    )
    assert check_original(swapped, data) == []
    assert check_original(swapped, data, in_input_order=True) == [
        'group 0: "s" is counted 0 times; the original allows 1 to 1.',
        'group 1: "s" is counted 2 times; the original allows 1 to 1.',
    ]


def test_equal_public_parts_bound_the_counts_of_a_group() -> None:
    data = letters("as", "a", "b", "bs", "bs")
    release = Grouping.from_groups(data, np.array([0, 0, 1, 1, 1]), ["s"])
    assert check_original(release, data) == []
    assert check_original(replace(release, count=np.array([2, 1])), data) == [
        'group 0: "s" is counted 2 times; the original allows 1 to 1.',
        'group 1: "s" is counted 1 time; the original allows 2 to 2.',
    ]


def test_swapped_groups_are_caught() -> None:
    release, data = grouping()
    group_of = release.group_of.copy()
    group_of[[2, 3]] = group_of[[3, 2]]  # bd and c change places
    problems = check_original(replace(release, group_of=group_of), data)
    assert problems == [
        'group 0: "t" is counted 1 time; the original allows 0 to 0.',
        'group 1: "t" is counted 0 times; the original allows 1 to 1.',
    ]


def test_suppressed_excess_must_be_declared() -> None:
    release, data = grouping()
    fewer = replace(
        release, count_group=release.count_group[:-1], count_item=release.count_item[:-1], count=release.count[:-1]
    )
    assert check_original(fewer, data) == ['sensitive item "s" is counted 1 time; the original holds it in 2 records.']
    assert check_original(fewer, data, suppression=True) == []
    assert check_original(replace(release, count=np.array([1, 2, 1])), data, suppression=True) != []


def test_records_without_public_items_must_be_suppressed_and_nothing_else() -> None:
    """The original has a record of "s" alone and an empty one; "c" never occurs without "t", which is counted."""
    data = letters("as", "a", "b", "ct", "cbt", "s", "ab", "")
    groups = np.array([0, 0, 0, 1, 1, 1])
    good = Grouping.from_groups(letters("as", "a", "b", "ct", "cbt", "ab"), groups, ["s", "t"])
    assert check_original(good, data, in_input_order=True) == []
    fewer = Grouping.from_groups(letters("as", "a", "b", "c", "cb", "ab"), groups, ["s", "t"])
    assert "counted 0 times" in check_original(fewer, data)[0]
    for extra in ("s", ""):
        more = Grouping.from_groups(letters("as", "a", "b", "ct", "cbt", extra, "ab"), np.append(groups, 0), ["s", "t"])
        assert check_original(more, data)[0].startswith("the release has 7 records, the original 6")


def test_records_are_compared_in_parts_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    records = [draw.sample("abcdefgh", draw.randint(0, 5)) for _ in range(60)]
    items = np.array(["abcdefgh".index(item) for record in records for item in record], dtype=np.int32)
    indptr = np.cumsum([0, *map(len, records)])
    becomes = np.array([2, 2, 0, -1, 1, 1, 0, 2])
    results = []
    for at_once in (1, 7, 1 << 20):
        monkeypatch.setattr(published, "AT_ONCE", at_once)
        recoded = fidelity._recoded(published.Published(tuple("abcdefgh"), indptr, items), becomes, 3)
        n_holding = fidelity._n_holding(fidelity.Records(indptr, items), np.array([1, 4]), 8)
        results.append((recoded.indptr.tolist(), recoded.items.tolist(), n_holding))
    rows = [sorted({becomes["abcdefgh".index(item)].item() for item in record} - {-1}) for record in records]
    assert results[0][1] == [item for row in rows for item in row]
    assert results[0][2] == sum(bool({"b", "e"} & set(record)) for record in records)
    assert results[0] == results[1] == results[2]
