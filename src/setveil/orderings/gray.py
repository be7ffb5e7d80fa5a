"""Gray order: records sorted by the rank of their items' bit pattern in the reflected Gray code.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, section 5.2.

No bit pattern is ever written out. On a sparse row with bits ``p1 < p2 < …`` (0 the most significant) the order is
lexicographic on ``(-p1, +p2, -p3, …)``, ended by -∞ after an even and by +∞ after an odd number of items.
Cost: sorting the rows; memory a few times that of the data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.core import Dataset, Transactions
from setveil.core.row_order import sort_rows
from setveil.errors import InputError


def gray_order(data: Transactions, bits: str | ArrayLike = "frequency") -> NDArray[np.int64]:
    """Record numbers in Gray order, int64[n_records]; equal records keep their order.

    ``bits``: which item is the most significant bit: ``"frequency"`` (the most frequent, ties by item number), ``"id"``
    (the first in ascending order), or a rank per item, 0 for the most significant.
    """
    return gray_orders(data, [bits])[0]


def gray_orders(data: Transactions, several: Sequence[str | ArrayLike]) -> list[NDArray[np.int64]]:
    """The Gray order for each of several ``bits``."""
    from setveil.orderings._loops import pack_codes

    columns = _columns_of(data.indptr, data.items, data.n_items)
    ranks = (bits_of_items(data, bits) for bits in several)
    return [sort_rows(*_encode(data.indptr, columns, rank), data.n_items + 1, pack_codes)[0] for rank in ranks]


def gray_codes(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rank: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows of codes from 0 to the number of items, whose lexicographic order is the Gray order of the given rows."""
    return _encode(indptr, _columns_of(indptr, items, len(rank)), rank)


def _columns_of(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows of each item, as CSR."""
    from setveil.arrays.mining import invert_rows

    return invert_rows(indptr, items, n_items)


def _encode(
    indptr: NDArray[np.int64], columns: tuple[NDArray[np.int64], NDArray[np.int32]], rank: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows of codes behind columns."""
    from setveil.orderings._loops import encode_gray_rows

    codes = np.empty(len(columns[1]) + len(indptr) - 1, dtype=np.int32)
    encode_gray_rows(indptr, *columns, np.argsort(rank), codes)
    return indptr + np.arange(len(indptr)), codes  # every row has grown by its end code


def bits_of_items(data: Dataset, bits: str | ArrayLike) -> NDArray[np.int32]:
    """The bit of each item, int32[n_items], a permutation."""
    if isinstance(bits, str):
        if bits == "id":
            return np.arange(data.n_items, dtype=np.int32)
        if bits != "frequency":
            raise InputError(f'the bit order is "frequency", "id" or a rank per item, not "{bits}".')
        by_rank = np.argsort(-data.supports, kind="stable")
    else:
        given = np.asarray(bits)
        if given.shape != (data.n_items,) or len(np.unique(given)) != data.n_items:
            raise InputError(f"the bit order needs one rank for each of the {data.n_items:,} items, all different.")
        by_rank = np.argsort(given)
    rank = np.empty(data.n_items, dtype=np.int32)
    rank[by_rank] = np.arange(data.n_items, dtype=np.int32)
    return rank
