"""``python -m setveil.warm``: compile every kernel once, so that no later run waits for it."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from setveil.algorithms import ENTRIES
from setveil.core import Transactions
from setveil.errors import SetveilError
from setveil.models import make_model
from setveil.pipeline import anonymize, publish, risk
from setveil.risk.attack import attack
from setveil.utility.tasks import measure_tasks

OPTIONS: dict[str, dict[str, Any]] = {
    "km": {"k": 2, "m": 2},
    "k-anonymity": {"k": 2},
    "constraints": {"k": 2, "constraints": [["1", "2"]]},
    "degree": {"p": 2, "sensitive": ["9"]},
    "coherence": {"h": 80, "k": 2, "p": 2, "sensitive": ["9"]},
}


def warm() -> None:
    """Run every algorithm for every model it enforces on a handful of records, and publish each result."""
    data = Transactions.from_lists([[1, 2, 3], [1, 2], [2, 3, 4], [1, 3, 9], [4, 5], [5, 6], [1, 6], [2, 6]] * 2)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        risk(data, known=(3,), budget=0)  # sampled
        for entry in ENTRIES:
            for name in entry.models:
                model = make_model(name, OPTIONS[name])
                hierarchy = "fanout:2" if entry.hierarchy == "required" else None
                try:
                    release = anonymize(data, model, entry.name, hierarchy)
                    publish(release, Path(folder) / f"{entry.name}-{name}")
                    attack(data, release, known=(1,), targets=2, sensitive=["9"])
                    measure_tasks(data, release, n_queries=2)
                except SetveilError:  # an infeasible ask has compiled what it needed
                    continue


if __name__ == "__main__":
    warm()
