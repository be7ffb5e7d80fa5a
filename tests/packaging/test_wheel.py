"""The wheel: what is in it, and that it works where nothing else of the repository is.

The new environment sees the libraries of this one, but neither its setveil nor the sources; nothing is downloaded.
With ``SETVEIL_WHEEL_PYTHONS=3.12,3.13`` the wheel is also installed into empty environments of these interpreters, with
all it needs from the package index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSIONS = [version for version in os.environ.get("SETVEIL_WHEEL_PYTHONS", "").split(",") if version]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


def test_what_is_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        metadata = content.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert "setveil/py.typed" in names and "setveil/cli/topics/threat-model.md" in names
    assert any(name.endswith("report.html.j2") for name in names) and any(name.endswith("style.css") for name in names)
    assert not [name for name in names if name.split("/")[0] not in ("setveil", names[-1].split("/")[0])]
    assert not [name for name in names if "__pycache__" in name or name.endswith((".nbi", ".nbc", ".jinja"))]
    assert "Author: setveil contributors" in metadata
    for extra in ("docs", "experiments", "sklearn", "spark", "ui"):
        assert f"Provides-Extra: {extra}" in metadata
    assert wheel.stat().st_size < 2_000_000


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*command, str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def release_a_frame(clean: Path, folder: Path) -> None:
    """As the page on frames does it; without compiling, which the tests of the kernels do."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["NUMBA_DISABLE_JIT"] = "1"
    script = (
        "import pandas as pd, setveil as sv, sys\n"
        f"assert sv.__file__.startswith({str(clean)!r}), sv.__file__\n"
        "frame = pd.DataFrame({'customer': [1, 1, 2, 2, 3, 3, 4, 4], 'product': list('abacbcab')})\n"
        "release = sv.anonymize(frame, 'km', k=2, m=2, algorithm='aa', hierarchy='fanout:2')\n"
        "assert sv.verify(release, 'km', k=2, m=2)\n"
        "release.publish('out')\n"
    )
    python = [str(clean / "bin" / "python"), "-c", script]
    done = subprocess.run(python, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    command = [str(clean / "bin" / "setveil"), "verify", "out"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_from_the_wheel_to_a_verified_release_of_a_frame(clean: Path, tmp_path: Path) -> None:
    release_a_frame(clean, tmp_path)


if VERSIONS:

    @pytest.mark.parametrize("version", VERSIONS)
    def test_in_an_empty_environment_of(version: str, wheel: Path, tmp_path: Path) -> None:
        subprocess.run([f"python{version}", "-m", "venv", str(tmp_path / "empty")], check=True)
        pip = [str(tmp_path / "empty" / "bin" / "python"), "-m", "pip", "install", "--quiet", "-c", "constraints.txt"]
        done = subprocess.run([*pip, str(wheel), "pandas"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        release_a_frame(tmp_path / "empty", tmp_path)
