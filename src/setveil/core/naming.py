"""Names of published sets of items that have no name of their own.

Such a name must not read like one item: "A00.0 (18 items)" looks like a diagnosis that most of these people do not
have. Small sets show their members, larger ones a number; the codebook lists what is behind each.
"""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 4  # members named; larger sets are numbered
LONGEST = 80  # characters of such a name
JOINED = " or "


def is_shown(members: Sequence[str]) -> bool:
    """Whether a set is small enough to be called by its members."""
    return len(members) <= SHOWN and sum(map(len, members)) + len(JOINED) * (len(members) - 1) <= LONGEST


def name_of_set(members: Sequence[str], size: int, number: int) -> str:
    """``a or b or c``, or ``group 17 of 18 items``; ``number`` tells sets apart that do not show their members.

    ``members``: of a set that is not shown the first few are enough.
    """
    return JOINED.join(members) if is_shown(members) else f"group {number} of {size} items"


def fresh_name(label: str, taken: set[str]) -> str:
    """The label, or its first marked variant that nobody uses."""
    if label not in taken:
        return label
    candidate, count = f"{label} (group)", 2
    while candidate in taken:
        candidate, count = f"{label} (group {count})", count + 1
    return candidate
