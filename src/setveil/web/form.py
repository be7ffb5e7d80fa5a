"""The form of a privacy model: its declared parameters, and what was entered for each.

Nothing here names a model or a parameter. A model of another package has its form as soon as it is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import setveil as sv
from setveil.algorithms import PORTFOLIO, Entry
from setveil.errors import SetveilError
from setveil.models import MODELS, Parameter, PrivacyModel, declared, make_model, parameters_of
from setveil.models.parameters import Items, Percentage, Whole
from setveil.workflows.request_checks import refuse_columns

REST = "_rest"  # a word that completes a list of groups is only said together with the list
SENSITIVE = "sensitive"  # the list that suggestions ask for


class Form:
    """The chosen model and what was entered. Numbers belong to their model; lists of items are shared by name."""

    def __init__(self) -> None:
        self.model = next(iter(MODELS))
        self.columns: Sequence[tuple[str, str]] = ()  # beside the items: name and role
        self._values: dict[tuple[str, str], Any] = {}
        self._lists: dict[tuple[str, str], list[Any]] = {}

    @property
    def kind(self) -> type[PrivacyModel]:
        """The class of the chosen model."""
        return MODELS[self.model]

    def suit(self, columns: Sequence[tuple[str, str]]) -> None:
        """Know the columns beside the items, by name and role; a model that does not take them is not chosen."""
        self.columns = columns
        if self.refusal(self.kind):
            taken = [kind for kind in MODELS.values() if not self.refusal(kind)]
            taken.sort(key=lambda kind: not kind.generalizes_columns)  # else they would be published as they are
            self.model = taken[0].name if taken else self.model

    def refusal(self, kind: type[PrivacyModel]) -> str:
        """Why a model cannot be used with the columns; empty where it can."""
        try:
            refuse_columns(make_model(kind.name, kind.example), self.columns)
        except SetveilError as problem:
            return str(problem)
        return ""

    def parameters(self) -> list[Parameter]:
        """Everything that can be entered for the chosen model; plain values come before lists."""
        return sorted(parameters_of(self.kind).values(), key=lambda one: one.kind.is_list or one.name.endswith(REST))

    def value(self, parameter: Parameter) -> Any:
        """A number or word as it was entered, else the value to begin with."""
        return self._values.get((self.model, parameter.name), _first_value(self.kind, parameter))

    def enter(self, name: str, value: Any) -> None:
        """Take a value of the chosen model; what the model does not have is ignored."""
        parameter = parameters_of(self.kind).get(name)
        if parameter is None:
            return
        if parameter.kind.is_list:
            self.listed(parameter)[:] = value
        else:
            whole = isinstance(parameter.kind, Whole) and isinstance(value, float) and value.is_integer()
            self._values[self.model, name] = int(value) if whole else value

    def listed(self, parameter: Parameter) -> list[Any]:
        """The items or itemsets of a list; change it in place."""
        return self._lists.setdefault((parameter.name, type(parameter.kind).__name__), [])

    @property
    def sensitive(self) -> list[str]:
        """The sensitive items, whichever model they were entered for."""
        return self._lists.setdefault((SENSITIVE, Items.__name__), [])

    def options(self) -> dict[str, Any]:
        """What a policy says about the model; empty lists and words that are not set are not said."""
        said: dict[str, Any] = {}
        for parameter in self.parameters():
            value = deepcopy(self.listed(parameter)) if parameter.kind.is_list else self.value(parameter)
            is_said = bool(value) or parameter.is_required if parameter.kind.is_list else value is not None
            if is_said and (not parameter.name.endswith(REST) or parameter.name.removesuffix(REST) in said):
                said[parameter.name] = value
        return said

    def privacy_model(self) -> PrivacyModel:
        """The model as it is set now; InputError where something is missing."""
        own = declared(self.kind)
        return make_model(self.model, {name: value for name, value in self.options().items() if name in own})

    def settled(self) -> dict[str, Any]:
        """What a policy says about the model, with numbers as the model has them: it may have filled some in."""
        said, model = self.options(), self.privacy_model()
        whole = [one.name for one in self.parameters() if isinstance(one.kind, Whole) and one.name in said]
        return {**said, **{name: getattr(model, name) for name in whole if isinstance(getattr(model, name, None), int)}}

    def problem(self) -> str:
        """What is still missing; empty where the model is complete."""
        try:
            self.privacy_model()
        except SetveilError as problem:
            return str(problem)
        return ""

    def state(self) -> dict[str, Any]:
        """Everything entered, as plain values."""
        return {
            "model": self.model,
            "values": [[*key, value] for key, value in self._values.items()],
            "lists": [[*key, value] for key, value in self._lists.items()],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take what ``state`` gave; a model that is no longer installed is not chosen."""
        self.model = state["model"] if state["model"] in MODELS else self.model
        self._values = {(model, name): value for model, name, value in state["values"]}
        self._lists = {(name, kind): value for name, kind, value in state["lists"]}

    def tries_several(self) -> bool:
        """Whether several algorithms are tried where none is named."""
        return self.model in PORTFOLIO

    def algorithms(self) -> list[Entry]:
        """The algorithms that can enforce the chosen model, its default first."""
        return [entry for entry in sv.algorithms() if entry.enforces(self.model)]


def slider_of(parameter: Parameter) -> tuple[int, int]:
    """The range that a slider offers."""
    if parameter.slider is not None:
        return parameter.slider
    if isinstance(parameter.kind, Whole):
        return parameter.kind.least, parameter.kind.most or parameter.kind.least + 20
    return 0, 100


def is_number(parameter: Parameter) -> bool:
    """Whether a number is entered, by slider."""
    return isinstance(parameter.kind, Whole | Percentage)


def _first_value(model: type[PrivacyModel], parameter: Parameter) -> Any:
    """What the form begins with: the model's own, the middle of what a comparison tries, its default or its example."""
    name = parameter.name
    if name in model.start:
        return model.start[name]
    if model.grid.get(name):
        return model.grid[name][len(model.grid[name]) // 2]
    return model.example.get(name) if parameter.is_required else parameter.default
