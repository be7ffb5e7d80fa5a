"""Journalist risk of every kind of release, compared with trying every person on every record."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.registry import may_suppress_entries
from setveil.core import Transactions
from setveil.releases import Release
from setveil.workflows.population import match_population, why_not
from tests.naive.kkm_cases import random_people
from tests.naive.population import can_be

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def classes_of(data: Transactions) -> list[dict[str, str]]:
    known = [column for column in data.columns or () if column.role == "known"]
    return [{column.name: column.to_list()[row] for column in known} for row in range(data.n_records)]


def fits(shown: dict[str, str], own: dict[str, str], release: Release) -> bool:
    for column in release.rows.columns or ():
        if column.role == "known":
            value = shown[column.name]
            covered = {value} if column.cover is None else set(column.cover.to_lists()[column.values.number(value)])
            if own[column.name] not in covered:
                return False
    return True


def by_hand(release: Release, data: Transactions, people: Transactions, known: float | None) -> tuple[int, float]:
    """The fewest matching people, and the mean risk; of all sets of ``known`` labels, or of whole records."""
    lacks = release.can_lack_entries(may_suppress_entries(release.record.algorithm))
    secret = set(release.sensitive_items)
    book = {label: set(items) - secret for label, items in release.codebook().items() if label and label not in secret}
    domain = set(release.domain_items) | set(data.vocabulary)
    shown = [
        (sorted(row - secret), own) for row, own in zip(release.transactions(), classes_of(release.rows), strict=True)
    ]
    everyone = list(zip([set(row) - secret for row in people.to_lists()], classes_of(people), strict=True))

    def n_matching(labels: Sequence[str], own: dict[str, str], lacks: bool) -> int:
        return sum(
            fits(own, theirs, release) and can_be(items, labels, book, domain, lacks) for items, theirs in everyone
        )

    if known is None:
        counts = [n_matching(labels, own, lacks) for labels, own in shown]
    else:
        counts = [
            min(n_matching(part, own, True) for part in combinations(labels, min(int(known), len(labels))))
            for labels, own in shown
        ]
    return min(counts), sum(1 / n for n in counts) / len(counts)


MADE = {
    "trim": ("km", {"k": 2, "m": 2, "algorithm": "trim", "hierarchy": "fanout:2"}),
    "lra": ("km", {"k": 2, "m": 2, "algorithm": "lra", "hierarchy": "fanout:2"}),
    "aa": ("km", {"k": 2, "m": 2, "algorithm": "aa", "hierarchy": "fanout:2"}),
    "pcta": ("km", {"k": 2, "m": 2, "algorithm": "pcta"}),
    "blocks": ("degree", {"p": 2, "sensitive": ["f"]}),
    "pluck": ("uncertainty", {"rho": "1/2", "sensitive": ["f"], "p": 2}),
    "coherence": ("coherence", {"k": 2, "h": 60, "p": 2, "sensitive": ["f"]}),
    "kkm": ("kkm", {"k": 2, "m": 1, "hierarchy": "fanout:2"}),
    "columns": ("kkm", {"k": 2, "m": 0}),
}


@pytest.mark.parametrize("name", MADE)
def test_matching_people_are_those_whom_a_record_can_be_about(name: str) -> None:
    model, options = MADE[name]
    n_made, seen = 0, set[float]()
    for seed in range(25):
        source = random.Random(seed)
        if model == "kkm":
            people = random_people(np.random.default_rng(seed), 24)
            if not people.n_items or not any(column.role == "known" for column in people.columns or ()):
                continue
        else:
            rows = [source.sample("abcdef", source.randint(1, 4)) for _ in range(24)]
            people = Transactions.from_lists(rows)
        n_people = people.n_records
        chosen = np.sort(np.random.default_rng(seed).permutation(n_people)[: n_people * 2 // 3])
        data = people.select(chosen).used_items()
        try:
            release = sv.anonymize(data, model, **options)
        except (sv.InfeasibleError, sv.InputError):
            continue
        if not release.rows.n_records or why_not(release):
            continue
        n_made += 1
        lacks = release.can_lack_entries(may_suppress_entries(release.record.algorithm))
        found = match_population(release, release.record, people, lacks)
        is_limited = release.model.crowd is not None
        assert found["known"] == (release.model.known_items if is_limited else None)
        fewest, mean = by_hand(release, data, people, found["known"])
        assert (found["people"], found["fewest"]) == (n_people, fewest)
        assert found["mean"] == pytest.approx(mean) and found["highest"] == 1 / fewest
        assert found["whole"] == 1 / by_hand(release, data, people, None)[0]
        if found["known"] is not None:  # never above the prosecutor risk
            assert fewest >= release.model.crowd
        seen.add(mean)
    assert n_made > 5 and len(seen) > 5, (n_made, seen)


@pytest.mark.parametrize("name", ["coherence", "pluck"])
def test_sensitive_items_are_not_known_in_published_files_either(name: str, tmp_path: Path) -> None:
    """Files do not say which items are sensitive; the run does."""
    model, options = MADE[name]
    source = random.Random(1)
    people = [source.sample("abcdef", source.randint(1, 4)) for _ in range(60)]
    release = sv.anonymize(people[:40], model, **options)
    lacks = release.can_lack_entries(may_suppress_entries(release.record.algorithm))
    outcome = sv.publish(release, tmp_path / "out", population=people)
    assert any("f" in row for row in release.transactions())
    assert outcome.facts.population == match_population(release, release.record, people, lacks)


@pytest.mark.parametrize(
    ("model", "options", "reason"),
    [
        ("k-anonymity", {"k": 2}, "items that their people do not have"),
        ("counts", {"k": 20, "m": 2}, "no published record belongs to a person"),
    ],
)
def test_where_nobody_can_match_the_assessment_says_why(
    model: str, options: dict[str, int], reason: str, tmp_path: Path
) -> None:
    rows = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]] * 30
    outcome = sv.publish(sv.anonymize(rows, model, **options), tmp_path / "out", population=rows)
    assert reason in outcome.facts.population["reason"]
    assert f"taken as prosecutor risk: {outcome.facts.population['reason']}" in Path(
        f"{tmp_path / 'out'}.internal/assessment.html"
    ).read_text(encoding="utf-8")
