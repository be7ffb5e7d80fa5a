# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Hash tables for compiled loops: int64[2^bits, 2], a key of at least 0 and a number in each row, or ``FREE``.

Loops enter keys themselves, at ``find_place``; they keep at least a quarter of the rows free. What is found does not
depend on the order of entering.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled

KEY, NUMBER = 0, 1
FREE = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Table = NDArray[np.int64]


def empty_table(at_least: int) -> Table:
    """A hash table of so many rows or up to twice as many, all free."""
    table = np.zeros((1 << max(at_least - 1, 1).bit_length(), 2), dtype=np.int64)
    table[:, KEY] = FREE
    return table


def larger_table(table: Table, at_least: int) -> Table:
    """A table of so many rows at least, with all that is in the other."""
    larger = empty_table(at_least)
    copy_table(table, larger, shift_for(larger))
    return larger


def shift_for(table: Table) -> int:
    """By how much a hash of 64 bits is shifted to the right to fall into a table."""
    return 65 - len(table).bit_length()


@compiled
def find_place(table: Table, shift: int, key: int) -> int:
    """Where a key stands, or the free place where it would."""
    place = np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(shift))
    while table[place, KEY] != key and table[place, KEY] != FREE:
        place = (place + 1) & (len(table) - 1)
    return place


@compiled
def find_number(table: Table, shift: int, key: int) -> int:
    """The number of a key, -1 if the table does not have it."""
    place = find_place(table, shift, key)
    return table[place, NUMBER] if table[place, KEY] != FREE else -1


@compiled
def copy_table(old: Table, new: Table, shift: int) -> None:
    """Enter all rows that are not free into another, empty table."""
    for row in range(len(old)):
        if old[row, KEY] != FREE:
            place = find_place(new, shift, old[row, KEY])
            new[place, KEY], new[place, NUMBER] = old[row, KEY], old[row, NUMBER]
