"""A cache of compiled kernels that is damaged, full or gone costs time, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNEL = """
from setveil.kernels import compiled

@compiled
def add(x, y):
    return x + y
"""
ASK = (
    "import kernel; from kernel import add; "
    "print(add(1, 2), len(add.dispatcher.stats.cache_hits), len(add.dispatcher.stats.cache_misses))"
)


def ask(folder: Path) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {ASK}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_whatever_happens_to_the_cache(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    assert ask(tmp_path) == "3 0 1"
    assert ask(tmp_path) == "3 1 0"
    (index,), (data,) = ([*(tmp_path / "cache").rglob(f"*.{kind}")] for kind in ("nbi", "nbc"))
    code = data.read_bytes()
    for file, damage in (
        (data, code[: len(code) // 2]),
        (data, code[: len(code) // 2] + bytes([code[len(code) // 2] ^ 1]) + code[len(code) // 2 + 1 :]),
        (data, b"\x80\x05garbage"),
        (index, b""),
        (index, b"garbage"),
    ):
        file.write_bytes(damage)
        assert ask(tmp_path) == "3 0 1", (file.name, damage[:20])
        assert ask(tmp_path) == "3 1 0"


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_elsewhere_has_changed(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(
        KERNEL.replace("from", "from one import more\nfrom", 1).replace("y\n", "more(y)\n")
    )
    for amount in (0, 5):
        (tmp_path / "one.py").write_text(KERNEL.replace("add(x, y)", "more(y)").replace("x + y", f"y + {amount}"))
        assert ask(tmp_path) == f"{3 + amount} 0 1"
        assert ask(tmp_path) == f"{3 + amount} 1 0"
