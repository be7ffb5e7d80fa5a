"""One record more, one fewer, one changed: whatever else changes in public follows from the published records.

Nothing is taken on trust: every figure is counted anew in the published files, and what is not counted has to be the
same whatever the records are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.core import Hierarchy
from setveil.report.certificate import seal, write_json
from tests.naive.folders import unexplained

Rows = list[list[str]]
pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")  # the list names what does not occur

PATHS = [[item, group, "any"] for group, items in (("low", "ab"), ("high", "cs"), ("other", "xt")) for item in items]
SMALL: Rows = [["a", "b"]] * 4 + [["a"]] * 4 + [["b", "c"]] * 4 + [["a", "c", "s"]]
SMALLER = [SMALL[1:], [*SMALL[1:], ["b", "x"]], [*SMALL, ["t"]], [*SMALL, ["a", "t"]]]
# 1,200 people, one in sixteen with the sensitive item; 59 more have nothing else, and then 60.
LARGE: Rows = [["a", f"u{number % 40}", *["s"] * (number % 16 == 0)] for number in range(1200)] + [["s"]] * 59
LARGER = [[*LARGE, ["s"]], [*LARGE, ["a", "t"]], [*LARGE, ["a"]]]
KM, DEGREE = {"k": 2, "m": 2}, {"p": 2, "sensitive": ["s", "t", "root:x"]}

# kind: model, options, further arguments, the records and their neighbours
KINDS: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[Rows]]] = {
    "recoding": ("km", KM, {"algorithm": "aa", "hierarchy": Hierarchy.from_paths(PATHS)}, [SMALL, *SMALLER]),
    "local-recoding": ("km", KM, {"algorithm": "trim"}, [SMALL, *SMALLER]),
    "replacement": ("k-anonymity", {"k": 2, "sensitive": [], "l": 1}, {"algorithm": "weave"}, [SMALL, *SMALLER]),
    "coherence": ("coherence", {"h": 60, "k": 2, "p": 2, "sensitive": ["s", "t"]}, {}, [SMALL, *SMALLER]),
    "grouping": ("degree", DEGREE, {}, [SMALL, *SMALLER]),
    "large grouping": ("degree", DEGREE, {}, [LARGE, *LARGER]),
    "guessable grouping": ("degree", DEGREE, {"algorithm": "nn"}, [LARGE, *LARGER]),
}


def publish(folder: Path, kind: str, rows: Rows) -> dict[str, Any]:
    model, options, further, _ = KINDS[kind]
    release = sv.anonymize(sv.read(rows), model, **options, **further)
    out = release.publish(folder, accept_guessable=True)
    certificate: dict[str, Any] = json.loads((out / "certificate.json").read_text())
    return certificate


def paths_of(kind: str) -> list[list[str]] | None:
    return PATHS if kind == "recoding" else None


@pytest.mark.parametrize("kind", KINDS)
def test_what_one_record_changes_follows_from_the_records(tmp_path: Path, kind: str) -> None:
    _, options, _, databases = KINDS[kind]
    told = [publish(tmp_path / str(number), kind, rows) for number, rows in enumerate(databases)]
    assert len({certificate["digest"] for certificate in told}) > 2, "the neighbours differ"
    for number in range(len(told)):
        neighbour = told[number - 1]
        assert unexplained(tmp_path / str(number), options, neighbour, paths_of(kind)) == set(), databases[number][-1]


def test_records_without_public_items_change_nothing(tmp_path: Path) -> None:
    """They are not published, and the certificate does not say how many there were."""
    told = [publish(tmp_path / str(len(rows)), "large grouping", rows) for rows in (LARGE, LARGER[0], LARGE[:-9])]
    assert len({json.dumps(certificate, sort_keys=True) for certificate in told}) == 1


# -- the check can fail ------------------------------------------------------------------------------------------------


def forge(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    """A change of the certificate, with a digest that fits again."""

    def apply(folder: Path) -> None:
        certificate = json.loads((folder / "certificate.json").read_text())
        change(certificate)
        write_json(seal(certificate), folder / "certificate.json")

    return apply


def append(name: str, text: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        with open(folder / name, "a", encoding="utf-8") as file:
            file.write(text)

    return apply


def leave_out_exactly(certificate: dict[str, Any]) -> None:
    certificate["not_protected"][-1] = "Left out: together fewer than 7 per 100 published records."


LEAKS: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "a new figure": (forge(lambda told: told["metrics"].update(suppression_ratio=0.03)), {"metrics"}),
    "a figure of the original": (forge(lambda told: told["metrics"].update(empty_records=1)), {"metrics"}),
    "a new field": (forge(lambda told: told.update(input_records=13)), {"input_records"}),
    "a field in another": (forge(lambda told: told["release"].update(left_out=1)), {"release"}),
    "a flag that depends on the data": (forge(lambda told: told["release"].update(suppression=True)), {"release"}),
    "a label that does not occur": (forge(lambda told: told["model"]["options"]["sensitive"].append("t")), {"model"}),
    "a sentence with a figure": (forge(leave_out_exactly), {"not_protected"}),
    "the digits of a share": (
        forge(lambda told: told["risk"]["after"][0].update(below_k=told["risk"]["after"][0]["below_k"] + 1e-13)),
        {"risk"},
    ),
    "what is really achieved": (forge(lambda told: told["achieved"].update(privacy_degree=7)), {"achieved"}),
    "a name of an item left out": (append("codebook.csv", "hiv,hiv\n"), {"codebook.csv", "files", "digest"}),
    "a word on the page": (append("report.html", "<!-- 13 -->"), {"report.html", "files"}),
    "a blank in the certificate": (append("certificate.json", " "), {"certificate.json"}),
    "a file": (append("order.npy", "3 1 2"), {"names of files", "files"}),
}  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found(tmp_path: Path, leak: str) -> None:
    neighbour = publish(tmp_path / "neighbour", "grouping", SMALL)
    publish(tmp_path / "out", "grouping", SMALLER[0])
    assert not unexplained(tmp_path / "out", DEGREE, neighbour)
    plant, where = LEAKS[leak]
    plant(tmp_path / "out")
    assert unexplained(tmp_path / "out", DEGREE, neighbour) & where
