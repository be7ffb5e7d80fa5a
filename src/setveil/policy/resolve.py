"""From what a policy says to the parameters of a privacy model: files read, patterns expanded."""

from __future__ import annotations

from typing import Any

from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.models import PrivacyModel, make_model
from setveil.policy.constraints import resolve_constraints, resolve_utility
from setveil.policy.schema import ModelSection, Policy
from setveil.policy.selection import read_items, select_items

_PLAIN = ("k", "m", "l", "p", "h", "max_suppressed")


def model_of(policy: Policy, data: Transactions, hierarchy: Hierarchy | None) -> PrivacyModel:
    """The privacy model a policy asks for, about these data."""
    return make_model(policy.model.name, _parameters(policy.model, data.vocabulary, hierarchy))


def _parameters(section: ModelSection, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> dict[str, Any]:
    options = {name: getattr(section, name) for name in _PLAIN if getattr(section, name) is not None}
    if section.sensitive is not None:
        patterns = read_items(section.sensitive) if isinstance(section.sensitive, str) else section.sensitive
        options["sensitive"] = select_items(patterns, vocabulary, hierarchy)
    if section.constraints is not None:
        options["constraints"] = resolve_constraints(section.constraints, vocabulary, hierarchy)
    if section.utility is not None:
        options["utility"] = resolve_utility(section.utility, vocabulary, hierarchy, section.utility_rest)
    elif section.utility_rest is not None:
        raise InputError("utility_rest says what to do with items in no utility group; give the groups too.")
    return options
