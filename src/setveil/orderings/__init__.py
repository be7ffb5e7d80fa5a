"""Orderings put similar records side by side: a function from data to record numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.orderings.gray import gray_order
from setveil.orderings.rcm import rcm_order

ORDERINGS = ("gray", "rcm")  # what an algorithm can be asked for by name


def order_records(
    data: Transactions, name: str, step: Callable[[str, float | None], None] | None = None
) -> NDArray[np.int64]:
    """Record numbers in the named order, int64[n_records]; ``step`` reports how far a long one is."""
    return gray_order(data) if name == "gray" else rcm_order(data, step)


__all__ = ["ORDERINGS", "gray_order", "order_records", "rcm_order"]
