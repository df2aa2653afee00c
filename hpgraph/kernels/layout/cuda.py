"""Barnes and Hut's forces on the GPU: the algorithm of `hpgraph.kernels.layout.cpu`."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.kernels.layout import DEPTH, SIDE_BITS, in_order
from hpgraph.kernels.runtime.cuda.compile import load

SOURCE = "barnes_hut.cuh"
THREADS = 128
NAMES = "hpgraph::build_tree", "hpgraph::push_apart", "hpgraph::find_codes"


def prologue() -> str:
    """The constants shared with the CPU, as C++."""
    return f"namespace hpgraph {{ constexpr int DEPTH = {DEPTH}, SIDE_BITS = {SIDE_BITS}; }}"


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """`hpgraph.kernels.layout.cpu.repulsion` on the GPU; waits for it, for the extent of the points."""
    import cupy

    n = len(points)
    force = cupy.zeros((n, 2))
    if n < 2:
        return force
    module = load(SOURCE, prologue=prologue(), names=NAMES, title="layout")
    build, push, find_codes = map(module.function, NAMES)
    blocks, count = -(-n // THREADS), np.int64(n)

    def codes_of(points: Any, corner: Any, inverse: float) -> Any:
        codes = cupy.empty(n, np.int64)
        find_codes((blocks,), (THREADS,), (points, corner, np.float64(inverse), count, codes))
        return codes

    order, codes, there, sums, side = in_order(cupy.ascontiguousarray(points), mass, codes_of)
    tree = tuple(cupy.empty((4, n - 1), np.int64))
    sides = cupy.empty(n - 1)
    build((blocks,), (THREADS,), (codes, count, np.float64(side), *tree, sides))
    square = np.float64(theta * theta)
    push((blocks,), (THREADS,), (*tree, sides, order, there, sums, mass[order], count, square, force))
    return force
