"""What traversals keep count of: a trace row for every superstep, and tallies of workers.

Written out as loops: what Numba makes of slices and sums takes seconds to compile.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Of all that Numba can run in parallel, only the loops that say so.
LOOPS = {
    "comprehension": False, "fusion": False, "inplace_binop": False, "numpy": False, "prange": True, "reduction": False,
    "setitem": False, "stencil": False,
}  # fmt: skip


@njit
def total(tally, column):
    """Sum of a column."""
    result = np.int64(0)
    for row in range(tally.shape[0]):
        result += tally[row, column]
    return result


@njit
def log(trace, step, direction, active, looked, cycles):
    """Write the row of a superstep, counted from 1; return the trace, a longer one where it was full."""
    if step > trace.shape[0]:
        longer = np.empty((2 * trace.shape[0], 4), np.int64)
        for row in range(trace.shape[0]):
            for column in range(4):
                longer[row, column] = trace[row, column]
        trace = longer
    trace[step - 1, 0] = direction
    trace[step - 1, 1] = active
    trace[step - 1, 2] = looked
    trace[step - 1, 3] = cycles
    return trace
