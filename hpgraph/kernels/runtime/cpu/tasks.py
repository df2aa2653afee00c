"""Load balancing for a single call: rows cut into tasks of about equal work, which threads take from one counter.

`hpgraph.kernels.runtime.cpu.schedule` is for matrices that are read many times: it keeps its tasks with the matrix.
"""

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.semiring.atomics import fetch_add
from hpgraph.semiring.stop import is_stopped

# Entries plus rows of one task; with less than two tasks' work one thread does it all.
TASK_ENTRIES = 32768
# A number that no task has.
_NONE = 1 << 62


@part
def next_task(counter, step=1):
    """Dynamic scheduling: the number of the next free task; beyond all tasks once kernels are stopped."""
    return _NONE if is_stopped() else fetch_add(counter, 0, step)


def task_bounds(ends: Any) -> Any:
    """Rows at which tasks begin and end, for about equal work.

    ``ends`` (int64 array, shape (rows + 1,)): entries before each row. Returns int64 array: ascending, from 0 to the
    number of rows; of two elements if one thread should do all.
    """
    rows = len(ends) - 1
    total = int(ends[-1]) + rows
    if total <= 2 * TASK_ENTRIES:
        return np.array([0, rows])
    work = ends + np.arange(rows + 1)
    return np.unique(np.concatenate(([0], np.searchsorted(work, np.arange(TASK_ENTRIES, total, TASK_ENTRIES)), [rows])))
