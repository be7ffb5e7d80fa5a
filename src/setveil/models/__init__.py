"""Privacy models: what a release promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

from setveil.errors import InputError
from setveil.models.base import Attacker, PrivacyModel
from setveil.models.coherence import Coherence
from setveil.models.constraint_anonymity import ConstraintAnonymity
from setveil.models.k_anonymity import KAnonymity
from setveil.models.km_anonymity import KmAnonymity
from setveil.models.privacy_degree import PrivacyDegree

MODELS: dict[str, type[PrivacyModel]] = {
    model.name: model for model in (KmAnonymity, KAnonymity, ConstraintAnonymity, PrivacyDegree, Coherence)
}


def make_model(name: str, options: Mapping[str, Any]) -> PrivacyModel:
    """A model from its name and parameters (command line, policy, certificate)."""
    if name not in MODELS:
        raise InputError(f'unknown model "{name}"; choose one of {", ".join(MODELS)}.')
    kind = MODELS[name]
    known = {field.name for field in fields(kind)}
    for option in options:
        if option not in known:
            raise InputError(f'model "{name}" has no option "{option}"; it has {", ".join(sorted(known))}.')
    try:
        return kind(**options)
    except TypeError:
        lacking = [field.name for field in fields(kind) if field.name not in options and _is_required(field)]
        raise InputError(f'model "{name}" needs {", ".join(lacking)}.') from None


def certified_model(name: str, options: Mapping[str, Any]) -> tuple[PrivacyModel, bool]:
    """The model a certificate names, and whether lists about the original were left out of it; such lists are empty
    then.
    """
    left_out = MODELS[name].is_about_original if name in MODELS else ()
    if not left_out or any(option in options for option in left_out):
        return make_model(name, options), False
    return make_model(name, {**options, **dict.fromkeys(left_out[:1], ())}), True


def as_model(model: PrivacyModel | str, parameters: Mapping[str, Any]) -> PrivacyModel:
    """A model as the library takes it: made already, or its name with its parameters."""
    if isinstance(model, str):
        return make_model(model, parameters)
    if parameters:
        raise InputError(f"{', '.join(parameters)} given beside a model that has its parameters; leave them out.")
    return model


def is_list(kind: Any) -> bool:
    """Whether a parameter, by its type as written in a policy, holds items or lists of items rather than a number."""
    return any(get_origin(part) is list for part in get_args(kind))


def parameters_of(kind: type[PrivacyModel]) -> dict[str, Any]:
    """The parameters of a model and their types as a policy writes them: lists may be files, numbers need no decimals.

    >>> parameters_of(PrivacyDegree)
    {'p': <class 'int'>, 'sensitive': str | list[str]}
    """
    hints = get_type_hints(kind)
    written = {field.name: _AS_WRITTEN.get(hint := hints[field.name], hint) for field in fields(kind)}
    return {**written, **kind.only_in_policies}


_AS_WRITTEN: dict[Any, Any] = {
    Sequence[str]: str | list[str],
    Sequence[Sequence[str]]: str | list[list[str]],
    Sequence[Sequence[str]] | None: str | list[list[str]],
    float: float | int,
}


def _is_required(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING and field.default_factory is MISSING


PARAMETERS: dict[str, Any] = {name: kind for model in MODELS.values() for name, kind in parameters_of(model).items()}
_ONLY_IN_POLICIES = {name for model in MODELS.values() for name in model.only_in_policies}
NUMBERS = tuple(name for name, kind in PARAMETERS.items() if not is_list(kind) and name not in _ONLY_IN_POLICIES)

__all__ = [
    "MODELS",
    "NUMBERS",
    "PARAMETERS",
    "Attacker",
    "Coherence",
    "ConstraintAnonymity",
    "KAnonymity",
    "KmAnonymity",
    "PrivacyDegree",
    "PrivacyModel",
    "as_model",
    "certified_model",
    "is_list",
    "make_model",
    "parameters_of",
]
