"""Where the data-sized work runs."""

from setveil.engines.base import Engine
from setveil.engines.local import LocalEngine

__all__ = ["Engine", "LocalEngine"]
