"""A number per item, as given by the data owner: weights, penalties."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core.text_files import open_text
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, one_line, times


def label_numbers(given: Mapping[str, float] | str | Path, what: str) -> dict[str, float]:
    """From a mapping, or from a CSV file of two columns, item and number; a first line without a number is a header."""
    if isinstance(given, Mapping):
        return {str(label): _number(value, f'{what} of "{label}"') for label, value in given.items()}
    if not isinstance(given, str | Path):
        raise InputError(f"{what} must be a file or a number for each item, not {given!r}.")
    numbers: dict[str, float] = {}
    try:
        with open_text(given) as lines:
            for row in (rows := csv.reader(lines)):
                where = f"{given}:{rows.line_num}"
                if not row:
                    continue
                if len(row) != 2:
                    raise InputError(f"{where}: has {times(len(row), 'field')}; write an item and its {what}.")
                if rows.line_num == 1 and not _is_number(row[1]):
                    continue
                if row[0] in numbers:
                    raise InputError(f'{where}: item "{row[0]}" occurs twice; keep one.')
                numbers[row[0]] = _number(row[1], where)
    except csv.Error as problem:
        raise InputError(f"{given}: {problem}.") from None
    return numbers


def item_values(
    vocabulary: Vocabulary, weights: Mapping[str, float] | str | None, least: float = 0.001, most: float = 1000.0
) -> NDArray[np.float64]:
    """The value of an entry of each item, 1 for items not listed: float64[n_items]."""
    if weights is None:
        return np.ones(len(vocabulary))
    given = label_numbers(weights, "weight")
    strangers = [label for label in given if label not in vocabulary]
    if strangers:
        raise InputError(f'weight of "{strangers[0]}": the data has no such item; check the spelling.')
    for label, weight in given.items():
        if not least <= weight <= most:
            raise InputError(f'weight of "{label}" is {weight:g}; it must be from {least:g} to {most:g}.')
    return np.array([given.get(label, 1.0) for label in vocabulary])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _shown(value: object) -> str:
    return "a number of thousands of digits" if isinstance(value, int) and value.bit_length() > 9999 else repr(value)


def _number(value: object, where: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: {one_line(_shown(value))} is not a number.") from None
    if not number >= 0 or number == float("inf"):
        raise InputError(f"{where}: {one_line(_shown(value))} is negative or too large; write a plain number.")
    return number
