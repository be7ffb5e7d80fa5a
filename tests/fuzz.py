"""``python -m tests.fuzz SECONDS``: every Hypothesis property with examples nobody has seen, until the time is over.

Each round takes the next test file in turn in a process of its own. The first failure, already shrunk by Hypothesis, is
printed with the blob that repeats it, and ends the run with exit code 1.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path

TESTS = Path(__file__).parent


def property_files() -> list[Path]:
    """Test files with properties."""
    return [path for path in sorted(TESTS.rglob("test_*.py")) if "@given" in path.read_text(encoding="utf-8")]


def fuzz(seconds: float) -> int:
    """Go round the files; the exit code."""
    end = time.monotonic() + seconds
    environment = {**os.environ, "SETVEIL_HYPOTHESIS": "fuzz"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "hypothesis"]
    paths = property_files()
    random.shuffle(paths)  # an hour does not reach all of them
    for n_finished, path in enumerate(cycle(paths)):
        left = end - time.monotonic()
        try:
            status = subprocess.run(
                [*command, str(path)], env=environment, timeout=max(left, 0), check=False
            ).returncode
        except subprocess.TimeoutExpired:
            print(f"{n_finished:,} files run to their end, nothing found; {path.relative_to(TESTS)} was cut short")
            return 0
        if status not in (0, 5):  # 5: no properties were collected
            return 1
    raise AssertionError("no test file has properties")


if __name__ == "__main__":
    sys.exit(fuzz(float(sys.argv[1]) if sys.argv[1:] else 300.0))
