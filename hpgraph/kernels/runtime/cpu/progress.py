"""Progress of a run: its supersteps, its active vertices, and the rows of its trace; and calls of its compiled loop.

Rows hold the processor's cycles, as Numba's compiled code has no other clock; Python converts them.
"""

import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from hpgraph.kernels.runtime.cpu.kernel import LOOPS as LOOPS
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.work_stealing import GATE, HEAPS, LEADER, LINE
from hpgraph.semiring.intrinsic import instruction

# The first words of the progress, which persists between calls of a kernel: supersteps done, active vertices.
STEP, ACTIVE = range(2)
# Rows of the first trace of a run.
ROWS = 4096


@part
def log(trace, step, direction, active, examined, cycles):
    """Write the row of a superstep, counted from 1."""
    trace[step - 1, 0] = direction
    trace[step - 1, 1] = active
    trace[step - 1, 2] = examined
    trace[step - 1, 3] = cycles


@instruction(lambda: types.int64(), lambda: time.perf_counter_ns())
def cycles(context, builder, signature, args):
    """The processor's cycle counter."""
    counter = builder.module.declare_intrinsic("llvm.readcyclecounter", fnty=ir.FunctionType(ir.IntType(64), []))
    return builder.call(counter, [])


@njit(cache=True)
def now():
    """The cycle counter, for Python."""
    return cycles()


class Clock:
    """Clock and cycle counter, read before a call and after it: they convert a kernel's cycles to nanoseconds."""

    def __init__(self) -> None:
        self.began, self.cycles = time.perf_counter_ns(), now()

    def convert(self, rows: np.ndarray) -> np.ndarray:
        """Trace rows with nanoseconds in the column that holds cycles."""
        rate = (time.perf_counter_ns() - self.began) / max(now() - self.cycles, 1)
        rows[:, 3] = rows[:, 3] * rate
        return rows


def board_words(workers: int) -> int:
    """Number of words of a board for `workers` workers; all are 0 at first."""
    return HEAPS + workers * LINE


class Loop(Clock):
    """Data of a compiled loop over supersteps beside its arguments; it returns when one of its tables is full.

    ``board``: of the workers; ``progress``: its words, kept between the calls; ``tables``: its output, each under the
    word of the progress that counts its rows, the trace among them.
    """

    def __init__(self, workers: int, words: int, tables: dict[int, Any]) -> None:
        self.board, self.progress = np.zeros(board_words(workers), np.int64), np.zeros(words, np.int64)
        self.tables = tables
        super().__init__()

    def goes_on(self, limit: int) -> bool:
        """Whether the loop returned because a table was full, and must be called again with longer tables."""
        progress, tables = self.progress, self.tables
        if not progress[ACTIVE] or progress[STEP] >= limit:
            return False
        full = [word for word, table in tables.items() if progress[word] == len(table)]
        for word in full:
            # Pages are allocated when written: unused rows cost nothing.
            table = tables[word]
            tables[word] = np.empty((8 * len(table), *table.shape[1:]), table.dtype)
            tables[word][: len(table)] = table
        self.board[LEADER] = self.board[GATE] = 0
        return bool(full)

    def rows(self, word: int) -> np.ndarray:
        """The filled rows of a table."""
        return self.tables[word][: self.progress[word]]
