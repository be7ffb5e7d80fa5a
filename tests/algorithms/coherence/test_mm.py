"""MM, LG, LRA and VPA against their twins, their promises on random databases, and figures on real data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from naive import comparators as naive
from naive import km
from naive.counting import is_km_anonymous
from naive.databases import random_records
from naive.km_cases import LIU_WANG, LIU_WANG_TREE, cases

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.coherence.mm import MM
from setveil.algorithms.k_anonymity.lg import LG
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.lra import LRA
from setveil.algorithms.km.vpa import VPA
from setveil.core import Hierarchy, LocalRecoding, Recoding, Transactions
from setveil.models import Coherence, KAnonymity, KmAnonymity
from setveil.verify import verify

# -- mm ---------------------------------------------------------------------------------------------------------------


def run_mm(records: Sequence[Sequence[str]], model: Coherence, loss: str = "occurrences") -> Recoding:
    return MM(loss).run(Transactions.from_lists(records), model, Context())


def test_mm_example_of_liu_and_wang() -> None:
    """Suppression in Fig. 1 of "Anonymizing transaction data by integrating suppression and generalization"."""
    release = run_mm(LIU_WANG, Coherence(100, 2, 7))
    assert release.transactions() == [set(row) for row in ("d", "afg", "df", "df", "afg", "e", "e", "")]


def rows_of(words: Sequence[str]) -> list[list[str]]:
    return [list(word) for word in words]


def test_mm_by_hand() -> None:
    # d is rare alone; e holds the secret s in 2 of 3 records; ab occurs once, so a or b goes: a has fewer occurrences.
    rows = ["ab", "ac", "ac", "bc", "bc", "b", "es", "es", "e", "d"]
    release = run_mm(rows_of(rows), Coherence(50, 2, 2, ["s"]))
    assert release.codebook()[""] == ["a", "d", "e"]
    assert release.transactions()[6] == {"s"}, "sensitive items stay"
    assert release.details["minimal_moles"] == [1]
    assert run_mm(rows_of(rows), Coherence(70, 2, 2, ["s"])).codebook()[""] == ["a", "d"]


def test_mm_is_its_twin_and_keeps_its_promise() -> None:
    source = Random(3)
    n_breaching = 0
    for _ in range(600):
        records = random_records(source, max_records=24)
        hidden = source.sample("abcdefgh", source.randint(0, 3))
        h = source.choice((0, 10, 33.3, 50, 66.7, 75, 100))
        model = Coherence(h, source.randint(2, 4), source.randint(1, 4), hidden)
        if 0 < sum(map(bool, records)) < model.k:
            with pytest.raises(sv.InfeasibleError):
                run_mm(records, model)
            continue
        loss = source.choice(("occurrences", "items"))
        release = run_mm(records, model, loss)
        sets = [frozenset(row) for row in records]
        suppressed = set(naive.mm(sets, model, loss))
        assert set(release.codebook().get("", [])) == suppressed
        assert release.transactions() == [row - suppressed for row in sets]
        assert naive.is_coherent([frozenset(row) for row in release.transactions()], model)
        assert verify(release, model).holds
        n_breaching += suppressed != set(naive.mm(sets, Coherence(100, model.k, model.p, hidden), loss))
    assert n_breaching > 50, "the h bound decides often enough to be tested"


def test_mm_compares_percentages_exactly() -> None:
    rows = [["a", "s"]] * 1 + [["a"]] * 999  # 0.1 % of the records with a hold s
    assert "" not in run_mm(rows, Coherence(0.1, 2, 1, ["s"])).codebook()
    assert run_mm(rows, Coherence(0.0999999, 2, 1, ["s"])).codebook()[""] == ["a"]


def test_mm_on_real_data(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("groceries.csv.gz"))
    model = Coherence(40, 5, 2, ["whole milk"])
    release = MM().run(data, model, Context())
    assert verify(release, model).holds
    assert 0 < release.details["suppressed_items"] < data.n_items - 1


# -- lg ---------------------------------------------------------------------------------------------------------------


def run_lg(data: Transactions, tree: Hierarchy, model: KAnonymity) -> LocalRecoding:
    return LG().run(data, model, Context(hierarchy=tree))


def test_lg_example_of_liu_and_wang() -> None:
    release = run_lg(Transactions.from_lists(LIU_WANG), LIU_WANG_TREE, KAnonymity(2))
    assert ["".join(sorted(row)) for row in release.transactions()] == ["T", "Pfg", "KMf", "KMf", "Pfg", "T", "T", "T"]


def test_lg_is_its_twin_and_keeps_its_promise() -> None:
    n_suppressed = 0
    for data, tree, k in cases(600, seed=11, items="abcdefghij"):
        release = run_lg(data, tree, KAnonymity(k))
        rows = data.to_lists()
        assert Counter(zip(map(tuple, rows), map(frozenset, release.transactions()), strict=True)) == naive.lg(
            rows, tree, k
        )
        assert verify(release, KAnonymity(k)).holds
        n_suppressed += bool(release.details["suppressed_records"])
    assert n_suppressed > 10, "a few empty records are among the cases"


def test_lg_leaves_sensitive_items_alone() -> None:
    source = Random(8)
    for data, tree, k in cases(150, seed=12):
        hidden = set(source.sample("abcdefgh", 2))
        model = KAnonymity(k, sorted(hidden))
        release = run_lg(data, tree, model)
        assert verify(release, model).holds
        for before, after in zip(data.to_lists(), release.transactions(), strict=True):
            assert after & hidden == set(before) & hidden


def test_lg_does_not_depend_on_record_order_even_with_sensitive_items() -> None:
    source = Random(9)
    for data, tree, k in cases(200, seed=13):
        rows = data.to_lists()
        model = KAnonymity(k, ["a", "c", "e"])
        published = Counter(map(frozenset, run_lg(data, tree, model).transactions()))
        source.shuffle(rows)
        again = run_lg(Transactions.from_lists(rows), tree, model)
        assert Counter(map(frozenset, again.transactions())) == published


def test_lg_says_what_it_cannot_do() -> None:
    data = Transactions.from_lists(LIU_WANG)
    with pytest.raises(sv.InputError, match="l=2"):
        run_lg(data, LIU_WANG_TREE, KAnonymity(2, ["a"], 2))
    with pytest.raises(sv.InfeasibleError, match="fewer than k=9"):
        run_lg(data, LIU_WANG_TREE, KAnonymity(9))
    with pytest.raises(sv.InfeasibleError, match="only 3 records"):
        run_lg(Transactions.from_lists([[], [], []]), LIU_WANG_TREE, KAnonymity(4))


def test_lg_on_real_data(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(real_data("groceries_taxonomy.csv"))
    release = run_lg(data, tree, KAnonymity(5))
    assert verify(release, KAnonymity(5)).holds
    assert sv.measure(data, release)["ncp"] < 0.3


# -- lra --------------------------------------------------------------------------------------------------------------


def run_lra(data: Transactions, tree: Hierarchy, k: int, m: int | str, **options: int | str) -> LocalRecoding:
    return LRA(**options).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def test_lra_is_its_twin_and_keeps_its_promise() -> None:
    n_local = 0
    for number, (data, tree, k) in enumerate(cases(300, seed=21)):
        n_parts, m = 1 + number % 4, 1 + number % 3
        release = run_lra(data, tree, k, m, parts=n_parts)
        assert release.transactions() == naive.lra(data.to_lists(), tree, k, m, n_parts)
        assert is_km_anonymous(release.transactions(), k, m)
        assert verify(release, KmAnonymity(k, m)).holds
        n_local += any(len(set(nodes)) > 1 for nodes in nodes_of_items(data, release).values())
    assert n_local > 50, "items are published as different nodes often enough"


def nodes_of_items(data: Transactions, release: LocalRecoding) -> dict[int, list[int]]:
    assert release.node_of_occurrence is not None
    nodes: dict[int, list[int]] = {}
    for item, node in zip(data.items.tolist(), release.node_of_occurrence.tolist(), strict=True):
        nodes.setdefault(item, []).append(node)
    return nodes


@pytest.mark.parametrize("bits", ["hierarchy", "frequency", "id"])
def test_lra_for_all_itemsets_in_every_order(bits: str) -> None:
    for data, tree, k in cases(60, seed=22):
        release = run_lra(data, tree, k, "all", parts=3, bits=bits)
        assert verify(release, KmAnonymity(k, "all")).holds


def test_lra_in_one_part_is_aa(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(real_data("groceries_taxonomy.csv"))
    model = KmAnonymity(5, 2)
    aa = AA().run(data, model, Context(hierarchy=tree))
    assert run_lra(data, tree, 5, 2, parts=1).transactions() == aa.transactions()
    assert verify(run_lra(data, tree, 5, 2, parts=7), model).holds


def test_lra_needs_a_part() -> None:
    with pytest.raises(sv.InputError, match='"parts" must be at least 1'):
        run_lra(Transactions.from_lists(LIU_WANG), LIU_WANG_TREE, 2, 2, parts=0)


# -- vpa --------------------------------------------------------------------------------------------------------------


def run_vpa(data: Transactions, tree: Hierarchy, k: int, m: int | str, depth: int = 1) -> Recoding:
    return VPA(depth).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def test_vpa_is_its_twin_and_keeps_its_promise() -> None:
    n_within = 0
    for number, (data, tree, k) in enumerate(cases(400, seed=31, items="abcdefghijkl")):
        depth, m = 1 + number % 2, 1 + number % 3
        release = run_vpa(data, tree, k, m, depth)
        base = km.Database(data, tree)
        cut = naive.vpa(base, k, m, depth)
        labels = [{tree.published_labels[cut[leaf]] for leaf in record} for record in base.records]
        assert release.transactions() == labels
        assert release.details["ncp"] == pytest.approx(base.ncp(cut))
        assert is_km_anonymous(release.transactions(), k, m)
        assert verify(release, KmAnonymity(k, m)).holds
        n_within += bool(release.details["moves_within_parts"])
    assert n_within > 100, "parts have something to do"


def test_vpa_for_all_itemsets() -> None:
    for data, tree, k in cases(100, seed=32):
        assert verify(run_vpa(data, tree, k, "all"), KmAnonymity(k, "all")).holds


def test_vpa_on_real_data(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(real_data("groceries_taxonomy.csv"))
    release = run_vpa(data, tree, 5, 2)
    assert verify(release, KmAnonymity(5, 2)).holds
    assert 0 < release.details["moves_within_parts"] < len(release.details["moves"])
    assert release.details["ncp"] == pytest.approx(0.0760, abs=5e-5), "here the same as AA"


def test_vpa_needs_a_depth() -> None:
    with pytest.raises(sv.InputError, match='"depth" must be at least 1'):
        run_vpa(Transactions.from_lists(LIU_WANG), LIU_WANG_TREE, 2, 2, depth=0)
