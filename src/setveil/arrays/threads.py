"""Work on parts of the data in several threads.

Compiled loops run without the GIL, so threads are enough. Results come in the order of the parts, whatever the number
of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from concurrent.futures import Future

Part = TypeVar("Part")
Result = TypeVar("Result")

AT_ONCE = 1 << 20  # occurrences in a slice of records: a fraction of a second


def available_threads() -> int:
    """Processors this process may use; ``NUMBA_NUM_THREADS`` lowers it, as for parallel kernels."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(available, int(wanted)) if wanted.isdigit() and int(wanted) > 0 else available


def map_in_order(work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """``work`` applied to each part, results in the order of the parts.

    A few parts are begun ahead, no more, so that an endless supply of them costs no memory. What goes wrong first in
    the order of the parts is passed on, the supply of further parts included; parts that have not started are skipped.
    """

    def do(one: tuple[Any, Exception | None]) -> Result:
        part, problem = one
        if problem is not None:
            raise problem
        return work(part)

    supply = _with_problem(parts)
    n_threads = available_threads()
    few = [one for _, one in zip(range(2), supply, strict=False)]
    if n_threads < 2 or len(few) < 2:
        yield from map(do, chain(few, supply))
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(n_threads)
    begun: deque[Future[Result]] = deque()
    try:
        for one in chain(few, supply):
            begun.append(pool.submit(do, one))
            if len(begun) > n_threads + 1:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _with_problem(parts: Iterable[Any]) -> Iterator[tuple[Any, Exception | None]]:
    """The parts, and behind them what goes wrong with their supply, if something does."""
    try:
        for part in parts:
            yield part, None
    except Exception as problem:
        yield None, problem


def slices_of(indptr: NDArray[np.int64], at_once: int = AT_ONCE) -> list[tuple[int, int]]:
    """Runs of rows with about ``at_once`` occurrences each: the same ones whatever the number of threads."""
    n_rows = len(indptr) - 1
    marks = np.searchsorted(indptr, np.arange(0, int(indptr[-1]), at_once))
    bounds = np.unique(np.concatenate((marks, [0, n_rows]))).tolist()
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def for_slices(
    work: Callable[[int, int], Any], slices: Sequence[tuple[int, int]], tell: Callable[[float], None] | None = None
) -> None:
    """Call ``work(first, last)`` for every slice, and ``tell`` with the share that is done."""
    for number, _ in enumerate(map_in_order(lambda bounds: work(*bounds), slices)):
        if tell is not None:
            tell((number + 1) / len(slices))
