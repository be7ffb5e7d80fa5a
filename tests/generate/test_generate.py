"""Generated data: the same bytes for a seed, streaming, and the statistics that the parameters promise."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from setveil.core import Transactions, Vocabulary
from setveil.errors import InputError
from setveil.generate import (
    collect,
    patients,
    patients_groups,
    patients_hierarchy,
    patients_names,
    patients_sensitive,
    quest,
)
from setveil.generate.draws import ONE, Draws, choose, poisson_table, weight_table
from setveil.generate.groceries import groceries, write_demo_data
from setveil.io.hierarchies.hierarchy_files import check_hierarchy, read_hierarchy
from setveil.io.transactions.reading import read_transactions
from setveil.workflows import demo_data
from setveil.workflows.samples import generate_patients


def fingerprint(data: Transactions) -> str:
    content = data.indptr.astype("<i8").tobytes() + data.items.astype("<i4").tobytes()
    return hashlib.sha256(content).hexdigest()[:16]


def assert_well_formed(data: Transactions) -> None:
    assert data.indptr.dtype == np.int64 and data.items.dtype == np.int32
    inside = np.ones(data.n_occurrences, dtype=bool)
    inside[data.indptr[:-1][data.lengths > 0]] = False
    assert (np.diff(data.items.astype(np.int64), prepend=0)[inside] > 0).all()  # rows ascend, without repeats
    assert data.vocabulary == Vocabulary(data.vocabulary.labels)


def same(one: Transactions, other: Transactions) -> bool:
    return fingerprint(one) == fingerprint(other) and one.vocabulary == other.vocabulary


# -- draws --------------------------------------------------------------------------------------------------------


def test_draws_are_the_raw_stream_of_pcg64() -> None:
    raw = np.random.PCG64(np.random.SeedSequence((7, 1, 2))).random_raw(3).tolist()
    assert Draws(7, 1, 2).bits(5).tolist() == [half for word in raw for half in (word % ONE, word // ONE)][:5]
    assert Draws(7, 1, 3).bits(4).tolist() != Draws(7, 1, 2).bits(4).tolist()


def test_choose_is_a_search_in_the_shares() -> None:
    rng = random.Random(5)
    for _ in range(200):
        weights = [rng.choice([0, 1, 3, 10]) for _ in range(rng.randint(1, 6))]
        if not sum(weights) or not weights[-1]:
            weights[-1] = 1
        bits = [rng.randrange(ONE) for _ in range(20)] + [0, ONE - 1]
        expected = []
        for draw in bits:
            ends = [math.floor(end / sum(weights) * ONE) for end in itertools.accumulate(weights)]
            expected.append(next(value for value, end in enumerate(ends) if draw < end))
        assert choose(weight_table(weights), np.array(bits, dtype=np.uint64)).tolist() == expected


@pytest.mark.parametrize("mean", [0, 0.5, 3, 9, 40, 1500])
def test_poisson_tables_have_their_probabilities(mean: float) -> None:
    shares = np.diff(poisson_table(mean).astype(np.float64), prepend=0) / ONE
    values = np.arange(len(shares))
    assert shares.sum() == 1
    assert (shares * values).sum() == pytest.approx(mean, abs=1e-4)
    assert (shares * (values - mean) ** 2).sum() == pytest.approx(mean, rel=1e-3, abs=1e-4)


def test_other_distributions() -> None:
    exponential, normal = Draws(1).exponential(20_000), Draws(2).normal(20_000)
    assert exponential.min() > 0
    assert exponential.mean() == pytest.approx(1, abs=0.03)
    assert np.median(exponential) == pytest.approx(math.log(2), abs=0.03)
    assert (normal.mean(), normal.std()) == (pytest.approx(0, abs=0.03), pytest.approx(1, abs=0.03))
    assert sorted(set(Draws(3).below(4, 1000).tolist())) == [0, 1, 2, 3]


# -- Quest --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def t10i4d100k() -> Transactions:
    return collect(quest())


def test_quest_has_the_looks_of_t10i4d100k(t10i4d100k: Transactions) -> None:
    data = t10i4d100k
    assert_well_formed(data)
    assert data.n_records == 100_000
    assert data.n_items == 1_000
    assert data.n_empty == 0
    assert data.lengths.mean() == pytest.approx(10.1, abs=0.3)  # T10I4D100K: 10.1, longest 29
    assert 25 <= data.lengths.max() <= 36
    supports = np.sort(data.supports)[::-1]
    assert 800 <= (supports > 0).sum() <= 900  # 870
    assert 6_000 <= supports[0] <= 10_000  # 7,828
    assert supports[:100].sum() > 0.3 * supports.sum()  # skewed


def test_quest_baskets_are_made_of_patterns(t10i4d100k: Transactions) -> None:
    """Many pairs occur far more often than independent items would."""
    data = t10i4d100k.select(np.arange(20_000))
    pairs = Counter(pair for row in data.to_lists() for pair in itertools.combinations(row, 2))
    share = dict(zip(data.vocabulary, (data.supports / data.n_records).tolist(), strict=True))
    often = [pair for pair, count in pairs.items() if count >= 100]
    lifted = [pair for pair in often if pairs[pair] > 5 * share[pair[0]] * share[pair[1]] * data.n_records]
    assert len(often) > 200
    assert len(lifted) > 0.5 * len(often)


@pytest.mark.parametrize(
    ("parameters", "mean", "tolerance"),
    [
        ({"T": 1, "I": 1}, 1, 0.05),
        ({"T": 5, "I": 2, "N": 100}, 5, 0.3),
        ({"T": 20, "I": 6, "L": 500}, 20, 1.2),
        ({"T": 40, "I": 10}, 40, 2.5),
        ({"corruption": 0}, 10, 0.3),
        ({"corruption": 1, "correlation": 1}, 10, 0.3),
        ({"T": 3, "I": 4, "N": 1, "L": 1}, 1, 0),
        ({"T": 4, "I": 9, "N": 5, "L": 3}, 4, 0.6),
    ],
)
def test_quest_lengths_follow_T(parameters: dict[str, float], mean: float, tolerance: float) -> None:
    data = collect(quest(D=3_000, seed=11, **parameters))  # type: ignore[arg-type]
    assert_well_formed(data)
    assert (data.n_records, data.n_empty) == (3_000, 0)
    assert data.lengths.mean() == pytest.approx(mean, abs=tolerance)


def test_quest_is_the_same_for_a_seed_and_another_for_another() -> None:
    assert fingerprint(collect(quest(2_000, seed=1))) == "bacabcedf77818ef"
    assert not same(collect(quest(2_000, seed=1)), collect(quest(2_000, seed=2)))


def test_fewer_baskets_are_the_first_of_more(t10i4d100k: Transactions) -> None:
    for n in (1, 65, 65_536, 65_537):
        assert same(collect(quest(n)), t10i4d100k.select(np.arange(n)))


def test_chunks_share_a_vocabulary_and_are_made_on_demand() -> None:
    chunks = quest(D=10**12)  # nobody could hold them
    assert isinstance(chunks, Iterator)
    first, second = next(chunks), next(chunks)
    assert first.n_records == second.n_records == 65_536
    assert first.vocabulary is second.vocabulary
    assert not same(first, second)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"D": -1}, "D is -1; it must be at least 0."),
        ({"T": 0}, "T is 0"),
        ({"I": 0.5}, "I is 0.5"),
        ({"N": 0}, "N is 0"),
        ({"L": 0}, "L is 0"),
        ({"T": math.nan}, "T is nan"),
        ({"T": 1e9}, "both must be at most 2000"),
        ({"correlation": 1.5}, "correlation is 1.5; it must lie between 0 and 1."),
        ({"corruption": -0.1}, "corruption is -0.1"),
        ({"seed": -3}, "seed is -3"),
    ],
)
def test_quest_refuses_bad_parameters_at_once(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        quest(**parameters)  # type: ignore[arg-type]


def test_nothing_to_collect() -> None:
    with pytest.raises(InputError, match="at least one record"):
        collect(quest(D=0))


# -- patients -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clinic() -> Transactions:
    return collect(patients(70_000))


def test_patients_are_well_formed(clinic: Transactions) -> None:
    assert_well_formed(clinic)
    assert (clinic.n_records, clinic.n_items, clinic.n_empty) == (70_000, 480, 0)
    assert (clinic.supports > 0).all()
    assert 2.5 < clinic.lengths.mean() < 3.5
    assert clinic.lengths.max() > 12


def test_the_code_system_has_three_levels_and_eighteen_groups() -> None:
    tree = patients_hierarchy()
    assert (tree.n_items, tree.n_nodes, tree.height) == (480, 480 + 108 + 18 + 1, 3)
    groups = patients_groups()
    assert len(groups) == 18
    assert sorted(code for codes in groups.values() for code in codes) == list(tree.vocabulary)
    for node in tree.children[tree.root]:
        name = tree.labels[node].split(" ", 1)[1]
        assert {tree.labels[leaf] for leaf in tree.leaves(node)} == set(groups[name])
    assert set(patients_names()) == set(tree.vocabulary)
    assert patients_names()["D01.0"] == "High blood sugar, early"
    assert set(patients_sensitive()) < set(tree.vocabulary)
    assert len(patients_sensitive()) == 55


def test_patients_may_have_columns(clinic: Transactions, tmp_path: Path) -> None:
    people = collect(patients(70_000, columns=True))
    assert same(people, clinic)  # the diagnoses do not change
    assert people.columns is not None and people.columns.names == ("age", "sex", "region", "month")
    assert all(column.role == "known" for column in people.columns)
    ages = np.array(people.columns["age"].to_list(), dtype=int)
    assert ages.min() >= 0 and ages.max() < 96 and 0.15 < (ages < 18).mean() < 0.21
    few = collect(patients(100, columns=True))
    assert [column.to_list() for column in few.columns or ()] == [
        column.to_list()[:100] for column in people.columns.with_used_values()
    ]
    generate_patients(tmp_path / "patients.csv", "long", n=100, columns=True)
    names = {"person": "patient", "item": "diagnosis", "known_columns": "age,sex,region,month"}
    again = read_transactions(tmp_path / "patients.csv", **names)
    assert again.to_lists() == few.to_lists()
    assert [column.to_list() for column in again.columns or ()] == [column.to_list() for column in few.columns or ()]
    with pytest.raises(InputError, match="choose one of them"):
        patients(5, visits=True, columns=True)
    with pytest.raises(InputError, match="written as a long table"):
        generate_patients(tmp_path / "patients.dat", "fimi", n=5, columns=True)


def test_some_patients_have_sensitive_codes(clinic: Transactions) -> None:
    sensitive = np.isin(clinic.items, clinic.vocabulary.encode(patients_sensitive()))
    share = len(np.unique(clinic.owners[sensitive])) / clinic.n_records
    assert 0.08 < share < 0.16


def group_table(data: Transactions) -> np.ndarray:
    """Whether each patient has each group, in the order of the letters."""
    letter = np.array([ord(label[0]) - ord("A") for label in data.vocabulary])
    table = np.zeros((data.n_records, 18), dtype=bool)
    table[data.owners, letter[data.items]] = True
    return table


def test_groups_bring_each_other_along(clinic: Transactions) -> None:
    has = group_table(clinic)
    metabolism, heart, birth = (ord(letter) - ord("A") for letter in "DIP")
    together = (has[:, metabolism] & has[:, heart]).mean()
    assert together > 1.5 * has[:, metabolism].mean() * has[:, heart].mean()
    assert (has[:, birth] & has[:, heart]).mean() < 0.5 * has[:, birth].mean() * has[:, heart].mean()  # age parts them
    assert has.sum(axis=1).std() > 1.3  # frailty: some have much, many have little


def test_nobody_has_codes_of_both_sexes(clinic: Transactions) -> None:
    names = patients_names()
    men = [code for code, name in names.items() if name.startswith(("Prostate", "Enlarged prostate", "Erection"))]
    women = [
        code for code, name in names.items() if name.startswith(("Breast", "Painful periods", "Birth", "Normal preg"))
    ]
    owners = [
        set(clinic.owners[np.isin(clinic.items, clinic.vocabulary.encode(codes))].tolist()) for codes in (men, women)
    ]
    assert min(map(len, owners)) > 500
    assert not owners[0] & owners[1]


def test_patients_are_the_same_for_a_seed_and_a_prefix_of_more(clinic: Transactions) -> None:
    assert fingerprint(collect(patients(2_000, seed=1))) == "6d8dbaccf1baf6ce"
    for n in (1, 1_000, 65_537):
        assert same(collect(patients(n)), clinic.select(np.arange(n)))
    assert not same(collect(patients(500)), collect(patients(500, seed=1)))
    with pytest.raises(InputError, match="neither may be negative"):
        patients(-1)


def test_visits_together_hold_what_the_patient_has(clinic: Transactions) -> None:
    visits = collect(patients(66_000, visits=True))
    assert_well_formed(visits)
    assert visits.ids is not None
    assert len(set(visits.ids)) == visits.n_records
    assert visits.n_records > 1.5 * 66_000
    assert visits.n_empty == 0
    patient = np.array([int(label.split("-")[0]) - 1 for label in visits.ids])
    union = Transactions.from_pairs(patient[visits.owners], visits.items, 66_000, visits.vocabulary)
    assert same(union, clinic.select(np.arange(66_000)))
    assert visits.n_occurrences > union.n_occurrences  # chronic codes come up again
    few = collect(patients(100, visits=True))
    assert few.ids is not None
    assert few.ids == visits.ids[: few.n_records]
    assert same(few, visits.select(np.arange(few.n_records)))
    assert fingerprint(few) == "bafececdd488ebff"


# -- the demo's groceries -----------------------------------------------------------------------------------------


def test_the_bundled_data_is_what_the_generator_makes(tmp_path: Path) -> None:
    write_demo_data(tmp_path)
    made = gzip.decompress((tmp_path / "baskets.csv.gz").read_bytes())
    assert gzip.decompress(demo_data.baskets_path().read_bytes()) == made
    assert demo_data.taxonomy_path().read_bytes() == (tmp_path / "taxonomy.csv").read_bytes()
    assert demo_data.baskets_path().stat().st_size < 100_000
    assert made.decode().count("\n") == 1 + groceries().n_occurrences
    assert hashlib.sha256(made).hexdigest()[:16] == "4c39ab402de86957"


def test_the_bundled_taxonomy_fits_the_bundled_baskets() -> None:
    data, tree = groceries(), read_hierarchy(demo_data.taxonomy_path())
    assert (tree.n_items, tree.height) == (129, 3)
    assert check_hierarchy(demo_data.taxonomy_path(), data.vocabulary) == []
    assert len(set(tree.labels)) == tree.n_nodes


def test_the_demo_has_something_to_show() -> None:
    data = groceries()
    assert_well_formed(data)
    assert (data.n_records, data.n_empty) == (5_000, 0)
    assert data.supports.min() >= 50
    rows = [row for row in data.to_lists() if len(row) >= 3]
    triples = Counter(triple for row in rows for triple in itertools.combinations(row, 3))
    alone = [
        sum(triples[triple] == 1 for triple in itertools.combinations(row, 3)) / math.comb(len(row), 3) for row in rows
    ]
    assert sum(alone) / len(alone) > 0.4  # three known items single out nearly every second basket
    with pytest.raises(InputError, match="at least one basket"):
        groceries(0)
