"""Tables of counts: the table, what it reveals, its records, its files, and attackers."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import setveil as sv
from setveil.algorithms.counts import _suspects, inference, tally
from setveil.algorithms.counts.inference import Programs
from setveil.core import Transactions
from setveil.generate import records as generators
from setveil.releases import CountTable
from setveil.report.certificate import seal
from setveil.verify import count_cells
from setveil.verify.count_fidelity import check_counts
from setveil.verify.count_inference import Listed, find_revealed
from setveil.verify.published import read_published
from tests.naive import counts as naive

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")

ODD = ["a|b", "a", "b\\", "c,d", 'say "e"', "two\nlines", "|", "=1+1", "ä", "\\|"]


def random_records(seed: int, n_records: int, labels: list[str]) -> list[frozenset[str]]:
    """Skewed records, some of them copies, so that counts are near to each other."""
    random = np.random.default_rng(seed)
    shares = random.choice([0.1, 0.3, 0.6, 0.9], len(labels))
    made: list[frozenset[str]] = []
    for _ in range(n_records):
        if made and random.random() < 0.3:
            made.append(made[random.integers(len(made))])
        else:
            made.append(
                frozenset(label for label, share in zip(labels, shares, strict=True) if random.random() < share)
            )
    return made


def as_table(release: sv.Release) -> naive.Table:
    assert isinstance(release, CountTable)
    sets = release.sets.to_lists()
    return {frozenset(one): count for one, count in zip(sets, release.counts.tolist(), strict=True)}


def listed(table: naive.Table, n: int) -> tuple[Listed, list[str]]:
    """A table as the verifier's arrays."""
    labels = sorted({label for one in table for label in one})
    number = {label: place for place, label in enumerate(labels)}
    by_size = []
    for size in (1, 2, 3):
        some = sorted(tuple(sorted(number[label] for label in one)) for one in table if len(one) == size)
        counts = [table[frozenset(labels[item] for item in one)] for one in some]
        by_size += [np.array(some, dtype=np.int64).reshape(-1, size), np.array(counts, dtype=np.int64)]
    return Listed(len(labels), n, by_size[1], *by_size[2:]), labels


@pytest.mark.parametrize("seed", range(40))
def test_the_table_is_what_counting_gives(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, k = int(random.integers(8, 40)), int(random.integers(2, 5))
    m, r = int(random.integers(1, 4)), k + int(random.integers(0, 3))
    given = random_records(seed, n, ODD[: int(random.integers(2, 8))])
    if not sum(map(bool, given)) > 0 or sum(map(bool, given)) < k:
        return
    release = sv.anonymize([sorted(one) for one in given], sv.Counts(k=k, m=m, r=r))
    assert isinstance(release, CountTable)
    found, expected = as_table(release), naive.counts_of(given, k, m, r)
    assert all(expected[one] == count for one, count in found.items())
    missing = {one for one in expected if one not in found}
    assert release.repaired or all(len(one) == 3 for one in missing)
    if not release.repaired and len(release.published.vocabulary) <= 5:  # the slow program takes seconds for more
        assert naive.revealed(found, n, k, m, r, k - 1 if m == 3 else None) is None
    for one in missing if not release.repaired else ():  # triples that are as frequent as one of their pairs
        assert expected[one] == min(expected[frozenset(pair)] for pair in combinations(one, 2))
    assert release.triples_from == (naive.rounded(k, k, r) if m == 3 else None)
    assert release.published.n_records == n
    assert sv.verify(release).holds


def test_the_published_files_hold_odd_labels(tmp_path: Path) -> None:
    given = [sorted(one) for one in random_records(3, 60, ODD)]
    release = sv.anonymize(given, sv.Counts(k=3))
    out = release.publish(tmp_path / "out", to="jsonl")
    assert sorted(path.name for path in out.iterdir()) == [
        "certificate.json", "codebook.csv", "counts.csv", "lengths.csv", "records.jsonl", "report.html",
    ]  # fmt: skip
    with (out / "counts.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["items", "count"]
    assert ["a\\|b", str(as_table(release)[frozenset(["a|b"])])] in rows
    assert sv.verify_folder(out, given).holds
    again = sv.open_release(out)
    assert as_table(again) == as_table(release)
    assert sorted(map(sorted, again.transactions())) == sorted(map(sorted, release.transactions()))


def test_the_seed_has_no_effect() -> None:
    given = [sorted(one) for one in random_records(5, 50, ODD)]
    one, two = (sv.anonymize(given, sv.Counts(k=3), seed=seed) for seed in (0, 7))
    assert one.to_lists() == two.to_lists()


def test_of_too_many_triples_the_largest_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate says from which count on; ``verify --original`` looks for missing ones."""
    given = [sorted(one) for one in random_records(4, 300, ODD)]
    model = sv.Counts(k=5)
    whole = sv.anonymize(given, model)
    monkeypatch.setattr(tally, "FEW_TRIPLES", 0)
    release = sv.anonymize(given, model)
    assert isinstance(whole, CountTable) and isinstance(release, CountTable)
    assert whole.triples_from == 5 and release.triples_from is not None and release.triples_from > 5
    assert sv.verify(whole).holds and sv.verify(release).holds
    every, table = as_table(whole), as_table(release)
    n_pairs = sum(len(one) == 2 for one in every)
    assert 0 < sum(len(one) == 3 for one in table) <= n_pairs < sum(len(one) == 3 for one in every)
    assert table == {one: n for one, n in every.items() if len(one) < 3 or n >= release.triples_from}
    source = read_published(given)
    assert check_counts(release, source, model) == []
    lacking = replace(release, sets=release.sets.select(np.arange(len(release.counts) - 1)), counts=release.counts[:-1])
    assert "lacks" in check_counts(lacking, source, model)[0]


def test_a_suppressed_set_does_not_hide_what_is_revealed() -> None:
    """Where only a suppressed pair explains the counts, the others are looked at without the rows of unlisted sets."""
    table = {frozenset("a"): 20, frozenset("b"): 20, frozenset("c"): 15}
    arrays, _ = listed(table, 20)
    found = find_revealed(arrays, sv.Counts(k=5, m=2), lambda *_: None)
    assert found is not None and not found.itemset
    assert find_revealed(arrays, sv.Counts(k=5, m=2), lambda *_: None, True) is None


def test_an_unlisted_triple_is_rare_where_triples_are_complete() -> None:
    """abd, acd: 15 each of 20 with ad, so that at least 4 people have abc; if it were 5 or more it would be listed."""
    sets = {"a": 200, "b": 200, "c": 200, "d": 200, "ab": 50, "ac": 50, "bc": 50, "ad": 20, "bd": 50, "cd": 50}
    table = {frozenset(one): count for one, count in {**sets, "abd": 15, "acd": 15}.items()}
    arrays, labels = listed(table, 1000)
    model = sv.Counts(k=5)
    assert find_revealed(arrays, model, lambda *_: None) is None
    found = find_revealed(arrays, model, lambda *_: None, False, 4)
    assert found is not None and found.low == found.high == 4
    assert {labels[item] for item in found.itemset} in ({"a", "b", "c"}, {"b", "c", "d"})
    assert naive.revealed(table, 1000, 5, 3, 5, 4) is not None


def test_three_halves_cannot_be_disjoint() -> None:
    """n=30, k=r=5: a, b, c have 13 to 17 people each and no pair has 5, so each pair has 1 to 4."""
    table = {frozenset(label): 15 for label in "abc"}
    assert naive.revealed(table, 30, 5, 2, 5) is not None
    arrays, _ = listed(table, 30)
    found = find_revealed(arrays, sv.Counts(k=5, m=2), lambda *_: None)
    assert found is not None and len(found.itemset) == 2 and (found.low, found.high) == (1, 4)
    given = [["a", "b"], ["a", "c"], ["b", "c"]] * 4 + [["a"]] * 6 + [["b"]] * 6 + [["c"]] * 6
    release = sv.anonymize(given, sv.Counts(k=5, m=2))
    assert sv.verify(release).holds


@pytest.mark.parametrize("seed", range(30))
def test_what_counts_reveal_is_what_the_linear_program_says(seed: int) -> None:
    random = np.random.default_rng(seed + 1000)
    n, k = int(random.choice([8, 14, 30])), int(random.choice([2, 3, 5]))
    m, r = int(random.integers(2, 4)), k + int(random.choice([0, 0, 1]))
    table = naive.counts_of(random_records(seed, n, list("abcde")[: int(random.integers(3, 6))]), k, m, r)
    start = int(random.choice([0, 1, 2])) * naive.rounded(k, k, r) if m == 3 else 0  # 0: some triples, by no rule
    few = naive.largest_below(start, k, r) if start else None
    table = {
        one: count for one, count in table.items()
        if len(one) < 3
        or (start <= count < min(table[one - {item}] for item in one) if start else random.random() < 0.6)
    }  # fmt: skip
    if not table:
        return
    arrays, _ = listed(table, n)
    found = find_revealed(arrays, sv.Counts(k=k, m=m, r=r), lambda *_: None, False, few)
    assert (found is None) == (naive.revealed(table, n, k, m, r, few) is None), table


def parts_of_four_items(random: np.random.Generator) -> tuple[int, int, int, NDArray[np.int64]]:
    """n, k, the most people of an unlisted triple, and published counts of all parts of four items of some people."""
    k, sizes = int(random.choice([2, 5])), np.array([2, 10, 40, 200])
    cells = random.choice(sizes, 16) * (random.random(16) < random.choice([0.3, 0.6, 0.9]))
    cells[0] = random.choice([0, 30, 3000])
    start = k * int(random.choice([0, 1, 2, 4, 8]))  # 0: some triples, by no rule
    parts = np.zeros(16, dtype=np.int64)
    for mask in range(1, 15):
        count = int(sum(cells[cell] for cell in range(16) if cell & mask == mask))
        below = [parts[mask ^ 1 << item] for item in range(4) if mask >> item & 1 and mask != 1 << item]
        parts[mask] = naive.rounded(count, k, k) if count >= k and all(below) else 0
        if mask.bit_count() == 3 and (
            parts[mask] in (0, min(below)) or parts[mask] < start if start else random.random() < 0.7
        ):
            parts[mask] = 0
    n = int(cells.sum())
    return n, k, naive.largest_below(start, k, k) if start else n, parts


def check_shortcuts(seed: int, n_tables: int) -> int:
    """What either shortcut clears, the linear program clears; how many were cleared though triples exceed nothing."""
    random, n_cleared = np.random.default_rng(seed), 0
    for _ in range(n_tables):
        n, k, few, parts = parts_of_four_items(random)
        numbers = np.array([n, 4, k, k, few, 0, 10], dtype=np.int64)
        low, high, value = np.zeros((3, 16), dtype=np.int64)
        ours = _suspects.is_cleared(4, n, numbers, parts, low, high, value)
        items = np.arange(4, dtype=np.int64)
        keys, values, work = np.full(64, -1, dtype=np.int64), np.zeros(64, dtype=np.int64), np.zeros((4, 16), np.int64)
        listed_parts = np.array([mask for mask in range(1, 16) if parts[mask]], dtype=np.int64)
        named = np.array([count_cells._key(items, mask, 4) for mask in listed_parts.tolist()], dtype=np.int64)
        count_cells.fill_table(keys, values, named, parts[listed_parts])
        given = count_cells.Given(n, 4, 3, k, k, few, False, keys, values)
        count_cells.intervals(items, n, given, work[0], work[1], work[2])
        theirs = count_cells.is_harmless(4, k, few, *work)
        if not ours and not theirs:
            continue
        n_cleared += 1
        reveals = Programs(4, n, few, sv.Counts(k=k)).reveal(tuple(parts.tolist()), False)
        assert not reveals, (n, k, few, parts, ours, theirs)
    return n_cleared


def test_what_a_shortcut_clears_reveals_nothing() -> None:
    assert check_shortcuts(0, 150) > 20


@pytest.mark.long
def test_what_a_shortcut_clears_reveals_nothing_in_many_tables() -> None:
    assert check_shortcuts(1, 5_000) > 500


@pytest.mark.parametrize("most", ["MOST_LOOKED", "MOST_PROGRAMS"])
def test_a_table_that_takes_too_long_to_check_is_refused(most: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve items, of which nearly everybody has nearly all."""
    random = np.random.default_rng(0)
    given = [[f"i{item:02d}" for item in range(12) if random.random() < 0.9] for _ in range(200)]
    monkeypatch.setattr(inference, most, 3)
    with pytest.raises(sv.InfeasibleError, match="too dense for counts of 3 items"):
        sv.anonymize(given, sv.Counts(k=5))


# -- the verifier ------------------------------------------------------------------------------------------------------


def made() -> CountTable:
    given = [sorted(one) for one in random_records(11, 80, ODD[:6])]
    release = sv.anonymize(given, sv.Counts(k=4))
    assert isinstance(release, CountTable)
    return release


def test_forged_tables_are_not_verified() -> None:
    release, model = made(), sv.Counts(k=4)
    assert sv.verify(release, model).holds
    counts = release.counts.copy()
    counts[0] -= 1
    assert "not a multiple of r=4" in sv.verify(replace(release, counts=counts), model).reason
    counts = release.counts.copy()
    counts[-1] = counts.max() + 4
    assert "less often" in sv.verify(replace(release, counts=counts), model).reason
    lengths = release.lengths.copy()
    lengths[0, 2] += 4
    assert not sv.verify(replace(release, lengths=lengths), model).holds
    assert "m=1" in sv.verify(release, sv.Counts(k=4, m=1)).reason
    others = Transactions.from_lists([[ODD[0]], *release.to_lists()[1:]]).over(release.published.vocabulary)
    assert "not those that follow" in sv.verify(replace(release, published=others), model).reason


def test_an_unknown_generator_leaves_only_the_records_unverified(tmp_path: Path) -> None:
    release = made()
    verdict = sv.verify(replace(release, generator=99))
    assert verdict.holds and "generator 99" in verdict.unchecked
    out = release.publish(tmp_path / "out")
    certificate = json.loads((out / "certificate.json").read_text())
    assert certificate["release"]["generator"] == generators.LATEST
    certificate["release"]["generator"] = 99
    text = json.dumps(seal(certificate), sort_keys=True, indent=2, ensure_ascii=False)
    (out / "certificate.json").write_text(text + "\n", encoding="utf-8")
    answer = sv.verify_folder(out)
    assert answer.holds is not True and any("generator 99" in told for told in answer.unchecked)


def test_a_certificate_of_an_earlier_version_may_lack_a_later_sentence_and_no_other(tmp_path: Path) -> None:
    out = made().publish(tmp_path / "out")
    certificate = json.loads((out / "certificate.json").read_text())
    sentences = certificate["not_protected"]

    def problems_without(start: str, version: str) -> list[str]:
        kept = [sentence for sentence in sentences if not sentence.startswith(start)]
        assert len(kept) == len(sentences) - 1
        changed = {**certificate, "not_protected": kept, "setveil": version}
        text = json.dumps(seal(changed), sort_keys=True, indent=2, ensure_ascii=False)
        (out / "certificate.json").write_text(text + "\n", encoding="utf-8")
        return [problem for problem in sv.verify_folder(out).problems if "not_protected" in problem]

    assert not problems_without("Combined counts", "0.2.0") and not problems_without("Combined counts", "0.3.0")
    assert problems_without("Combined counts", "0.4.0") and problems_without("Certainty", "0.3.0")


def test_the_original_shows_wrong_counts(tmp_path: Path) -> None:
    given = [sorted(one) for one in random_records(11, 80, ODD[:6])]
    out = sv.anonymize(given, sv.Counts(k=4)).publish(tmp_path / "out", to="jsonl")
    assert sv.verify_folder(out, given).holds
    other = [[*one, "a"] if "a" not in one else one for one in given]
    answer = sv.verify_folder(out, other)
    assert answer.holds is False and any("counts.csv: the count of" in problem for problem in answer.problems)


def test_records_alone_cannot_be_verified() -> None:
    with pytest.raises(sv.InputError, match="about a table of counts"):
        sv.verify([["a"], ["a"]], "counts", k=2)


def test_small_r_is_refused() -> None:
    with pytest.raises(sv.InputError, match="r is 1 and k is 5"):
        sv.Counts(k=5, r=1)


def test_order_ids_and_spreadsheets_are_refused(tmp_path: Path) -> None:
    release = made()
    for option in ({"keep_order": True}, {"keep_ids": True}, {"safe_csv": True}):
        with pytest.raises(sv.InputError, match="count-table"):
            release.publish(tmp_path / "out", **option)


# -- use ---------------------------------------------------------------------------------------------------------------


def test_questions_say_where_the_answer_comes_from() -> None:
    release = made()
    table = as_table(release)
    pair = next(one for one in table if len(one) == 2)
    answer = sv.query(release, with_items=sorted(pair))
    assert answer.estimate == table[pair] and vars(answer)["source"] == "listed"
    many = sorted({label for one in table for label in one})[:4]
    answer = sv.query(release, with_items=many)
    assert vars(answer)["source"] == "scaling" and answer.low <= answer.estimate <= answer.high


# -- attackers ---------------------------------------------------------------------------------------------------------


def groceries_like(seed: int, n: int) -> list[frozenset[str]]:
    """Baskets from a mixture of tastes; people of the same taste share items."""
    random = np.random.default_rng(seed)
    tastes = np.random.default_rng(99).dirichlet(np.full(60, 0.1), 12)
    made = []
    for _ in range(n):
        taste = tastes[random.integers(12)]
        size = 1 + random.poisson(3)
        made.append(frozenset(f"i{item:02d}" for item in set(random.choice(60, size, p=taste).tolist())))
    return made


def test_members_are_hardly_told_from_others() -> None:
    """An attacker who has a whole record guesses that its person is in the data if similar records are published."""
    inside, outside = groceries_like(1, 3000), groceries_like(2, 600)
    release = sv.anonymize([sorted(one) for one in inside], sv.Counts(k=5))
    published = [frozenset(one) for one in release.to_lists()]

    def auc(known: list[frozenset[str]]) -> float:
        likeness = [
            [max(len(a & b) / max(len(a | b), 1) for b in known) for a in some] for some in (inside[:600], outside)
        ]
        members, others = (np.array(one) for one in likeness)
        return float((members[:, None] > others).mean() + 0.5 * (members[:, None] == others).mean())

    assert auc(inside[:1500]) > 0.7
    assert abs(auc(published[:1500]) - 0.5) < 0.06


def test_a_further_item_is_guessed_as_well_of_people_who_are_not_in_the_data() -> None:
    inside, outside = groceries_like(3, 3000), groceries_like(4, 3000)
    release = sv.anonymize([sorted(one) for one in inside], sv.Counts(k=20))
    published = [frozenset(one) for one in release.to_lists()]
    holders = defaultdict(set)
    for number, record in enumerate(published):
        for item in record:
            holders[item].add(number)

    def right(people: list[frozenset[str]]) -> float:
        random = np.random.default_rng(5)
        hits = []
        for person in people:
            if len(person) < 4:
                continue
            order = random.permutation(sorted(person)).tolist()
            known, rest = order[:3], set(order[3:])
            fitting = set.intersection(*(holders[item] for item in known))
            seen: dict[str, int] = defaultdict(int)
            for number in fitting:
                for item in published[number] - set(known):
                    seen[item] += 1
            best = max(sorted(seen), key=lambda item: seen[item], default=None)
            hits.append(best in rest)
        return float(np.mean(hits))

    assert right(inside) - right(outside) < 0.05


def test_subtracting_counts_reveals_no_small_number() -> None:
    """Whoever subtracts the count of a set from that of a part of it gets 0, or an interval that reaches beyond k."""
    release = made()
    table, k = as_table(release), 4
    n = release.published.n_records
    for one, count in table.items():
        for part in (frozenset(some) for size in range(1, len(one)) for some in combinations(one, size)):
            (low, high), (least, most) = naive.interval(table[part], k, k, n), naive.interval(count, k, k, n)
            smallest, largest = max(low - most, 0), high - least
            assert smallest == 0 or largest >= k
