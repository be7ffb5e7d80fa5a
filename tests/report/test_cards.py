"""What notebooks show: short, escaped, and nothing of any record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.releases import Recoding, RunRecord
from setveil.report.cards import card

NASTY = "<script>alert(1)</script>&\"'"
ROWS = [[f"item{number % 17}", f"item{number % 13}", NASTY] for number in range(400)]


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@cache
def shown() -> dict[str, Callable[[], Any]]:
    data = Transactions.from_lists(ROWS)
    release = sv.anonymize(data, "km", k=2, m=1, hierarchy="fanout:3")
    return {
        "data": lambda: data,
        "release": lambda: release,
        "codebook": lambda: release.codebook(),
        "risk": lambda: sv.risk(data),
        "holds": lambda: sv.verify(release, "km", k=2, m=1),
        "broken": lambda: sv.verify(data, "km", k=300, m=2),
    }


@pytest.mark.parametrize("name", list(shown()))
def test_cards_are_small_and_escaped(name: str) -> None:
    text = shown()[name]()._repr_html_()
    assert len(text) < 12_000
    assert "script" not in Tags(text).seen
    assert len(repr(shown()[name]())) < 2_000


def test_a_card_escapes_everything() -> None:
    text = card(NASTY, [(NASTY, NASTY)], [NASTY], [[NASTY]], NASTY, "bad")
    assert "<script" not in text and Tags(text).seen <= {"div", "table", "thead", "tbody", "tr", "th", "td"}


def test_nothing_prints_the_combinations_of_a_policy() -> None:
    combinations = [[f"item{number}", f"item{number + 1}"] for number in range(16)] * 200
    model = sv.ConstraintAnonymity(k=2, constraints=combinations)
    data = Transactions.from_lists(ROWS)
    record = RunRecord(data, model, "pcta+", {}, None, "", 0)
    release = replace(Recoding.from_clusters(data, np.arange(data.n_items)), record=record)
    for noun in (model, release, release.record, sv.KAnonymity(k=3, sensitive=[f"s{number}" for number in range(500)])):
        assert len(repr(noun)) < 400, noun
    assert repr(sv.KmAnonymity(k=5, m=2)) == "KmAnonymity(k=5, m=2)"
    assert "item1" not in repr(release)


def test_details_and_records_are_not_part_of_what_is_printed(tmp_path: object) -> None:
    data = Transactions.from_lists(ROWS)
    release = Recoding.from_clusters(data, np.arange(data.n_items), {"threats": ROWS})
    assert len(repr(release)) < 200
