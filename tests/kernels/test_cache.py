"""A cache of compiled kernels that is damaged, full or gone costs time, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


HOLD = """
import sys
from pathlib import Path
from setveil.kernels.cache import _Claim

claim = _Claim(Path(sys.argv[1]), sys.argv[2])
assert not claim.wait()
print("mine", flush=True)
sys.stdin.readline()
"""


def test_two_processes_do_not_compile_the_same_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes second waits until the first is done or dead, not for ever; other kernels are not waited for."""
    from setveil.kernels import cache
    from setveil.kernels.cache import _Claim

    monkeypatch.setattr(cache, "PATIENCE", 0.2)
    path = tmp_path / "claims"
    command = [sys.executable, "-c", HOLD, str(path), "repair"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "mine\n"
        assert _Claim(path, "repair").wait()  # somebody who has forgotten
        assert not _Claim(path, "scan").wait()
        monkeypatch.setattr(cache, "PATIENCE", 60.0)
        first.kill()
        _Claim(path, "repair").wait()
    assert not _Claim(path, "repair").wait()


def test_without_locks_everybody_compiles(tmp_path: Path) -> None:
    from setveil.kernels.cache import _Claim

    claim = _Claim(tmp_path / "nowhere" / "claims", "repair")
    assert not claim.wait()
    claim.give_up()


def test_a_kernel_that_somebody_else_has_compiled_meanwhile_is_not_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {ASK}"]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = sorted(process.communicate()[0].strip() for process in both)
    assert answers == ["3 0 1", "3 1 0"]


HOMELESS = """
import os, sys
from pathlib import Path
import setveil.kernels as kernels

def no_folder(*given, **named):
    raise PermissionError("not writable")

kernels.tempfile.TemporaryFile = no_folder  # the package belongs to somebody else
os.environ.pop("HOME", None)
Path.home = classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError("no home")))
kernels.choose_cache_folder()
import numpy as np
from setveil.arrays.sorting import sort_values
print(sort_values.dispatcher._cache.__class__.__name__, sorted(os.listdir()))
"""


def test_a_user_without_a_home_folder_compiles_in_memory(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "NUMBA_CACHE_DIR")}
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", HOMELESS], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "NullCache []\n", done.stderr
