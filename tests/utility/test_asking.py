"""Counts asked of every kind of release: the truth lies between the bounds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run

RNG = random.Random(3)
ITEMS = "abcdefgh"
RECORDS = [sorted(set(RNG.choices(ITEMS, [8, 7, 6, 5, 4, 3, 2, 1], k=RNG.randint(1, 5)))) for _ in range(120)]
QUESTIONS = [("a", ""), ("ab", ""), ("abc", ""), ("a", "b"), ("", "c"), ("bd", "ac"), ("h", ""), ("gh", "a")]


@pytest.mark.parametrize("algorithm", ["aa", "mhghs", "lra", "trim", "pcta+"])
@pytest.mark.parametrize("wanted, unwanted", QUESTIONS)
def test_the_truth_lies_between_the_bounds(algorithm: str, wanted: str, unwanted: str) -> None:
    needs_tree = algorithm in ("aa", "mhghs", "lra")
    release = sv.anonymize(
        RECORDS, sv.KmAnonymity(k=4, m=2), algorithm=algorithm, hierarchy="fanout:2" if needs_tree else None
    )
    answer = sv.query(release, None, wanted, unwanted)
    truth = sum(set(wanted) <= set(record) and not set(unwanted) & set(record) for record in RECORDS)
    assert answer.low <= truth <= answer.high
    assert answer.low <= answer.estimate <= answer.high


def test_a_trimmed_release_counts_what_it_shows() -> None:
    release = sv.anonymize(RECORDS, sv.KmAnonymity(k=4, m=2), algorithm="trim")
    shown = sum({"a", "b"} <= record for record in release.transactions())
    answer = sv.query(release, None, "ab")
    assert answer.low == shown == answer.estimate


def test_from_files_and_by_command(tmp_path) -> None:  # type: ignore[no-untyped-def]
    release = sv.anonymize(RECORDS, sv.KmAnonymity(k=4, m=2), algorithm="trim")
    release.publish(tmp_path / "out")
    again = sv.open_release(tmp_path / "out")
    assert sv.query(again, None, "ab").low == sv.query(release, None, "ab").low


def test_groups_are_asked_about_what_they_publish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [*RECORDS, ["h"], ["h"], ["h"]]  # nothing public to put into a group: left out
    release = sv.anonymize(records, "degree", p=2, sensitive=["h"])
    release.publish(tmp_path / "out")
    assert _run(["query", str(tmp_path / "out"), "--sensitive", "h"]) == 0
    said = capsys.readouterr().out
    n_published = sum(release.count.tolist())
    assert n_published < sum("h" in record for record in records)
    assert f"at least {n_published}, at most {n_published} of the published groups" in said


@pytest.mark.parametrize("asked", [((), ()), (("a",), ("a",)), (("nothing",), ())])
def test_bad_questions_are_refused(asked: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    release = sv.anonymize(RECORDS, sv.KmAnonymity(k=4, m=2), algorithm="trim")
    with pytest.raises(sv.InputError):
        sv.query(release, None, *asked)
    with pytest.raises(sv.InputError):
        sv.query(release, "a", ("b",))
