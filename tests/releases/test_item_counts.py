"""Counts of generalized items: what may be listed, against every database that is consistent with the files."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.core import Transactions
from setveil.releases import Recoding
from setveil.releases.item_counts import choose_items
from setveil.utility.estimates import SupportEstimates
from setveil.verify import check_item_counts
from setveil.verify.files import certificate_digest
from tests.naive.attack import candidates
from tests.naive.item_counts import revealed_sets
from tests.naive.releases import random_recoding
from tests.risk.test_attack import covers_of, surface_of
from tests.risk.test_inference import asked_about


def random_category(source: random.Random) -> tuple[str, int, np.ndarray, list[set[str]]]:
    """Items, number of records, counts, and the records of one category."""
    items, support = "abc"[: source.choice((2, 3, 3))], source.randint(2, 7)
    likely = [source.random() for _ in items]
    rows = []
    for _ in range(support):
        row = {item for item, chance in zip(items, likely, strict=True) if source.random() < chance}
        rows.append(row or {source.choice(items)})
    return items, support, np.array([sum(item in row for row in rows) for item in items]), rows


def test_listed_counts_reveal_no_small_set() -> None:
    source = random.Random(3)
    n_listed = 0
    for _ in range(400):
        items, support, counts, _ = random_category(source)
        k, largest = source.randint(2, 4), source.choice((1, 2, 3, inf))
        listed = {
            item: int(count)
            for item, count, is_listed in zip(items, counts, choose_items(counts, support, k, largest), strict=True)
            if is_listed
        }
        n_listed += bool(listed)
        for all_occur in (False, *([True] if counts.min() else [])):
            # Without any count a codebook may already say that somebody has each of few records' items.
            before = revealed_sets(items, support, {}, k, largest, all_occur)
            assert set(revealed_sets(items, support, listed, k, largest, all_occur)) <= set(before)
        assert all(k <= count < support for count in listed.values())
        unlisted = [count for item, count in zip(items, counts, strict=True) if item not in listed]
        assert not listed or len(unlisted) != 1
        assert not listed or not unlisted or any(count == 0 or count >= k for count in unlisted)
    assert n_listed > 100


def as_release(items: str, rows: list[set[str]], listed: dict[str, int]) -> tuple[Transactions, Recoding]:
    data = Transactions.from_lists([sorted(row) for row in rows] + [["z"]])
    numbers = [0 if item in items else 1 for item in data.vocabulary]
    return data, replace(Recoding.from_clusters(data, np.array(numbers)), item_counts=listed)


def test_the_verifier_finds_what_counts_reveal() -> None:
    """With every item of a category counted, it answers as the enumeration of all databases does."""
    source = random.Random(4)
    answers = {True: 0, False: 0}
    for _ in range(400):
        items, support, counts, rows = random_category(source)
        if not counts.min():
            continue
        k, m = source.randint(2, 4), source.choice((1, 2, 3, "all"))
        listed = dict(zip(items, counts.tolist(), strict=True))
        data, release = as_release(items, rows, listed)
        found = check_item_counts(release, sv.KmAnonymity(k=k, m=m), data)
        largest = inf if m == "all" else m
        is_unsafe = bool(revealed_sets(items, support, listed, k, largest, True)) or max(counts) == support
        assert bool(found) == (is_unsafe or min(counts) < k)
        answers[bool(found)] += 1
    assert min(answers.values()) > 20


def test_the_verifier_accepts_what_is_chosen_and_nothing_untrue() -> None:
    source = random.Random(5)
    n_listed = 0
    for _ in range(300):
        items, _, _, rows = random_category(source)
        model = sv.KmAnonymity(k=source.randint(2, 3), m=source.choice((1, 2, "all")))
        data, release = as_release(items, rows, {})
        assert model.item_counts is not None
        release = release.with_item_counts(data, *model.item_counts)
        assert check_item_counts(release, model, data) == []
        if not release.item_counts:
            continue
        n_listed += 1
        item = source.choice(sorted(release.item_counts))
        wrong = replace(release, item_counts={**release.item_counts, item: release.item_counts[item] + 1})
        assert check_item_counts(wrong, model, data)
        assert check_item_counts(replace(release, item_counts={"z": 9}), model)
        assert check_item_counts(release, sv.Coherence(h=50, k=2, p=1, sensitive=["a"]), data)
    assert n_listed > 80


@pytest.mark.parametrize(
    ("counts", "support", "m", "expected"),
    [
        ([6, 5], 10, 1, [True, True]),
        ([6, 5], 10, 2, [False, False]),  # one person has both
        ([6, 6], 12, 2, [True, True]),
        ([10, 5], 10, 1, [False, False]),  # everybody has the first, and then the second is the only other one
        ([9, 2, 7], 12, 1, [True, False, False]),  # the rare one needs company
        ([9, 2, 0], 10, 1, [True, False, False]),
        ([3, 2], 5, 1, [False, False]),
        ([10, 0], 10, 1, [False, False]),  # only one item occurs
    ],
)
def test_by_hand(counts: list[int], support: int, m: int, expected: list[bool]) -> None:
    assert choose_items(np.array(counts), support, 5, m).tolist() == expected


def test_answers_weigh_items_by_their_counts() -> None:
    """Singles are exact where listed; the mean over independent items, given that there is one, equals enumeration."""
    source = random.Random(6)
    n_pairs = 0
    for _ in range(150):
        items, support, counts, rows = random_category(source)
        data, release = as_release(items, rows, {})
        release = release.with_item_counts(data, 2, 1)
        if len(release.item_counts) < len(items):
            continue
        reading = SupportEstimates.of(release, data.vocabulary)
        asked = [*((item,) for item in items), *combinations(items, 2)]
        answers = reading.supports(sv.core.Itemsets.from_lists(asked, data.vocabulary)[0], "share")
        assert answers[: len(items)] == pytest.approx(counts, rel=1e-6)
        chance, some = reading.chances
        for (one, other), answer in zip(asked[len(items) :], answers[len(items) :], strict=True):
            first, second = (float(chance[data.vocabulary.numbers([item])[0]]) for item in (one, other))
            total = float(some[release.target[0]])
            assert answer == pytest.approx(support * first * second / total, rel=1e-6)
            assert total == pytest.approx(1 - np.prod([1 - c for c in chance[: len(items)]]), abs=1e-6)
            n_pairs += 1
    assert n_pairs > 30


def test_attackers_use_the_counts() -> None:
    source = random.Random(7)
    n_likely = n_more = 0
    for _ in range(200):
        data, release, _ = random_recoding(source)
        release = release.with_item_counts(data, 2, 1)
        covers, rows = covers_of(release), [set(row) for row in data.to_lists()]
        known, revealed = asked_about(source, data, surface_of(data, release, [], ("all", "every")), [])
        for record, row in enumerate(rows):
            fitting = candidates(covers, known[record]) or list(range(len(rows)))
            best = Fraction(0)
            for item in row - known[record]:
                cover = next((cover for cover in covers[record] if item in cover), None)
                if cover is None or cover & known[record]:
                    continue
                support = sum(cover in other for other in covers)
                share = Fraction(1 if len(cover) == 1 else Fraction(release.item_counts.get(item, 0), support))
                best = max(best, share * Fraction(sum(cover in covers[one] for one in fitting), len(fitting)))
                n_more += len(cover) > 1 and 2 * best > 1
            assert revealed.found.likely[record] == (2 * best > 1)
            n_likely += 2 * best > 1
    assert n_likely > 100 and n_more > 10


# -- files -------------------------------------------------------------------------------------------------------------

BASKETS = ["beer bread milk", "bread milk wine", "cheese wine", "bread cheese", "beer milk", "bread milk"]


def published(tmp_path: Path, name: str = "out", **options: object) -> Path:
    tree = sv.Hierarchy.from_paths(
        [
            path.split()
            for path in ("beer alcohol all", "wine alcohol all", "bread all", "milk dairy all", "cheese dairy all")
        ]
    )
    data = Transactions.from_lists(basket.split() for basket in BASKETS)
    release = sv.anonymize(data, "km", k=2, m=2, algorithm="aa", hierarchy=tree)
    return release.publish(tmp_path / name, **options)


def test_the_file_and_what_is_said_about_it(tmp_path: Path) -> None:
    out = published(tmp_path)
    assert (out / "item_counts.csv").read_text() == "item,count\nbeer,2\ncheese,2\nmilk,4\nwine,2\n"
    assert any(
        "item_counts.csv" in said for said in json.loads((out / "certificate.json").read_text())["not_protected"]
    )
    data = [basket.split() for basket in BASKETS]
    assert sv.verify_folder(out).holds and sv.verify_folder(out, data).holds
    assert sv.query(sv.open_release(out), with_items=["milk"]).estimate == pytest.approx(4)
    assert not (published(tmp_path, "other", item_counts=False) / "item_counts.csv").exists()


def reseal(out: Path, text: str) -> None:
    """The same release with other counts, and a certificate that says so."""
    (out / "item_counts.csv").write_text(text)
    certificate = json.loads((out / "certificate.json").read_text())
    certificate["files"]["item_counts.csv"] = hashlib.sha256(text.encode()).hexdigest()
    certificate["digest"] = certificate_digest(certificate)
    (out / "certificate.json").write_text(json.dumps(certificate, sort_keys=True, indent=2, ensure_ascii=False) + "\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("item,count\nbeer,2\ncheese,1\nmilk,5\nwine,2\n", "fewer than k"),
        ("item,count\nbeer,2\nwine,3\n", "together in 1 to 1"),
        ("item,count\nbeer,2\n", "all items of"),
        ("item,count\nbread,4\n", "not an item of a category"),
        ("item,count\nmilk,6\ncheese,2\n", "canonical form"),
        ("item,count\ncheese,2\nmilk,6\n", "as often as its category"),
        ("item,count\ncheese,2\nmilk,x\n", "whole number"),
        ("item,count\n", "consists of"),
    ],
)
def test_other_counts_are_found_from_the_files_alone(tmp_path: Path, text: str, told: str) -> None:
    out = published(tmp_path)
    reseal(out, text)
    verdict = sv.verify_folder(out)
    assert verdict.holds is False and any(told in problem for problem in verdict.problems), verdict.problems


def test_wrong_counts_are_found_with_the_original(tmp_path: Path) -> None:
    out = published(tmp_path)
    reseal(out, "item,count\nbeer,2\ncheese,3\nmilk,3\nwine,2\n")
    data = [basket.split() for basket in BASKETS]
    assert any("another count" in problem for problem in sv.verify_folder(out, data).problems)


def test_the_option_of_the_command(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "docs" / "examples"
    asked = ["anonymize", str(examples / "baskets.txt"), "--hierarchy", str(examples / "taxonomy.csv")]
    asked += [
        *["--model", "km", "-k", "2", "-m", "2", "--algorithm", "aa", "--no-item-counts", "-o"],
        str(tmp_path / "out"),
    ]
    assert _run(asked) == 0
    assert not (tmp_path / "out" / "item_counts.csv").exists()
    assert "item_counts = false" in (tmp_path / "out.internal" / "policy.toml").read_text()
