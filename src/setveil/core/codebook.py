"""What every published label stands for, as a mapping that can be asked both ways."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from setveil.core.deferred import call
from setveil.errors import InputError, one_line

SHOWN = 12  # labels printed


class Codebook(dict[str, list[str]]):
    """Published label → the original items that it covers, sorted; ``''`` only if something is suppressed.

    A dictionary in every respect; it prints as a small table, answers the other way round, and becomes a frame.

    Examples:
        >>> book = Codebook({"dairy": ["cheese", "milk"], "bread": ["bread"]})
        >>> book.published("milk")
        'dairy'
        >>> book["dairy"]
        ['cheese', 'milk']
        >>> book
        Codebook(2 published items for 3 items)
          dairy  cheese, milk
          bread  bread
    """

    @cached_property
    def _labels_of(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for label, items in self.items():
            for item in items:
                found.setdefault(item, []).append(label)
        return found

    def published(self, item: str) -> str:
        """The label published instead of an item; ``''`` if the item is suppressed.

        Raises:
            InputError: the item is not in the codebook, or (local recodings only) several labels can cover it.
        """
        labels = self.all_published(item)
        if len(labels) > 1:
            raise InputError(
                f'"{one_line(item)}" is published under {len(labels)} labels, different from record to record; '
                "all_published(item) lists them."
            )
        return labels[0]

    def all_published(self, item: str) -> tuple[str, ...]:
        """Every label that can cover an item: one, but for local recodings.

        Raises:
            InputError: the item is not in the codebook.
        """
        if item not in self._labels_of:
            raise InputError(f'"{one_line(item)}" is not in the codebook; check the spelling.')
        return tuple(self._labels_of[item])

    def to_polars(self) -> Any:
        """A Polars frame with the columns of ``codebook.csv``: ``published_item`` and ``item``, a row per pair."""
        return call("Codebook.to_polars", self)

    def to_pandas(self) -> Any:
        """The same as a pandas frame."""
        return call("Codebook.to_pandas", self)

    def __repr__(self) -> str:
        n_published = len(self) - ("" in self)
        lines = [f"Codebook({n_published:,} published items for {len(self._labels_of):,} items)"]
        shown = list(self)[:SHOWN]
        width = min(max((len(one_line(label, 30)) for label in shown), default=0), 30)
        for label in shown:
            name = one_line(label, 30) if label else "–"
            lines.append(f"  {name:<{width}}  {_listed(self[label])}")
        if len(self) > len(shown):
            lines.append(f"  … and {len(self) - len(shown):,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [(one_line(label) if label else "(suppressed)", _listed(self[label])) for label in list(self)[:SHOWN]]
        more = "" if len(self) <= SHOWN else f"… and {len(self) - SHOWN:,} more"
        title = f"Codebook: {len(self) - ('' in self):,} published items for {len(self._labels_of):,} items"
        return str(call("card", title, facts=rows, note=more))


def _listed(items: list[str], limit: int = 4) -> str:
    text = ", ".join(one_line(item, 30) for item in items[:limit])
    return text if len(items) <= limit else f"{text} and {len(items) - limit:,} more"
