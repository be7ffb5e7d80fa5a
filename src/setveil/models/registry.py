"""Every privacy model by name: those of setveil, one line each, and those of other packages.

Another package adds a model through an entry point of the group ``setveil.models`` whose value is its class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setveil.errors import InputError, UncheckedError, name_option, one_line
from setveil.models.base import PrivacyModel
from setveil.models.coherence import Coherence
from setveil.models.constraint_anonymity import ConstraintAnonymity
from setveil.models.counts import Counts
from setveil.models.k_anonymity import KAnonymity
from setveil.models.kkm_anonymity import KKmAnonymity
from setveil.models.km_anonymity import KmAnonymity
from setveil.models.parameters import Parameter, declared
from setveil.models.privacy_degree import PrivacyDegree
from setveil.models.rule_anonymity import RuleAnonymity
from setveil.models.uncertainty import Uncertainty
from setveil.plugins import foreign

MODELS: dict[str, type[PrivacyModel]] = {
    model.name: model
    for model in (
        KmAnonymity,
        PrivacyDegree,
        KAnonymity,
        Coherence,
        ConstraintAnonymity,
        Uncertainty,
        RuleAnonymity,
        KKmAnonymity,
        Counts,
        *foreign("models"),
    )
}


def parameters_of(kind: type[PrivacyModel]) -> dict[str, Parameter]:
    """Everything a policy may say about a model, by name."""
    return {**declared(kind), **kind.asked_with}


# By name: the models that have it, each with its own declaration of it.
PARAMETERS: dict[str, dict[str, Parameter]] = {}
for _model in MODELS.values():
    for _parameter in parameters_of(_model).values():
        PARAMETERS.setdefault(_parameter.name, {})[_model.name] = _parameter
        name_option(_parameter.name, " ".join(getattr(_parameter.kind, "words", ())))
NUMBERS = tuple(
    dict.fromkeys(
        parameter.name for model in MODELS.values() for parameter in declared(model).values()
        if not parameter.kind.is_list
    )
)  # fmt: skip


def usual_model(has_known_columns: bool) -> str:
    """The model to begin with, for data with or without known columns."""
    return next(name for name, model in MODELS.items() if model.is_usual and model.suits(has_known_columns))


def make_model(name: str, options: Mapping[str, Any]) -> PrivacyModel:
    """A model from its name and parameters (command line, policy, certificate)."""
    if name not in MODELS:
        raise InputError(f'unknown model "{name}"; choose one of {", ".join(MODELS)}.')
    kind = MODELS[name]
    known = declared(kind)
    for option in options:
        if option not in known:
            raise _unknown(name, option, known)
    options = kind.completed(options)
    missing = [parameter for parameter in known.values() if parameter.is_required and parameter.name not in options]
    if missing:
        needed = " and ".join(f"{one.name} ({one.help[0].lower()}{one.help[1:-1]})" for one in missing)
        raise InputError(f'model "{name}" needs {needed}.')
    return kind(**options)


def _unknown(name: str, option: str, known: Iterable[str]) -> InputError:
    others = ", ".join(PARAMETERS.get(option, ()))
    return InputError(
        f'model "{name}" has no option "{one_line(option)}"; it has {", ".join(sorted(known))}.'
        + (f" Models with it: {others}." if others else "")
    )


def check_written(name: str, options: Mapping[str, Any]) -> None:
    """Refuse what a policy must not say about a model: other parameters, other types, numbers out of range."""
    if name not in MODELS:
        raise InputError(f'unknown model "{one_line(name)}"; choose one of {", ".join(MODELS)}.')
    known = parameters_of(MODELS[name])
    for option, value in options.items():
        if option not in known:
            raise _unknown(name, option, known)
        kind = known[option].kind
        if not (kind.is_list and isinstance(value, str)):  # the name of a file
            kind.check(option, value)


def certified_model(name: str, options: Mapping[str, Any]) -> tuple[PrivacyModel, bool]:
    """The model that a certificate names, and whether its private lists are not published; they are empty then."""
    if name not in MODELS:
        raise UncheckedError(f'model "{name}" is not installed here; install the package that has it.')
    hidden = MODELS[name].private
    if not hidden or any(option in options for option in hidden):
        return make_model(name, options), False
    needed = [one for one in hidden if declared(MODELS[name])[one].is_required]
    return make_model(name, {**options, **dict.fromkeys(needed, ())}), True


def as_model(model: PrivacyModel | str, parameters: Mapping[str, Any]) -> PrivacyModel:
    """A model as the library takes it: an object, or its name with its parameters."""
    if isinstance(model, str):
        return make_model(model, parameters)
    if parameters:
        raise InputError(f"{', '.join(parameters)} given in addition to a model that has its parameters; remove them.")
    return model
