"""Claims about published records: what holds, and the witness when it does not."""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from setveil.core import Hierarchy, Itemsets, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.models import Coherence, ConstraintAnonymity, KAnonymity, KmAnonymity, PrivacyDegree
from setveil.releases import Grouping, LocalRecoding, Recoding, Replacement
from setveil.verify import Verdict, Violation, achieved, dense, judge, minimal_violations, search, tables, verify
from setveil.verify.coherence import largest_share
from setveil.verify.published import read_published
from tests.naive import verify as naive

PAPER_002 = ["bcd", "afg", "dfyz", "cdfx", "abcfg", "ei", "e", "i"]
CHILDREN = {"T": "PQei", "P": "HK", "Q": "JM", "H": "ab", "K": "cd", "J": "fg", "M": "xyz"}
PARENT = {child: parent for parent, children in CHILDREN.items() for child in children}


def letters(*rows: str) -> list[list[str]]:
    return [list(row) for row in rows]


# -- k^m-anonymity ------------------------------------------------------------------------------------------------


def test_the_documented_example() -> None:
    verdict = verify([{"a"}, {"a", "b"}], KmAnonymity(k=2, m=1))
    assert verdict == Verdict(False, ("b",), 1, '{"b"} occurs in 1 record, fewer than k=2.')
    assert not verdict
    assert verify([{"a", "b"}, {"a", "b"}], KmAnonymity(k=2, m=2)) == Verdict(True)


@pytest.mark.parametrize("m", [1, 2, 7, "all"])
def test_no_records_and_empty_records_hold(m: int | Literal["all"]) -> None:
    empty: list[list[list[str]]] = [[], [[]], [[], []]]
    for data in empty:
        assert verify(data, KmAnonymity(k=5, m=m))
        assert achieved(data, KmAnonymity(k=5, m=m)) == {}  # type: ignore[arg-type]
        assert minimal_violations(data, KmAnonymity(k=5, m=m)) == []  # type: ignore[arg-type]


def test_k_beyond_the_number_of_records() -> None:
    for k in (4, 2**63 - 1):
        assert verify(letters("ab", "ab", "ab"), KmAnonymity(k=k, m=2)).witness == ("a",)
    assert not verify(letters("a", "a"), KAnonymity(k=2**63 - 1))
    assert not verify(letters("a", "a"), Coherence(h=100, k=2**63 - 1, p=1))
    with pytest.raises(InputError, match="k is too large"):
        KAnonymity(k=2**63)


def test_records_shorter_than_m_count() -> None:
    data = letters("ab", "ab", "abc", "abc", "abc", "ac", "bc")
    assert verify(data, KmAnonymity(k=3, m=3))
    assert achieved(data, KmAnonymity(k=3, m=3)) == {"smallest_support": 3}
    assert achieved([*data, ["d"]], KmAnonymity(k=3, m=3)) == {"smallest_support": 1}


def test_m_all_asks_every_record_to_be_contained_in_k() -> None:
    data = letters("abc", "abc", "ab", "ab", "a")
    assert verify(data, KmAnonymity(k=2, m="all"))
    assert not verify(data, KAnonymity(k=2))
    assert verify([*data, list("bc")], KmAnonymity(k=2, m="all"))
    assert verify([*data, list("cd"), list("cd"), list("bd")], KmAnonymity(k=2, m="all")).witness == ("b", "d")


def test_witness_is_the_first_by_size_then_ascending_by_value() -> None:
    data = [["10", "9"], ["10"], ["9"], ["9", "2"], ["2"], ["9", "10", "100"], ["100"]]
    found = minimal_violations(data, KmAnonymity(k=3, m=2))
    assert [one.itemset for one in found] == [("2",), ("100",), ("9", "10")]
    assert verify(data, KmAnonymity(k=3, m=2)).witness == ("2",)


def test_minimal_privacy_threats_of_paper_002() -> None:
    def with_ancestors(record: str) -> set[str]:
        nodes = set()
        for node in record:
            while node:
                nodes.add(node)
                node = PARENT.get(node, "")
        return nodes

    threats = minimal_violations([with_ancestors(row) for row in PAPER_002], KmAnonymity(k=2, m="all"))
    assert len(threats) == 25
    names = {"".join(threat.itemset) for threat in threats}
    assert {"HKQ", "ei"} <= names  # those relevant to the third cut of its Fig. 2
    assert all(threat.support == 1 for threat in threats)


def test_limit_of_violations() -> None:
    data = [[str(number)] for number in range(50)]
    assert len(minimal_violations(data, KmAnonymity(k=2, m=1), limit=7)) == 7
    assert minimal_violations(data, KmAnonymity(k=2, m=1), limit=0) == []
    assert len(minimal_violations(data, KmAnonymity(k=2, m=1))) == 50


@pytest.fixture
def tiny_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is interrupted and resumed all the time."""
    monkeypatch.setattr(tables, "BUDGET", 1)
    monkeypatch.setattr(tables, "ENTRIES_PER_CALL", 1)
    monkeypatch.setattr(search, "AT_ONCE", 2)


def random_rows(rng: random.Random, n_records: int, n_items: int, longest: int) -> list[list[str]]:
    return [
        [f"i{min(int(rng.expovariate(0.2)), n_items)}" for _ in range(rng.randint(0, longest))]
        for _ in range(n_records)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_larger_data_in_tiny_steps(seed: int, tiny_steps: None) -> None:
    rng = random.Random(seed)
    records = random_rows(rng, 150, 25, 8)
    rows = [frozenset(row) for row in records]
    for m in (2, 3, "all"):
        model = KmAnonymity(k=4, m=m)
        violations, smallest = naive.km(rows, model)
        assert [(one.itemset, one.support) for one in minimal_violations(records, model, 10**6)] == violations
        assert achieved(records, model) == smallest
        assert verify(records, model).witness == violations[0][0]


@pytest.mark.parametrize("seed", range(40))
def test_tables_and_walks_give_the_same_answer(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    frequent = [f"i{number}" for number in range(7)] * 30
    records = [rng.sample(frequent, rng.randint(1, 6)) for _ in range(60)]
    for m in (1, 2, 3):
        model = KmAnonymity(k=rng.choice([2, 3, 6]), m=m)
        monkeypatch.setattr(dense, "LARGEST", 3)
        monkeypatch.setattr(dense, "AT_ONCE", 20)
        by_tables = judge(records, model)
        monkeypatch.setattr(dense, "LARGEST", 1)
        assert judge(records, model) == by_tables
        assert by_tables[0] == verify(records, model)
        if by_tables[0].holds:
            assert by_tables[1] == achieved(records, model)


@pytest.mark.parametrize("seed", range(40))
def test_counting_whole_rows_first(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When levels are expensive rows are counted first; the witness is minimal then, if not the first one."""
    monkeypatch.setattr(search, "EXPENSIVE", 0)
    monkeypatch.setattr(tables.Indexed, "price_of_rows", lambda self, chosen: 0)
    rng = random.Random(seed)
    frequent = [f"i{number}" for number in range(6)] * 30
    records = [rng.sample(frequent, rng.randint(1, 6)) for _ in range(60)]
    rows = [frozenset(row) for row in records]
    for m in (3, 4, "all"):
        model = KmAnonymity(k=rng.choice([2, 3, 6]), m=m)
        violations, smallest = naive.km(rows, model)
        assert [(one.itemset, one.support) for one in minimal_violations(records, model)] == violations
        assert achieved(records, model) == smallest
        verdict = verify(records, model)
        assert verdict.holds == (not violations)
        if not verdict.holds:
            assert (verdict.witness, verdict.support) in violations


def test_price_of_rows_bounds_the_counting() -> None:
    data = Transactions.from_lists(letters("ab", "bc", "bcd", "a", ""))
    indexed = tables.Indexed.of(tables.make_table(read_published(data)))
    filled = np.flatnonzero(indexed.table.lengths > 0)
    assert indexed.price_of_rows(filled) == 2 + 2 + 1 + 2  # the rarest item of each row stands in so many


def test_one_record_of_hundreds_of_items_is_decided() -> None:
    wide = [f"x{number}" for number in range(300)]
    rows = [wide] * 4
    assert verify(rows, KmAnonymity(k=4, m="all"))
    assert achieved(rows, KmAnonymity(k=4, m=40)) == {"smallest_support": 4}
    half = [wide[:150], wide[:150], *rows]
    assert verify(half, KmAnonymity(k=4, m="all"))
    # Rows of weight 2 and 2: every itemset of one is in the other, but for the last item.
    verdict = verify([wide] * 2 + [wide[:-1]] * 2, KmAnonymity(k=4, m=200))
    assert (verdict.witness, verdict.support) == (("x299",), 2)


# -- what is given ------------------------------------------------------------------------------------------------


def test_any_iterable_is_taken_and_repeats_do_not_count() -> None:
    model = KmAnonymity(k=2, m=1)
    assert verify((row for row in [("a", "a"), {"a"}]), model)
    assert not verify([["a", "a"]], model)
    assert verify({"one": [7], "two": ["7"]}, model)
    assert verify(np.array([["a", "b"], ["a", "b"]]), model)


def test_what_cannot_be_verified() -> None:
    model = KmAnonymity(k=2, m=1)
    for wrong in ("abc", 5, ["abc"], [5], [[None]], [[""]]):
        with pytest.raises(InputError):
            verify(wrong, model)
    with pytest.raises(InputError, match="not a privacy model"):
        verify([], object())  # type: ignore[arg-type]
    for ask in (minimal_violations, achieved):
        with pytest.raises(InputError, match="not a privacy model"):
            ask([], object())  # type: ignore[arg-type]


def test_arrays_are_not_trusted() -> None:
    labels = Vocabulary.presorted(["b", "a", "a"])  # out of order, and one label twice
    data = Transactions(np.array([0, 2, 3]), np.array([2, 1, 1], dtype=np.int32), labels)
    assert verify(data, KmAnonymity(k=2, m=1))
    unsorted = Transactions(np.array([0, 3, 5]), np.array([1, 0, 1, 0, 1], dtype=np.int32), Vocabulary(["a", "b"]))
    assert verify(unsorted, KmAnonymity(k=2, m=2))
    assert achieved(unsorted, KAnonymity(k=2)) == {"smallest_class": 2}
    good = Transactions.from_lists(letters("ab", "b"))
    for damaged in (
        replace(good, indptr=np.array([0, 2])),
        replace(good, indptr=np.array([0, 3, 2, 3])),
        replace(good, items=np.array([0, 1, 9], dtype=np.int32)),
        replace(good, items=np.array([0, 1, -1], dtype=np.int32)),
    ):
        with pytest.raises(InputError, match="damaged"):
            verify(damaged, KmAnonymity(k=2, m=1))


def test_equal_rows_are_told_from_unequal_ones_of_equal_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    rows = [tuple(sorted({rng.randrange(40) for _ in range(rng.randint(0, 4))})) for _ in range(2000)]
    bounds = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    flat = np.array([item for row in rows for item in row], dtype=np.int32)
    numbers, first = tables.number_rows(bounds[:-1], bounds[1:], flat)
    order = list(dict.fromkeys(rows))
    assert [order[number] for number in numbers] == rows
    assert [rows[place] for place in first] == order


def test_progress_is_told_and_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []

    def watch(stage: str, share: float | None) -> None:
        stages.append(stage)
        assert share is None or 0 <= share <= 1

    data = letters("abcd", "abce", "abde", "acde", "bcde")
    assert verify(data, KmAnonymity(k=2, m=3), progress=watch)
    assert stages == ["itemsets of size 2", "itemsets of size 3"]
    stages.clear()
    monkeypatch.setattr(dense, "LARGEST", 0)
    assert verify(data, KmAnonymity(k=2, m=3), progress=watch)
    assert stages[0] == "reading rows"
    assert stages[-2:] == ["itemsets of size 2", "itemsets of size 3"]

    def stop(stage: str, share: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(data, KmAnonymity(k=2, m=3), progress=stop)


# -- k-anonymity --------------------------------------------------------------------------------------------------


def test_classes_set_sensitive_items_aside_and_the_empty_set_is_one() -> None:
    data = letters("abs", "abt", "s", "")
    assert verify(data, KAnonymity(k=2, sensitive=["s", "t"]))
    assert verify(data, KAnonymity(k=2)).witness == ()
    assert verify(data, KAnonymity(k=2, sensitive=["s", "t"], l=2)) == Verdict(
        False,
        (),
        2,
        "{} is the non-sensitive part of 2 records, which show 1 different sensitive item, fewer than l=2.",
    )
    assert achieved(data, KAnonymity(k=2, sensitive=["s", "t"], l=2)) == {
        "smallest_class": 2,
        "fewest_sensitive_items": 1,
    }
    assert minimal_violations(data, KAnonymity(k=3, sensitive=["s", "t"])) == [
        Violation((), 2),
        Violation(("a", "b"), 2),
    ]


def test_replacement_keeps_sensitive_items_of_its_own() -> None:
    data = Transactions.from_lists(letters("abs", "act", "bd", "bcd"))
    centres = Transactions.from_pairs([0, 1, 1], data.vocabulary.numbers("abd"), 2, data.vocabulary)
    release = Replacement.from_centres(data, np.array([0, 0, 1, 1]), centres, ["s", "t"])
    assert verify(release, KAnonymity(k=2, sensitive=["s", "t"], l=1))
    assert not verify(release, KAnonymity(k=2, sensitive=["s", "t"], l=2))
    assert not verify(release, KAnonymity(k=3, sensitive=["s", "t"]))
    assert not verify(release, KAnonymity(k=2))


# -- constraints --------------------------------------------------------------------------------------------------


def clustered(target: list[int], rows: list[list[str]], domain: str = "") -> Recoding:
    data = Transactions.from_lists(rows)
    return Recoding.from_clusters(data, np.array(target), domain=Vocabulary(domain) if domain else None)


def test_constraints_are_about_original_items() -> None:
    release = clustered([0, 0, 1], letters("a", "b", "bc", "c"))  # a and b are published as one
    assert verify(release, ConstraintAnonymity(k=3, constraints=[["a"], ["b"]]))
    verdict = verify(release, ConstraintAnonymity(k=3, constraints=[["a"], ["b", "c"], ["c"]]))
    assert (verdict.witness, verdict.support) == (("c",), 2)
    assert minimal_violations(release, ConstraintAnonymity(k=3, constraints=[["b", "c"], ["a", "c"]])) == [
        Violation(("a", "c"), 1),
        Violation(("b", "c"), 1),
    ]
    # The same records as plain data: the identity.
    assert verify(letters("a", "b"), ConstraintAnonymity(k=2, constraints=[["a"]])).support == 1


def test_support_0_unknown_items_and_empty_constraints_are_fine() -> None:
    data = letters("a", "b")
    assert verify(data, ConstraintAnonymity(k=2, constraints=[["a", "b"], ["stranger", "a"], []]))
    assert achieved(data, ConstraintAnonymity(k=2, constraints=[["a", "b"]])) == {"suppressed_percentage": 0.0}


def test_a_suppressed_item_leaves_the_constraint() -> None:
    rows = letters("ab", "a", "a", "c", "c", "c")
    release = clustered([0, -1, 1], rows)
    assert verify(release, ConstraintAnonymity(k=3, constraints=[["a", "b"], ["b"]], max_suppressed=34))
    fewer = clustered([0, -1, 1], letters("ab", "a", "c"))
    assert verify(fewer, ConstraintAnonymity(k=3, constraints=[["a", "b"]], max_suppressed=34)).support == 2


def test_bound_on_suppression_is_strict() -> None:
    release = clustered([0, -1, 1, 2], letters("abcd"))
    assert verify(release, ConstraintAnonymity(k=2, constraints=[], max_suppressed=25))
    verdict = verify(release, ConstraintAnonymity(k=2, constraints=[], max_suppressed=24.9))
    assert verdict.reason == '1 of 4 items are suppressed, more than 24.9 %: "b".'
    assert achieved(release, ConstraintAnonymity(k=2, constraints=[])) == {"suppressed_percentage": 25.0}


def test_an_item_that_never_occurs_is_not_suppressed() -> None:
    release = clustered([0, 1, 2], letters("a", "b"), domain="abz")
    assert verify(release, ConstraintAnonymity(k=2, constraints=[["a", "z"]]))


def test_utility_groups_stay_apart() -> None:
    release = clustered([0, 0, 1, 1], letters("abcd"))
    assert verify(release, ConstraintAnonymity(k=2, constraints=[], utility=[["a", "b"], ["c", "d"]]))
    verdict = verify(release, ConstraintAnonymity(k=2, constraints=[], utility=[["a", "b", "c"], ["d"]]))
    assert verdict.witness == ("c", "d")
    assert verdict.reason == '"c" and "d" of different utility groups are published as one item, "c or d".'
    # Items of no group may only be published alone.
    assert verify(release, ConstraintAnonymity(k=2, constraints=[], utility=[["a", "b"]])).witness == ("c", "d")
    alone = clustered([0, 0, 1, 2], letters("abcd"))
    assert verify(alone, ConstraintAnonymity(k=2, constraints=[], utility=[["a", "b"]]))


def test_local_recodings_count_records_that_can_stand_for_the_constraint() -> None:
    tree = Hierarchy.from_paths([["a", "A", "ALL"], ["b", "A", "ALL"], ["c", "ALL"]])
    data = Transactions.from_lists(letters("a", "b", "ac"))
    node = {label: number for number, label in enumerate(tree.labels)}
    release = LocalRecoding.from_nodes(data, tree, np.array([node["a"], node["A"], node["A"], node["c"]]))
    assert verify(release, ConstraintAnonymity(k=3, constraints=[["a"]]))
    assert verify(release, ConstraintAnonymity(k=3, constraints=[["b"]])).support == 2
    assert verify(release, ConstraintAnonymity(k=2, constraints=[["b", "c"]])).support == 1
    # Published labels are opaque for k^m-anonymity.
    assert verify(release, KmAnonymity(k=2, m=1)).witness == ("a",)
    assert verify(release, ConstraintAnonymity(k=2, constraints=[], utility=[["a"], ["b"], ["c"]])).witness == (
        "a",
        "b",
    )


def test_damaged_recodings_are_refused() -> None:
    model = ConstraintAnonymity(k=2, constraints=[["a"]])
    release = clustered([0, 1], letters("ab"))
    with pytest.raises(InputError, match="damaged"):
        verify(replace(release, target=np.array([0], dtype=np.int32)), model)
    with pytest.raises(InputError, match="damaged"):
        verify(replace(release, target=np.array([0, 7], dtype=np.int32)), model)
    data = Transactions.from_lists(letters("ab"))
    cover, _ = Itemsets.from_lists([["a"]], data.vocabulary)
    with pytest.raises(InputError, match="damaged"):
        verify(LocalRecoding(published=data, cover=cover), model)


# -- privacy degree -----------------------------------------------------------------------------------------------


def grouped() -> Grouping:
    return Grouping.from_groups(
        Transactions.from_lists(letters("as", "b", "ct", "d", "e", "")), np.array([0, 0, 1, 1, 1, 1]), ["s", "t"]
    )


def test_degree_of_groups() -> None:
    release = grouped()
    assert verify(release, PrivacyDegree(p=2, sensitive=["s", "t"]))
    assert achieved(release, PrivacyDegree(p=2, sensitive=["s", "t"])) == {"privacy_degree": 2}
    assert achieved(release, PrivacyDegree(p=2, sensitive=["t"])) == {"privacy_degree": 2}  # "s" is counted, too
    assert verify(release, PrivacyDegree(p=4, sensitive=["t"])).witness == ("s",)
    assert verify(release, PrivacyDegree(p=3, sensitive=["s", "t"])) == Verdict(
        False, ("s",), 1, 'group 0: 1 of 2 records hold "s", more than one in 3.', 0
    )
    assert not verify(release, PrivacyDegree(p=2**63 - 1, sensitive=["t"]))
    assert minimal_violations(release, PrivacyDegree(p=5, sensitive=["d", "s", "t"])) == [
        Violation(("d",), 1),  # in the open
        Violation(("s",), 1),
        Violation(("t",), 1),
    ]


def test_sensitive_items_in_the_open() -> None:
    release = grouped()
    verdict = verify(release, PrivacyDegree(p=2, sensitive=["e", "s"]))
    assert (verdict.holds, verdict.witness, verdict.support, verdict.group) == (False, ("e",), 1, 1)
    assert verify(letters("ab", "b"), PrivacyDegree(p=2, sensitive=["b"])).support == 2
    assert verify(letters("ab", "b"), PrivacyDegree(p=9, sensitive=["c"]))
    assert achieved(letters("ab"), PrivacyDegree(p=9, sensitive=["a"])) == {"privacy_degree": 1}
    assert achieved(letters("ab"), PrivacyDegree(p=9, sensitive=["c"])) == {}


def test_mutations_of_a_grouping_are_caught() -> None:
    release, model = grouped(), PrivacyDegree(p=2, sensitive=["s", "t"])
    for changed, witness, group in (
        (replace(release, count=np.array([2, 1])), "s", 0),
        (replace(release, count=np.array([1, 3])), "t", 1),
        (replace(release, count=np.array([1, 2**62])), "t", 1),
        (replace(release, group_of=np.array([0, 1, 1, 1, 1, 1])), "s", 0),
        (replace(release, count_group=np.array([0, 5])), "t", 5),
        (replace(release, group_of=np.array([0, 0, 10**15, 10**15, 10**15, 10**15])), "t", 1),
        (replace(release, count_group=np.array([0, 0]), count_item=np.array([0, 0], dtype=np.int32)), "s", 0),
    ):
        verdict = verify(changed, model)
        assert (verdict.holds, verdict.witness, verdict.group) == (False, (witness,), group)
    for damaged in (
        replace(release, count=np.array([1])),
        replace(release, count=np.array([1, -1])),
        replace(release, count_item=np.array([0, 9], dtype=np.int32)),
        replace(release, group_of=np.array([0])),
    ):
        with pytest.raises(InputError, match="damaged"):
            verify(damaged, model)


# -- coherence ----------------------------------------------------------------------------------------------------


def test_coherence_counts_and_shares() -> None:
    data = letters("as", "a", "bs", "bs", "ab")
    assert verify(data, Coherence(h=66.7, k=2, p=1, sensitive=["s"]))
    verdict = verify(data, Coherence(h=66.6, k=2, p=1, sensitive=["s"]))
    assert (verdict.witness, verdict.support) == (("b",), 3)
    assert verdict.reason == '{"b"} occurs in 3 records, of which 2 hold "s", more than h=66.6 %.'
    assert verify(data, Coherence(h=100, k=2, p=2, sensitive=["s"])).witness == ("a", "b")
    assert achieved(data, Coherence(h=50, k=2, p=2, sensitive=["s"])) == {
        "smallest_support": 1,
        "largest_percentage": pytest.approx(200 / 3),
    }
    # Without sensitive items it is k^m-anonymity.
    assert minimal_violations(data, Coherence(h=0, k=2, p=2)) == minimal_violations(data, KmAnonymity(k=2, m=2))


def test_a_share_may_grow_with_the_itemset() -> None:
    data = letters("abs", "abs", "a", "a", "b", "b", "ab")
    model = Coherence(h=50, k=3, p=2, sensitive=["s"])
    assert minimal_violations(data, model) == [Violation(("a", "b"), 3)]
    assert verify(data, Coherence(h=50, k=3, p=1, sensitive=["s"]))


def test_largest_share_is_exact() -> None:
    rng = random.Random(3)
    for _ in range(300):
        n = rng.randint(1, 40)
        h = rng.choice([0, 100, 50, 33.3, rng.uniform(0, 100), round(rng.uniform(0, 100), 2)])
        exact = Fraction(str(h)) / 100
        best = max(f for d in range(1, n + 1) for f in [Fraction(int(exact * d), d)] if f <= exact)
        assert largest_share(h, n) == best
    assert largest_share(1 / 3, 10**9).denominator <= 10**9


# -- real data ----------------------------------------------------------------------------------------------------


def read(path: Path) -> Transactions:
    with gzip.open(path, "rt") as lines:
        return Transactions.from_lists(line.split() for line in lines)


def test_bms_webview_2_raw_stops_at_the_first_level(real_data: Callable[[str], Path]) -> None:
    data = read(real_data("BMS2.dat.gz"))
    stages = []
    verdict = verify(data, KmAnonymity(k=5, m=3), progress=lambda stage, share: stages.append(stage))
    assert (verdict.holds, verdict.witness, verdict.support) == (False, ("78231",), 4)
    assert not any(stage.startswith("itemsets") for stage in stages)
    supports = Counter(data.items.tolist())
    rare = [data.vocabulary[item] for item in sorted(supports) if supports[item] < 5]
    assert [one.itemset[0] for one in minimal_violations(data, KmAnonymity(k=5, m=3), limit=len(rare))] == rare


def test_clusters_of_bms_webview_1_by_counting_pairs_and_triples(real_data: Callable[[str], Path]) -> None:
    data = read(real_data("BMS1.dat.gz"))
    release = Recoding.from_clusters(data, np.arange(data.n_items) * 5 // data.n_items)
    rows = Counter(tuple(sorted(row)) for row in release.transactions())
    counts: Counter[tuple[str, ...]] = Counter()
    for row, weight in rows.items():
        for size in (1, 2, 3):
            for itemset in combinations(row, size):
                counts[itemset] += weight
    smallest = min(counts.values())
    assert achieved(release, KmAnonymity(k=5, m=3)) == {"smallest_support": smallest}
    assert verify(release, KmAnonymity(k=smallest, m=3)).holds
    verdict = verify(release, KmAnonymity(k=smallest + 1, m=3))
    assert verdict.support == smallest
    assert verdict.witness is not None and counts[verdict.witness] == smallest
