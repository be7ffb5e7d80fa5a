"""MM against its twin, its promise on random databases, and figures on real data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.coherence.mm import MM
from setveil.core import Transactions
from setveil.models import Coherence
from setveil.releases import Recoding
from setveil.verify import verify
from tests.naive import coherence as naive
from tests.naive.databases import random_records
from tests.naive.km_cases import LIU_WANG


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


@pytest.mark.parametrize("p", [4, 2**31, 10**17])
def test_p_beyond_all_records_takes_no_longer(p: int) -> None:
    rows = [["a", "b", "s"], ["a", "b"], ["a", "b"], ["c"], ["c", "a"]] * 3
    like, release = (sv.anonymize(rows, sv.Coherence(h=50, k=2, p=most, sensitive=["s"]), "mm") for most in (3, p))
    assert release.transactions() == like.transactions()


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
