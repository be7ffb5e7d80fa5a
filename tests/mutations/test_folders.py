"""Release folders with bytes changed and every hash set right again: the verifier never calls one good that is not the
release it was.

The oracle is a parser of its own: records and codebook read with the standard library, itemsets counted by looking.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.report.certificate import seal, write_json
from setveil.report.certificate_schema import SCHEMA
from setveil.workflows.recheck import verify_folder

K, M = 3, 2
FILES = ("published.jsonl", "codebook.csv", "report.html")
PIECES = [b"", b" ", b"\n", b"\r", b'"', b",", b"a", b"0", b"\\", b"[", b"{", b"\xe2\x80\xae", b"9" * 20]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fuzzed")
    rows = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["d"], ["d", "a"]] * 3
    sv.anonymize(rows, sv.KmAnonymity(k=K, m=M), "aa", "fanout:2").publish(place / "out")
    return place


def keeps_its_word(folder: Path) -> bool:
    """Whether every occurring pair is in at least K records, by another reader."""
    records = []
    for line in (folder / "published.jsonl").read_bytes().decode().split("\n")[:-1]:
        value = json.loads(line)
        assert list(value) == ["items"]
        assert value["items"] == sorted(set(value["items"]))
        records.append(value["items"])
    book = [*csv.reader(io.StringIO((folder / "codebook.csv").read_bytes().decode(), newline=""))]
    assert {label for label, _ in book[1:]} - {""} == {item for record in records for item in record}
    counts = Counter(itemset for record in records for size in (1, 2) for itemset in combinations(record, size))
    return all(count >= K for count in counts.values())


@given(st.data())
@settings(max_examples=60)
def test_what_holds_keeps_its_word(intact: Path, data: st.DataObject) -> None:
    folder = intact / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(intact / "out", folder)
    file = folder / data.draw(st.sampled_from(FILES))
    content = file.read_bytes()
    for _ in range(data.draw(st.integers(1, 2))):
        start = data.draw(st.integers(0, len(content)))
        end = min(start + data.draw(st.integers(0, 12)), len(content))
        content = content[:start] + data.draw(st.sampled_from(PIECES)) + content[end:]
    file.write_bytes(content)
    certificate = json.loads((folder / "certificate.json").read_text())
    certificate["files"][file.name] = hashlib.sha256(content).hexdigest()
    write_json(seal(certificate), folder / "certificate.json")
    checked = verify_folder(folder)
    assert all("\n" not in line for line in (*checked.problems, *checked.unchecked))
    if checked.holds is not False:
        assert keeps_its_word(folder)


@given(st.data())
@settings(max_examples=60)
def test_changed_certificates_are_refused_in_one_line(intact: Path, data: st.DataObject) -> None:
    folder = intact / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(intact / "out", folder)
    certificate = json.loads((folder / "certificate.json").read_text())
    before = json.dumps(certificate, sort_keys=True)
    part = certificate
    while True:
        key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else list(range(len(part)))))
        if isinstance(part[key], dict | list) and part[key] and data.draw(st.booleans()):
            part = part[key]
            continue
        values: st.SearchStrategy[Any] = (
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
        )
        part[key] = data.draw(values)
        break
    try:
        write_json(seal(certificate), folder / "certificate.json")
    except (ValueError, TypeError):  # no file can hold it
        return
    checked = verify_folder(folder)
    assert all("\n" not in line for line in (*checked.problems, *checked.unchecked))
    told, said = json.loads((folder / "certificate.json").read_text()), json.loads(before)
    for content in (told, said):  # what only the publisher knows, and what makes no difference to these files
        for key in ("algorithm", "metrics", "digest", "not_protected", "setveil", "files"):
            content.pop(key, None)
        if isinstance(content.get("release"), dict):
            content["release"] = {**content["release"], "suppression": None}
    if told != said:
        is_later = isinstance(told.get("schema"), int) and told["schema"] > SCHEMA  # which this version cannot know
        assert checked.holds is (None if is_later else False)
