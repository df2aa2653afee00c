"""All simple paths from a vertex to any of some others, depth first on one thread, in the order of the rows.

R. Sedgewick, "Algorithms in C, Part 5: Graph Algorithms" (2001), without arcs that lead too far from all targets.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit

_BLOCK = 1 << 14


def simple_paths(arcs: CSR, source: int, is_target: Any, left: Any, cutoff: int) -> Iterator[tuple[Any, Any]]:
    """Paths of at most `cutoff` arcs, in blocks: their offsets, and vertices.

    ``left``: the least number of arcs from each vertex to a target, negative if there is none. The path of the source
    alone counts if it is a target.
    """
    n = arcs.shape[0]
    cutoff = min(cutoff, n - 1)
    if cutoff < 0:
        return
    path, at, on_path = np.empty(cutoff + 1, np.int64), np.empty(cutoff + 1, np.int64), np.zeros(n, np.bool_)
    if is_target[source]:
        yield np.array([0, 1]), np.array([source])
    path[0], at[0], on_path[source] = source, arcs.indptr[source], True
    targets = int(is_target.sum()) - int(is_target[source])
    state = np.array([0 if cutoff and targets else -1, targets])
    # The first block holds one path: the caller may need no more.
    most = 1
    while state[0] >= 0:
        found, ends = np.empty(max(_BLOCK, cutoff + 1), np.int64), np.zeros(most + 1, np.int64)
        with interruptible():
            count = _search(
                arcs.indptr, arcs.indices, is_target, left, cutoff, (path, at, on_path), state, found, ends
            )  # fmt: skip
        yield ends[: count + 1], found[: ends[count]]
        most = _BLOCK


@njit(cache=True, nogil=True)
def _search(indptr, indices, is_target, left, cutoff, stack, state, found, ends):
    """Search until the block is full; `state`: depth of the last vertex, and number of targets off the path."""
    path, at, on_path = stack
    depth, targets, count = state[0], state[1], 0
    while depth >= 0 and count + 1 < ends.size and ends[count] + depth + 2 <= found.size and not is_stopped():
        u = path[depth]
        if at[depth] == indptr[u + 1]:
            on_path[u] = False
            targets += is_target[u]
            depth -= 1
            continue
        v = indices[at[depth]]
        at[depth] += 1
        if on_path[v] or left[v] < 0 or depth + 1 + left[v] > cutoff:
            continue
        if is_target[v]:
            begin = ends[count]
            found[begin : begin + depth + 1] = path[: depth + 1]
            found[begin + depth + 1] = v
            count += 1
            ends[count] = begin + depth + 2
        if depth + 1 < cutoff and targets > is_target[v]:
            depth += 1
            path[depth], at[depth], on_path[v] = v, indptr[v], True
            targets -= is_target[v]
    state[0], state[1] = depth, targets
    return count
