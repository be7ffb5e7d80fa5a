"""Compiled loops are kept on disk, never used for other sources, and compiled in memory where no folder is writable."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import setveil
from setveil.arrays import compiling
from setveil.arrays.tree_itemsets import count_lowest

PACKAGE = Path(setveil.__file__).parent
INNER = "from setveil.arrays.compiling import compiled\n\n@compiled\ndef more(x):\n    return x + {amount}\n"
OUTER = """
from setveil.arrays._inner import more
from setveil.arrays.compiling import compiled

@compiled
def twice(x):
    return more(more(x))
"""
ASK = (
    "import numba; from setveil.arrays._outer import twice; before = numba.config.CACHE_DIR; "
    "print(twice(1), sum(twice.stats.cache_hits.values()), repr(before))"
)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A package of the same name with two loops, one of which calls the other across files."""
    package = tmp_path / "src" / "setveil"
    (package / "arrays").mkdir(parents=True)
    for name in ("", "arrays/"):
        (package / f"{name}__init__.py").touch()
    shutil.copy(compiling.__file__, package / "arrays")
    (package / "arrays" / "_inner.py").write_text(INNER.format(amount=1))
    (package / "arrays" / "_outer.py").write_text(OUTER)
    return tmp_path / "src"


def ask(sources: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    command = [sys.executable, "-c", ASK]
    return subprocess.run(
        command, env={**kept, "PYTHONPATH": str(sources), **environment}, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_machine_code_is_found_again_and_never_used_for_other_sources(sources: Path) -> None:
    assert ask(sources) == "3 0 ''"
    assert ask(sources) == "3 1 ''"
    inner = sources / "setveil" / "arrays" / "_inner.py"
    inner.write_text(INNER.format(amount=5))  # the file of the loop that is asked for stays as it is
    assert ask(sources) == "11 0 ''"
    assert ask(sources) == "11 1 ''"
    inner.write_text(INNER.format(amount=1))
    assert ask(sources) == "3 1 ''"


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_are_compiled_again(sources: Path, suffix: str, damage: bytes | None) -> None:
    assert ask(sources) == "3 0 ''"
    for file in sources.rglob(f"*.{suffix}"):
        file.write_bytes(file.read_bytes()[:-40] if damage is None else damage)
    assert ask(sources) == "3 0 ''"
    assert ask(sources) == "3 1 ''"


def test_a_change_compiles_only_what_depends_on_it(sources: Path) -> None:
    assert ask(sources) == "3 0 ''"
    other = sources / "setveil" / "arrays" / "_other.py"
    other.write_text(INNER.format(amount=7))  # nobody imports it
    assert ask(sources) == "3 1 ''"


def test_the_folder_is_the_one_that_is_named_and_other_packages_keep_theirs(sources: Path, tmp_path: Path) -> None:
    named = tmp_path / "named"
    assert ask(sources, NUMBA_CACHE_DIR=str(named)) == f"3 0 {str(named)!r}"
    assert len(list(named.glob("loops-*/*/*.nbi"))) == 2
    assert not (sources / "setveil" / "__pycache__").exists() or not list(sources.rglob("*.nbi"))


def test_where_nothing_can_be_written_loops_are_compiled_in_memory(sources: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "a-file"
    blocked.touch()  # no folder can be made below a file, whoever runs this
    for _ in range(2):
        assert ask(sources, NUMBA_CACHE_DIR=str(blocked)) == f"3 0 {str(blocked)!r}"


def test_the_first_compilation_is_announced_once(sources: Path) -> None:
    told = (
        "from setveil.arrays.compiling import call_before_compiling; "
        "call_before_compiling(lambda: print('compiling')); from setveil.arrays._outer import twice; print(twice(1))"
    )
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    environment.pop("NUMBA_CACHE_DIR", None)
    for expected in ("compiling\n3\n", "3\n"):
        done = subprocess.run([sys.executable, "-c", told], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == expected


def files_with_loops() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "\n@compiled\n" in path.read_text(encoding="utf-8")]


def test_all_files_that_hold_loops_are_part_of_the_digest() -> None:
    digested = {path for pattern in compiling.HOLD_LOOPS for path in PACKAGE.glob(pattern)}
    verifier = {PACKAGE / "verify" / name for name in ("count_cells.py", "counting.py", "intersections.py")}
    found = files_with_loops()
    assert len(found) > 30
    assert {path for path in found if path not in digested} == verifier


def test_what_loops_take_from_other_files_is_part_of_their_digest() -> None:
    """Numba writes constants and loops of other files into the machine code; those files must be digested."""
    for path in files_with_loops():
        if PACKAGE / "verify" in path.parents:
            continue
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        digested = compiling.files_behind(module)
        assert path in digested
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            alias.asname or alias.name: node.module
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("setveil")
            for alias in node.names
        }
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(mark, ast.Name) and mark.id == "compiled" for mark in node.decorator_list
            ):
                used = {name.id for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)}
                for name in used & imported.keys():
                    source = PACKAGE.parent / f"{str(imported[name]).replace('.', '/')}.py"
                    assert source in digested, f"{path.name}: {node.name} uses {name} of {source.name}"


def test_loops_are_pickled_by_name() -> None:
    """So that workers find them compiled on disk; Numba would send the source, and each would compile it again."""
    cloudpickle = pytest.importorskip("cloudpickle")
    content = cloudpickle.dumps(lambda: count_lowest)
    assert len(content) < 1_000 and cloudpickle.loads(content)() is count_lowest
