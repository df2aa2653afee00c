"""Barnes-Hut repulsion, steps of ForceAtlas2, and sampled steps, on the GPU: the algorithms of the CPU."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR
from hpgraph.kernels.layout import (
    DEPTH,
    FARTHEST,
    FASTEST,
    LINEAR,
    LOGARITHM,
    MIN_EFFICIENCY,
    NEAREST,
    RISE,
    SIDE_BITS,
    SQUARE,
    WILD,
    Forces,
    Sampling,
    length_of,
)  # fmt: skip
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors
from hpgraph.kernels.spmv.cuda_spmm import multiply_dense

# Logarithm of the number of threads sharing a point, if all are resident; resident threads of a multiprocessor.
SPLIT, RESIDENT = 3, 2048
# Pairs of a pivot and a point whose differences are held at once.
PAIRS = 1 << 20
KERNELS = KernelSet(
    "barnes_hut.cuh", "layout",
    {"": "find_codes put_in_order build_tree add_up_nodes",
     "<0>": "push_apart", f"<{SPLIT}>": "push_apart_together=push_apart"}, threads=128,
    prologue=f"namespace hpgraph {{ constexpr int DEPTH = {DEPTH}, SIDE_BITS = {SIDE_BITS}; }}",
)  # fmt: skip
STEPS = KernelSet(
    "force_atlas2.cuh", "layout", {"": "combine_forces move"}, threads=128,
    prologue="namespace hpgraph { constexpr double "
             f"MIN_EFFICIENCY = {MIN_EFFICIENCY}, RISE = {RISE}, FASTEST = {FASTEST}, WILD = {WILD}; }}",
)  # fmt: skip
SAMPLED = KernelSet(
    "sampled.cuh", "layout", {"<{Index}>": "move_sampled"}, threads=128,
    prologue=f"namespace hpgraph {{ constexpr float FARTHEST = {FARTHEST}f, NEAREST = {NEAREST}f; }}",
)  # fmt: skip


def repulsion(points: Any, mass: Any, theta: float) -> Any:
    """`hpgraph.kernels.layout.cpu.repulsion` on the GPU."""
    n = len(points)
    force = cupy.zeros((n, 2))
    if n < 2:
        return force
    kernels, count, points = KERNELS.of(), np.int64(n), cupy.ascontiguousarray(points)
    extent = points.min(axis=0), points.max(axis=0)
    codes = cupy.empty((2, n), np.int64)
    kernels.each("find_codes", n, points, *extent, count, codes[0])
    order = codes[0].argsort()
    ordered, weights = cupy.empty((n, 2)), cupy.empty(n)
    kernels.each("put_in_order", n, order, points, mass, codes[0], count, ordered, weights, codes[1])
    # Inner nodes: children, first and last point, and struct Node; the parent of each node.
    children, ranges = cupy.empty((2, n - 1, 2), np.int64)
    nodes, parent, visited = cupy.empty((n - 1, 4)), cupy.empty(2 * n - 1, np.int64), cupy.zeros(n - 1, np.uint32)
    kernels.each("build_tree", n, codes[1], count, *extent, children, ranges, nodes, parent)
    kernels.each("add_up_nodes", n, children, parent, ordered, weights, count, visited, nodes)
    few = n << SPLIT <= multiprocessors() * RESIDENT
    given = children, ranges, nodes, order, ordered, weights, count, np.float64(theta * theta), force
    kernels.each("push_apart_together" if few else "push_apart", n << SPLIT * few, *given)
    return force


def attraction(arcs: CSR, place: Any, law: int = LINEAR, least: float = 1e-300) -> Any:
    """`hpgraph.kernels.layout.Layout.attraction` on the GPU, as a product."""
    data = arcs.data
    if law != LINEAR:
        length = length_of(place[arcs.expand_rows()] - place[arcs.indices])
        held = cupy.maximum(length, least)
        data = data * (held if law == SQUARE else cupy.log1p(length) / held if law == LOGARITHM else 1 / held)
    beside, sums = cupy.ones((len(place), 3)), cupy.empty((len(place), 3))
    beside[:, :2] = place
    multiply_dense(arcs, data, beside, sums)
    return sums[:, :2] - sums[:, 2:] * place


def displaced(place: Any, force: Any, share: Any, bound: float, least: float) -> tuple[Any, Any]:
    """`hpgraph.kernels.layout.Layout.displaced` on the GPU."""
    force = force * share[:, None]
    move = force * (bound / cupy.maximum(length_of(force), least))[:, None]
    return place + move, (move * move).sum()


def stress_moves(place: Any, pivots: Any, wanted: Any, weight: Any) -> Any:
    """`hpgraph.kernels.layout.Layout.stress_moves` on the GPU, by arrays of some pivots and all points."""
    moved, piece = cupy.zeros((len(place), 2)), max(1, PAIRS // max(len(place), 1))
    for begin in range(0, len(pivots), piece):
        part = slice(begin, begin + piece)
        own = place[pivots[part]]
        length, across = (place[:, d] - own[:, d, None] for d in range(2))
        length *= length
        across *= across
        length += across
        length[length == 0] = np.inf
        share = cupy.divide(wanted[part], cupy.sqrt(length, out=length), out=length)
        share -= weight[part]
        moved += place * share.sum(axis=0)[:, None] - share.T @ own
    return moved


def combined(
    place: Any, pushed: Any, pulled: Any, mass: Any, before: Any, forces: Forces
) -> tuple[Any, Any, Any]:  # fmt: skip
    """`hpgraph.kernels.layout.cpu.combined` on the GPU."""
    force, swing = cupy.empty_like(place), cupy.empty((2, len(place)))
    numbers = np.float64(forces.scaling), np.float64(forces.gravity), *map(np.bool_, forces[2:])
    STEPS.of().each("combine_forces", len(place), place, pushed, pulled, mass, before, *numbers, np.int64(len(place)),
                    force, swing)  # fmt: skip
    return force, swing[0], swing.sum(axis=1)


def moved(place: Any, force: Any, swing: Any, totals: Any, pace: Any, tolerance: float) -> tuple[Any, Any]:
    """`hpgraph.kernels.layout.cpu.moved` on the GPU, where the pace stays: the host would wait for it at every step."""
    found, following = cupy.empty_like(place), cupy.empty_like(pace)
    STEPS.of().each("move", len(place), place, force, swing, totals, pace, np.float64(tolerance), np.int64(len(place)),
                    found, following)  # fmt: skip
    return found, following


def sampled_epochs(place: Any, arcs: CSR, steps: Any, parameters: Sampling) -> Any:
    """`hpgraph.kernels.layout.cpu_sampled.sampled_epochs` on the GPU."""
    position, next_position = place.astype(np.float32), cupy.empty(place.shape, np.float32)
    kernels, n = SAMPLED.of(Index=arcs.indices.dtype), len(place)
    curve = tuple(map(np.float32, (parameters.a, parameters.b, parameters.repulsion)))
    last = np.int64(parameters.negatives), np.uint64(parameters.seed % 2**64)
    for epoch, step in enumerate(steps):
        kernels.each("move_sampled", n, arcs.indptr, arcs.indices, arcs.data, position, next_position, np.int64(n),
                     np.int64(epoch), np.float32(step), *curve, *last)  # fmt: skip
        position, next_position = next_position, position
    return position
