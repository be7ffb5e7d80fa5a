"""Constraint files, generators, and what is known about constraints before a run."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints.feasibility import check_constraints
from setveil.algorithms.constraints.generators import (
    PAIR_SHARES,
    SIZE_SHARES,
    in_support_range,
    occurring,
    per_group,
    random_mix,
    random_pairs,
    rare_records,
)
from setveil.algorithms.constraints.upcta import UPCTA
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.models import ConstraintAnonymity
from setveil.policy.constraints import resolve_constraints, resolve_utility, write_lists
from tests.naive.constraints import occurring as occurring_slowly
from tests.naive.constraints import pgen
from tests.naive.counting import support

CODES = Vocabulary(["250.00", "250.01", "493.00", "493.01", "493.02", "V70"])
TREE = Hierarchy.from_paths([[code, "Asthma" if code[0] == "4" else "Other", "All"] for code in CODES])


# -- files ---------------------------------------------------------------------------------------------------------


def test_a_pattern_in_a_constraint_stands_for_one_item_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "constraints.csv"
    path.write_text('493.*,V70\n\n"250.00", 250.01\n@subtree:Asthma\n493.00\n')
    assert resolve_constraints(path, CODES, TREE) == [
        ["493.00", "V70"],
        ["493.01", "V70"],
        ["493.02", "V70"],
        ["250.00", "250.01"],
        ["493.00"],
        ["493.01"],
        ["493.02"],
    ]
    assert resolve_constraints([["493.0?", "493.0?"]], CODES)[:3] == [
        ["493.00"],
        ["493.00", "493.01"],
        ["493.00", "493.02"],
    ]


def test_a_pattern_in_a_utility_group_stands_for_all_its_items(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("@subtree:Asthma\n250.*\n")
    asthma, diabetes = ["493.00", "493.01", "493.02"], ["250.00", "250.01"]
    with pytest.raises(sv.InputError, match=r'1 item.*in no utility group: "V70".*utility_rest="keep"'):
        resolve_utility(path, CODES, TREE)
    assert resolve_utility(path, CODES, TREE, "keep") == [asthma, diabetes, ["V70"]]
    assert resolve_utility([["493.*"]], CODES, rest="free") == [asthma, ["250.00", "250.01", "V70"]]
    assert resolve_utility([["493.*"]], CODES, rest="keep") == [asthma, ["250.00"], ["250.01"], ["V70"]]
    with pytest.raises(sv.InputError, match="keep or free"):
        resolve_utility(path, CODES, TREE, "maybe")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,,b\n", r":1: has an empty item"),
        ('"a\n', r"close every quote"),
        ("x\n9*\n", r":2: no item of the data matches"),
        ("@subtree:Nothing\n", r":1: .*no inner node"),
        ("a\0\n", r"NUL|null|line contains"),
    ],
)
def test_bad_constraint_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(sv.InputError, match=message):
        resolve_constraints(path, CODES, TREE)


def test_a_utility_item_in_two_groups_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("493.*\n493.00,V70\n")
    with pytest.raises(sv.InputError, match=r'groups.csv:2: item "493.00" is in .*groups.csv:1 too'):
        resolve_utility(path, CODES)
    with pytest.raises(sv.InputError, match="no such file"):
        resolve_constraints(tmp_path / "missing.csv", CODES)
    (tmp_path / "latin.csv").write_bytes(b"\xe4\n")
    with pytest.raises(sv.InputError, match="not UTF-8"):
        resolve_constraints(tmp_path / "latin.csv", CODES)
    with pytest.raises(sv.InputError, match="constraint 1 is one string"):
        resolve_constraints(["ab"], CODES)


def test_a_line_that_stands_for_too_much_is_refused() -> None:
    many = Vocabulary([f"c{number}" for number in range(120)])
    with pytest.raises(sv.InputError, match="constraint 1: matches 1,728,000 constraints"):
        resolve_constraints([["c*", "c*", "c*"]], many)


def test_written_lists_are_read_back(tmp_path: Path) -> None:
    labels = ["a,b", 'say "x"', "plain", "ü", "two words"]
    lists = [[one, other] for one, other in combinations(labels, 2)] + [[label] for label in labels]
    assert write_lists(lists, tmp_path / "out.csv") == len(lists)
    read = resolve_constraints(tmp_path / "out.csv", Vocabulary(labels))
    assert read == [sorted(labels) for labels in lists]


# -- generators ----------------------------------------------------------------------------------------------------


def some_data(seed: int) -> tuple[list[list[str]], Transactions]:
    draw = random.Random(seed)
    rows = [sorted(draw.sample("abcdefg", draw.choice([0, 1, 2, 3, 4]))) for _ in range(draw.randint(1, 12))]
    return rows, Transactions.from_lists(rows)


def test_generators_as_their_twins() -> None:
    for seed in range(400):
        rows, data = some_data(seed)
        records = [frozenset(row) for row in rows]
        k = 2 + seed % 5
        every = list(occurring(data, 3))
        assert len(every) == len(set(every))
        assert sorted(every) == occurring_slowly(rows, 3)
        assert {frozenset(row) for row in rare_records(data, k)} == pgen(records, k)
        ranged = set(in_support_range(data, 2, 3, 2))
        assert ranged == {itemset for itemset in occurring_slowly(rows, 2) if 2 <= support(records, itemset) <= 3}
        assert {frozenset(row) for row in per_group(data)} == {record for record in records if record}


def test_per_group_keeps_to_the_items_of_the_data() -> None:
    visits = Transactions.from_lists([["a", "x"], ["x"], ["a"], ["a", "b"], []])
    data = Transactions.from_lists([["a", "b"]])
    assert list(per_group(visits, data)) == [("a",), ("a", "b")]


def test_the_random_sets_of_the_paper() -> None:
    draw = np.random.default_rng(0)
    data = Transactions.from_lists(draw.choice(100, draw.integers(1, 9), replace=False).tolist() for _ in range(3000))
    for name, share in PAIR_SHARES.items():
        pairs = list(random_pairs(data, share, seed=1))
        items = {item for pair in pairs for item in pair}
        assert len(items) == max(2, round(share * 100)), name
        assert len(pairs) == len(items) * (len(items) - 1) // 2
        assert pairs == list(random_pairs(data, share, seed=1))
        assert len(list(random_pairs(data, share, 7, seed=2))) == min(7, len(pairs))
    for name, shares in SIZE_SHARES.items():
        sets = list(random_mix(data, shares, 300, seed=3))
        sizes = np.bincount([len(itemset) for itemset in sets], minlength=5)[1:]
        assert sizes[3] == round(shares[3] * 300) + 300 - sum(round(share * 300) for share in shares), name
        assert len(set(sets)) == len(sets)
        rows = [set(row) for row in data.to_lists()]
        assert all(support(rows, itemset) > 0 for itemset in sets[::20])


def test_nonsense_is_refused() -> None:
    data = Transactions.from_lists([["a"]])
    with pytest.raises(sv.InputError, match="m must be at least 1"):
        list(occurring(data, 0))
    with pytest.raises(sv.InputError, match="must start at 1 or above"):
        list(in_support_range(data, 3, 2, 1))


# -- what is known before a run ------------------------------------------------------------------------------------


def test_a_report_on_constraints() -> None:
    data = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "c"], ["d"], ["a"]])
    model = ConstraintAnonymity(2, [["a", "b"], ["b", "c"], ["z"], ["c"], ["d"]], [["a"], ["b", "c"], ["d"]], 20)
    report = check_constraints(data, model)
    assert (report.n_constraints, report.met, report.open) == (5, 3, 2)
    assert report.unknown == {"z": 1}
    assert [found.constraint for found in report.contradictions] == [("d",)]
    assert report.contradictions[0].groups == (3,)
    assert report.contradictions[0].support == 1
    assert (report.least_suppressed, report.most_suppressed) == (1, 0)
    assert report.feasible is False
    assert report.items == ("d",)
    assert "1 item (25 %)" in report.reason
    enough = ConstraintAnonymity(2, model.constraints, model.utility, 25)
    assert check_constraints(data, enough).feasible is None
    assert check_constraints(data, enough).reason == ""
    assert check_constraints(data, ConstraintAnonymity(2, model.constraints)).feasible is True
    assert check_constraints(data, ConstraintAnonymity(9, [["a"]])).feasible is False
    assert check_constraints(data, ConstraintAnonymity(2, [["z"]])).feasible is True


def test_contradictions_say_how_many_records_have_all_groups() -> None:
    rng, n_found = np.random.default_rng(5), 0
    for _ in range(60):
        rows = [["abcdef"[item] for item in np.flatnonzero(rng.random(6) < 0.3)] for _ in range(12)]
        data = Transactions.from_lists(rows)
        if not data.n_items:
            continue
        groups = [[item for item in data.vocabulary if ord(item) % 3 == part] for part in range(3)]
        constraints = [rng.choice(list(data.vocabulary), size=2).tolist() for _ in range(8)]
        model = ConstraintAnonymity(4, constraints, [group for group in groups if group])
        kept = [set(group) for group in groups if group]
        for found in check_constraints(data, model).contradictions:
            n_found += 1
            assert found.groups == tuple(
                number + 1 for number, group in enumerate(kept) if group & set(found.constraint)
            )
            assert found.support == sum(all(kept[number - 1] & set(row) for number in found.groups) for row in rows)
    assert n_found > 50


def test_no_run_succeeds_where_infeasibility_was_predicted() -> None:
    said_no = 0
    for seed in range(600):
        draw = random.Random(seed)
        rows = [draw.sample("abcde", draw.choice([1, 1, 2, 3])) for _ in range(draw.randint(4, 9))]
        data = Transactions.from_lists(rows)
        groups = [[item for item in data.vocabulary if ord(item) % 2 == part] for part in (0, 1)]
        groups = [group for group in groups if group]
        constraints = [draw.sample("abcde", draw.randint(1, 3)) for _ in range(3)]
        model = ConstraintAnonymity(3, constraints, groups, draw.choice([0, 20, 40]))
        report = check_constraints(data, model)
        try:
            UPCTA().run(data, model, Context())
            succeeded = True
        except sv.InfeasibleError:
            succeeded = False
        assert not (report.feasible is False and succeeded), seed
        assert not (report.feasible is True and not succeeded), seed
        said_no += report.feasible is False
    assert said_no > 30
