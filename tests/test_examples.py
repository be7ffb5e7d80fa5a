"""Every public name says what it takes, gives and raises, and shows an example that runs; documented code is typed."""

from __future__ import annotations

import doctest
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import setveil as sv
from setveil import errors
from setveil.core import codebook
from setveil.core.tables import Table, Tabular
from setveil.risk import RiskTable
from setveil.workflows.compare import Comparison
from tests.test_docs import PAGES, ROOT, blocks

NAMES = sorted(set(sv.__all__) - {"__version__"})
FUNCTIONS = [name for name in NAMES if isinstance(getattr(sv, name), FunctionType)]
OBVIOUS = {  # kinds of Release and plain errors: their parent's example shows them
    "Grouping", "LocalRecoding", "Recoding", "Replacement",
    "CancelledError", "GuaranteeError", "InputError", "SetveilError", "SetveilWarning",
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_tell_their_parameters(name: str) -> None:
    function = getattr(sv, name)
    told = inspect.getdoc(function) or ""
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"^ +{parameter}: ", told, re.MULTILINE), f"{name}: {parameter}"
    assert "Returns:" in told


METHODS = {
    sv.Release: "transactions codebook publish with_ids apply verify risk measure attack compare plot to_polars "
    "to_pandas to_arrow to_sparse to_lists",
    sv.Transactions: "from_lists record to_lists select distinct to_polars to_pandas",
    sv.Hierarchy: "from_paths from_file balanced prefix auto to_file",
    sv.Policy: "from_file from_dict to_toml",
    sv.PrivacyModel: "guarantee attacker not_protected",
    RiskTable: "filter",
}  # what users call; ``test_examples_run`` runs their examples


@pytest.mark.parametrize("noun", METHODS, ids=lambda noun: noun.__name__)
def test_methods_show_an_example(noun: type) -> None:
    for name in METHODS[noun].split():
        assert ">>>" in (getattr(noun, name).__doc__ or ""), f"{noun.__name__}.{name} has no example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(ROOT / "docs" / "examples", tmp_path_factory.mktemp("examples"), dirs_exist_ok=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in OBVIOUS])
def test_examples_run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    noun = getattr(sv, name)
    module = inspect.getmodule(noun)
    found = doctest.DocTestFinder(exclude_empty=True).find(noun, name, module=module, globs={"sv": sv})
    found = [test for test in found if test.examples]
    assert found, f"{name} has no example"
    check(found)


def test_examples_of_other_nouns_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for noun in (codebook.Codebook, RiskTable, Table, Comparison, Tabular):
        check(doctest.DocTestFinder().find(noun, globs={noun.__name__: noun, "sv": sv}))


def check(found: list[doctest.DocTest]) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    of_class: dict[str, object] = {}  # the examples of methods go on from that of their class
    for test in sorted(found, key=lambda test: test.name.count(".")):
        test.globs.update(of_class)
        runner.run(test, out=told.append, clear_globs=False)
        of_class |= test.globs if "." not in test.name else {}
    assert runner.failures == 0, "".join(told)


def test_every_error_has_a_code() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.SetveilError)]
    assert all(isinstance(kind.exit_code, int) for kind in kinds)


@pytest.mark.long
def test_documented_code_is_typed(tmp_path: Path) -> None:
    """What users copy from the pages passes mypy in its strict mode, as their own code may have to."""
    for page in PAGES:
        for number, (language, text) in enumerate(blocks(page)):
            if language == "python":
                (tmp_path / f"{page.stem.replace('-', '_')}_{number}.py").write_text(text, encoding="utf-8")
    options = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--python-version", "3.11"]
    quiet = ["--disable-error-code", "import-untyped", "--allow-untyped-calls", "--allow-subclassing-any"]
    command = [sys.executable, "-m", "mypy", *options, *quiet, "--cache-dir", str(ROOT / ".mypy_cache"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr
