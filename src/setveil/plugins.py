"""What other packages add: classes and functions behind entry points of the groups ``setveil.models``,
``setveil.algorithms``, ``setveil.formats`` and ``setveil.metrics``.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from setveil.errors import InputError


@cache
def foreign(what: str) -> tuple[Any, ...]:
    """What is registered for ``what``, by name; a plug-in that cannot be loaded is an error that names it."""
    found: dict[str, EntryPoint] = {entry.name: entry for entry in _installed().select(group=f"setveil.{what}")}
    return tuple(_load(found[name]) for name in sorted(found))


@cache
def _installed() -> Any:
    """What all installed packages offer: looked for once, because every package is opened for it."""
    return entry_points()


def package_of(thing: Any) -> str:
    """The package that a class or function comes from."""
    return str(thing.__module__).partition(".")[0]


def _load(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as problem:
        raise InputError(
            f'plug-in "{entry.name}" ({entry.value}) cannot be loaded: {type(problem).__name__}: {problem}; update '
            "or uninstall its package."
        ) from problem
