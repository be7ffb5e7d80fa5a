"""Algorithms for the privacy degree: against their twins, on the paper's example, and on bad input."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from naive import degree as naive

from setveil.algorithms import default_for, find, make_algorithm
from setveil.algorithms.base import Context
from setveil.algorithms.degree import _profiles as kernels
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.cahd import CAHD, group_in_sequence
from setveil.algorithms.degree.groups import split_records
from setveil.algorithms.degree.lsh import LSH
from setveil.algorithms.degree.nn import NN
from setveil.algorithms.degree.nn_plus import NNPlus, _index_of, _profiles_of, _Sequence
from setveil.core import Transactions
from setveil.errors import CancelledError, InfeasibleError, InputError, SetveilWarning
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order, rcm_order
from setveil.releases import Grouping
from setveil.workflows.anonymize import anonymize

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


def groups_of(release: Grouping) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(release.group_of == group).tolist()) for group in range(release.n_groups)}


def random_case(rng: random.Random) -> tuple[list[frozenset[str]], list[str], int] | None:
    """Records, sensitive items and a degree that can be reached."""
    n_public, n_sensitive = rng.randint(1, 7), rng.randint(1, 4)
    public = [f"q{number}" for number in range(n_public)]
    sensitive = [f"s{number}" for number in range(n_sensitive)]
    share = rng.choice([0.05, 0.15, 0.3])
    records = [
        frozenset(rng.sample(public, rng.randint(0, n_public)) + [item for item in sensitive if rng.random() < share])
        for _ in range(rng.randint(1, 24))
    ]
    records = naive.publishable(records, sensitive)
    most = max(sum(item in record for record in records) for item in sensitive)
    if not most or len(records) // most < 2:
        return None
    return (
        records,
        [item for item in sensitive if any(item in record for record in records)],
        rng.randint(2, len(records) // most),
    )


def random_cases(seed: int, n_cases: int) -> list[tuple[Transactions, list[frozenset[str]], list[str], int]]:
    rng = random.Random(seed)
    cases = []
    while len(cases) < n_cases:
        case = random_case(rng)
        if case is not None:
            cases.append((Transactions.from_lists(sorted(record) for record in case[0]), *case))
    return cases


def assert_degree(release: Grouping, records: list[frozenset[str]], sensitive: list[str], p: int) -> None:
    groups = [[records[number] for number in group] for group in groups_of(release)]
    assert naive.degree_holds(groups, sensitive, p)
    assert sorted(number for group in groups_of(release) for number in group) == list(range(len(records)))
    assert release.transactions() == [set(record) - set(sensitive) for record in records]


@pytest.mark.parametrize("kind", ["hamming", "common", "jaccard"])
def test_nn_forms_the_groups_of_its_twin(kind: str) -> None:
    for data, records, sensitive, p in random_cases(1, 400):
        release = NN(distance=kind).run(data, PrivacyDegree(p, sensitive), Context())
        assert groups_of(release) == set(map(frozenset, naive.nn(records, sensitive, p, kind)))
        assert_degree(release, records, sensitive, p)


@pytest.mark.parametrize("ordering", ["gray", "rcm"])
@pytest.mark.parametrize("absorb", [False, True])
def test_cahd_forms_the_groups_of_its_twin(ordering: str, absorb: bool) -> None:
    rng = random.Random(2)
    for data, records, sensitive, p in random_cases(3, 300):
        alpha, kind = rng.randint(1, 2), rng.choice(["hamming", "common", "jaccard"])
        canonical = np.array(naive.canonical_order(records, sensitive))
        public = data.select(canonical).keep_items(np.array([label not in sensitive for label in data.vocabulary]))
        sequence = gray_order(public.used_items()) if ordering == "gray" else rcm_order(public.used_items())
        order = canonical[sequence].tolist()
        algorithm = CAHD(ordering=ordering, alpha=alpha, distance=kind, absorb=absorb)
        release = algorithm.run(data, PrivacyDegree(p, sensitive), Context())
        assert groups_of(release) == set(map(frozenset, naive.cahd(records, sensitive, p, order, alpha, kind, absorb)))
        assert_degree(release, records, sensitive, p)


def run(name: str, data: Transactions, model: PrivacyDegree, seed: int = 0, **options: Any) -> Grouping:
    release = make_algorithm(find(name).load(), name, options).run(data, model, Context(seed=seed))
    assert isinstance(release, Grouping)
    return release


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("blocks", {}),
        ("nn+", {}),
        ("nn+", {"reach": 1, "needed": 0, "rounds": 3}),
        ("lsh", {"w": 2, "B": 2}),
        ("lsh", {"w": 3, "B": 3, "projection": "uniform"}),
        ("permmondrian", {}),
        ("random", {}),
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


def test_nn_plus_takes_the_partner_that_lowers_the_error_most() -> None:
    for data, _, sensitive, p in random_cases(13, 250):
        split = split_records(data, PrivacyDegree(p, sensitive))
        public, hidden = split.public, split.hidden
        rows, secrets = Rows(public.indptr, public.items), Rows(hidden.indptr, hidden.items)
        profiles, index, state = _profiles_of(public, hidden, p), _index_of(public, hidden), split.nothing_grouped()
        seed = int(split.telling[0])
        group = np.full(p, seed, dtype=np.int64)
        index.clock[0] += 1
        kernels.open_group(group[:1], secrets, profiles, index, state)
        n_found = kernels.list_partners(group[:1], (100, 100, 0), True, rows, secrets, profiles, index, state)
        listed = {int(record) for record in index.found[:n_found]}
        size = kernels.fill_group(group, 1, n_found, rows, secrets, profiles, index, state)

        of, mine = (list(map(frozenset, part.to_lists())) for part in (public, hidden))
        members = [seed]
        for record in group[1:size].tolist():
            open_to = [n for n in listed - set(members) if not any(mine[n] & mine[other] for other in members)]
            best = max((naive.worth(of, mine, p, members, n) for n in open_to), default=-np.inf)
            found = naive.worth(of, mine, p, members, record)
            assert found >= best - 1e-9
            if record not in listed:  # the shortest silent record, because everything listed does harm
                silent = [n for n in range(len(of)) if not mine[n] and n not in listed | set(members)]
                assert best < 0
                assert len(of[record]) == min(len(of[n]) for n in silent)
            members.append(record)
        assert size == p or not [n for n in range(len(of)) if not mine[n] and n not in members]
        assert {n for n in range(len(of)) if of[n] & of[seed] and not mine[n] & mine[seed]} <= listed


def test_nn_plus_keeps_its_books() -> None:
    """What the kernel believes to be in the groups of each sensitive item is what is there."""
    for data, _, sensitive, p in random_cases(14, 250):
        split = split_records(data, PrivacyDegree(p, sensitive))
        public, hidden = split.public, split.hidden
        profiles, index, state = _profiles_of(public, hidden, p), _index_of(public, hidden), split.nothing_grouped()
        algorithm = NNPlus(reach=3, needed=1, rounds=2)
        work = _Sequence(p, public, hidden, profiles, state)
        algorithm._form_groups(work, index, Context())
        algorithm._refill_groups(work, index, Context())
        rows, secrets = public.to_lists(), [set(row) for row in hidden.to_lists()]
        for number, item in enumerate(hidden.vocabulary):
            groups = {int(state.group_of[n]) for n, row in enumerate(secrets) if item in row} - {-1}
            expected = Counter(
                other
                for n, row in enumerate(rows)
                if int(state.group_of[n]) in groups or (state.group_of[n] < 0 and item in secrets[n])
                for other in row
            )
            for place in range(profiles.indptr[number], profiles.indptr[number + 1]):
                assert profiles.expected[place] == expected[public.vocabulary[int(profiles.items[place])]]
        assert not index.need.any()


def test_lsh_looks_only_into_its_buckets() -> None:
    for data, _, sensitive, p in random_cases(15, 150):
        split = split_records(data, PrivacyDegree(p, sensitive))
        public = [frozenset(row) for row in split.public.to_lists()]
        for projection in ("frequency", "uniform"):
            algorithm = LSH(w=2, B=3, projection=projection)
            tables = algorithm._build_tables(split, 3, Context(seed=4))
            rng = np.random.default_rng((4, 0x15A))
            supports, n_items = split.public.supports, split.public.n_items
            chance = supports / supports.sum() if projection == "frequency" and n_items else None
            drawn = [rng.choice(n_items, min(2, n_items), False, chance).tolist() for _ in range(3)] if n_items else []
            items = [[split.public.vocabulary[item] for item in table] for table in drawn] or [[]] * 3
            for number, seed in enumerate(split.telling.tolist()):
                spans = zip(tables.first[number], tables.last[number], strict=True)
                found = {int(n) for first, last in spans for n in tables.records[first:last]} - {seed}
                assert found == naive.lsh_candidates(public, seed, items, projection == "uniform")


def test_lsh_finds_the_exact_neighbours_if_its_buckets_hold_everybody() -> None:
    for data, _, sensitive, p in random_cases(16, 100):
        rare = Transactions.from_lists([*data.to_lists(), ["other"]])  # projected on "other", all records but one agree
        exact = run("nn", rare, PrivacyDegree(p, sensitive))
        approximate = run("lsh", rare, PrivacyDegree(p, sensitive), w=1, B=200, projection="uniform")
        assert (approximate.group_of == exact.group_of).all()


def test_number_of_tables_follows_equation_6() -> None:
    assert LSH()._number_of_tables() == 32
    assert LSH(delta=0.1)._number_of_tables() == 66  # not the 32 that the paper prints


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
        with pytest.raises(InputError, match="none of the 1 items is in the data"):
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
