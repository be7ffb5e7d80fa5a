"""The code systems by their names in ``--hierarchy``; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setveil.io.hierarchies.systems.base import CodeSystem

SYSTEMS = ("atc", "icd9cm", "icd10", "icd10cm")  # modules beside this one; the strictest pattern first


def find_system(name: str) -> CodeSystem:
    """The system of that name, which is one of ``SYSTEMS``."""
    system: CodeSystem = import_module(f"{__package__}.{name}").SYSTEM
    return system
