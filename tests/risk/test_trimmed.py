"""What entries left out give away, against looking at every record."""

from __future__ import annotations

import random

import pytest

import setveil as sv
from setveil.releases import LocalRecoding
from setveil.risk.trimmed import GUESSES, attack_left_out

K = 3
MODEL = sv.KmAnonymity(k=K, m=2)
RNG = random.Random(4)
RECORDS = [sorted(set(RNG.choices("abcdefgh", (8, 6, 5, 4, 3, 2, 2, 1), k=RNG.randint(1, 5)))) for _ in range(90)]
DATA = sv.Transactions.from_lists(RECORDS)


def trimmed() -> sv.Release:
    return sv.anonymize(DATA, MODEL, algorithm="trim")


def test_rates_are_those_of_looking_at_every_pair_of_everybody() -> None:
    release = trimmed()
    shown = release.transactions()
    concerned = nowhere = total = 0.0
    picked = 0.0
    for record, own in zip(RECORDS, shown, strict=True):
        pairs = [(a, b) for at, a in enumerate(record) for b in record[at + 1 :]]
        if not pairs:
            continue
        total += 1
        hidden = [pair for pair in pairs if not set(pair) <= own]
        concerned += len(hidden) / len(pairs)
        for pair in hidden:
            if any(set(pair) <= other for other in shown):
                continue
            nowhere += 1 / len(pairs)
            fitting = [other for other in shown if set(pair) & other]
            if not fitting:
                picked += 1 / len(shown) / len(pairs)
            elif set(pair) & own:
                picked += 1 / len(fitting) / len(pairs)
    table = attack_left_out(DATA, release, targets=20_000, promised=1 / K)
    assert table is not None and 0 < concerned < total and table.nowhere and table.misled and table.picked
    assert table.concerned.value == pytest.approx(concerned / total, abs=0.02)
    assert table.nowhere.value == pytest.approx(nowhere / concerned, abs=0.02)
    assert table.misled.value == pytest.approx(1 - table.nowhere.value)
    assert table.picked.value == pytest.approx(picked / concerned, abs=0.01)
    assert table.picked.value <= 1 / K
    assert table.singled_out is not None and table.singled_out.value == 0


def test_nothing_left_out_gives_nothing_away() -> None:
    data = sv.Transactions.from_lists([["a", "b"]] * 5)
    release = sv.anonymize(data, MODEL, algorithm="trim")
    assert isinstance(release, LocalRecoding)
    assert attack_left_out(data, release) is None
    assert attack_left_out(DATA, sv.anonymize(DATA, MODEL, algorithm="pcta+")) is None


def test_everything_left_out_leaves_everybody() -> None:
    data = sv.Transactions.from_lists([[f"a{n}", f"b{n}"] for n in range(8)])
    table = attack_left_out(data, sv.anonymize(data, MODEL, algorithm="trim"), targets=50)
    assert table is not None and table.picked is not None
    assert table.concerned.value == 1 and table.picked.value == pytest.approx(1 / 8)


def test_who_replays_the_program_and_knows_all_others_guesses_well() -> None:
    table = sv.attack(DATA, trimmed(), known=(2,), targets=50, strategies=("random",)).left_out
    assert table is not None and table.replayed is not None and table.blindly is not None
    assert table.promised == 1 / K and table.n_replayed > 0 and table.blindly == 1 / GUESSES
    assert table.replayed.value > table.blindly  # the entry changes what others may show


def test_a_release_made_in_another_way_cannot_be_replayed() -> None:
    release = trimmed()
    other = attack_left_out(DATA, release, 20, remake=lambda data: sv.anonymize(data, MODEL, algorithm="pcta+"))
    assert other is not None and other.replayed is None and other.n_replayed == 0
