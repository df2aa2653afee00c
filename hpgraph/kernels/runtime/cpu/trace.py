"""The trace of a run that one compiled call makes whole: called again with more room whenever a trace is full."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from hpgraph.kernels.runtime.cpu.claim import now
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, LEADER

# Supersteps that the first trace has room for.
ROWS = 4096


class Clock:
    """Clock and cycle counter, read before a call and after it: they convert a kernel's cycles to nanoseconds."""

    def __init__(self) -> None:
        self.began, self.cycles = time.perf_counter_ns(), now()

    def convert(self, rows: np.ndarray) -> np.ndarray:
        """Trace rows with nanoseconds in the column that holds cycles."""
        rate = (time.perf_counter_ns() - self.began) / max(now() - self.cycles, 1)
        rows[:, 3] = rows[:, 3] * rate
        return rows


def longer(table: np.ndarray) -> np.ndarray:
    """A table with eight times as many rows. Memory is taken when it is written to: what stays unused costs nothing."""
    found = np.empty((8 * len(table), *table.shape[1:]), table.dtype)
    found[: len(table)] = table
    return found


def whole(run: Callable[[np.ndarray], None], board: np.ndarray, progress: np.ndarray, limit: int) -> np.ndarray:
    """The trace of a run: whenever a trace is full, the kernel is called again with a longer one and goes on."""
    clock = Clock()
    trace = np.empty((ROWS, 4), np.int64)
    run(trace)
    while progress[STEP] == len(trace) < limit and progress[ACTIVE] > 0:
        trace = longer(trace)
        board[LEADER] = board[GATE] = 0
        run(trace)
    return clock.convert(trace[: progress[STEP]])
