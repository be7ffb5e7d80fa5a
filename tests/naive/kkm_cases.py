"""Small random tables of columns and items, with the odd ones among them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setveil.core import Hierarchy, Transactions
from setveil.core.columns import Column, Columns
from setveil.models import KKmAnonymity


def random_people(random: np.random.Generator, most: int = 40) -> Transactions:
    """People with up to three known columns, some values missing, some with a hierarchy that has further values."""
    n_records, n_items = int(random.integers(1, most)), int(random.integers(1, 7))
    density = random.choice([0.0, 0.2, 0.5])
    data = Transactions.from_lists(
        [[str(item) for item in range(n_items) if random.random() < density] for _ in range(n_records)]
    )
    columns = []
    for number in range(int(random.integers(0, 4))):
        n_values = random.choice([1, 2, 6, n_records])
        cells = [None if random.random() < 0.05 else f"v{random.integers(n_values)}" for _ in range(n_records)]
        column = Column.of(f"c{number}", "known", cells)
        if random.random() < 0.6:
            half = len(column.values) // 2
            paths = [[value, "low" if place < half else "high", "any"] for place, value in enumerate(column.values)]
            column = replace(column, hierarchy=Hierarchy.from_paths([*paths, ["never seen", "high", "any"]]))
        columns.append(column)
    if random.random() < 0.4:
        columns.append(Column.of("secret", "sensitive", [f"s{random.integers(4)}" for _ in range(n_records)]))
    if random.random() < 0.2:
        columns.append(Column.of("note", "carry", [str(number) for number in range(n_records)]))
    return replace(data, columns=Columns(tuple(columns)) if columns else None)


def with_columns(data: Transactions) -> Transactions:
    """The same people with an age, a sex and a region, each of which follows from the place of the record."""
    numbers = range(data.n_records)
    bands = Hierarchy.from_paths([[str(age), f"{age // 20 * 20}+", "any"] for age in range(20, 80)])
    columns = (
        Column.of("age", "known", [str(20 + number * 7 % 60) for number in numbers], bands),
        Column.of("sex", "known", ["fm"[number % 2] for number in numbers]),
        Column.of("region", "known", [None if number % 11 == 0 else "NESW"[number % 3] for number in numbers]),
    )
    return replace(data, columns=Columns(columns))


def random_model(random: np.random.Generator, data: Transactions) -> KKmAnonymity:
    """Any m, sometimes with sensitive items, diversity, or a k that depends on what is known."""
    if random.random() < 0.2:
        return KKmAnonymity(k=2, m=2, k_known="0:5,1:3,2:2")
    has_secret = any(column.role == "sensitive" for column in data.columns or ())
    return KKmAnonymity(
        k=int(random.integers(2, 5)),
        m="all" if random.random() < 0.2 else int(random.integers(4)),
        sensitive=["0"] if random.random() < 0.3 else (),
        l=int(random.integers(1, 4)) if has_secret else 1,
    )
