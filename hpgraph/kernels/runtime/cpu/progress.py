"""How far a run has come: its supersteps, its active vertices, and the rows of its trace."""

from __future__ import annotations

from numba.core.cpu_options import ParallelOptions

from hpgraph.kernels.runtime.cpu.part import part

# Options for Numba's ``parallel=``: only `prange` loops become parallel, no array expression does, no loop joins the
# next. No dict: Numba takes the options out of a dict that it is given, and the next kernel would find none.
LOOPS = ParallelOptions({
    "comprehension": False, "fusion": False, "inplace_binop": False, "numpy": False, "prange": True, "reduction": False,
    "setitem": False, "stencil": False,
})  # fmt: skip
# The first words that a leader keeps from one call of a kernel to the next: supersteps done, active vertices.
STEP, ACTIVE = range(2)


@part
def log(trace, step, direction, active, looked, cycles):
    """Write the row of a superstep, counted from 1."""
    trace[step - 1, 0] = direction
    trace[step - 1, 1] = active
    trace[step - 1, 2] = looked
    trace[step - 1, 3] = cycles
