"""From what a policy says to the parameters of a privacy model: files read, patterns expanded."""

from __future__ import annotations

from typing import Any

from setveil.core import Dataset, Hierarchy, Vocabulary
from setveil.errors import InputError
from setveil.models import MODELS, PrivacyModel, declared, make_model
from setveil.models.parameters import Items, Itemsets
from setveil.models.rule_anonymity import Rules
from setveil.policy.constraints import resolve_constraints, resolve_utility
from setveil.policy.rules import resolve_rules
from setveil.policy.schema import ModelSection, Policy
from setveil.policy.selection import BY_COMMAS, ONE_PER_LINE, read_items, refuse_file_names, select_items


def model_of(policy: Policy, data: Dataset, hierarchy: Hierarchy | None) -> PrivacyModel:
    """The privacy model a policy asks for, about these data."""
    return make_model(policy.model.name, _parameters(policy.model, data.vocabulary, hierarchy))


def _parameters(section: ModelSection, vocabulary: Vocabulary, hierarchy: Hierarchy | None) -> dict[str, Any]:
    options = section.given()
    for name, parameter in declared(MODELS[section.name]).items():
        kind, value, rest = parameter.kind, options.get(name), options.pop(f"{name}_rest", None)
        if value is None:
            if rest is not None:
                raise InputError(f"{name}_rest is about items in no {name} group; set {name} as well.")
        elif isinstance(kind, Itemsets) and kind.are_groups:
            options[name] = resolve_utility(value, vocabulary, hierarchy, rest)
        elif isinstance(kind, Itemsets):
            options[name] = resolve_constraints(value, vocabulary, hierarchy)
        elif isinstance(kind, Rules):
            options[name] = resolve_rules(value, vocabulary, hierarchy)
        elif isinstance(kind, Items):
            if is_file := isinstance(value, str):
                value = read_items(value)
            else:
                refuse_file_names(value, vocabulary, name)
            options[name] = select_items(value, vocabulary, hierarchy, ONE_PER_LINE if is_file else BY_COMMAS)
    return options
