"""One file per algorithm, named as in its paper; ``registry`` lists them."""

from setveil.algorithms.base import Algorithm, Context, make_algorithm, option, options_of
from setveil.algorithms.registry import ENTRIES, Entry, default_for, find

__all__ = [
    "ENTRIES",
    "Algorithm",
    "Context",
    "Entry",
    "default_for",
    "find",
    "make_algorithm",
    "option",
    "options_of",
]
