"""Barnes and Hut's forces, and sampled steps, on the GPU: the algorithms of the CPU."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR
from hpgraph.kernels.layout import DEPTH, FARTHEST, NEAREST, SIDE_BITS, Sampling, in_order
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

KERNELS = KernelSet(
    "barnes_hut.cuh", "layout", {"": "build_tree push_apart find_codes"}, threads=128,
    prologue=f"namespace hpgraph {{ constexpr int DEPTH = {DEPTH}, SIDE_BITS = {SIDE_BITS}; }}",
)  # fmt: skip
SAMPLED = KernelSet(
    "sampled.cuh", "layout", {"<{Index}>": "move_sampled"}, threads=128,
    prologue=f"namespace hpgraph {{ constexpr float FARTHEST = {FARTHEST}f, NEAREST = {NEAREST}f; }}",
)  # fmt: skip


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """`hpgraph.kernels.layout.cpu.repulsion` on the GPU; waits for it, for the extent of the points."""
    n = len(points)
    force = cupy.zeros((n, 2))
    if n < 2:
        return force
    kernels, count = KERNELS.of(), np.int64(n)

    def codes_of(points: Any, corner: Any, inverse: float) -> Any:
        codes = cupy.empty(n, np.int64)
        kernels.each("find_codes", n, points, corner, np.float64(inverse), count, codes)
        return codes

    order, codes, there, mass, sums, side = in_order(cupy.ascontiguousarray(points), mass, codes_of)
    tree = tuple(cupy.empty((4, n - 1), np.int64))
    sides = cupy.empty(n - 1)
    kernels.each("build_tree", n, codes, count, np.float64(side), *tree, sides)
    square = np.float64(theta * theta)
    kernels.each("push_apart", n, *tree, sides, order, there, sums, mass, count, square, force)
    return force


def sampled_epochs(place: Any, arcs: CSR, steps: Any, how: Sampling) -> Any:
    """`hpgraph.kernels.layout.cpu_sampled.sampled_epochs` on the GPU."""
    here, there = place.astype(np.float32), cupy.empty(place.shape, np.float32)
    kernels, n = SAMPLED.of(Index=arcs.indices.dtype), len(place)
    curve = tuple(map(np.float32, (how.a, how.b, how.repulsion)))
    last = np.int64(how.negatives), np.uint64(how.seed % 2**64)
    for epoch, step in enumerate(steps):
        kernels.each("move_sampled", n, arcs.indptr, arcs.indices, arcs.data, here, there, np.int64(n),
                     np.int64(epoch), np.float32(step), *curve, *last)  # fmt: skip
        here, there = there, here
    return here
