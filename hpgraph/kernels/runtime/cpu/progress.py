"""What traversals keep count of."""

from __future__ import annotations

from hpgraph.kernels.runtime.cpu.part import part

# Of all that Numba can run in parallel, only the loops that say so.
LOOPS = {
    "comprehension": False, "fusion": False, "inplace_binop": False, "numpy": False, "prange": True, "reduction": False,
    "setitem": False, "stencil": False,
}  # fmt: skip
# What a leader keeps from one call of a kernel to the next, first of all: supersteps done, and who is active.
STEP, ACTIVE = range(2)


@part
def log(trace, step, direction, active, looked, cycles):
    """Write the row of a superstep, counted from 1."""
    trace[step - 1, 0] = direction
    trace[step - 1, 1] = active
    trace[step - 1, 2] = looked
    trace[step - 1, 3] = cycles
