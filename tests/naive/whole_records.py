"""The parts of records that k records show, by sets: the longest common beginnings, then more items one by one."""

from __future__ import annotations

from collections.abc import Sequence


def common_parts(records: Sequence[set[int]], k: int, value: Sequence[float]) -> list[set[int]]:
    """What each record shows."""
    worth = [sum(item in record for record in records) * value[item] for item in range(len(value))]
    rows = [sorted(record, key=lambda item: (-worth[item], item)) for record in records]
    shown = [
        set(row[: max(end for end in range(len(row) + 1) if _share(rows, row[:end]) >= k or not end)]) for row in rows
    ]
    changed = True
    while changed:
        changed = False
        for number, row in enumerate(rows):
            for item in row:
                if item in shown[number]:
                    continue
                others = [one for place, one in enumerate(shown) if place != number and shown[number] | {item} <= one]
                if len(others) >= k - 1:
                    shown[number] = shown[number] | {item}
                    changed = True
    return shown


def _share(rows: Sequence[list[int]], beginning: list[int]) -> int:
    return sum(row[: len(beginning)] == beginning for row in rows)
