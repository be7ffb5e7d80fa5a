"""The published bytes of every algorithm on data that every clone has: a change of any byte is seen.

``python -m tests.workflows.test_frozen_releases`` writes ``frozen_releases.json`` anew. A difference there changes what
data owners publish: it is a decision, to be explained in ``CHANGELOG.md``.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import setveil as sv
from setveil.models import MODELS
from setveil.workflows import assess
from setveil.workflows.samples import demo_files
from tests.naive.kkm_cases import with_columns

PLACE = Path(__file__).with_name("frozen_releases.json")
FROZEN = ("published.*", "records.*", "codebook.csv", "columns.csv", "sensitive.csv", "counts.csv", "lengths.csv")


class Sample(NamedTuple):
    """Records with a hierarchy and lists of items that models ask for."""

    data: sv.Transactions
    hierarchy: sv.Hierarchy
    sensitive: list[str]


def invent(n_records: int, n_items: int, rng: Random) -> Sample:
    """Records around one of several tastes, each with a few frequent items; a tenth of the records occur twice."""
    labels = [f"i{number:02d}" for number in range(n_items)]
    n_tastes = n_items // 6
    rows = []
    for _ in range(n_records):
        taste = int(rng.random() ** 2 * n_tastes)
        near = [0.55 / (1 + place % 6) ** 0.7 if place // 6 == taste else 0.012 for place in range(n_items)]
        rows.append([label for label, share in zip(labels, near, strict=True) if rng.random() < share])
    data = sv.Transactions.from_lists(rows + rows[::10])
    return Sample(data, sv.Hierarchy.balanced(data, 3), [labels[-1], labels[-5]])


@cache
def invented() -> Sample:
    """440 records over 48 items."""
    return invent(400, 48, Random(7))


@cache
def small() -> Sample:
    """220 records over 12 items."""
    return invent(200, 12, Random(8))


@cache
def demo(n_records: int = 5_000) -> Sample:
    """The first of the bundled baskets, with their taxonomy."""
    path, taxonomy = demo_files()
    data = sv.read(path)
    data = data.select(np.arange(min(n_records, data.n_records)))
    supports = data.supports.tolist()
    by_support = sorted(range(data.n_items), key=lambda item: (supports[item] < 8, supports[item], item))
    return Sample(
        data, sv.Hierarchy.from_file(str(taxonomy)), [data.vocabulary[item] for item in sorted(by_support[:3])]
    )


def few_demo() -> Sample:
    """500 of the bundled baskets."""
    return demo(500)


SAMPLES: dict[str, Callable[[], Sample]] = {"small": small, "invented": invented, "few demo": few_demo, "demo": demo}

# Parameters of the models, for each sample made from its items.
ASKS: dict[str, list[dict[str, Any]]] = {
    "km": [{"k": 2, "m": 2}, {"k": 3, "m": 3}],
    "k-anonymity": [{"k": 3}, {"k": 5}],
    "constraints": [{"k": 5, "max_suppressed": 20}],
    "degree": [{"p": 4}],
    "coherence": [{"h": 60, "k": 3, "p": 2}],
    "uncertainty": [{"rho": "1/2", "p": 2}],
    "kkm": [{"k": 3, "m": 2}],
    "rules": [{"k": 3, "c": "1/3"}],
    "counts": [{"k": 5}],
}
# Options other than the default ones.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "aa": [{"tree_order": "leaves"}],
    "optimal": [{"suppression": True}],
    "nn+": [{"reach": 16, "rounds": 1}],
    "cahd": [{"ordering": "rcm"}, {"distance": "jaccard", "alpha": 3}],
    "nn": [{"distance": "common"}],
    "lsh": [{"projection": "uniform", "w": 8}],
    "mm": [{"loss": "items"}],
    "weave": [{"passes": 2, "tries": 3}, {"shard_size": 100}],
    "pta": [{"bits": "id", "leftovers": "all", "recentre": True}],
    "gray-tsp": [{"generations": 50, "population": 10, "bits": "id"}],
    "gsc": [{"bits": "id"}],
    "trim": [{"effort": "fast"}, {"raising": "loss"}, {"raising": "none"}],
    "lra": [{"parts": 3, "bits": "frequency"}],
    "vpa": [{"depth": 2}],
    "pcta": [{"order": "static", "criterion": "delta-ul"}],
    "upcta": [{"criterion": "delta-mass"}],
    "coat": [{"order": "static"}],
    "classes": [{"prefer": "items"}, {"delta": 0.5, "effort": "fast"}],
    "rtmerge": [{"delta": 0.6, "bound": "items"}],
}
EXTRA: list[tuple[str, str, dict[str, Any], str | None, dict[str, Any], bool]] = [
    # the whole demo data: the defaults, every way of the portfolio, and all that trim does with a hierarchy
    ("demo", "km", {"k": 5, "m": 2}, None, {}, True),
    ("demo", "km", {"k": 5, "m": 2}, None, {}, False),
    ("few demo", "km", {"k": 5, "m": 2}, None, {"yardstick": "ncp"}, True),
    ("few demo", "km", {"k": 5, "m": 2}, None, {"yardstick": "itemsets", "effort": "fast"}, True),
    ("few demo", "km", {"k": 5, "m": 2}, None, {"yardstick": "entries", "effort": "best"}, False),
    ("demo", "km", {"k": 10, "m": 2}, "trim", {"raising": "loss"}, True),
    ("demo", "km", {"k": 5, "m": 3}, "trim", {}, True),
    ("demo", "km", {"k": 5, "m": 3}, "trim", {"effort": "best"}, False),
    ("demo", "km", {"k": 3, "m": "all"}, "trim", {}, False),
    ("few demo", "km", {"k": 2, "m": "all"}, "trim", {}, True),
    ("invented", "km", {"k": 2, "m": "all"}, "trim", {}, True),
    ("invented", "km", {"k": 2, "m": 4}, "trim", {"effort": "best"}, True),
    ("invented", "km", {"k": 20, "m": 2}, "trim", {}, True),
    ("demo", "km", {"k": 3, "m": 2}, "aa", {"tree_order": "leaves"}, True),
    ("demo", "k-anonymity", {"k": 5}, "weave", {"passes": 2}, False),
    ("demo", "degree", {"p": 5}, "cahd", {}, False),
]
ONLY_SMALL = ("oa",)  # it takes all cuts of a hierarchy


class Case(NamedTuple):
    """One release."""

    sample: str
    model: str
    parameters: dict[str, Any]
    algorithm: str | None
    options: dict[str, Any]
    with_hierarchy: bool

    @property
    def name(self) -> str:
        """All of it in one line."""
        values = {**self.parameters, **self.options}
        told = " ".join(f"{name}={value}" for name, value in values.items())
        tree = "hierarchy" if self.with_hierarchy else "no hierarchy"
        return f"{self.sample}: {self.model} {self.algorithm or 'default'} {told}, {tree}"


def all_cases() -> Iterator[Case]:
    """Every model with every algorithm, on small data with several parameters and options; then larger ones."""
    for entry in sv.algorithms():
        trees = {"required": [True], "none": [False], "optional": [True, False]}[entry.hierarchy]
        for model in entry.models:
            for tree in trees:
                for parameters in ASKS[model]:
                    yield Case("small", model, parameters, entry.name, {}, tree)
                if entry.name in ONLY_SMALL:
                    continue
                for options in [{}, *OPTIONS.get(entry.name, [])]:
                    yield Case("invented", model, ASKS[model][0], entry.name, options, tree)
                if entry.hierarchy == "required" and model == "km":
                    yield Case("demo", model, {"k": 2, "m": 2}, entry.name, {}, tree)
                else:
                    yield Case("few demo", model, ASKS[model][-1], entry.name, {}, tree)
    yield from map(Case._make, EXTRA)


def parameters_of(case: Case, sample: Sample) -> dict[str, Any]:
    """The model's parameters, with the lists of items that it needs."""
    if case.model in ("degree", "coherence", "uncertainty"):
        return {**case.parameters, "sensitive": sample.sensitive}
    if case.model == "constraints":
        labels = sample.data.vocabulary.labels
        pairs = [list(pair) for pair in zip(labels[:20:2], labels[1:20:2], strict=True)]
        return {**case.parameters, "constraints": pairs}
    if case.model == "rules":
        public = [label for label in sample.data.vocabulary if label not in sample.sensitive]
        sides = zip(public[:20:2], public[1:20:2], strict=True)
        return {**case.parameters, "rules": [([*known], list(sample.sensitive)[:1]) for known in sides]}
    return case.parameters


def digests_of(case: Case) -> dict[str, str]:
    """SHA-256 of each published file whose bytes are frozen; the kind of the error where there is no release."""
    sample = SAMPLES[case.sample]()
    hierarchy = sample.hierarchy if case.with_hierarchy else None
    parameters = parameters_of(case, sample)
    data = with_columns(sample.data) if MODELS[case.model].generalizes_columns else sample.data
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", sv.SetveilWarning)
        try:
            release = sv.anonymize(data, case.model, case.algorithm, hierarchy, case.options, seed=3, **parameters)
        except sv.SetveilError as problem:
            return {"refused": type(problem).__name__}
        out = release.publish(Path(folder) / "out", accept_guessable=True)
        files = sorted(file for pattern in FROZEN for file in out.glob(pattern))
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def frozen() -> dict[str, dict[str, str]]:
    """The digests as committed."""
    found: dict[str, dict[str, str]] = json.loads(PLACE.read_text(encoding="utf-8"))
    return found


ALGORITHMS = sorted({case.algorithm or "default" for case in all_cases()})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_published_bytes_are_what_they_were(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assess, "TARGETS", 20)  # attacks change no published byte
    expected = frozen()
    for case in all_cases():
        if (case.algorithm or "default") == algorithm:
            assert digests_of(case) == expected[case.name], case.name


def test_every_case_is_frozen_and_most_are_feasible() -> None:
    expected = frozen()
    names = [case.name for case in all_cases()]
    assert sorted(names) == sorted(expected), "write the digests of new cases, and of these only"
    assert len(names) == len(set(names))
    assert sum("refused" in digests for digests in expected.values()) < len(expected) / 10


def main() -> None:
    """Write the digests anew."""
    digests = {case.name: digests_of(case) for case in all_cases()}
    PLACE.write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
