"""suppresscontrol: the example, and brute force."""

from __future__ import annotations

from fractions import Fraction

import pytest

import setveil as sv
from tests.naive import uncertainty as naive
from tests.naive.uncertainty_cases import EXAMPLE, MODEL, example, is_met, random_cases, released


def test_the_violated_rules_of_the_example() -> None:
    violated = naive.violated([frozenset(record.split()) for record in EXAMPLE], ["hiv", "dep"], Fraction(1, 3))
    assert {("".join(sorted(f"{item} " for item in known)), item, share) for known, item, share in violated} == {
        ("cough hiv ", "dep", Fraction(1)),
        ("dep ", "hiv", Fraction(1, 2)),
        ("cough dep ", "hiv", Fraction(1)),
        ("gout rash ", "hiv", Fraction(1)),
    }


def test_both_sensitive_items_are_suppressed() -> None:
    release = sv.anonymize(example(), MODEL, "suppresscontrol")
    assert release.codebook()[""] == ["dep", "hiv"]
    assert release.details["suppressed_occurrences"] == 5


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
def test_random_databases() -> None:
    for records, model in random_cases(30, 300):
        assert is_met(released(records, model, "suppresscontrol"), model)
