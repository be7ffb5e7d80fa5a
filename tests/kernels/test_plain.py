"""Compiled loops from the cache of another version; loops that run as plain Python give what compiled ones give."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil import kernels
from setveil.algorithms import ENTRIES, Entry
from setveil.cli.tiny import names_tiny_files
from setveil.models import make_model

KERNEL = """
from typing import NamedTuple
import numpy as np
from setveil.kernels import compiled

class {name}(NamedTuple):
    values: np.ndarray

@compiled
def total(box):
    return box.values.sum()

if __name__ == "__main__":
    import kernels
    print(kernels.total(kernels.{name}(np.arange(4))), sum(kernels.total.dispatcher.stats.cache_hits.values()))
"""


def test_a_cached_kernel_that_names_a_vanished_type_is_compiled_anew(tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"

    def run(name: str) -> str:
        file.write_text(KERNEL.format(name=name))
        return subprocess.run(
            [sys.executable, str(file)], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    assert run("Box") == "6 0\n"
    assert run("Box") in ("6 0\n", "6 1\n")  # the file was written again, perhaps in the same instant
    assert run("Crate") == "6 0\n"
    [index] = (tmp_path / "__pycache__").glob("kernels.total-*.nbi")
    assert b"Crate" in index.read_bytes()
    assert b"Box" not in index.read_bytes()
    assert pickle.HIGHEST_PROTOCOL >= 4


OPTIONS: dict[str, dict[str, object]] = {
    "km": {"k": 2, "m": 2},
    "k-anonymity": {"k": 2},
    "constraints": {"k": 2, "constraints": [["a", "b"], ["c"]], "max_suppressed": 100},
    "degree": {"p": 2, "sensitive": ["h"]},
    "coherence": {"h": 80, "k": 2, "p": 2, "sensitive": ["h"]},
    "uncertainty": {"rho": "1/2", "sensitive": ["h"]},
}


def outcome(ask: Callable[[], Any]) -> object:
    try:
        return ask()
    except sv.SetveilError as problem:
        return str(problem)


def published(release: sv.Release) -> list[object]:
    groups = release.group_of.tolist() if isinstance(release, sv.Grouping) else []
    return [release.published.to_lists(), groups]


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_plain_loops_give_what_compiled_ones_give(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(entry.name)
    rows = [rng.sample("abcdefgh", rng.randint(0, 4)) for _ in range(12)]
    hierarchy = "fanout:2" if entry.hierarchy == "required" else None
    for name in entry.models:
        model = make_model(name, OPTIONS[name])
        found = []
        for patience in (0.0, 1e9):
            monkeypatch.setattr(kernels, "_time_left", patience)
            data = sv.read(rows)
            release = outcome(lambda: sv.anonymize(data, model, entry.name, hierarchy))  # noqa: B023
            if isinstance(release, sv.Release):
                verdict = sv.verify(release, model)
                release = [*published(release), verdict.holds, verdict.witness, sv.risk(release).to_dict()]
            found.append(release)
        assert repr(found[0]) == repr(found[1])


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
def test_broken_claims_are_found_by_plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    verdicts = []
    for _ in range(60):
        items = "abcdef"[: rng.randint(2, 6)]
        rows = [rng.sample(items, rng.randint(0, len(items))) for _ in range(rng.randint(2, 12))]
        both = []
        for patience in (0.0, 1e9):
            monkeypatch.setattr(kernels, "_time_left", patience)
            both.append(sv.verify(rows, "km", k=2, m=2))
        assert repr(both[0]) == repr(both[1])
        verdicts.append(both[0].holds)
    assert {True, False} == set(verdicts)


def test_loops_that_take_long_are_compiled_after_all(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernels.compiled
    def total(values: Any) -> Any:
        amount = values[0] * 0
        for value in values:
            amount += value
        return amount

    monkeypatch.setattr(kernels, "_time_left", 1e-9)
    plain = total(np.arange(1000))
    assert total._dispatcher is None  # type: ignore[attr-defined]
    assert (plain, total(np.arange(1000))) == (499_500, 499_500)
    assert type(plain) is int
    assert total._dispatcher is not None  # type: ignore[attr-defined]


def test_tiny_files(tmp_path: Path) -> None:
    small, long, packed = tmp_path / "six.dat", tmp_path / "long.dat", tmp_path / "six.gz"
    small.write_text("1 2\n2 3\n")
    long.write_text("1 2\n" * 100)
    packed.write_bytes(b"\x1f\x8b" + b"x" * 20)
    out = tmp_path / "out"
    out.mkdir()
    assert names_tiny_files(["risk", str(small)])
    assert names_tiny_files(["anonymize", str(small), "-o", str(long), "--model", "km"])
    assert not names_tiny_files(["anonymize", str(small), f"--hierarchy={long}"])
    assert not names_tiny_files(["risk", str(long)])
    assert not names_tiny_files(["risk", str(packed)])
    assert not names_tiny_files(["risk", "-"])
    assert not names_tiny_files(["risk", str(tmp_path / "missing")])
    assert not names_tiny_files(["attack", str(small)])
    assert not names_tiny_files(["verify", str(out)])
    (out / "published.csv").write_text("a\n")
    assert names_tiny_files(["verify", str(out)])
    (out / "sensitive.csv").write_text("a\n" * 100)
    assert not names_tiny_files(["verify", str(out)])
