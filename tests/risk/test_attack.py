"""Attacks, against looking at every published record."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setveil.algorithms import find
from setveil.core import Hierarchy, Itemsets, Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import PrivacyDegree
from setveil.releases import Grouping, LocalRecoding, Recoding, Release
from setveil.risk import guesses, risk
from setveil.risk.attack import STRATEGIES, attack
from setveil.risk.guesses import deal_anew, guess_holders
from setveil.risk.surface import Outcomes, Surface
from setveil.workflows.anonymize import anonymize
from setveil.workflows.assess import attack as attack_it
from tests.naive.attack import VIEWS, candidates, group_likelihoods, likelihood, posterior
from tests.naive.releases import random_grouping, random_local, random_recoding, random_replacement


def covers_of(release: Release) -> list[list[frozenset[str]]]:
    """Published records as the sets their items stand for; what is published nowhere is in no set."""
    book = release.codebook()
    return [[frozenset(book[label]) for label in sorted(record)] for record in release.transactions()]


def search(
    source: random.Random, data: Transactions, surface: Surface, secrets: list[str], match: Any = "every"
) -> tuple[list[tuple[int, set[str], str | None]], Outcomes]:
    """Random targets, any knowledge, and a secret of each that has one."""
    asked: list[tuple[int, set[str], str | None]] = []
    for record in range(data.n_records):
        own = [item for item in data.to_lists()[record] if item in secrets]
        known = set(source.sample(list(data.vocabulary), min(source.randint(0, 5), data.n_items))) - set(secrets)
        asked.append((record, known, source.choice(own) if own else None))
    itemsets, _ = Itemsets.from_lists([known for _, known, _ in asked], data.vocabulary)
    rows = np.array([record for record, _, _ in asked], dtype=np.int64)
    chosen = np.array([-1 if secret is None else secrets.index(secret) for *_, secret in asked], dtype=np.int64)
    return asked, surface.search(itemsets, rows, chosen, match)


def assert_outcome(
    found: Outcomes, number: int, fitting: list[int], others: list[int], record: int,
    likelihoods: list[Fraction] | None, without: list[Fraction] | None,
) -> None:  # fmt: skip
    """``fitting`` and ``others``: the candidates with the target's own record in the data, and without it."""
    assert found.n_candidates[number] == len(fitting)
    assert found.is_found[number] == (record in fitting)
    assert found.n_others[number] == len(others)
    if likelihoods is None or without is None:
        assert np.isnan(found.posterior[number])
        return
    everyone = list(range(len(likelihoods)))
    rest = [other for other in everyone if other != record]
    assert found.posterior[number] == pytest.approx(float(posterior(likelihoods, fitting, everyone)), abs=1e-6)
    assert found.control[number] == pytest.approx(float(posterior(without, others, rest)), abs=1e-6)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("make", [random_recoding, random_local, random_replacement])
def test_searching_equals_looking_at_every_record(
    make: Callable[..., tuple[Transactions, Release, object]], view: tuple[str, Any]
) -> None:
    source = random.Random(1)
    n_cases = 0
    for _ in range(300):
        data, release, _ = make(source)
        secrets = [label for label in data.vocabulary if source.random() < 0.3]
        covers = covers_of(release)
        surface = surface_of(data, release, secrets, view)
        for number, (record, known, secret) in enumerate((pair := search(source, data, surface, secrets, view[1]))[0]):
            likelihoods = None if secret is None else [likelihood(row, secret) for row in covers]
            fitting, others = candidates(covers, known, *view), without_own(covers, known, view, record)
            assert_outcome(pair[1], number, fitting, others, record, likelihoods, likelihoods)
            n_cases += 1
    assert n_cases > 1000


@pytest.mark.parametrize("view", VIEWS)
def test_searching_groupings_equals_looking_at_every_record(view: tuple[str, Any]) -> None:
    source = random.Random(2)
    for _ in range(200):
        data, release = random_grouping(source)
        secrets = list(release.sensitive)
        rows = [set(row) for row in data.to_lists()]
        surface = surface_of(data, release, secrets, view)
        groups, covers = release.group_of.tolist(), covers_of(release)
        for number, (record, known, secret) in enumerate((pair := search(source, data, surface, secrets, view[1]))[0]):
            fitting, others = candidates(covers, known, *view), without_own(covers, known, view, record)
            likelihoods = None if secret is None else group_likelihoods(rows, groups, secret)
            without = None if secret is None else group_likelihoods(rows, groups, secret, without=record)
            assert_outcome(pair[1], number, fitting, others, record, likelihoods, without)


def surface_of(data: Transactions, release: Release, secrets: list[str], view: tuple[str, Any]) -> Surface:
    surface = Surface.of_release(release, data.vocabulary, data.vocabulary.numbers(secrets))
    exact = surface.exact_labels(release, data.vocabulary)
    return {"all": surface, "exact": exact, "narrow": surface.narrow_labels(exact)}[view[0]]


def without_own(covers: list[list[frozenset[str]]], known: set[str], view: tuple[str, str], record: int) -> list[int]:
    """The candidates if the target's record is not there; the codebook, and so what is of use, stays as it is."""
    anywhere = {item for row in covers for cover in row if view[0] != "exact" or len(cover) == 1 for item in cover}
    return candidates(covers, known & anywhere, *view, without=record)


def jaccard_sums(rows: list[set[str]]) -> list[Fraction]:
    def distance(one: set[str], other: set[str]) -> Fraction:
        return 1 - Fraction(len(one & other), len(one | other)) if one | other else Fraction(0)

    return [sum((distance(one, other) for other in rows), Fraction(0)) for one in rows]


def test_guessing_holders_equals_looking_at_every_group() -> None:
    source = random.Random(6)
    n_told = 0
    for _ in range(300):
        data, release = random_grouping(source)
        longest, typical, chances = [], [], []
        public = release.transactions()
        for group in range(release.n_groups):
            members = [record for record in range(data.n_records) if release.group_of[record] == group]
            lengths, sums = [len(public[n]) for n in members], jaccard_sums([public[n] for n in members])
            long = {n for n, length in zip(members, lengths, strict=True) if length == max(lengths)}
            usual = {n for n, total in zip(members, sums, strict=True) if total == min(sums)}
            for item in release.sensitive:
                holders = {record for record in members if item in data.to_lists()[record]}
                if holders:
                    longest.append(Fraction(len(long & holders), len(long)))
                    typical.append(Fraction(len(usual & holders), len(usual)))
                    chances.append(Fraction(len(holders), len(members)))
        guess = guess_holders(data, release)
        if not chances:
            assert guess is None
            continue
        n_told += 1
        assert guess is not None
        assert guess.n_cases == len(chances)
        for found, expected in (
            (guess.rate("longest").value, longest),
            (guess.rate("most alike").value, typical),
            (guess.at_random, chances),
        ):
            assert found == pytest.approx(float(sum(expected) / len(expected)))
    assert n_told > 100


def test_searching_the_original_equals_looking_at_every_record() -> None:
    source = random.Random(3)
    for _ in range(150):
        data, _, _ = random_recoding(source)
        secrets = [label for label in data.vocabulary if source.random() < 0.3]
        rows = data.to_lists()
        surface = Surface.of_original(data, data.vocabulary.numbers(secrets))
        for number, (record, known, secret) in enumerate((pair := search(source, data, surface, secrets))[0]):
            fitting = [other for other, row in enumerate(rows) if known <= set(row)]
            others = [other for other in fitting if other != record]
            likelihoods = None if secret is None else [Fraction(int(secret in row)) for row in rows]
            assert_outcome(pair[1], number, fitting, others, record, likelihoods, likelihoods)


# -- the whole attack -------------------------------------------------------------------------------------------------


RECORDS = [list(record) for record in ("abs", "abt", "ac", "acd", "bcs", "d", "ad", "ab")]


def intact(data: Transactions) -> Recoding:
    return Recoding.from_clusters(data, np.arange(data.n_items))


def test_nothing_is_gained_by_publishing_as_it_is() -> None:
    data = Transactions.from_lists(RECORDS)
    for row in attack(data, intact(data), targets=500, sensitive=["s", "t"]).rows:
        assert row.before == row.after


def test_rarest_and_most_frequent_items_are_known_first() -> None:
    # Everyone has a, half have b, and each has an item of their own.
    data = Transactions.from_lists([["a", f"own{n}", *(["b"] if n % 2 else [])] for n in range(20)])
    table = attack(data, intact(data), known=(1, 2), targets=200, strategies=("rarest", "frequent"))
    by = {(row.strategy, row.known): row.after for row in table.rows}
    assert by["rarest", 1].singled_out.value == 1
    assert by["frequent", 1].singled_out.value == 0
    assert by["frequent", 1].linked.value == pytest.approx(1 / 20)
    assert by["frequent", 1].found.value == 1


def test_random_knowledge_agrees_with_the_risk_table() -> None:
    data, _, _ = random_recoding(random.Random(5))
    data = Transactions.from_lists([*data.to_lists(), ["a", "b", "c"], ["a", "c", "d", "e"]])
    expected = {row.known: row for row in risk(data, known=(1, 2, 3)).rows}
    for row in attack(data, intact(data), known=(1, 2, 3), targets=20_000, strategies=("random",)).rows:
        low, high = row.after.singled_out[1:]
        assert low - 0.01 <= expected[row.known].singled_out <= high + 0.01
        assert row.after.linked.value == pytest.approx(expected[row.known].mean_inverse_support, abs=0.01)


def test_wrong_knowledge_misses_the_record() -> None:
    data = Transactions.from_lists(RECORDS * 5)
    (right, wrong) = attack(data, intact(data), known=(2,), targets=5000, strategies=("random", "wrong")).rows
    assert right.after.found.value == 1
    assert wrong.after.found.value == pytest.approx(0.8**2, abs=0.03)
    (never,) = attack(data, intact(data), known=(2,), targets=100, strategies=("wrong",), wrong=0).rows
    assert never.after.found.value == 1


def test_one_group_for_all_hides_everything_but_the_frequencies() -> None:
    data = Transactions.from_lists(RECORDS)
    release = Grouping.from_groups(data, np.zeros(len(RECORDS), dtype=np.int64), ["s", "t"])
    (row,) = attack(data, release, known=(2,), targets=2000, strategies=("rarest",)).rows
    assert row.before.right_guess.value > row.after.right_guess.value
    assert 1 / 8 <= row.after.right_guess.value <= 2 / 8  # t has one owner of eight, s two
    assert 0 <= row.control.right_guess.value <= 1 / 7  # without the target: none of seven, or one
    assert row.after.certain.value == 0


def test_top_of_the_hierarchy_leaves_everyone_a_candidate() -> None:
    data = Transactions.from_lists(RECORDS)
    hierarchy = Hierarchy.from_paths([[item, "top"] for item in data.vocabulary])
    release = Recoding.from_cut(data, hierarchy, np.full(hierarchy.n_items, hierarchy.root))
    for row in attack(data, release, targets=100).rows:
        assert row.after.linked.value == pytest.approx(1 / len(RECORDS))
        assert row.after.claimed.value == row.control.claimed.value == 0


def test_held_out_people_are_a_control_group() -> None:
    data, control = Transactions.from_lists(RECORDS), Transactions.from_lists([["a", "b", "x"], ["c", "d", "s"]])
    table = attack(data, intact(data), known=(2,), targets=1000, sensitive=["s"], control=control)
    assert table.control == "2 people held out"
    for row in table.rows:
        # Nobody else has c and d but the fourth record; it has no s.
        if "wrong" not in row.strategy:
            assert row.control.claimed.value == pytest.approx(0.5, abs=0.06)
            assert row.control.right_guess.value == 0


def test_without_the_order_nothing_is_said_about_the_right_record() -> None:
    data = Transactions.from_lists(RECORDS)
    for row in attack(data, intact(data), known=(1, 2), targets=50, sensitive=["s"], aligned=False).rows:
        assert (row.after.singled_out, row.after.found, row.after.linked, row.control) == (None, None, None, None)
        assert row.after.right_guess is not None


def test_every_kind_of_release_as_plain_json() -> None:
    source = random.Random(6)
    for make in (random_recoding, random_local, random_replacement, random_grouping):
        for _ in range(10):
            data, release, *_ = make(source)
            table = attack(data, release, known=(1, 2, 9), targets=50)
            again = attack(data, release, known=(1, 2, 9), targets=50)
            plain = json.loads(json.dumps(table.to_dict()))
            assert plain == json.loads(json.dumps(again.to_dict()))
            assert "No person has 9 public items or more." in plain["notes"]
            assert {row["attacker"] for row in plain["rows"]} <= set(STRATEGIES)
            assert plain["worst"] in (plain["rows"] or [None])
            assert len(str(table).splitlines()) == len(table.rows) + 1
            for row in table.rows:
                for side in (row.before, row.after):
                    for rate in (side.claimed, side.found, side.linked, side.singled_out):
                        assert 0 <= rate.low <= rate.value <= rate.high <= 1


# -- the attackers ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trimmed() -> tuple[Transactions, Release]:
    """Baskets of which a local recoding generalizes some entries and suppresses others."""
    source = random.Random(4)
    rows = [source.sample([f"i{n:02}" for n in range(30)], source.randint(4, 8)) for _ in range(300)]
    data = Transactions.from_lists(rows)
    tree = Hierarchy.balanced(data, 5)
    parents = tree.parent[: data.n_items]
    nodes = data.items.copy().astype(np.int64)
    draw = np.array([source.random() for _ in nodes])
    nodes[draw < 0.2] = parents[data.items[draw < 0.2]]
    nodes[draw > 0.95] = -1
    return data, LocalRecoding.from_nodes(data, tree, nodes)


def test_whoever_ignores_generalized_labels_singles_out_more(trimmed: tuple[Transactions, Release]) -> None:
    table = attack(*trimmed, known=(4,), targets=2000)
    out = {row.strategy: row.after.singled_out.value for row in table.rows}
    assert out["random exact"] > 2 * out["random"]
    assert out["random narrow"] > out["random best"]
    assert out["shown exact"] > out["rarest exact"]
    assert table.worst.after.singled_out.value == max(out.values())
    assert table.to_dict()["worst"]["singled_out"]["of_all_people"] == max(out.values())  # all have four items


def test_a_claim_is_right_or_wrong(trimmed: tuple[Transactions, Release]) -> None:
    for row in attack(*trimmed, targets=500).rows:
        claimed, right, wrong = row.after.claimed, row.after.singled_out, row.after.wrong_match
        assert claimed.value == pytest.approx(right.value + wrong.value)
    assert any(row.after.wrong_match.value > 0 for row in attack(*trimmed, known=(4,), targets=500).rows)


def test_an_attack_does_not_depend_on_who_else_attacks(trimmed: tuple[Transactions, Release]) -> None:
    table = attack(*trimmed, targets=100)
    for row in table.rows:
        (alone,) = attack(*trimmed, known=(row.known,), targets=100, strategies=(row.strategy,)).rows
        assert alone == row


def test_rates_name_their_base() -> None:
    data = Transactions.from_lists([*(["a", f"own{n}"] for n in range(5)), *[["a"]] * 15])
    (row,) = attack(data, intact(data), known=(2,), targets=50, strategies=("random",)).to_dict()["rows"]
    assert (row["base"], row["n_people"], row["n_all_people"]) == ("people with at least 2 items", 5, 20)
    assert row["singled_out"]["after"][0] == 1 and row["singled_out"]["of_all_people"] == 0.25
    assert row["linked"]["control"] == [1 / 20] * 3


def test_wrong_asks_are_refused() -> None:
    data = Transactions.from_lists(RECORDS)
    for wrong in ({"known": (0,)}, {"targets": 0}, {"strategies": ("guess",)}, {"wrong": 1.5}):
        with pytest.raises(InputError):
            attack(data, intact(data), **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="records"):
        attack(Transactions.from_lists(RECORDS[1:]), intact(data))


def test_progress_is_reported() -> None:
    data = Transactions.from_lists(RECORDS)
    seen: list[float | None] = []
    attack(data, intact(data), known=(1, 2), targets=10, progress=lambda _, share: seen.append(share))
    n = 2 * len(STRATEGIES)
    assert seen == [place / n for place in range(n)]


def test_real_click_streams(real_data: Callable[[str], Path]) -> None:
    """Attacking the original as it is gives the exact figures of the risk table."""
    with gzip.open(real_data("BMS2.dat.gz"), "rt") as lines:
        data = Transactions.from_lists(line.split() for line in lines)
    release = intact(data)
    expected = {1: 0.000161, 2: 0.101538, 3: 0.369565, 4: 0.580436}
    for row in attack(data, release, strategies=("random",)).rows:
        assert row.after.singled_out.value == pytest.approx(expected[row.known], abs=0.015)


GUESSERS = {
    *("longest", "shortest", "most alike", "least alike", "central", "outlier", "own items", "shared items"),
    *("rarest item", "commonest item", "first in file", "last in file", "replay"),
}


@pytest.fixture(scope="module")
def clicks() -> Transactions:
    """Baskets with habits, in which some items are sensitive."""
    source = random.Random(21)
    tastes = [source.sample(range(60), 9) for _ in range(14)]
    rows = [
        {str(item) for item in source.sample(source.choice(tastes), source.randint(2, 6))}
        | ({f"s{source.randrange(4)}"} if source.random() < 0.12 else set())
        for _ in range(5000)
    ]
    return Transactions.from_lists(sorted(row) for row in rows)


def guesses_on(data: Transactions, algorithm: str) -> Any:
    release = anonymize(data, PrivacyDegree(10, [f"s{n}" for n in range(4)]), algorithm=algorithm)
    assert release.record is not None
    return attack_it(data, release, known=(1,), targets=50, strategies=("random",)).guesses


def test_nobody_guesses_who_holds_what_in_blocks(clicks: Transactions) -> None:
    """Random holders: no guesser of thirteen is ahead of the promise.

    One deal is a few hundred guesses, and of thirteen guessers one is often lucky: ten deals tell luck from knowledge.
    """
    guesses = guesses_on(clicks, "blocks")
    assert {guesser.name for guesser in guesses.random.guessers} == GUESSERS
    assert guesses.promised == 0.1 and guesses.random.n_cases > 300
    assert all(guesser.right.low <= 0.1 for guesser in guesses.random.guessers if guesser.name == "replay")
    secrets = [f"s{n}" for n in range(4)]
    is_sensitive = np.isin(np.arange(clicks.n_items), clicks.vocabulary.numbers(secrets))
    n_right: Counter[str] = Counter()
    n_cases = 0
    for seed in range(10):
        dealt = deal_anew(clicks, is_sensitive, seed)
        release = anonymize(dealt, PrivacyDegree(10, secrets), algorithm="blocks", seed=seed)
        assert isinstance(release, Grouping)
        found = guess_holders(dealt.select(Grouping.publishable(dealt, release.sensitive)), release)
        assert found is not None
        n_cases += found.n_cases
        for guesser in found.guessers:
            n_right[guesser.name] += round(guesser.right.value * found.n_cases)
    assert n_cases > 5000 and len(n_right) == len(GUESSERS) - 1  # replaying takes the program, not the groups
    for name, right in n_right.items():
        assert abs(right - 0.1 * n_cases) < 4 * (0.09 * n_cases) ** 0.5, (name, right, n_cases)


def test_random_holders_of_many_records_are_dealt_in_a_part_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless a sensitive item is too frequent in that part: then in all records."""
    data = Transactions.from_lists([[f"a{n % 7}", f"b{n % 5}", *(["s"] if n % 8 == 0 else [])] for n in range(400)])
    release = anonymize(data, PrivacyDegree(4, ["s"]), algorithm="blocks")
    assert isinstance(release, Grouping)
    sizes: list[int] = []

    def remake(dealt: Transactions, fewest: int = 0) -> Grouping:
        sizes.append(dealt.n_records)
        if dealt.n_records < fewest:
            raise InfeasibleError("too frequent")
        again = anonymize(dealt, PrivacyDegree(4, ["s"]), algorithm="blocks")
        assert isinstance(again, Grouping)
        return again

    monkeypatch.setattr(guesses, "ENOUGH", 100)
    part = guesses.guess_both(data, release, 0.25, remake, replay=False)
    whole = guesses.guess_both(data, release, 0.25, lambda dealt: remake(dealt, 400), replay=False)
    assert sizes == [100, 100, 400] and part.random is not None and whole.random is not None
    assert 0 < part.random.n_cases < whole.random.n_cases


@pytest.mark.parametrize("name", ["nn", "nn+", "cahd", "lsh"])
def test_guessable_algorithms_are(clicks: Transactions, name: str) -> None:
    """What is called guessable is: some guesser is ahead of the promise for certain.

    (``permmondrian`` is called so, too: its splits follow the sensitive items, although none of these guessers gains
    by it.)
    """
    assert find(name).guessable and find("permmondrian").guessable
    assert guesses_on(clicks, name).random.best.right.low > 0.1


def test_dealing_anew_keeps_public_items_and_totals(clicks: Transactions) -> None:
    sensitive = np.array([label.startswith("s") for label in clicks.vocabulary])
    dealt = deal_anew(clicks, sensitive, 3)
    assert (dealt.supports == clicks.supports).all()
    before, after = (part.keep_items(~sensitive) for part in (clicks, dealt))
    assert (before.items == after.items).all() and (before.indptr == after.indptr).all()
    assert dealt.to_lists() != clicks.to_lists()
