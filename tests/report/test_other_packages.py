"""What other packages add, as certificates, the verifier and reports name it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import setveil as sv
from setveil.report.certificate import seal, write_json
from setveil.report.words import metric_lines

measuring = import_module("setveil.utility.measure")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [["a", "b"], ["a"], ["b", "a"]] * 4
    return sv.anonymize(rows, sv.KmAnonymity(k=3, m=1), algorithm="pcta").publish(tmp_path / "out")


def rewrite(folder: Path, **changes: object) -> None:
    """The certificate with other fields and a digest that fits."""
    path = folder / "certificate.json"
    write_json(seal({**json.loads(path.read_text()), **changes}), path)


def test_a_model_that_is_not_installed_cannot_be_verified(folder: Path) -> None:
    rewrite(folder, model={"name": "frequent", "options": {"least": 3}}, achieved={"least_frequent": 8})
    answer = sv.verify_folder(folder)
    assert answer.holds is None and not answer.problems
    assert answer.unchecked == ('model "frequent" is not installed here; install the package that has it.',)
    done = subprocess.run(
        [sys.executable, "-c", "from setveil.cli.main import main; main()", "verify", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5, done.stdout + done.stderr
    assert 'cannot be verified: model "frequent" is not installed here' in " ".join(done.stdout.split())


def test_figures_of_an_installed_model_are_known(folder: Path) -> None:
    rewrite(folder, achieved={"least_frequent": 8})
    answer = sv.verify_folder(folder)
    assert answer.holds is False and "there is no figure achieved.least_frequent" in answer.problems[0]


@pytest.mark.parametrize("package", ["setveil", None, "", "a b"])
def test_a_package_is_written_in_one_way(folder: Path, package: object) -> None:
    rewrite(folder, algorithm={"name": "pcta", "package": package})
    answer = sv.verify_folder(folder)
    assert answer.holds is False and "algorithm.package" in answer.problems[0]


def test_figures_of_other_packages_are_shown_with_their_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    family = measuring.Family(f"{__name__}:n_letters", labels={"n_letters": "letters in labels"})
    monkeypatch.setattr(measuring, "FAMILIES", (*measuring.FAMILIES, family))
    release = sv.anonymize([["a", "b"], ["a"]] * 4, sv.KmAnonymity(k=3, m=1), algorithm="pcta")
    metrics = sv.measure([["a", "b"], ["a"]] * 4, release)
    assert metric_lines(metrics)[-1] == ("letters in labels", str(metrics["n_letters"]))


def n_letters(original: sv.Transactions, release: sv.Release) -> dict[str, int]:
    """A metric of another package."""
    return {"n_letters": sum(map(len, release.published.vocabulary))}
