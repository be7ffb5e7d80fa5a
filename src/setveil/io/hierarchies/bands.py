"""Values that are bands of numbers already, such as ``[70-80)``, ``70-79``, ``<18`` or ``90+``: neighbours are merged.

``bands:x2,x4`` puts two neighbours, then four, in one group. A group is called by where its first band begins and where
its last one ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from setveil.errors import InputError, name_some
from setveil.io.source import one_line

NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
BRACKETS = re.compile(rf"([\[(]) ?{NUMBER} ?(-|–|,|to) ?{NUMBER} ?([\])])")
CLOSED = re.compile(rf"{NUMBER}( ?(?:-|–|to) ?){NUMBER}")
BELOW = re.compile(rf"(<=|<|≤|under|below) ?{NUMBER}")
ABOVE = re.compile(rf"{NUMBER} ?(?:\+|and over|and above|or older|plus)|(>=|>|≥) ?{NUMBER}")
FACTOR = re.compile("x([0-9]{1,4})")


class Band(NamedTuple):
    """From ``low`` up to ``high``; None where it is open. ``shape`` writes a band of the same style."""

    low: Decimal | None
    high: Decimal | None
    is_high_included: bool
    shape: str = "{}-{}"

    @property
    def place(self) -> tuple[Decimal, Decimal]:
        """Neighbours stand side by side in this order."""
        infinite = Decimal("Infinity")
        return (-infinite if self.low is None else self.low), (infinite if self.high is None else self.high)


def band_in(text: str) -> Band | None:
    """A band as people write it; None for anything else. A number alone is no band."""
    text = text.strip()
    if found := BRACKETS.fullmatch(text):
        first, low, dash, high, last = found.groups()
        return _closed(low, high, last == "]", first + "{}" + dash + "{}" + last)
    if found := CLOSED.fullmatch(text):
        return _closed(found[1], found[3], True, "{}" + found[2] + "{}")
    if found := BELOW.fullmatch(text):
        return Band(None, Decimal(found[2]), found[1] in ("<=", "≤"))
    if found := ABOVE.fullmatch(text):
        return Band(Decimal(found[1] or found[3]) + (1 if found[2] == ">" else 0), None, False)
    return None


def _closed(low: str, high: str, is_included: bool, shape: str) -> Band | None:
    return Band(Decimal(low), Decimal(high), is_included, shape) if Decimal(low) < Decimal(high) else None


def refuse_odd(odd: Sequence[str], values: Sequence[str], what: str, place: str) -> None:
    """An error for the values that are not what they should be."""
    if odd:
        raise InputError(
            f"{place}: {len(odd):,} of {len(values):,} values are not {what}, such as "
            f"{name_some(map(one_line, odd), 2)}; correct them, or choose another --column-hierarchy."
        )


def merged_bands(details: str, values: Sequence[str], place: str) -> Mapping[str, list[str]]:
    """The groups of each value, fine to coarse."""
    found = [FACTOR.fullmatch(part.strip()) for part in details.split(",")]
    factors = [int(one[1]) for one in found if one is not None]
    is_growing = all(many > few and not many % few for few, many in zip([1, *factors], factors, strict=False))
    if len(factors) < len(found) or not is_growing:
        raise InputError(
            f'{place}: write how many neighbouring bands are merged as in "bands:x2,x4", each a multiple of the one '
            f'before, not "bands:{one_line(details)}".'
        )
    bands = {value: band for value in values if (band := band_in(value)) is not None}
    odd = [value for value in values if value not in bands]
    refuse_odd(odd, values, "bands like 70-79, <18 or 90+", place)
    ordered = sorted(values, key=lambda value: (bands[value].place, value))
    for one, other in zip(ordered, ordered[1:], strict=False):
        if bands[one].place[1] > bands[other].place[0]:
            raise InputError(
                f"{place}: bands {name_some([one_line(one), one_line(other)])} overlap; correct them, or choose "
                "another --column-hierarchy."
            )
    groups: dict[str, list[str]] = {value: [] for value in values}
    for factor in factors:
        for start in range(0, len(ordered), factor):
            members = ordered[start : start + factor]
            name = _joined([bands[value] for value in members])
            if 1 < len(members) < len(ordered) and name not in (groups[members[0]][-1:] or [""]):
                for value in members:
                    groups[value].append(name)
    return groups


def _joined(bands: Sequence[Band]) -> str:
    """The name of neighbouring bands together."""
    first, last = bands[0], bands[-1]
    if last.high is None:
        return f"{first.low}+"
    if first.low is None:
        return f"{'<=' if last.is_high_included else '<'}{last.high}"
    return next((one.shape for one in bands if one.low is not None), "{}-{}").format(first.low, last.high)
