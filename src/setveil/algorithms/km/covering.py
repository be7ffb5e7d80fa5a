"""Covering programs: the cheapest set of columns that meets every row and respects which column implies which.

    minimize  cost · x,   x[c] ∈ {0, 1}
    where     x[higher] ≤ x[lower]                 for given pairs (taking ``higher`` implies ``lower``)
              x[taken] ≤ x[one] + x[other]         for given triples (taking ``taken`` implies one or the other)
              x[one] + x[other] ≤ 1                for given pairs that exclude each other
              x[c1] + … + (1 - x[d1]) + … ≥ 1      for every row; rows can be added between solutions

HiGHS does the work, in a thread of its own, so that progress can be shown and the run be stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

POLL = 0.1  # seconds between two signs of life
WHOLE = 1e-6  # how far from a whole number a value may be


@dataclass(frozen=True)
class Solution:
    """What the solver knows when it stops."""

    values: NDArray[np.float64] | None  # [n_columns]; None if it was stopped before it had any
    bound: float  # no solution of the rows so far costs less; -inf if nothing is known
    is_complete: bool  # not stopped early

    @property
    def is_whole(self) -> bool:
        """Whether every column is taken or left, none in part."""
        return self.values is not None and bool((np.abs(self.values - np.round(self.values)) < WHOLE).all())


class CoveringProgram:
    """Rows are kept between solutions; each solution starts where the last one ended."""

    def __init__(
        self,
        costs: NDArray[np.int64],
        implied: NDArray[np.int32],
        either: NDArray[np.int32],
        excluded: NDArray[np.int32],
        gap: float,
        most: NDArray[np.int64] | None = None,
        most_nodes: int | None = None,
    ) -> None:
        """``implied`` [n, 2] are pairs (lower, higher), ``either`` [n, 3] triples (one, other, taken), ``excluded``
        [n, 2] pairs; costs are not negative.

        ``most``: how often each column may be taken, once unless given. ``most_nodes``: nodes of the search tree.
        """
        import highspy

        self.n_columns = len(costs)
        self.n_rows = 0
        self._infinity = highspy.kHighsInf
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._stop = Event()
        for name, value in {
            "output_flag": False,
            "threads": 1,  # the same run every time
            "random_seed": 0,
            "mip_rel_gap": gap,
            "mip_abs_gap": 0.5,  # costs are whole numbers
        }.items():
            self._highs.setOptionValue(name, value)
        if most_nodes is not None:
            self._highs.setOptionValue("mip_max_nodes", most_nodes)
        self._highs.cbMipInterrupt.subscribe(self._answer)
        self._highs.cbSimplexInterrupt.subscribe(self._answer)
        n = self.n_columns
        self._columns = np.arange(n, dtype=np.int32)
        self._highs.addVars(n, np.zeros(n), np.ones(n) if most is None else most.astype(np.float64))
        self._highs.changeColsCost(n, self._columns, costs.astype(np.float64))
        self._add_implications(implied)
        self._add_implications(either)
        self.require([(~one, ~other) for one, other in excluded.tolist()])
        self.n_rows = 0

    def require(
        self, rows: Sequence[Sequence[int] | NDArray[np.int32]], least: NDArray[np.int64] | None = None
    ) -> None:
        """Of every row at least one column must be taken, or one given as ``~column`` be left; or at least ``least``
        columns of it be taken.
        """
        if rows:
            starts = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
            columns = np.concatenate([np.asarray(row, dtype=np.int32) for row in rows])
            lower = np.array([1.0 - sum(column < 0 for column in row) for row in rows])
            if least is not None:
                lower = least.astype(np.float64)
            values = np.where(columns < 0, -1.0, 1.0)
            columns = np.where(columns < 0, ~columns, columns)
            self._add_rows(lower, np.full(len(rows), self._infinity), starts, columns, values)
            self.n_rows += len(rows)

    def solve(
        self,
        whole: bool,
        watch: Callable[[], None],
        seconds: float | None = None,
        start: NDArray[np.float64] | None = None,
        branches: int = 0,
    ) -> Solution:
        """The cheapest solution, in whole columns or in parts of them. ``watch`` is called while it works; it may
        raise. ``branches``: nodes of the solver's tree after which it stops; 0: none.
        """
        import highspy

        if not self.n_columns:
            return Solution(np.empty(0), 0.0, True)
        kind = highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous
        self._highs.changeColsIntegrality(self.n_columns, self._columns, np.full(self.n_columns, kind))
        self._highs.setOptionValue("mip_max_nodes", branches or highspy.kHighsIInf)
        if whole and start is not None:
            known = highspy.HighsSolution()
            known.col_value = start.tolist()
            self._highs.setSolution(known)
        self._run(watch, seconds)
        status = self._highs.getModelStatus()
        is_complete = status == highspy.HighsModelStatus.kOptimal
        info = self._highs.getInfo()
        has_values = is_complete or (
            whole and info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        )
        values = np.array(self._highs.getSolution().col_value) if has_values else None
        bound = -np.inf
        if whole:
            bound = float(info.mip_dual_bound)
        elif is_complete:
            bound = float(info.objective_function_value)
        return Solution(values, bound, is_complete)

    def _run(self, watch: Callable[[], None], seconds: float | None) -> None:
        deadline = None if seconds is None else monotonic() + seconds
        self._stop.clear()
        worker = Thread(target=self._highs.run, daemon=True)
        worker.start()
        try:
            worker.join(POLL)
            while worker.is_alive():
                watch()
                if deadline is not None and monotonic() >= deadline:
                    self._stop.set()
                worker.join(POLL)
        finally:  # whoever stops us, the solver must not go on alone
            self._stop.set()
            worker.join()

    def _answer(self, event: Any) -> None:
        event.interrupt(self._stop.is_set())  # said anew each time: HiGHS remembers the last answer

    def _add_implications(self, columns: NDArray[np.int32]) -> None:
        """The last column of each row [n, width] implies one of the others."""
        n, width = columns.shape
        if n:
            starts, values = np.arange(0, width * n + 1, width), np.tile([*[1.0] * (width - 1), -1.0], n)
            self._add_rows(np.zeros(n), np.full(n, self._infinity), starts, columns.ravel(), values)

    def _add_rows(
        self,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        starts: NDArray[np.int64],
        columns: NDArray[np.int32],
        values: NDArray[np.float64],
    ) -> None:
        self._highs.addRows(
            len(lower), lower, upper, len(columns), starts[:-1].astype(np.int32), columns.astype(np.int32), values
        )
