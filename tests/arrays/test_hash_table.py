"""Hash tables beside dictionaries."""

from __future__ import annotations

import random

import numpy as np

from setveil.arrays.hash_table import FREE, KEY, NUMBER, empty_table, find_number, find_place, larger_table, shift_for


def test_tables_are_what_dictionaries_are() -> None:
    rng = random.Random(1)
    for _ in range(200):
        width = rng.choice((10, 1000, 2**61))
        expected = {rng.randrange(width): rng.randrange(100) for _ in range(rng.randint(0, 60))}
        table = empty_table(rng.choice((0, 1, 4, 64)))
        for n_entered, (key, number) in enumerate(expected.items()):
            if 2 * (n_entered + 1) > len(table):
                table = larger_table(table, 2 * len(table))
            place = find_place(table, shift_for(table), key)
            assert table[place, KEY] == FREE
            table[place, KEY], table[place, NUMBER] = key, number
        for key in [*expected, *(rng.randrange(width) for _ in range(20))]:
            assert find_number(table, shift_for(table), key) == expected.get(key, -1)
        assert dict(table[table[:, KEY] != FREE].tolist()) == expected


def test_sizes_are_powers_of_two() -> None:
    for at_least in (0, 1, 2, 3, 4, 5, 1000, 1024, 1025):
        table = empty_table(at_least)
        assert len(table) >= max(at_least, 2) and len(table) & (len(table) - 1) == 0
        assert len(table) < 2 * max(at_least, 2)
        assert (table[:, KEY] == FREE).all() and table.dtype == np.int64
        assert 0 < shift_for(table) < 64
