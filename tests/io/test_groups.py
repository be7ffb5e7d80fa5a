"""Groupings are read line by line, strictly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setveil.errors import InputError
from setveil.io.releases.people import read_people

RECORDS = [(1, ["a", "b"]), (1, ['a quoted " and long label']), (2, []), (2, ["b", "é"])]
WRITTEN = "".join(json.dumps({"group": group, "items": items}) + "\n" for group, items in RECORDS).encode()


def test_records_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "published.jsonl"
    path.write_bytes(WRITTEN)
    rows, group_of = read_people(path, "jsonl", has_groups=True)
    assert rows.to_lists() == [sorted(items) for _, items in RECORDS]
    assert group_of.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "line",
    [
        b'{"group": 3, "items": ["a"]',
        b'{"group": 3, "items": ["a"]} {}',
        b'{"group": 0, "items": ["a"]}',
        b'{"group": 3.0, "items": ["a"]}',
        b'{"group": "3", "items": ["a"]}',
        b'{"group": 3, "items": [""]}',
        b'{"group": 3, "items": [7]}',
        b'{"group": 3, "items": "a"}',
        b'{"group": 3, "items": ["\\ud800"]}',
        b'{"group": 3}',
        b"[]",
        b"",
    ],
)
def test_other_lines_are_refused(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "published.jsonl"
    path.write_bytes(WRITTEN + line + b"\n")
    with pytest.raises(InputError, match=r"published\.jsonl:5: "):
        read_people(path, "jsonl", has_groups=True)
