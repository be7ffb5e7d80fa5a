"""Public figures say nothing about anybody: whatever the files leave open, certificate and page leave open, too."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.report.words import PUBLIC_METRICS

FILES = ("codebook.csv", "sensitive.csv", "item_counts.csv")


def published(folder: Path, release: sv.Release) -> tuple[bytes, bytes, bytes]:
    """The records with what belongs to them, the certificate, the page."""
    out = release.publish(folder, force=True)
    certificate = (out / "certificate.json").read_bytes()
    records = (out / json.loads(certificate)["release"]["published"]).read_bytes()
    rest = b"".join((out / name).read_bytes() for name in FILES if (out / name).exists())
    return records + rest, certificate, (out / "report.html").read_bytes()


def test_databases_that_fit_the_records_fit_the_certificate(tmp_path: Path) -> None:
    """Every way to give a sensitive item to two of eight people: equal files, equal certificates and pages."""
    public = [["a", "u1"], ["a", "u2"], ["b", "u3"], ["b", "u4"], ["a", "u5"], ["b", "u6"], ["a", "u7"], ["b", "u8"]]
    seen: dict[bytes, set[tuple[bytes, bytes]]] = defaultdict(set)
    n_databases: dict[bytes, int] = defaultdict(int)
    for holders in combinations(range(8), 2):
        data = sv.read([[*row, "s"] if number in holders else row for number, row in enumerate(public)])
        files, *rest = published(tmp_path / "out", sv.anonymize(data, "degree", p=2, sensitive=["s"]))
        seen[files].add((rest[0], rest[1]))
        n_databases[files] += 1
    assert max(n_databases.values()) >= 4, "the files leave several databases open"
    assert all(len(different) == 1 for different in seen.values())


ENUMERATED = {
    "generalized": ("km", {"k": 2, "m": 2, "algorithm": "aa", "hierarchy": "fanout:2"}),
    "trimmed": ("km", {"k": 2, "m": 2, "algorithm": "trim"}),
    "the best of several": ("km", {"k": 2, "m": 2, "hierarchy": "fanout:2"}),
    "suppressed": ("km", {"k": 2, "m": 2, "algorithm": "mhghs", "hierarchy": "fanout:2"}),
    "classes": ("k-anonymity", {"k": 2, "algorithm": "weave"}),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", ENUMERATED)
def test_every_small_database_that_fits_the_records_fits_the_certificate(tmp_path: Path, kind: str) -> None:
    """Four people with any of three records, and a fifth: equal files, equal certificates and pages."""
    model, asked = ENUMERATED[kind]
    seen: dict[bytes, set[tuple[bytes, bytes]]] = defaultdict(set)
    n_databases: dict[bytes, int] = defaultdict(int)
    for rows in combinations_with_replacement((["a"], ["a", "b"], ["a", "c"]), 4):
        try:
            files, *rest = published(tmp_path / "out", sv.anonymize(sv.read([*rows, ["a", "b", "c"]]), model, **asked))
        except sv.InfeasibleError:
            continue
        seen[files].add((rest[0], rest[1]))
        n_databases[files] += 1
    assert max(n_databases.values()) >= 2, "the files leave several databases open"
    assert all(len(different) == 1 for different in seen.values())


@pytest.mark.parametrize("extra", [["x"], ["x", "a"], ["rare"]])
def test_suppressed_items_leave_no_figure(tmp_path: Path, extra: list[str]) -> None:
    """One record changes by an item that is suppressed: its name in the codebook is all that may differ."""
    rows = [["a", "b"]] * 6 + [["a"]] * 5 + [["b", "c"]] * 6
    told = []
    for number, record in enumerate((["a"], ["a", *extra])):
        release = sv.anonymize(sv.read([*rows, record]), "km", k=3, m=2, algorithm="mhghs", hierarchy="fanout:2")
        out = release.publish(tmp_path / str(number))
        certificate = json.loads((out / "certificate.json").read_text())
        assert set(certificate["metrics"]) <= set(PUBLIC_METRICS)
        if (out / "published.jsonl").read_bytes() != (tmp_path / "0" / "published.jsonl").read_bytes():
            return  # the records differ, and figures follow them
        told.append({key: value for key, value in certificate.items() if key not in ("files", "digest")})
    assert told[0] == told[1]


def test_a_flag_says_what_may_be_missing_not_what_is(tmp_path: Path) -> None:
    """Whether `trim` had to leave anything out cannot be read off the certificate."""
    said = []
    for number, rows in enumerate(([["a", "b"]] * 6, [["a", "b"]] * 6 + [["a", "rare"]])):
        out = sv.anonymize(sv.read(rows), "km", k=3, m=2, algorithm="trim").publish(tmp_path / str(number))
        said.append(json.loads((out / "certificate.json").read_text())["release"]["suppression"])
    assert said == [True, True]


# Lists that hold more than the data does: the part that must not be published is the same everywhere.
ROWS = [["a", "b"]] * 4 + [["a"]] * 4 + [["b", "c"]] * 4 + [["a", "c", "s"]]
STRANGERS = ("root:x:0:0", "nobody:x")
LISTS: dict[str, dict[str, Any]] = {
    "degree": {"p": 2, "sensitive": ["s", *STRANGERS]},
    "coherence": {"h": 80, "k": 2, "p": 1, "sensitive": ["b", *STRANGERS]},
    "uncertainty": {"rho": "2/3", "sensitive": ["c", *STRANGERS]},
    "k-anonymity": {"k": 2, "sensitive": ["s", *STRANGERS]},
    "rules": {"k": 2, "c": "1/2", "rules": [(["a"], ["s"]), (["b", "nobody:x"], ["s"]), (["a"], ["root:x:0:0"])]},
    "constraints": {
        "k": 2,
        "constraints": [["a", "b"], ["c", "nobody:x"], ["root:x:0:0"]],
        "utility": [["a", "b", "root:x:0:0"], ["c", "s"], ["nobody:x"]],
        "max_suppressed": 100,
    },
}


@pytest.mark.parametrize("model", LISTS)
def test_labels_that_do_not_occur_are_not_published(tmp_path: Path, model: str) -> None:
    with pytest.warns(sv.SetveilWarning, match="not in the data"):
        release = sv.anonymize(ROWS, model, **LISTS[model])
    out = release.publish(tmp_path / "out", publish_constraints=True)
    assert not [file.name for file in out.iterdir() for label in STRANGERS if label.encode() in file.read_bytes()]
    told = json.loads((out / "certificate.json").read_text())["model"]["options"]
    if model == "constraints":
        assert (told["constraints"], told["utility"]) == ([["a", "b"]], [["a", "b"], ["c", "s"]])
    elif model == "rules":
        assert told["rules"] == [[["a"], ["s"]]]
    else:
        assert len(told["sensitive"]) == 1
    assert sv.verify_folder(out).holds
    assert sv.verify_folder(out, ROWS).holds


def test_a_policy_that_names_somebodys_file_publishes_none_of_its_lines(tmp_path: Path) -> None:
    secret = tmp_path / "passwd"
    secret.write_text("root:x:0:0:root:/root:/bin/bash\nnobody:x:65534\ns\n")
    (tmp_path / "weights.csv").write_text("item,weight\nroot:x,0.3\na,0.2\n")
    policies: list[dict[str, Any]] = [
        {"model": {"name": "degree", "p": 2, "sensitive": str(secret)}},
        {"model": {"name": "k-anonymity", "k": 2, "sensitive": str(secret)}},
        {
            "model": {"name": "constraints", "k": 2, "constraints": [["a", "b"], ["nobody:x:65534"]]},
            "algorithm": {"name": "pcta", "options": {"weights": str(tmp_path / "weights.csv")}},
        },
    ]
    for number, sections in enumerate(policies):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sv.SetveilWarning)
            out = sv.run(sv.Policy.from_dict({"schema": 1, **sections}), ROWS, tmp_path / str(number)).path
        for file in out.iterdir():
            assert not any(word in file.read_bytes() for word in (b"root:x", b"nobody:x", b"passwd", b"weights")), file


def test_nothing_is_named_that_was_left_out_altogether(tmp_path: Path) -> None:
    """All that is sensitive is left out: which labels it had is nobody's business, so that nothing can be promised."""
    release = sv.anonymize([["a"]] * 4 + [["s"], ["s", "t"]], "degree", p=2, sensitive=["s", "t"])
    with pytest.raises(sv.InfeasibleError, match='"s", "t": only records without public items have it'):
        release.publish(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_guessable_groups_need_consent_and_say_so(tmp_path: Path) -> None:
    data = sv.Transactions.from_lists([["a", f"u{n}"] for n in range(20)] + [["a", "b", "s"]])
    release = sv.anonymize(data, "degree", p=2, sensitive=["s"], algorithm="nn")
    with pytest.raises(sv.InputError, match="accept_guessable=True"):
        release.publish(tmp_path / "out")
    out = release.publish(tmp_path / "out", accept_guessable=True)
    told = json.loads((out / "certificate.json").read_text())["not_protected"]
    assert told[0].startswith("Guessing: ") and "%" not in told[0], "no figure for fewer than 1,000 records"
    assert "Guessing: " in (out / "report.html").read_text()
    assert "guesses" in json.loads((tmp_path / "out.internal" / "run.json").read_text())


def test_the_number_of_constraints_is_not_told() -> None:
    few, many = (sv.ConstraintAnonymity(k=2, constraints=[["a"], ["b"], ["c"]][:n]) for n in (1, 3))
    assert few.guarantee() == many.guarantee()
