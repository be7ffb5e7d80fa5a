"""An algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import setveil as sv
from setveil.algorithms.base import Context, option


@dataclass(frozen=True)
class DropRare(sv.Algorithm):
    """Suppress every item that is in too few records."""

    name: ClassVar[str] = "drop-rare"
    models: ClassVar[tuple[str, ...]] = ("frequent",)
    release: ClassVar[str] = "recoding"
    hierarchy: ClassVar[Any] = "none"

    extra: int = option(0, "records that an item must be in beyond the smallest number", least=0)

    def run(self, data: sv.Transactions, model: Any, context: Context) -> sv.Recoding:
        """Each item by itself, or not at all."""
        context.step("drop-rare", 0.0)
        published = np.where(data.supports >= model.least + self.extra, np.arange(data.n_items), -1)
        return sv.Recoding.from_clusters(data, published)
