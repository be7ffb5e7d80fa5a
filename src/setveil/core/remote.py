"""Records that are not in this process: their counts are known here, their rows are worked on where they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Transactions
from setveil.errors import InputError

Result = TypeVar("Result")


class RemoteTransactions(Transactions):
    """Transactions with all their counts and none of their rows; whatever asks for rows is refused."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Refused."""
        raise _elsewhere()

    @property
    def items(self) -> NDArray[np.int32]:
        """Refused."""
        raise _elsewhere()

    @abstractmethod
    def sorted_parts(self, part_size: int, encode: Callable[[Transactions], bytes]) -> Iterator[tuple[int, bytes]]:
        """``(number, encode(records))`` of each run of ``part_size`` records in canonical order, in any order."""

    @abstractmethod
    def on_one_worker(self, work: Callable[[Transactions], Result]) -> Result:
        """What ``work`` makes of all records, done where they are by one worker, which has to hold them."""

    def __reduce__(self) -> Any:
        raise _elsewhere()


def _elsewhere() -> InputError:
    return InputError(
        "the records stay on the cluster, and this needs them in one place; use --engine local, or read less data."
    )
