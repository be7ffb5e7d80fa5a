"""The library's surface: which names there are, and that importing it is cheap."""

from __future__ import annotations

import subprocess
import sys

import setveil as sv

HEAVY = (
    "numba",
    "polars",
    "scipy",
    "pandas",
    "pyarrow",
    "pyspark",
    "nicegui",
    "altair",
    "jinja2",
    "highspy",
)  # Typer itself brings Pydantic


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_every_public_name_can_be_used() -> None:
    for name in sv.__all__:
        assert getattr(sv, name) is not None
    assert set(dir(sv)) == set(sv.__all__)


def test_the_names_of_the_contract_are_there() -> None:
    contract = (
        "read Transactions Hierarchy anonymize KmAnonymity KAnonymity ConstraintAnonymity PrivacyDegree Coherence"
    )
    contract += " verify risk measure algorithms InfeasibleError"
    assert set(contract.split()) <= set(sv.__all__)
    for method in ("from_file", "balanced", "auto", "prefix"):
        assert callable(getattr(sv.Hierarchy, method))


def test_importing_a_room_does_not_hide_the_function_of_the_same_name() -> None:
    import setveil.algorithms.registry as registry
    import setveil.verify.km as km

    assert registry.find("aa").name == "aa" and km.__name__ == "setveil.verify.km"
    assert callable(sv.verify)
    assert callable(sv.risk)
    assert callable(sv.algorithms)
    assert sv.verify([{"a"}, {"a", "b"}], sv.KmAnonymity(k=2, m=1)).witness == ("b",)


def test_importing_setveil_loads_nothing_heavy() -> None:
    assert not loaded_after("import setveil") & {*HEAVY, "numpy"}


def test_the_sequence_loads_numba_only_when_something_is_counted() -> None:
    assert not loaded_after("import setveil.workflows.pipeline") & set(HEAVY)


def test_help_loads_nothing_heavy() -> None:
    code = "from setveil.cli.main import _run\n_run(['anonymize', '--help'])"
    assert not loaded_after(code) & {*HEAVY, "numpy"}


def test_anonymizing_a_fimi_file_leaves_out_what_it_does_not_need(tmp_path: object) -> None:
    code = (
        "import os, tempfile\nfrom setveil.cli.main import _run\n"
        "folder = tempfile.mkdtemp()\n"
        "open(folder + '/x.dat', 'w').write('1 2\\n1 2\\n1 3\\n2 3\\n' * 3)\n"
        "assert _run(['anonymize', folder + '/x.dat', '-o', folder + '/out', '--model', 'km', '-k', '2', '-m', '2',"
        " '--algorithm', 'aa', '--hierarchy', 'fanout:2']) == 0"
    )
    never = {"polars", "scipy.sparse", "scipy.linalg", "pandas", "pyarrow", "highspy", "altair", "coverage", "yaml"}
    assert not loaded_after(code) & never  # Numba would load some of them if it were imported plainly
