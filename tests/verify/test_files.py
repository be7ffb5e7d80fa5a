"""A release folder against its certificate, and a codebook against the published items."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from setveil.core.regular_files import LARGEST_CERTIFICATE
from setveil.errors import UncheckedError
from setveil.verify import check_codebook, check_files
from setveil.verify.files import certificate_digest

CONTENT = {
    "published.dat": b"1 2\n1 2\n",
    "codebook.csv": b"published_item,item\n1,1\n2,2\n",
    "report.html": "<p>ü</p>".encode(),
}


def certificate(**changes: Any) -> dict[str, Any]:
    files = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}
    body = {"setveil": "0.1.0", "schema": 1, "model": {"name": "km", "options": {"k": 2}}, "files": files, "ü": 0.5}
    body |= changes
    body.setdefault("digest", certificate_digest(body))
    return body


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    for name, content in CONTENT.items():
        (place / name).write_bytes(content)
    write(place, certificate())
    return place


def write(folder: Path, body: Any) -> None:
    text = body if isinstance(body, str) else json.dumps(body, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    (folder / "certificate.json").write_text(text, encoding="utf-8")


def problems_of(folder: Path) -> list[str]:
    found, problems = check_files(folder)
    assert isinstance(found, dict)
    assert all("\n" not in problem and problem.endswith(".") for problem in problems)
    return problems


def test_an_intact_folder(folder: Path) -> None:
    body, problems = check_files(folder)
    assert problems == []
    assert body["model"]["name"] == "km"
    assert check_files(str(folder)) == (body, [])


def test_the_digest_is_that_of_the_canonical_json() -> None:
    body = certificate()
    rest = {key: body[key] for key in body if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert body["digest"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("name", CONTENT)
def test_every_changed_byte_of_a_file_is_named(folder: Path, name: str) -> None:
    for place in range(len(CONTENT[name])):
        changed = bytearray(CONTENT[name])
        changed[place] ^= 1
        (folder / name).write_bytes(changed)
        assert problems_of(folder) == [f"{name}: changed; its SHA-256 is not the one in the certificate."]


def test_every_changed_byte_of_the_certificate_is_caught(folder: Path) -> None:
    path = folder / "certificate.json"
    good = path.read_bytes()
    for place in range(len(good)):
        for change in (good[place] ^ 2, ord(" "), ord("\n")):
            if change != good[place]:
                path.write_bytes(good[:place] + bytes([change]) + good[place + 1 :])
                problems = problems_of(folder)
                assert problems and "certificate.json" in problems[0], (place, change)
    for changed in (good + b" ", good + b"\n", good[:-1], b" " + good, b"\xef\xbb\xbf" + good):
        path.write_bytes(changed)
        assert "certificate.json" in problems_of(folder)[0]


@pytest.mark.parametrize("name", CONTENT)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert problems_of(folder) == [f"{name}: missing; without it a release is not complete."]


def test_extra_files_folders_and_dotfiles_are_named(folder: Path) -> None:
    (folder / "notes.txt").write_text("x")
    (folder / ".hidden").write_text("x")
    (folder / "more").mkdir()
    (folder / "line\nbreak").write_text("x")
    assert problems_of(folder) == [
        ".hidden: an extra file; the certificate does not list it.",
        "line\\nbreak: an extra file; the certificate does not list it.",
        "more: an extra file; the certificate does not list it.",
        "notes.txt: an extra file; the certificate does not list it.",
    ]


def test_what_is_not_a_regular_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(CONTENT["published.dat"])
    (folder / "published.dat").unlink()
    (folder / "published.dat").symlink_to(tmp_path / "elsewhere")
    (folder / "report.html").unlink()
    os.mkfifo(folder / "report.html")  # reading it would wait for ever
    assert problems_of(folder) == [
        "published.dat: cannot be read (not a regular file).",
        "report.html: cannot be read (not a regular file).",
    ]


def test_folders_without_a_certificate(tmp_path: Path, folder: Path) -> None:
    assert problems_of(tmp_path / "nowhere")[0].endswith("nowhere: not a folder.")
    (folder / "certificate.json").unlink()
    assert problems_of(folder) == ["certificate.json: missing; without it a release is not complete."]
    (folder / "certificate.json").mkdir()
    assert problems_of(folder) == ["certificate.json: cannot be read (not a regular file)."]


HOSTILE: list[Any] = [
    "",
    "{",
    "null",
    "[]",
    '"text"',
    "5",
    "NaN",
    '{"a": NaN}',
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": 1}}',
    "[" * 200_000,
    '{"a":' * 200_000,
    '{"a": ' + "9" * 10_000 + "}",
    '{"a": "\\ud800"}',
    {},
    {"digest": 5},
    {"digest": None, "files": None},
    certificate(files=[]),
    certificate(files="published.dat"),
    certificate(files={}),
    certificate(files={"../outside": "0" * 64}),
    certificate(files={"..": "0" * 64}),
    certificate(files={"": "0" * 64}),
    certificate(files={"/etc/hostname": "0" * 64}),
    certificate(files={"a/b": "0" * 64}),
    certificate(files={"a\\b": "0" * 64}),
    certificate(files={"a\0b": "0" * 64}),
    certificate(files={"certificate.json": "0" * 64}),
    certificate(files={"n" * 100_000: "0" * 64}),
    certificate(files={"a\nb": "0" * 64}),
    certificate(files={"published.dat": 5}),
    certificate(files={"published.dat": ["x"]}),
    certificate(files={"published.dat": "short"}),
    certificate(files={"published.dat": "Z" * 64}),
    certificate(digest="0" * 64),
    certificate(digest=["0"]),
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_certificates_give_lines_not_tracebacks(folder: Path, number: int) -> None:
    write(folder, HOSTILE[number])
    problems = problems_of(folder)
    assert problems
    assert all(len(problem) < 400 for problem in problems)


def test_bytes_that_are_no_text_and_sizes_that_are_no_certificate(folder: Path) -> None:
    (folder / "certificate.json").write_bytes(b'{"a": "\xff"}')
    assert "not valid JSON" in problems_of(folder)[0]
    (folder / "certificate.json").write_bytes(b" " * (LARGEST_CERTIFICATE + 1))
    with pytest.raises(UncheckedError, match="which is the limit"):
        problems_of(folder)


def test_many_problems_are_cut_short(folder: Path) -> None:
    write(folder, certificate(files={f"f{number}": "0" * 64 for number in range(5000)}))
    problems = problems_of(folder)
    assert len(problems) == 101
    assert problems[-1].endswith("more problems are not shown.")


# -- codebook -----------------------------------------------------------------------------------------------------

Rows = list[tuple[str, str]]
GOOD: Rows = [("A", "a"), ("A", "b"), ("c", "c"), ("", "d")]


def test_good_codebooks() -> None:
    assert check_codebook(GOOD, ["A", "c"], "recoding") == []
    assert check_codebook([*GOOD, ("a", "a")], ["A", "a", "c"], "local-recoding") == []
    assert check_codebook([("a", "a"), ("b", "b")], ["b", "a"], "replacement") == []
    assert check_codebook([], [], "grouping") == []


@pytest.mark.parametrize(
    ("kind", "rows", "published", "problem"),
    [
        ("recoding", GOOD[:2], ["A", "c"], 'published items without a row: "c"'),
        ("recoding", GOOD, ["A"], 'published items that never occur: "c"'),
        ("recoding", [*GOOD, ("c", "a")], ["A", "c"], 'items with more than one published item: "a"'),
        ("recoding", [*GOOD, ("", "a")], ["A", "c"], 'items with more than one published item: "a"'),
        ("recoding", [*GOOD, GOOD[0]], ["A", "c"], 'items with the same row more than once: "a"'),
        ("recoding", [*GOOD, ("A", "")], ["A", "c"], "1 row without an item; name every original item"),
        ("local-recoding", [*GOOD, GOOD[0]], ["A", "c"], 'items with the same row more than once: "a"'),
        (
            "local-recoding",
            [*GOOD, ("", "a")],
            ["A", "c"],
            'items that are both published and listed as not published: "a"',
        ),
        ("local-recoding", GOOD, ["A", "c", "T"], 'published items without a row: "T"'),
        (
            "replacement",
            [("a", "b")],
            ["a"],
            'in a replacement every item is published under its own name, except these: "b"',
        ),
        (
            "grouping",
            [("a", "a"), ("", "b")],
            ["a"],
            'in a grouping every item is published under its own name, except these: "b"',
        ),
        ("grouping", [("a", "a")], ["a", "b"], 'published items without a row: "b"'),
    ],
)
def test_inconsistent_codebooks(kind: str, rows: Rows, published: list[str], problem: str) -> None:
    assert check_codebook(rows, published, kind) == [f"codebook.csv: {problem}."]


def test_unknown_kind_of_release() -> None:
    assert "no rules" in check_codebook([], [], "blend")[0]
