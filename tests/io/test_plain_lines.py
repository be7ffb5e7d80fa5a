"""The fast reader of groupings: same as JSON on what setveil writes, and never more lenient than JSON on anything
else.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from setveil.errors import InputError
from setveil.io.releases import groups
from setveil.io.releases.plain_lines import split_plain

LABELS = [
    "7",
    "12",
    "305",
    "a",
    "b c",
    "é",
    "12345678",
    "x,y",
    "]}",
    "{",
    "group",
    "items",
    ": [",
    "a label of more than eight bytes",
]


def write(records: list[tuple[int, list[str]]]) -> bytes:
    lines = (json.dumps({"group": group, "items": items}, ensure_ascii=False) for group, items in records)
    return "".join(line + "\n" for line in lines).encode()


def draw(random_: random.Random, labels: list[str]) -> list[tuple[int, list[str]]]:
    return [
        (random_.choice([1, 2, 9, 10, 99, 123456]), random_.sample(labels, random_.randrange(0, 5)))
        for _ in range(random_.randrange(1, 6))
    ]


def parse(chunk: bytes) -> list[tuple[int, list[str]]] | None:
    found = split_plain(chunk)
    if found is None:
        return None
    labels = [label.decode() for label in found.labels.texts()]
    cuts = [0, *np.cumsum(found.lengths).tolist()]
    return [
        (group, labels[start:end]) for group, start, end in zip(found.groups.tolist(), cuts[:-1], cuts[1:], strict=True)
    ]


def test_plain_records_are_read_as_json_reads_them() -> None:
    random_ = random.Random(1)
    for _ in range(500):
        records = draw(random_, LABELS)
        assert parse(write(records)) == records


def test_a_changed_byte_is_left_to_json_or_read_as_json_reads_it() -> None:
    random_ = random.Random(2)
    n_plain = 0
    for _ in range(4000):
        text = bytearray(write(draw(random_, LABELS)))
        for _ in range(random_.randrange(1, 3)):
            place = random_.randrange(len(text))
            kind = random_.randrange(3)
            if kind == 0:
                text[place] = random_.choice(b'{}[]":, \n0129a\\\x01\xff')
            elif kind == 1:
                del text[place]
            else:
                text.insert(place, random_.choice(b'{}[]":, \n0129a\\\x01\xff'))
        try:
            found = parse(bytes(text))
        except UnicodeDecodeError:
            continue
        if found is None:
            continue
        n_plain += 1
        entries = [json.loads(line) for line in bytes(text).decode().splitlines(keepends=True)]
        assert found == [(entry["group"], entry["items"]) for entry in entries]
        assert all(group >= 1 and all(items) for group, items in found)
    assert n_plain > 100


@pytest.mark.parametrize("label", ['a"b', "tab\there", "back\\slash"])
def test_other_labels_are_left_to_json(label: str) -> None:
    assert parse(write([(1, ["a", label])])) is None


def test_files_mix_plain_and_other_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "CHUNK", 40)
    records = [(1, ["a", "b"]), (1, ['a quoted " and long label']), (2, []), (2, ["b", "é"])]
    path = tmp_path / "published.jsonl"
    path.write_bytes(write(records))
    rows, group_of = groups.read_groups(path)
    assert rows.to_lists() == [sorted(items) for _, items in records]
    assert group_of.tolist() == [1, 1, 2, 2]
    path.write_bytes(write(records) + b'{"group": 3, "items": ["a"]\n')
    with pytest.raises(InputError, match=r"published\.jsonl:5: "):
        groups.read_groups(path)
