"""The models and the algorithms as tables."""

from __future__ import annotations

from typing import Any

from setveil.algorithms import ENTRIES, Entry
from setveil.core.tables import Tabular, html_of_rows, text_of_rows
from setveil.models import MODELS, PrivacyModel, declared


class Models(tuple[type[PrivacyModel], ...], Tabular):
    """The classes of all privacy models; prints as a table, and can be filtered or turned into a frame."""

    __slots__ = ()

    def records(self) -> list[dict[str, Any]]:
        """A row per model."""
        return [
            {"name": kind.name, "title": kind.title, "class": kind.__name__, "parameters": tuple(declared(kind))}
            for kind in self
        ]

    def __repr__(self) -> str:
        return text_of_rows(self.records())

    def _repr_html_(self) -> str:
        return html_of_rows("Privacy models", self.records())


def models() -> Models:
    """Every privacy model: those of setveil, then those of other packages.

    Returns:
        Their classes, each with ``name``, ``title`` and ``example``.

    Examples:
        >>> import setveil as sv
        >>> [model.name for model in sv.models()][:2]
        ['km', 'degree']
        >>> sv.models().filter(name="km")["class"]
        ['KmAnonymity']
    """
    return Models(MODELS.values())


class Algorithms(tuple[Entry, ...], Tabular):
    """The entries of all algorithms; prints as a table, and can be filtered or turned into a frame."""

    __slots__ = ()

    def records(self) -> list[dict[str, Any]]:
        """A row per algorithm."""
        names = ("name", "models", "tier", "paper", "scales", "hierarchy", "release", "guessable", "summary")
        return [{name: getattr(entry, name) for name in names} for entry in self]

    def __repr__(self) -> str:
        return text_of_rows(
            [{name: row[name] for name in ("name", "models", "tier", "paper")} for row in self.records()]
        )

    def _repr_html_(self) -> str:
        return html_of_rows("Algorithms", self.records())


def algorithms() -> Algorithms:
    """Every algorithm, in the order of the registry.

    The first one for a model is its default. For k^m-anonymity several are tried, and the one with the lowest loss is
    used.

    Returns:
        Entries with ``name``, ``models``, ``tier`` (recommended, from a paper, or baseline), ``paper``, ``scales``,
        ``hierarchy`` and ``summary``. Together they are a table: ``to_pandas()``, ``filter(models="km")``.

    Examples:
        >>> import setveil as sv
        >>> "aa" in [entry.name for entry in sv.algorithms()]
        True
        >>> sv.algorithms().filter(tier="baseline")["name"]
        ['random']
    """
    return Algorithms(ENTRIES)
