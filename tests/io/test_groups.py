"""Groupings are read line by line, strictly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setveil.errors import InputError
from setveil.io.releases import groups

RECORDS = [(1, ["a", "b"]), (1, ['a quoted " and long label']), (2, []), (2, ["b", "é"])]
WRITTEN = "".join(json.dumps({"group": group, "items": items}) + "\n" for group, items in RECORDS).encode()


def test_chunks_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "CHUNK", 40)
    path = tmp_path / "published.jsonl"
    path.write_bytes(WRITTEN)
    rows, group_of = groups.read_groups(path)
    assert rows.to_lists() == [sorted(items) for _, items in RECORDS]
    assert group_of.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "line",
    [
        b'{"group": 3, "items": ["a"]',
        b'{"group": 3, "items": ["a"]} {}',
        b'{"group": 0, "items": ["a"]}',
        b'{"group": 3.0, "items": ["a"]}',
        b'{"group": 3, "items": [""]}',
        b'{"group": 3, "items": [7]}',
        b'{"group": 3, "items": "a"}',
        b'{"group": 3, "items": ["\\ud800"]}',
        b'{"group": 3}',
        b"[]",
        b"",
    ],
)
def test_other_lines_are_refused(line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "CHUNK", 40)
    path = tmp_path / "published.jsonl"
    path.write_bytes(WRITTEN + line + b"\n")
    with pytest.raises(InputError, match=r"published\.jsonl:5: "):
        groups.read_groups(path)
