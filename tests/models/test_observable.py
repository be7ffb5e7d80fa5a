"""Observable items: only sets of these are protected, and everything else is published as it is."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.core import Hierarchy, Transactions
from setveil.errors import InfeasibleError, InputError
from tests.naive.databases import ITEMS, random_paths, random_records


def smallest_known_support(release: sv.Release, observable: set[str], m: int | str) -> int | None:
    """By looking at every set of labels of every published record that cover an observable item."""
    book = release.codebook()
    rows = [{label for label in row if observable & set(book[label])} for row in release.transactions()]
    found = [
        sum(set(known) <= other for other in rows)
        for row in rows
        for size in range(1, (len(row) if m == "all" else int(m)) + 1)
        for known in combinations(sorted(row), size)
    ]
    return min(found, default=None)


@pytest.mark.parametrize("algorithm", ["trim", "pcta", "aa", "lra"])
def test_only_observable_items_are_protected(algorithm: str) -> None:
    source = random.Random(21)
    n_made = n_unprotected = 0
    for _ in range(60):
        data = Transactions.from_lists(row for row in random_records(source, 14) if row)
        listed = set(source.sample(ITEMS, source.randint(1, 6))) & set(data.vocabulary)
        k, m = source.randint(2, 3), source.choice((1, 2, "all"))
        tree = (
            Hierarchy.from_paths(random_paths(source)) if algorithm in ("aa", "lra") or source.random() < 0.5 else None
        )
        if not listed:
            continue
        model = sv.KmAnonymity(k=k, m=m, observable=sorted(listed))
        try:
            release = sv.anonymize(data, model, algorithm=algorithm, hierarchy=tree if algorithm != "pcta" else None)
        except (InfeasibleError, InputError):
            continue
        n_made += 1
        for before, after in zip(data.to_lists(), release.transactions(), strict=True):
            assert set(before) - listed <= after  # unchanged
        book = release.codebook()
        assert all(
            len(items) == 1 or set(items) <= listed | (set(ITEMS) - set(data.vocabulary)) for items in book.values()
        )
        smallest = smallest_known_support(release, listed, m)
        assert smallest is None or smallest >= k
        assert release.verify().holds and sv.verify(release, model).holds
        n_unprotected += not sv.verify(release, "km", k=k, m=m).holds
    assert n_made > 20 and n_unprotected > 5


@pytest.mark.parametrize("algorithm", ["aa", "lra"])
def test_a_published_root_does_not_cover_the_items_beside_it(algorithm: str, tmp_path: Path) -> None:
    records = [["a", "x"], ["a"], ["b", "y"], ["b"], ["x"], ["y"], ["x", "y"]]
    model = sv.KmAnonymity(k=3, m=1, observable=["a", "b"])
    release = sv.anonymize(records, model, algorithm=algorithm, hierarchy={"all": ["a", "b", "x", "y"]})
    assert release.codebook()["all"] == ["a", "b"]
    in_hand, read_again = release.measure(), sv.measure(records, sv.open_release(release.publish(tmp_path / "out")))
    assert in_hand["largest_set"] == 2 and in_hand["ncp"] == pytest.approx(4 * (2 / 4) / 10)
    assert [in_hand[name] for name in ("ncp", "lm")] == [read_again[name] for name in ("ncp", "lm")]
    assert sv.query(release, with_items=["a"]).estimate == pytest.approx(2)


def test_the_verifier_sees_what_only_observable_items_show() -> None:
    rows = [{"a", "b"}, {"a", "b"}, {"a", "c"}]
    assert not sv.verify(rows, "km", k=2, m=2).holds
    assert sv.verify(rows, "km", k=2, m=2, observable=["a", "b"]).holds
    verdict = sv.verify(rows, "km", k=2, m=2, observable=["c"])
    assert (verdict.holds, verdict.witness, verdict.support) == (False, ("c",), 1)


def test_words_certificate_and_attack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = Path(__file__).parents[2] / "docs" / "examples"
    (tmp_path / "known.txt").write_text("bread\nmilk\nrum\n")
    out = tmp_path / "out"
    asked = ["anonymize", str(examples / "baskets.txt"), "-o", str(out), "--model", "km", "-k", "2", "-m", "2"]
    assert _run([*asked, "--observable", str(tmp_path / "known.txt"), "--algorithm", "trim"]) == 0
    shown = capsys.readouterr()
    assert 'observable: "rum" not in the data' in shown.out + shown.err
    assert "up to 2 observable items" in shown.out
    certificate = json.loads((out / "certificate.json").read_text())
    assert certificate["model"]["options"]["observable"] == ["bread", "milk"]  # nothing that the files do not show
    assert any("observable" in sentence for sentence in certificate["not_protected"])
    assert "cheese" in (out / "published.csv").read_text()
    assert _run(["verify", str(out)]) == 0
    assert _run(["verify", str(out), "--original", str(examples / "baskets.txt")]) == 0
    capsys.readouterr()
    assert (
        _run(["attack", str(examples / "baskets.txt"), str(out), "--known", "1,2,3", "--targets", "50", "--json"]) == 0
    )
    table = json.loads(capsys.readouterr().out)
    assert {row["known"] for row in table["rows"]} == {1, 2}  # nobody has three items that can be known
    assert all(row["singled_out"]["after"][0] == 0 for row in table["rows"] if row["attacker"] == "random")


def test_bad_lists() -> None:
    data = [["a", "b"], ["a", "b"], ["Flu", "a"]]
    with pytest.raises(InputError, match="empty"):
        sv.anonymize(data, "km", k=2, m=1, observable=[])
    with pytest.raises(InputError, match="no item of the list is in the data"):
        sv.anonymize(data, "km", k=2, m=1, observable=["x"])
    with pytest.raises(InputError, match="write it as in the data"):
        sv.anonymize(data, "km", k=2, m=1, observable=["flu", "a"])
