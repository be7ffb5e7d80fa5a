"""Sensitive rules against their definition; what is written in files and on the command line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import setveil as sv
from setveil.cli.main import app
from setveil.models.rule_anonymity import make_rule, read_rule
from setveil.policy.rules import resolve_rules
from setveil.releases import LocalRecoding
from setveil.verify.claims import achieved
from tests.naive import rules as naive

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
ITEMS = "abcdST"


def random_model(chance: random.Random) -> sv.RuleAnonymity:
    lines = []
    for _ in range(chance.randint(1, 6)):
        known = ",".join(chance.sample("abcdx", chance.randint(1, 3)))
        own = chance.choice(("", "", " [k=4]", " [k=2, c=1/5]"))
        lines.append(f"{known} => {chance.choice(('S', 'T', 'S,T', 'absent'))}{own}")
    return sv.RuleAnonymity(chance.choice((2, 3)), chance.choice(("1/2", "1/3", "0.333333333333333334")), lines)


def random_records(chance: random.Random) -> list[frozenset[str]]:
    share = chance.choice((0.2, 0.4, 0.7))
    return [frozenset(item for item in ITEMS if chance.random() < share) for _ in range(chance.randint(1, 14))]


def compare(
    what: Any, records: list[frozenset[str]], model: sv.RuleAnonymity, cover: dict[str, list[str]] | None
) -> bool:
    rules = [(rule.known, rule.sensitive, *model.limits(rule)) for rule in model.rules]
    if cover is not None:  # an item that is neither published nor suppressed occurs nowhere
        rules = [rule for rule in rules if "x" not in rule[0]]
    expected = [rule for rule in rules if not naive.is_met(records, rule, cover)]
    verdict = sv.verify(what, model)
    assert verdict.holds == (not expected), (records, model.rules, cover)
    found = sv.minimal_violations(what, model)
    assert len(found) == len(expected)
    if expected:
        first = found[0]
        assert (verdict.witness, verdict.support) == (first.itemset, first.support)
        assert any(first.itemset in (rule[0], rule[0] + rule[1]) for rule in expected)
    counted = [naive.counts(records, rule, cover) for rule in rules]
    shares = [100 * both / alone for alone, both in counted if alone]
    assert achieved(what, model).get("largest_percentage") == pytest.approx(max(shares, default=None))
    return verdict.holds


def test_a_thousand_random_databases() -> None:
    chance = random.Random(40)
    held = [compare(records := random_records(chance), records, random_model(chance), None) for _ in range(1000)]
    assert 100 < sum(held) < 900


def test_random_recodings() -> None:
    """Categories and suppressed items; in local recodings some entries are published one level higher only."""
    chance = random.Random(41)
    held = 0
    for _ in range(500):
        records, model = random_records(chance), random_model(chance)
        if not set(ITEMS) <= set().union(*records):
            continue
        data = sv.Transactions.from_lists([sorted(record) for record in records])
        clusters = np.array([chance.choice((0, 0, 1, 2, 3, -1)) for _ in "abcd"])
        number = {item: int(cluster) for item, cluster in zip("abcd", clusters, strict=True)} | {"S": 8, "T": 9}
        recoding = sv.Recoding.from_clusters(data, np.array([number[item] for item in data.vocabulary]))
        cover = {label: items for label, items in recoding.codebook().items() if label}
        held += compare(recoding, [frozenset(row) for row in recoding.transactions()], model, cover)
        paths = [("a", "ab", "any"), ("b", "ab", "any"), *((item, "any") for item in "cdST")]
        tree = sv.Hierarchy.from_paths(paths)
        nodes = tree.leaf_of_items(data.vocabulary)[data.items].copy()
        for place in range(len(nodes)):
            is_lifted = tree.labels[nodes[place]] in "ab" and chance.random() < 0.5
            nodes[place] = tree.parent[nodes[place]] if is_lifted else nodes[place]
        local = LocalRecoding.from_nodes(data, tree, nodes)
        cover = {label: items for label, items in local.codebook().items() if label}
        held += compare(local, [frozenset(row) for row in local.transactions()], model, cover)
    assert held > 50


def test_an_empty_left_side_matches_every_record() -> None:
    data = sv.Transactions.from_lists([["a", "S"], ["a"], ["b", "S"], ["b", "S"]])
    release = sv.Recoding.from_clusters(data, np.array([2, -1, 1]))  # numbered S, a, b
    assert sv.verify(release, sv.RuleAnonymity(5, "3/4", ["a => S"]))
    assert sv.verify(release, sv.RuleAnonymity(5, "2/3", ["a => S"])).witness == ("a", "S")


def test_rules_as_text_read_back() -> None:
    chance = random.Random(42)
    for _ in range(2000):
        left, right = (
            ["".join(chance.choice('ab",=>[] k5c/1') for _ in range(chance.randint(1, 6))) for _ in range(size)]
            for size in (chance.randint(1, 3), chance.randint(1, 2))
        )
        if not set(left) & set(right):
            rule = make_rule(left, right, chance.choice((0, 5)), chance.choice(("", "1/3")))
            assert read_rule(str(rule)) == rule


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,b", '"a,b" is not a rule'),
        ("=> S", "the left side of a rule is empty"),
        ("a =>", "the right side of a rule is empty"),
        ("a,,b => S", "has an empty item"),
        ("a => b => S", "is not a rule"),
        ("a,S => S", 'item "S" is on both sides of a rule'),
        ('"a => S', "is not a rule"),
        ("a => S [k=1]", "k must be at least 2"),
        ("a => S [c=3/2]", "c must be above 0 and below 1"),
        ("a => S [k=2, k=3]", "gives k twice"),
    ],
)
def test_bad_rules_are_one_line_with_their_place(tmp_path: Path, line: str, message: str) -> None:
    data, rules = tmp_path / "data.jsonl", tmp_path / "rules.txt"
    data.write_text('["a", "S"]\n["a"]\n["a"]\n')
    rules.write_text(f"a => S\n\n{line}\n")
    argv = ["anonymize", str(data), "-o", str(tmp_path / "out"), "--model", "rules", "-k", "2", "--confidence", "1/2"]
    result = CliRunner().invoke(app, [*argv, "--rules", str(rules)])
    with pytest.raises(sv.InputError, match=r"rules\.txt:3: ") as caught:
        resolve_rules(rules, sv.Transactions.from_lists([["a", "S"]]).vocabulary)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(result.exception, sv.InputError) or result.exit_code == 2


def test_an_item_with_two_roles_and_bad_shares_are_refused() -> None:
    with pytest.raises(sv.InputError, match="either public or sensitive"):
        sv.RuleAnonymity(2, "1/2", ["a => S", "S => T"])
    for share in ("0", "1", "2", "x"):
        with pytest.raises(sv.InputError, match="c must be"):
            sv.RuleAnonymity(2, share, ["a => S"])
    with pytest.raises(sv.InputError, match="rule 2: "):
        sv.RuleAnonymity(2, "1/2", ["a => S", 5])  # type: ignore[list-item]
    with pytest.raises(sv.InputError, match="the list is empty"):
        sv.anonymize([["a"]], "rules", k=2, c="1/2", rules=[])


def test_patterns_mean_one_item_at_a_time_and_public_ones_on_the_left() -> None:
    vocabulary = sv.Transactions.from_lists([["a1", "a2", "b", "s1", "s2"]]).vocabulary
    assert [str(rule) for rule in resolve_rules(["a* => s1", "*,b => s1 [k=7]"], vocabulary)] == [
        "a1 => s1", "a2 => s1", "a1,b => s1 [k=7]", "a2,b => s1 [k=7]", "b => s1 [k=7]", "b,s2 => s1 [k=7]",
    ]  # fmt: skip
    assert len(resolve_rules(["a1 => s*"], vocabulary)) == 2
    with pytest.raises(sv.InputError, match="sensitive items only"):
        resolve_rules(["s? => s1,s2"], vocabulary)


ROWS = [list(row) for row in ("abd", "acST", "bd", "abT", "abT", "ad", "acd", "bcdST")]


def test_the_rules_stay_with_their_owner(tmp_path: Path) -> None:
    """Without them nobody can verify; the policy repeats the run; published, they are checked."""
    rules = ["a,b => S", "c => S", "a,d => T", "b,c => T [k=3]"]
    release = sv.anonymize(ROWS, "rules", k=2, c="1/2", algorithm="regroup", rules=rules)
    out = release.publish(tmp_path / "out")
    assert sv.verify_folder(out).holds is None
    assert sv.verify_folder(out, ROWS).holds
    told = json.loads((out / "certificate.json").read_text())
    assert told["model"]["options"] == {"k": 2, "c": "1/2"}
    assert told["achieved"] == {}
    assert "proven" not in (out / "report.html").read_text()
    assert "proven to be the least" in (tmp_path / "out.internal" / "report.html").read_text()
    again = sv.run(sv.Policy.from_file(tmp_path / "out.internal" / "policy.toml"), ROWS, tmp_path / "again")
    assert (again.path / "published.jsonl").read_bytes() == (out / "published.jsonl").read_bytes()
    open_out = release.publish(tmp_path / "open", publish_constraints=True)
    assert sv.verify_folder(open_out).holds
    assert json.loads((open_out / "certificate.json").read_text())["model"]["options"]["rules"][2] == [
        ["b", "c"], ["T"], 3, "1/2",
    ]  # fmt: skip


def test_the_generator_lists_what_occurs_with_every_sensitive_item(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS) + "\n")
    argv = ["constraints", "rules", str(tmp_path / "data.jsonl"), "--sensitive", "S,T", "-p", "2"]
    assert CliRunner().invoke(app, [*argv, "-o", str(tmp_path / "rules.txt")]).exit_code == 0
    lines = (tmp_path / "rules.txt").read_text().splitlines()
    assert len(lines) == len(set(lines)) == 2 * (4 + 6)
    assert {"a => S", "b,c => T"} <= set(lines)
