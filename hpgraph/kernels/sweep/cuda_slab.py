"""Supersteps over a matrix that is all slab, in one cooperative launch: see sweep_slab.cuh."""

from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import RowFormat
from hpgraph.kernels.runtime.cuda.compile import Kernel
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK
from hpgraph.kernels.runtime.cuda.specialization import Specialization, specialize_for
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.sweep.cuda_program import SweepProgram, read_by_gather

KERNEL = "hpgraph::sweep_slab<Product, Sweeping>"


def sweep_slab(
    made: SweepProgram, rows: RowFormat, state: tuple[Any, ...], world: tuple[Any, ...], limit: int, standing: Any
) -> np.ndarray | None:
    """Run a program's supersteps, if the matrix is a slab without a tail.

    Waits for the device. Takes memory for a second copy of each property that `gather` reads.

    ``state``: the properties; changed in place. Returns `standing` on the host; None if nothing was done.
    """
    slab, tail = rows.slab, rows.tail
    if not techniques.fused_supersteps or slab is None or (tail is not None and len(tail.indices)):
        return None
    code, n = made.code, rows.shape[0]
    types = tuple(array.dtype for array in state)
    special = specialize_for(rows, functions_of(code).offer, code.reduce, types, code.message, None, False)
    kernel = _kernel(made, special, cupy.cuda.runtime.getDevice())
    twice = read_by_gather(code)
    other = tuple(cupy.empty_like(array) if i in twice else array for i, array in enumerate(state))
    blocks = min(kernel.resident(BLOCK), -(-n // BLOCK))
    sums, arrived = cupy.empty((2, blocks, code.aggregates + 2), np.float64), cupy.zeros(1, np.uint32)
    kernel(
        (blocks,), (BLOCK,),
        (
            made.struct(state, world), made.struct(other, world), special.gather.arguments(state),
            special.gather.arguments(other), struct(slab.indices, slab.data), np.int64(n), np.int64(slab.width),
            np.int64(limit), standing, sums, arrived,
        ),
    )  # fmt: skip
    end: np.ndarray = standing.get()
    if int(end[:1].view(np.int64)[0]) % 2:
        for values, newest in zip(state, other, strict=True):
            if newest is not values:
                values[...] = newest
    return end


@lru_cache(maxsize=64)
def _kernel(made: SweepProgram, special: Specialization, device: int) -> Kernel:
    """The kernel of a program; cached."""
    return made.load("sweep_slab.cuh", (KERNEL,), special.prologue, special.ltoir, cooperative=True).function(KERNEL)
