"""What another package adds works everywhere: the package of ``tests/plugin`` is installed into a folder of its own and
runs through the command line, policies, comparisons, the page's processes, reports and certificates.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, ClassVar

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context, option

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "plugin"
RECIPE = ROOT / "docs" / "howto" / "extend.md"
ROWS = [["a", f"b{n % 3}", f"c{n % 5}"] for n in range(30)] + [["z"], ["a", "y"]]
SETVEIL = "from setveil.cli.main import main; main()"

Run = Callable[..., CompletedProcess[str]]


def install(package: Path, target: Path) -> None:
    """Install a package by itself into a folder; nothing is downloaded."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options, str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def python(folder: Path, *words: str, packages: Path | None = None) -> CompletedProcess[str]:
    """Run Python in a folder, with the packages installed in another one, or with none."""
    paths = [str(Path(sv.__file__).parents[1]), *([str(packages)] if packages else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the package is installed."""
    target = tmp_path_factory.mktemp("packages")
    install(PACKAGE, target)
    return target


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Path:
    """A folder with data and a release of it, ``out``."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    command = ["anonymize", "data.jsonl", "--model", "frequent", "--least", "2", "-o", "out"]
    done = python(folder, "-c", SETVEIL, *command, packages=packages)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def setveil(place: Path, packages: Path) -> Run:
    """The command line where the package is installed."""
    return lambda *words: python(place, "-c", SETVEIL, *words, packages=packages)


def certificate_of(out: Path) -> dict[str, Any]:
    certificate: dict[str, Any] = json.loads((out / "certificate.json").read_text())
    return certificate


def test_it_is_listed(setveil: Run) -> None:
    done = setveil("algorithms")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^drop-rare +frequent ", done.stdout, re.MULTILINE)
    one = setveil("algorithms", "drop-rare")
    assert "Suppress every item that is in too few records" in one.stdout
    assert "records that an item must be in beyond the smallest number" in one.stdout


def test_its_release_keeps_its_model(place: Path) -> None:
    certificate = certificate_of(place / "out")
    assert certificate["verified"] is True
    assert certificate["model"] == {"name": "frequent", "options": {"least": 2}}
    assert certificate["algorithm"]["name"] == "drop-rare"
    assert certificate["not_protected"][0] == "Attackers who know more than one item of a person."
    published = [json.loads(line) for line in (place / "out" / "published.jsonl").read_text().splitlines()]
    items = {item for record in published for item in (record if isinstance(record, list) else record["items"])}
    assert items == {"a", "b0", "b1", "b2", "c0", "c1", "c2", "c3", "c4"}


def test_a_recipient_and_the_owner_verify_it(setveil: Run) -> None:
    for words in (["verify", "out"], ["verify", "out", "--original", "data.jsonl"]):
        done = setveil(*words, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["holds"] is True


def test_files_that_break_its_model_are_not_verified(setveil: Run) -> None:
    assert setveil("verify", "data.jsonl", "--model", "frequent", "--least", "2").returncode == 1


def test_a_policy_names_it(place: Path, setveil: Run) -> None:
    (place / "policy.toml").write_text(
        'schema = 1\n[model]\nname = "frequent"\nleast = 3\n[algorithm]\nname = "drop-rare"\noptions = {extra = 4}\n'
    )
    done = setveil("anonymize", "data.jsonl", "--policy", "policy.toml", "-o", "by-policy")
    assert done.returncode == 0, done.stderr
    assert certificate_of(place / "by-policy")["model"]["options"] == {"least": 3}
    kept = tomllib.loads((place / "by-policy.internal" / "policy.toml").read_text())
    assert kept["model"] == {"name": "frequent", "least": 3}
    assert kept["algorithm"] == {"name": "drop-rare", "options": {"extra": 4}}
    published = (place / "by-policy" / "published.jsonl").read_text()
    assert '"b0"' in published and '"c0"' not in published  # in 10 and in 6 records, and 7 are needed


def test_what_a_policy_must_not_say_is_an_error(place: Path, setveil: Run) -> None:
    (place / "wrong.toml").write_text('schema = 1\n[model]\nname = "frequent"\nleast = 1\n')
    done = setveil("anonymize", "data.jsonl", "--policy", "wrong.toml", "-o", "wrong")
    assert done.returncode == 2 and "least" in done.stderr and not (place / "wrong").exists()


def test_a_comparison_runs_it_in_its_processes(place: Path, setveil: Run) -> None:
    (place / "grid.toml").write_text(
        'schema = 1\n[[grid]]\nmodel = "frequent"\nleast = [2, 7]\nalgorithm = "drop-rare"\n'
    )
    done = setveil("compare", "data.jsonl", "--grid", "grid.toml", "-o", "compared", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    results = [json.loads(path.read_text()) for path in (place / "compared" / "points").glob("*.json")]
    assert [result["status"] for result in results] == ["ok", "ok"], results
    assert {result["algorithm"] for result in results} == {"drop-rare"}
    assert {result["published_items"] for result in results} == {9, 4}


def test_suggest_works_beside_it(setveil: Run) -> None:
    done = setveil("suggest", "data.jsonl", "--purpose", "internal", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["choices"]


def test_its_metric_is_measured(place: Path, setveil: Run) -> None:
    done = setveil("measure", "data.jsonl", "out", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["toy_kept"] == pytest.approx(9 / 11)
    assert json.loads((place / "out.internal" / "run.json").read_text())["metrics"]["toy_kept"] == pytest.approx(9 / 11)


def test_reports_show_its_metric_by_its_label(place: Path) -> None:
    assert "share of items still published (toy)" in (place / "out.internal" / "report.html").read_text()


def test_certificates_and_reports_name_the_package(place: Path) -> None:
    certificate = certificate_of(place / "out")
    assert certificate["algorithm"] == {"name": "drop-rare", "package": "toyveil"}
    assert "toyveil" in (place / "out" / "report.html").read_text()


def test_without_the_package_it_cannot_be_verified(place: Path) -> None:
    done = python(place, "-c", SETVEIL, "verify", "out", "--json")
    assert done.returncode == 5, done.stdout
    assert json.loads(done.stdout)["holds"] is None


def test_the_page_runs_it(place: Path, packages: Path) -> None:
    """A process of the page reads the data, runs a policy and checks the release."""
    orders = [
        {"task": "read", "given": {"path": "data.jsonl", "name": "data.jsonl", "options": {}}},
        {
            "task": "run",
            "given": {
                "path": "data.jsonl",
                "name": "data.jsonl",
                "policy": {"model": {"name": "frequent", "least": 2}},
                "out": str(place / "page" / "release"),
            },
        },
        {
            "task": "check",
            "given": {"path": str(place / "page" / "release"), "original": None, "options": {}},
        },
    ]
    (place / "page").mkdir()
    (place / "ask.py").write_text(
        "import asyncio, json, sys\n"
        "from setveil.web.children import Child\n"
        "async def ask():\n"
        "    child = Child()\n"
        "    orders = json.load(open('orders.json'))\n"
        "    answers = [(await child.ask(order['task'], order['given']))[0] for order in orders]\n"
        "    await child.end()\n"
        "    print(json.dumps(answers))\n"
        "asyncio.run(ask())\n"
    )
    (place / "orders.json").write_text(json.dumps(orders))
    done = python(place, "ask.py", packages=packages)
    assert done.returncode == 0, done.stderr
    read, ran, checked = json.loads(done.stdout)
    assert read["facts"]["records"] == 32
    assert ran["guarantee"].startswith("Anyone who knows one item of a person matches at least 2 published records")
    assert ran["figures"]["algorithm"] == "drop-rare"
    assert checked["holds"] is True


def test_the_page_offers_it(place: Path, packages: Path) -> None:
    done = python(
        place,
        "-c",
        "import setveil as sv; assert 'frequent' in [model.name for model in sv.models()]",
        packages=packages,
    )
    assert done.returncode == 0, done.stderr


def test_one_that_cannot_be_loaded_is_one_line_that_names_it(place: Path, tmp_path: Path) -> None:
    (tmp_path / "brokenveil-1.0.dist-info").mkdir()
    (tmp_path / "brokenveil-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: brokenveil\nVersion: 1.0\n"
    )
    (tmp_path / "brokenveil-1.0.dist-info" / "entry_points.txt").write_text(
        "[setveil.models]\nlost = brokenveil:Lost\n"
    )
    done = python(place, "-c", SETVEIL, "verify", "out", packages=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert 'plug-in "lost" (brokenveil:Lost) cannot be loaded' in line


# -- without a package: classes and objects ---------------------------------------------------------------------------


@dataclass(frozen=True)
class KeepFrequent(sv.Algorithm):
    """Keeps items that are in enough records for themselves; a release of one item per record needs no more."""

    release: ClassVar[str] = "recoding"
    hierarchy: ClassVar[Any] = "none"

    least: int = option(5, "the smallest number of records with an item", least=2)

    def run(self, data: sv.Transactions, model: Any, context: Context) -> sv.Recoding:
        published = np.where(data.supports >= self.least, np.arange(data.n_items), -1)
        return sv.Recoding.from_clusters(data, published)


@pytest.mark.parametrize("algorithm", [KeepFrequent, KeepFrequent()], ids=["class", "object"])
def test_the_library_takes_a_class_or_an_object(algorithm: Any, tmp_path: Path) -> None:
    release = sv.anonymize(ROWS, "km", k=5, m=1, algorithm=algorithm)
    assert release.record is not None and release.record.algorithm == "keepfrequent"
    assert sv.verify(release, "km", k=5, m=1).holds
    release.publish(tmp_path / "out")
    assert sv.verify_folder(tmp_path / "out", ROWS).holds


def test_options_go_with_a_class_and_not_with_an_object() -> None:
    release = sv.anonymize(ROWS, "km", k=2, m=1, algorithm=KeepFrequent, options={"least": 7})
    assert set().union(*release.transactions()) == {"a", "b0", "b1", "b2"}
    with pytest.raises(sv.InputError, match="least given with an algorithm"):
        sv.anonymize(ROWS, "km", k=2, m=1, algorithm=KeepFrequent(), options={"least": 7})


def test_what_does_not_verify_is_not_published(tmp_path: Path) -> None:
    """The verifier decides, whoever made the release."""
    release = sv.anonymize(ROWS, "km", k=5, m=1, algorithm=KeepFrequent(least=2))
    sv.publish(release, tmp_path / "fine")  # every item is in six records or more, or in one
    release = sv.anonymize(ROWS, "km", k=7, m=1, algorithm=KeepFrequent(least=2))
    with pytest.raises(sv.GuaranteeError):
        release.publish(tmp_path / "out")
    assert not (tmp_path / "out").exists()


# -- the recipe -------------------------------------------------------------------------------------------------------

FILE = re.compile(r'^```py title="([a-z/]+\.py)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package that ``docs/howto/extend.md`` describes, installed."""
    folder, target = tmp_path_factory.mktemp("recipe"), tmp_path_factory.mktemp("recipe-packages")
    text = RECIPE.read_text(encoding="utf-8")
    (project,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (folder / "pyproject.toml").write_text(project)
    (folder / "tinyveil").mkdir()
    (folder / "tinyveil" / "__init__.py").touch()
    for name, code in FILE.findall(text):
        (folder / name).write_text(code)
    install(folder, target)
    return target


def test_the_recipe_has_at_most_40_lines_of_code() -> None:
    files = FILE.findall(RECIPE.read_text(encoding="utf-8"))
    assert [name for name, _ in files] == [f"tinyveil/{part}.py" for part in ("model", "algorithm", "format", "metric")]
    assert sum(bool(line.strip()) for _, code in files for line in code.splitlines()) <= 40


def test_the_commands_of_the_recipe_run(recipe: Path, tmp_path: Path) -> None:
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", RECIPE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "baskets.txt").write_bytes((ROOT / "docs" / "examples" / "baskets.txt").read_bytes())
    install_line, *others = commands.splitlines()
    assert install_line == "pip install ./tinyveil" and len(others) == 3
    for command in others:
        done = python(tmp_path, "-c", SETVEIL, *command.split()[1:], packages=recipe)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    certificate = certificate_of(tmp_path / "out")
    assert (certificate["model"]["name"], certificate["algorithm"]["name"]) == ("rare", "suppress-rare")
    assert json.loads((tmp_path / "out.internal" / "run.json").read_text())["metrics"]["n_labels"] > 0


def test_the_format_of_the_recipe_is_read_and_written(recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "data.semi").write_text("a;b\na;b\na;c\n")
    command = ["anonymize", "data.semi", "-o", "out", "--model", "rare", "-k", "2"]
    done = python(tmp_path, "-c", SETVEIL, *command, packages=recipe)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted((tmp_path / "out" / "published.semi").read_text().splitlines()) == ["a", "a;b", "a;b"]
