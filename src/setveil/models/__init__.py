"""Privacy models: what a release promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from setveil.errors import InputError
from setveil.models.base import PrivacyModel
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


def as_model(model: PrivacyModel | str, parameters: Mapping[str, Any]) -> PrivacyModel:
    """A model as the library takes it: made already, or its name with its parameters."""
    if isinstance(model, str):
        return make_model(model, parameters)
    if parameters:
        raise InputError(f"{', '.join(parameters)} given beside a model that has its parameters; leave them out.")
    return model


def _is_required(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING and field.default_factory is MISSING


__all__ = [
    "MODELS",
    "Coherence",
    "ConstraintAnonymity",
    "KAnonymity",
    "KmAnonymity",
    "PrivacyDegree",
    "PrivacyModel",
    "as_model",
    "make_model",
]
