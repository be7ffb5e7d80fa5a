"""Losses on data that every clone can make: a change of any algorithm's result is seen without the papers' data sets.

``python -m tests.algorithms.test_golden`` writes ``golden.csv`` anew; a difference there is a decision, to be
explained in ``CHANGELOG.md``.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms import ENTRIES, Entry
from setveil.generate import patients_hierarchy, patients_sensitive
from setveil.models import MODELS
from setveil.workflows.samples import demo_files
from tests.naive.kkm_cases import with_columns

PLACE = Path(__file__).with_name("golden.csv")
FIGURES = ("ncp", "suppression_ratio", "ul_log2", "il", "n_groups", "kl_uniform", "n_published_items")
Sample = tuple[sv.Transactions, sv.Hierarchy, list[str]]


@cache
def quest() -> Sample:
    """Synthetic baskets over numbers."""
    data = sv.generate("quest", D=300, T=5, I=3, N=40, L=20, seed=1)
    return data, sv.Hierarchy.balanced(data, 4), rare_items(data)


@cache
def patients() -> Sample:
    """Invented patients with diagnosis codes."""
    data = sv.generate("patients", n=200, visits=False, seed=1)
    sensitive = [label for label in patients_sensitive() if label in data.vocabulary]
    rare = data.supports[data.vocabulary.numbers(sensitive)] * 4 <= data.n_records
    return (
        data,
        patients_hierarchy(),
        [label for label, is_rare in zip(sensitive, rare, strict=True) if is_rare],
    )


@cache
def baskets() -> Sample:
    """The first of the bundled baskets."""
    path, taxonomy = demo_files()
    data = sv.read(path).select(np.arange(400))
    return data, sv.Hierarchy.from_file(str(taxonomy)), rare_items(data)


def rare_items(data: sv.Transactions) -> list[str]:
    """The three rarest items that at least five records have."""
    supports = data.supports.tolist()
    return [
        data.vocabulary[item]
        for item in sorted(range(data.n_items), key=lambda i: (supports[i] < 5, supports[i], i))[:3]
    ]


SAMPLES: dict[str, Callable[[], Sample]] = {"quest": quest, "patients": patients, "baskets": baskets}


def rules_of(data: sv.Transactions, sensitive: list[str]) -> list[tuple[list[str], list[str]]]:
    """Ten pairs of public items, each with one of the sensitive items."""
    public = [label for label in data.vocabulary if label not in sensitive]
    sides = zip(public[:20:2], public[1:20:2], strict=True)
    return [([*known], [sensitive[number % len(sensitive)]]) for number, known in enumerate(sides)]


def ask(model: str, data: sv.Transactions, sensitive: list[str]) -> dict[str, Any]:
    """Parameters of a middling ask."""
    pairs = [list(pair) for pair in zip(data.vocabulary.labels[:20:2], data.vocabulary.labels[1:20:2], strict=True)]
    asked: dict[str, dict[str, Any]] = {
        "km": {"k": 4, "m": 2},
        "k-anonymity": {"k": 4},
        "constraints": {"k": 5, "constraints": pairs},
        "degree": {"p": 4, "sensitive": sensitive},
        "coherence": {"h": 60, "k": 3, "p": 2, "sensitive": sensitive},
        "uncertainty": {"rho": "1/3", "p": 2, "sensitive": sensitive},
        "kkm": {"k": 4, "m": 2},
        "rules": {"k": 5, "c": "1/5", "rules": rules_of(data, sensitive)},
        "counts": {"k": 4},
    }
    return asked[model]


def figures_of(sample: str, entry: Entry, model: str) -> dict[str, str]:
    """What a release lost, or why there is none, as text."""
    data, tree, sensitive = SAMPLES[sample]()
    data = with_columns(data) if MODELS[model].generalizes_columns else data
    hierarchy = tree if entry.hierarchy == "required" else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sv.SetveilWarning)
            release = sv.anonymize(data, model, entry.name, hierarchy, **ask(model, data, sensitive))
    except sv.SetveilError as problem:
        return {"refused": type(problem).__name__}
    measured = sv.measure(data, release)
    return {name: f"{measured[name]:.8g}" for name in FIGURES if measured.get(name) is not None}


def all_cases() -> Iterator[tuple[str, Entry, str]]:
    """Every algorithm for every model it enforces, on every sample."""
    return ((sample, entry, model) for sample in SAMPLES for entry in ENTRIES for model in entry.models)


def golden() -> dict[tuple[str, str, str], dict[str, str]]:
    """The figures as committed."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    with PLACE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["sample"], row["algorithm"], row["model"]), {})[row["figure"]] = row["value"]
    return found


@pytest.mark.parametrize("model", sorted({model for entry in ENTRIES for model in entry.models}))
@pytest.mark.parametrize("sample", SAMPLES)
def test_losses_are_what_they_were(sample: str, model: str) -> None:
    expected = golden()
    for entry in ENTRIES:
        if model in entry.models:
            found = figures_of(sample, entry, model)
            assert found == expected[sample, entry.name, model], (sample, entry.name, model)


def test_every_algorithm_is_pinned_and_most_are_feasible() -> None:
    expected = golden()
    assert set(expected) == {(sample, entry.name, model) for sample, entry, model in all_cases()}
    assert sum("refused" in figures for figures in expected.values()) < len(expected) / 4


def main() -> None:
    """Write the figures anew."""
    with PLACE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("sample", "algorithm", "model", "figure", "value"))
        for sample, entry, model in all_cases():
            for name, value in figures_of(sample, entry, model).items():
                writer.writerow((sample, entry.name, model, name, value))


if __name__ == "__main__":
    main()
