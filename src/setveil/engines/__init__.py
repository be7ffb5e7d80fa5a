"""Where the data-sized work runs."""

from setveil.core import Dataset
from setveil.engines.base import Engine
from setveil.engines.local import LocalEngine


def engine_for(data: Dataset) -> Engine:
    """The engine that works where the records are."""
    return data.own_engine() or LocalEngine()


__all__ = ["Engine", "LocalEngine", "engine_for"]
