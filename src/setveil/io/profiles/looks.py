"""What the values of a column look like, whatever the column is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from setveil.errors import InputError
from setveil.io.hierarchies.bands import band_in, merged_bands
from setveil.io.hierarchies.values import ISO, OTHER_DATE, number_in
from setveil.io.profiles.cells import CellColumn
from setveil.io.transactions.cells import says_yes_or_no
from setveil.io.transactions.guards import DATE, EMAIL, NAME

EMPTY, CONSTANT, ANSWERS, LISTS, TIME, AGE, WHOLE, MEASURE, ID, LABELS, PEOPLE, TEXT = (
    "empty", "constant", "answers", "lists", "time", "age", "whole", "measure", "id", "labels", "people", "text",
)  # fmt: skip
MOST = 5000  # distinct values looked at, evenly spaced in sorted order
NEARLY_ALL = 0.95  # of them must look so
FEW = 10  # distinct values; fewer say little
OLD, OLDEST = 40, 120  # years: ages of many people reach beyond the first, none beyond the second
LONG_TEXT = 30  # characters
OPAQUE = re.compile(r"(?=.*[0-9])[A-Za-z0-9]{0,12}[-_:/#]?(?:[A-Za-z0-9]+[-_:/]?)*")
SEPARATORS = "|;,"


@dataclass(frozen=True)
class Look:
    """What the values of a column look like."""

    kind: str
    system: str = ""  # the code system, or ``ean``
    evidence: str = ""  # for the code system
    hierarchy: str = ""  # of a known column with these values
    separator: str = ""  # of cells that hold lists


def look_at(column: CellColumn) -> Look:
    """The look of a column; words for "missing" are not looked at."""
    values = column.present
    texts = sorted({text.strip() for text in values.texts})
    if column.holds_lists:
        return Look(LISTS)
    if not texts:
        return Look(EMPTY)
    if len(texts) == 1:
        return Look(CONSTANT)
    some = texts[:: max(len(texts) // MOST, 1)]
    if len(texts) <= 4 and says_yes_or_no(texts):
        return Look(ANSWERS)
    if _share(some, lambda text: bool(DATE.fullmatch(text) or ISO.fullmatch(text) or _is_compact_date(text))):
        return Look(TIME, hierarchy=_date_hierarchy(some))
    numbers = [number_in(text) for text in some]
    if None not in numbers:
        return _of_numbers(some, [number for number in numbers if number is not None])
    if _share(some, band_in):
        return Look(AGE, hierarchy=_merged(texts))
    if (found := _system(texts)) is not None:
        return Look(LABELS, *found)
    separator = _separator(some)
    if separator:
        return Look(LISTS, separator=separator)
    if len(some) >= FEW and _share(some, EMAIL.fullmatch):
        return Look(PEOPLE)
    if len(some) >= FEW and _share(some, NAME.fullmatch) and len(texts) * 1.5 >= int(values.counts.sum()):
        return Look(PEOPLE)
    if sum(map(len, some)) >= LONG_TEXT * len(some) and sum(len(text.split()) for text in some) >= 5 * len(some):
        return Look(TEXT)
    if len(some) >= FEW and _share(some, lambda text: bool(OPAQUE.fullmatch(text)), 0.9):
        return Look(ID, hierarchy=_prefixes(texts))
    return Look(LABELS, hierarchy="flat")


def _share(texts: Sequence[str], test: object, share: float = NEARLY_ALL) -> bool:
    return sum(bool(test(text)) for text in texts) >= share * len(texts)  # type: ignore[operator]


def _is_compact_date(text: str) -> bool:
    match = re.fullmatch(r"(?:19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])", text)
    return match is not None


def _date_hierarchy(texts: Sequence[str]) -> str:
    """Only dates written as 2024-03-31 can be grouped."""
    return "date:month,quarter,year" if all(map(ISO.fullmatch, texts)) and not _are_odd(texts) else ""


def _are_odd(texts: Sequence[str]) -> bool:
    return any(OTHER_DATE.fullmatch(text) for text in texts)


def _of_numbers(texts: Sequence[str], numbers: Sequence[Decimal]) -> Look:
    found = _system(texts)
    if found is not None:
        return Look(LABELS, *found)
    low, high = min(numbers), max(numbers)
    are_whole = all(number == number.to_integral_value() for number in numbers)
    if not are_whole or low < 0:
        return Look(MEASURE, hierarchy=_bands(low, high, are_whole))
    has_zeros = any(len(text) > 1 and text.startswith("0") for text in texts)
    if 2 * FEW <= len(texts) <= OLDEST + 1 and OLD <= high <= OLDEST and not has_zeros and high - low <= 2 * len(texts):
        return Look(AGE, hierarchy="bands:5,10,20")
    is_code = len(texts) >= FEW and len({len(text) for text in texts}) == 1 and (has_zeros or 4 <= len(texts[0]) <= 6)
    return Look(WHOLE, hierarchy=_prefixes(texts) if is_code else _bands(low, high, True))


def _bands(low: Decimal, high: Decimal, are_whole: bool) -> str:
    """Three widths of 1, 2 or 5 times a power of ten: some twenty, ten and four bands."""
    reach = high - low
    if reach <= 0:
        return "flat"
    step = Decimal(1).scaleb((reach / 20).adjusted())
    width = next(step * factor for factor in (1, 2, 5, 10) if reach <= 20 * step * factor)
    width = max(width, Decimal(2)) if are_whole else width
    return "bands:" + ",".join(format((width * factor).normalize(), "f") for factor in (1, 2, 10))


def _merged(texts: Sequence[str]) -> str:
    """Two and four neighbouring bands, where there are more."""
    hierarchy = "bands:" + ",".join(f"x{factor}" for factor in (2, 4) if factor < len(texts))
    try:
        merged_bands(hierarchy.removeprefix("bands:"), texts, "")
    except InputError:  # they overlap, or some are no bands
        return "flat"
    return hierarchy


def _prefixes(texts: Sequence[str]) -> str:
    """``prefix:3,1`` where codes of one length branch there."""
    from setveil.io.hierarchies.codes import shared_lengths

    if len({len(text) for text in texts}) != 1:
        return ""
    lengths = shared_lengths(list(texts), range(1, len(texts[0])))
    return f"prefix:{','.join(map(str, sorted(lengths, reverse=True)[:3]))}" if lengths else ""


def _system(texts: Sequence[str]) -> tuple[str, str] | None:
    from setveil.io.hierarchies.systems.detection import detect_system

    return detect_system(texts)


def _separator(texts: Sequence[str]) -> str:
    """What separates the items of cells that hold lists: the same pieces come in many cells."""
    for separator in SEPARATORS:
        lists = [text for text in texts if separator in text]
        pieces = [piece.strip() for text in texts for piece in text.split(separator)]
        if len(lists) >= max(3, 0.3 * len(texts)) and len(set(pieces)) <= 0.5 * len(pieces):
            return separator
    return ""
