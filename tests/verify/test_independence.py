"""The verifier runs no loop that an algorithm may have run. The import rules see calls, this sees what is run."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import setveil as sv
from setveil.models import MODELS
from setveil.workflows.recheck import verify_folder
from tests.verify import without_loops

PEOPLE = 60


def table(folder: Path) -> Path:
    """A row per person and item, with two columns of the person."""
    chance, rows = random.Random(3), ["id,item,age,sex"]
    for person in range(PEOPLE):
        items = [str(item) for item in range(1, 10) if chance.random() < (0.15 if item == 9 else 0.5)] or ["1"]
        rows += [f"p{person},{item},{20 + person % 3},{'fm'[person % 2]}" for item in items]
    path = folder / "people.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::setveil.errors.SetveilWarning")
def test_no_loop_of_the_algorithms_runs_for_the_verifier(tmp_path: Path) -> None:
    source, asked = table(tmp_path), []
    for name, model in MODELS.items():
        if model.__module__.startswith("setveil."):
            role = "known_columns" if model.generalizes_columns else "drop"
            options = {"person": "id", "item": "item", role: ["age", "sex"]}
            release = sv.anonymize(sv.read(source, **options), name, seed=1, **model.example)
            out = release.publish(tmp_path / name)
            asked += [(str(out), None, {}), (str(out), str(source), options)]
    expected = [without_loops.told(verify_folder(out, original, **options)) for out, original, options in asked]
    assert {release[0] for release in expected} >= {True}
    command = [sys.executable, without_loops.__file__, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


def test_the_guard_bites() -> None:
    """A loop that the verifier reaches through other rooms is found."""
    program = (
        "from verify.without_loops import guard_all; guard_all()\n"
        "import setveil as sv, setveil.verify.km as room\n"
        "data = sv.Transactions.from_lists([['a', 'b'], ['b']])\n"
        "data.inverted()\n"
        "room.__dict__['data'] = data\n"
        "exec('data.inverted()', room.__dict__)\n"
    )
    path = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r})\n{program}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "setveil.verify.km runs setveil.arrays.mining.invert_rows" in done.stderr
