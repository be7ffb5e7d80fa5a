"""Public figures say nothing about anybody: whatever the files leave open, certificate and page leave open, too."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations, combinations_with_replacement
from pathlib import Path

import pytest

import setveil as sv
from setveil.report.words import PUBLIC_METRICS

FILES = ("codebook.csv", "sensitive.csv")


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


# One record more, one fewer, one changed: of every kind of release, with the algorithm and the ask.
KINDS = {
    "recoding": ("km", {"k": 2, "m": 2, "algorithm": "aa", "hierarchy": "fanout:2"}),
    "local-recoding": ("km", {"k": 2, "m": 2, "algorithm": "trim"}),
    "replacement": ("k-anonymity", {"k": 2, "algorithm": "weave"}),
    "grouping": ("degree", {"p": 2, "sensitive": ["s"]}),
}
FOLLOWS = {"files", "digest", "records", "risk", "achieved", "metrics"}  # from the records, and from nothing else


@pytest.mark.parametrize("kind", KINDS)
def test_one_record_changes_nothing_that_does_not_follow_from_the_records(tmp_path: Path, kind: str) -> None:
    """Add, remove or change a record: equal records, equal folders; other records, other figures but equal words."""
    model, asked = KINDS[kind]
    rows = [["a", "b"]] * 4 + [["a"]] * 4 + [["b", "c"]] * 4 + [["a", "c", "s"]]
    changed = [rows[1:], [*rows, ["a", "b", "c"]], [*rows[1:], ["b", "x"]]]
    told, pages, records = [], [], []
    for database in (rows, *changed):
        files, certificate, page = published(tmp_path / "out", sv.anonymize(sv.read(database), model, **asked))
        found = json.loads(certificate)
        assert found["release"]["kind"] == kind
        assert set(found["metrics"]) <= set(PUBLIC_METRICS)
        told.append({key: value for key, value in found.items() if key not in FOLLOWS})
        pages.append((certificate, page))
        records.append(files)
    for one, other in combinations(range(len(told)), 2):
        assert told[one] == told[other], "words, options and flags know nothing of single records"
        if records[one] == records[other]:
            assert pages[one] == pages[other]
    assert len(set(records)) > 1


def test_a_flag_says_what_may_be_missing_not_what_is(tmp_path: Path) -> None:
    """Whether `trim` had to leave anything out cannot be read off the certificate."""
    said = []
    for number, rows in enumerate(([["a", "b"]] * 6, [["a", "b"]] * 6 + [["a", "rare"]])):
        out = sv.anonymize(sv.read(rows), "km", k=3, m=2, algorithm="trim").publish(tmp_path / str(number))
        said.append(json.loads((out / "certificate.json").read_text())["release"]["suppression"])
    assert said == [True, True]


def test_labels_that_do_not_occur_are_not_published(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("s\nroot:x:0:0\nnobody\n")
    data = sv.read([["a"], ["b"], ["a", "s"], ["b"], ["a", "b"]])
    with pytest.warns(sv.SetveilWarning):
        release = sv.anonymize(data, "degree", p=2, sensitive=secrets.read_text().split())
    out = release.publish(tmp_path / "out")
    assert json.loads((out / "certificate.json").read_text())["model"]["options"]["sensitive"] == ["s"]
    assert not any(b"root:x" in file.read_bytes() for file in out.iterdir())


def test_guessable_groups_need_consent_and_say_so(tmp_path: Path) -> None:
    data = sv.read([["a", f"u{n}"] for n in range(20)] + [["a", "b", "s"]])
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
