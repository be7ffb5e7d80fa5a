"""One file per algorithm, named as in its paper; ``registry`` lists them."""

from setveil.algorithms.base import Algorithm, Context, Option, make_algorithm, option, options_of
from setveil.algorithms.registry import (
    ENTRIES,
    PORTFOLIO,
    Entry,
    by_kind,
    default_for,
    entry_of,
    find,
    find_for,
    proposed_for,
    scaling_for,
)

__all__ = [
    "ENTRIES",
    "PORTFOLIO",
    "Algorithm",
    "Context",
    "Entry",
    "Option",
    "by_kind",
    "default_for",
    "entry_of",
    "find",
    "find_for",
    "make_algorithm",
    "option",
    "options_of",
    "proposed_for",
    "scaling_for",
]
