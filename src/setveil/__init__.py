"""setveil: make transaction data safe to publish, prove it, and show what it cost.

The public names, nothing else. Each is imported when first used, so ``import setveil`` stays light.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.4.0"

if TYPE_CHECKING:
    from setveil.algorithms.base import Algorithm
    from setveil.core import Hierarchy, Transactions
    from setveil.errors import (
        CancelledError,
        GuaranteeError,
        InfeasibleError,
        InputError,
        SetveilError,
        SetveilWarning,
    )
    from setveil.io.hierarchies.hierarchy_files import check_hierarchy
    from setveil.models import (
        Coherence,
        ConstraintAnonymity,
        Counts,
        KAnonymity,
        KKmAnonymity,
        KmAnonymity,
        PrivacyDegree,
        PrivacyModel,
        RuleAnonymity,
        Uncertainty,
    )
    from setveil.policy.schema import Policy
    from setveil.releases import CountTable, Grouping, LocalRecoding, Recoding, Release, Replacement
    from setveil.utility.query import query
    from setveil.verify import Verdict, minimal_violations
    from setveil.workflows.anonymize import anonymize
    from setveil.workflows.assess import attack, measure, risk, verify
    from setveil.workflows.auditing import audit
    from setveil.workflows.compare import compare
    from setveil.workflows.folder import open_release
    from setveil.workflows.inputs import read
    from setveil.workflows.listing import algorithms, models
    from setveil.workflows.pipeline import run
    from setveil.workflows.progress_bars import progress_bar
    from setveil.workflows.publish import publish
    from setveil.workflows.recheck import verify_folder
    from setveil.workflows.roles import roles
    from setveil.workflows.samples import generate
    from setveil.workflows.suggest import suggest

__all__ = [
    "Algorithm",
    "CancelledError",
    "Coherence",
    "ConstraintAnonymity",
    "CountTable",
    "Counts",
    "Grouping",
    "GuaranteeError",
    "Hierarchy",
    "InfeasibleError",
    "InputError",
    "KAnonymity",
    "KKmAnonymity",
    "KmAnonymity",
    "LocalRecoding",
    "Policy",
    "PrivacyDegree",
    "PrivacyModel",
    "Recoding",
    "Release",
    "Replacement",
    "RuleAnonymity",
    "SetveilError",
    "SetveilWarning",
    "Transactions",
    "Uncertainty",
    "Verdict",
    "__version__",
    "algorithms",
    "anonymize",
    "attack",
    "audit",
    "check_hierarchy",
    "compare",
    "generate",
    "measure",
    "minimal_violations",
    "models",
    "open_release",
    "progress_bar",
    "publish",
    "query",
    "read",
    "risk",
    "roles",
    "run",
    "suggest",
    "verify",
    "verify_folder",
]

_ROOMS = {
    "setveil.algorithms.base": "Algorithm",
    "setveil.core": "Hierarchy Transactions",
    "setveil.releases": "CountTable Grouping LocalRecoding Recoding Release Replacement",
    "setveil.workflows.folder": "open_release",
    "setveil.workflows.recheck": "verify_folder",
    "setveil.errors": "CancelledError GuaranteeError InfeasibleError InputError SetveilError SetveilWarning",
    "setveil.io.hierarchies.hierarchy_files": "check_hierarchy",
    "setveil.models": "Coherence ConstraintAnonymity Counts KAnonymity KKmAnonymity KmAnonymity PrivacyDegree "
    "PrivacyModel "
    "RuleAnonymity Uncertainty",
    "setveil.workflows.anonymize": "anonymize",
    "setveil.workflows.assess": "attack measure risk verify",
    "setveil.workflows.auditing": "audit",
    "setveil.workflows.compare": "compare",
    "setveil.workflows.listing": "algorithms models",
    "setveil.workflows.pipeline": "run",
    "setveil.workflows.roles": "roles",
    "setveil.workflows.samples": "generate",
    "setveil.workflows.suggest": "suggest",
    "setveil.workflows.progress_bars": "progress_bar",
    "setveil.workflows.publish": "publish",
    "setveil.workflows.inputs": "read",
    "setveil.policy.schema": "Policy",
    "setveil.utility.query": "query",
    "setveil.verify": "Verdict minimal_violations",
}
_SHARED = ("algorithms", "generate", "models", "risk", "verify")  # functions that are called like rooms
_WHERE = {name: room for room, names in _ROOMS.items() for name in names.split()}


class _Public(ModuleType):
    """Keeps public functions in place: importing the room ``setveil.verify`` must not hide ``setveil.verify(…)``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _WHERE and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """By name, as any other module: functions of a notebook that use ``sv`` are sent to other processes."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Public


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'setveil' has no attribute '{name}'")
    value = getattr(import_module(_WHERE[name]), name)
    if name in _SHARED:  # then `import setveil.algorithms.registry as r` finds the module below the function
        value.__name__ = f"setveil.{name}"
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
