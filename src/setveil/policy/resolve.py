"""From what a policy says to the parameters of a privacy model: files read, patterns expanded."""

from __future__ import annotations

from typing import Any

from setveil.core import Hierarchy, Vocabulary
from setveil.policy.schema import ModelSection
from setveil.policy.selection import read_items, select_items

_PLAIN = ("k", "m", "l", "p", "h", "max_suppressed")


def resolve_model(section: ModelSection, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> dict[str, Any]:
    """The model's parameters, ready for ``make_model``."""
    options = {name: getattr(section, name) for name in _PLAIN if getattr(section, name) is not None}
    if section.sensitive is not None:
        patterns = read_items(section.sensitive) if isinstance(section.sensitive, str) else section.sensitive
        options["sensitive"] = select_items(patterns, vocabulary, hierarchy)
    return options
