"""Privacy models: what a release guarantees. ``registry`` lists them."""

from setveil.models.base import Attacker, PrivacyModel
from setveil.models.coherence import Coherence
from setveil.models.constraint_anonymity import ConstraintAnonymity
from setveil.models.counts import Counts
from setveil.models.k_anonymity import KAnonymity
from setveil.models.kkm_anonymity import KKmAnonymity
from setveil.models.km_anonymity import KmAnonymity
from setveil.models.parameters import Parameter, declared, parameter
from setveil.models.privacy_degree import PrivacyDegree
from setveil.models.registry import (
    MODELS,
    NUMBERS,
    PARAMETERS,
    as_model,
    certified_model,
    check_written,
    make_model,
    parameters_of,
)
from setveil.models.rule_anonymity import Rule, RuleAnonymity
from setveil.models.uncertainty import Uncertainty

__all__ = [
    "MODELS",
    "NUMBERS",
    "PARAMETERS",
    "Attacker",
    "Coherence",
    "ConstraintAnonymity",
    "Counts",
    "KAnonymity",
    "KKmAnonymity",
    "KmAnonymity",
    "Parameter",
    "PrivacyDegree",
    "PrivacyModel",
    "Rule",
    "RuleAnonymity",
    "Uncertainty",
    "as_model",
    "certified_model",
    "check_written",
    "declared",
    "make_model",
    "parameter",
    "parameters_of",
]
