"""Frequent itemsets and rules of a release from which entries were left out, through the command."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run


def count_itemsets(records: Iterable[Iterable[str]]) -> Counter[tuple[str, ...]]:
    return Counter(
        itemset for record in records for size in range(1, 5) for itemset in combinations(sorted(record), size)
    )


def test_what_survives_at_several_thresholds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = sv.generate("quest", D=300, T=5, I=3, N=30, L=20, seed=5)
    lists = data.to_lists()
    (tmp_path / "baskets.txt").write_text("".join(",".join(row) + "\n" for row in lists))
    release = sv.anonymize(lists, sv.KmAnonymity(k=5, m=2), algorithm="trim")
    shown = release.transactions()
    release.publish(tmp_path / "out")
    files = (str(tmp_path / "baskets.txt"), str(tmp_path / "out"))
    asked = ("measure", *files, "--format", "basket", "--patterns", "10,3")
    assert _run([*asked, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["patterns"]["itemsets"]
    for share in (0.1, 0.03):
        original, left = (
            {itemset for itemset, n in count_itemsets(records).items() if n >= share * len(lists)}
            for records in (lists, shown)
        )
        row = next(row for row in rows if row["view"] == "items" and row["threshold"] == share)
        assert (row["n_original"], row["n_release"]) == (len(original), len(left))
        assert row["precision"] == 1  # counts are never too high
        assert row["recall"] == pytest.approx(len(left) / len(original))
    assert _run(list(asked)) == 0
    assert "Rules with a confidence" in capsys.readouterr().out
