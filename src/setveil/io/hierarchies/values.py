"""Hierarchies of known columns: bands of numbers, parts of dates, prefixes of codes, or a file.

``bands:5,10,20`` groups numbers into bands of these widths, each a multiple of the one before. Bands begin at multiples
of their width: 30-34, 30-39, 20-39. ``bands:5,10:18..90`` has open ends: one group below 18 and one from 90 on.
Values that are bands already are merged with their neighbours: ``bands:x2,x4``.
``date:month,quarter,year`` groups dates written as 2024-03-31. ``prefix:3,1`` groups codes by their first characters.
``flat`` has no groups: a value is published or suppressed. Anything else is the name of a file, as ARX exports it.
The value "missing" stands directly below the root.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from os import PathLike, fspath

from setveil.core.columns import Column
from setveil.core.hierarchy import Hierarchy
from setveil.core.naming import fresh_name
from setveil.errors import InputError, name_some
from setveil.io.hierarchies.bands import band_in, merged_bands, refuse_odd
from setveil.io.source import one_line

ROOT = "*"
KINDS = ("bands", "date", "prefix", "flat")  # built; anything else is a file
PARTS = ("month", "quarter", "year", "decade")  # of a date, fine to coarse
ISO = re.compile(r"([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?")
OTHER_DATE = re.compile(r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}|[0-9]{4}[./][0-9]{1,2}[./][0-9]{1,2}|[0-9]{8}")
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")

Groups = Callable[[str], Sequence[str]]  # the groups of a value, fine to coarse, without the root


def is_built(source: str) -> bool:
    """Whether the hierarchy of a column is built rather than read from a file."""
    return source.partition(":")[0] in KINDS


def hierarchy_of_values(source: str | PathLike[str], column: Column, where: str) -> Hierarchy | None:
    """The hierarchy of a column; None for ``flat``. A value that it does not cover is an error."""
    text = fspath(source)
    kind, _, details = text.partition(":")
    values = [value for value in column.values if value != column.missing]
    place = f'{where}: column "{one_line(column.name, 40)}"'
    if kind == "flat":
        if details:
            raise InputError(f'{place}: "flat" takes no details; remove them.')
        return None
    if not values:
        return None
    if kind not in KINDS:
        return _from_file(text, column, values, place)
    groups = {"bands": _bands, "date": _dates, "prefix": _prefixes}[kind](details, values, place)
    taken = {*column.values, *(group for value in values for group in groups(value))}
    root = fresh_name(ROOT, taken)
    paths = [[value, *groups(value), root] for value in values]
    if column.missing:
        paths.append([column.missing, root])
    return Hierarchy.from_paths(paths, derived_from_data=True)  # its leaves are the values that occur


def _from_file(file: str, column: Column, values: Sequence[str], place: str) -> Hierarchy:
    from setveil.io.hierarchies.hierarchy_files import read_hierarchy

    if not os.path.exists(file):  # noqa: PTH110 (a text, not yet a path)
        built = ", ".join(f"{kind}:…" for kind in KINDS if kind != "flat")
        raise InputError(f'{place}: "{one_line(file)}" is not a file, nor one of {built} or flat; check the spelling.')
    tree = read_hierarchy(file, vocabulary=column.values)
    known = tree.vocabulary
    lacking = [value for value in values if value not in known]
    if lacking:
        raise InputError(
            f"{place}: {one_line(file, 80)} lacks {len(lacking):,} of {len(values):,} values, as "
            f"{name_some(map(one_line, lacking), 2)}; add them to the hierarchy."
        )
    is_new = bool(column.missing) and column.missing not in known
    return tree.with_items_below_root([column.missing]) if is_new else tree


# -- numbers ----------------------------------------------------------------------------------------------------------


def _bands(details: str, values: Sequence[str], place: str) -> Groups:
    if re.search("x[0-9]", details):
        return merged_bands(details, values, place).__getitem__
    widths_text, _, ends = details.partition(":")
    widths = [number_in(text) for text in widths_text.split(",")]
    low, high = _open_ends(ends, place)
    if not widths or any(width is None or width <= 0 for width in widths):
        raise InputError(f'{place}: write the widths of bands as in "bands:5,10,20", not "bands:{one_line(details)}".')
    steps = [width for width in widths if width is not None]
    if any(wide <= fine or wide % fine for fine, wide in zip(steps, steps[1:], strict=False)):
        raise InputError(f"{place}: bands:{one_line(details)}: every width must be a multiple of the one before it.")
    odd = [value for value in values if number_in(value) is None]
    if odd and all(map(band_in, values)):
        raise InputError(
            f"{place}: the values are bands already, as {name_some(map(one_line, odd), 2)}; merge neighbours with "
            "bands:x2,x4."
        )
    refuse_odd(odd, values, "numbers", place)
    numbers = [number for value in values if (number := number_in(value)) is not None]
    ends_given = [end for end in (low, high) if end is not None]
    are_whole = all(number == number.to_integral_value() for number in (*numbers, *steps, *ends_given))
    is_signed = any(number < 0 for number in numbers)

    def name(start: Decimal, end: Decimal) -> str:
        """From ``start`` up to ``end``, which is not included."""
        if not are_whole:
            return f"{_plain(start)} to <{_plain(end)}"
        last = end - 1
        if start == last:
            return _plain(start)
        return f"{_plain(start)} to {_plain(last)}" if is_signed else f"{_plain(start)}-{_plain(last)}"

    def groups(value: str) -> list[str]:
        number = number_in(value)
        assert number is not None
        if low is not None and number < low:
            return [f"<{_plain(low)}"]
        if high is not None and number >= high:
            return [f"{_plain(high)}+"]
        found = []
        for step in steps:
            start = (number / step).to_integral_value("ROUND_FLOOR") * step
            end = start + step
            found.append(name(start if low is None else max(start, low), end if high is None else min(end, high)))
        return found

    return groups


def _open_ends(text: str, place: str) -> tuple[Decimal | None, Decimal | None]:
    """``18..90``, ``..90`` or ``18..``."""
    if not text:
        return None, None
    first, dots, last = text.partition("..")
    low, high = number_in(first), number_in(last)
    is_wrong = not dots or (first and low is None) or (last and high is None) or (low is None and high is None)
    if is_wrong or (low is not None and high is not None and low >= high):
        raise InputError(f'{place}: write open ends as in "bands:5,10:18..90", not "{one_line(text)}".')
    return low, high


def number_in(text: str) -> Decimal | None:
    """A number as people write it; None for anything else."""
    if not NUMBER.fullmatch(text.strip()) or len(text) > 40:
        return None
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return None


def _plain(number: Decimal) -> str:
    """Without exponent and without zeros at the end."""
    text = format(number, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


# -- dates and codes --------------------------------------------------------------------------------------------------


def _dates(details: str, values: Sequence[str], place: str) -> Groups:
    parts = [part.strip() for part in details.split(",")]
    positions = [PARTS.index(part) if part in PARTS else -1 for part in parts]
    if -1 in positions or positions != sorted(set(positions)):
        raise InputError(
            f'{place}: write the parts of a date from fine to coarse, as in "date:month,quarter,year", not '
            f'"date:{one_line(details)}"; there is {", ".join(PARTS)}.'
        )
    odd = [value for value in values if not _is_date(value)]
    others = [value for value in odd if OTHER_DATE.fullmatch(value)]
    if others and len(odd) < len(values):
        raise InputError(
            f"{place}: dates are written in two styles, as {name_some([_first_date(values), one_line(others[0])])}; "
            "write all like 2024-03-31."
        )
    refuse_odd(odd, values, "dates like 2024-03-31", place)
    days = {bool(found[3]) for value in values if (found := ISO.fullmatch(value.strip()))}
    if len(days) > 1:
        raise InputError(f"{place}: some dates have a day, others only a month; write all in one style.")

    def groups(value: str) -> list[str]:
        found = ISO.fullmatch(value.strip())
        assert found is not None
        year, month = found[1], int(found[2])
        names = {
            "month": f"{year}-{month:02}",
            "quarter": f"{year}-Q{(month + 2) // 3}",
            "year": year,
            "decade": f"{year[:3]}0s",
        }
        return [names[part] for part in parts if not (part == "month" and not found[3])]

    return groups


def _is_date(value: str) -> bool:
    found = ISO.fullmatch(value.strip())
    if found is None:
        return False
    try:
        date(int(found[1]), int(found[2]), int(found[3] or 1))
    except ValueError:
        return False
    return True


def _first_date(values: Sequence[str]) -> str:
    return next(value for value in values if _is_date(value))


def _prefixes(details: str, values: Sequence[str], place: str) -> Groups:
    texts = [text.strip() for text in details.split(",")]
    longest = max(map(len, values))
    if not all(re.fullmatch("[0-9]{1,4}", text) and int(text) > 0 for text in texts):
        raise InputError(f'{place}: write lengths of prefixes as in "prefix:3,1", not "prefix:{one_line(details)}".')
    lengths = sorted({int(text) for text in texts}, reverse=True)
    if lengths[0] >= longest:
        raise InputError(f"{place}: no value is longer than {lengths[0]} characters; choose shorter prefixes.")
    return lambda value: [f"{value[:length]}*" for length in lengths if length < len(value)]
