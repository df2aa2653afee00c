"""Weakly connected components of a graph that is divided among several GPUs.

Each GPU joins the vertices of its own rows, in a forest of all vertices. The first one then reads the forests of the
others, straight out of their memory: whatever trees share a vertex become one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.meeting import Parts
from hpgraph.kernels.runtime.cuda.part import Part
from hpgraph.kernels.structure.cuda_components import Forest, numbered_trees


def components(parts: Parts, symmetric: bool) -> tuple[int, Any]:
    """`hpgraph.kernels.structure.cpu_components.components` on several GPUs; waits for them.

    Parameters
    ----------
    parts : Parts
    symmetric : bool
        Whether each arc has its reverse.

    Returns
    -------
    int, CuPy array
        How many there are, and the number of each vertex's, on the first part's device.
    """
    import cupy

    n, ids = parts.n, parts.all[0].rows.out.indices.dtype
    if n == 0 or parts.arcs == 0:
        return n, cupy.arange(n, dtype=ids)
    # Arcs from the largest tree of a part into that of another are left out on both sides. Nearly always these have
    # become one tree all the same.
    count, label, is_whole = _components(parts, symmetric, leaves_out=symmetric)
    if not is_whole:
        count, label, _ = _components(parts, symmetric, leaves_out=False)
    return count, label


def _components(parts: Parts, symmetric: bool, leaves_out: bool) -> tuple[int, Any, bool]:
    """The same, leaving out arcs that leave the largest tree of a part or not; and whether none of them was wanted."""
    import cupy

    n, ids = parts.n, parts.all[0].rows.out.indices.dtype
    caller, label = cupy.cuda.get_current_stream(), cupy.empty(n, ids)
    all_largest = cupy.empty(len(parts), ids)
    before = caller.record()
    with parts.lock:
        _grow(parts, label, all_largest, before, symmetric, leaves_out)
        parts.wait(caller)
    number, label = numbered_trees(label)
    return number, label, not leaves_out or len(np.unique(label[all_largest].get())) == 1


def _grow(parts: Parts, label: Any, all_largest: Any, before: Any, symmetric: bool, leaves_out: bool) -> None:
    """Grow the forests of all parts, after the event `before`, and join them in `label`."""
    import cupy

    n, ids, first = parts.n, label.dtype, parts.all[0]
    forests: list[Forest] = []
    for part in parts:
        with part.here:
            part.stream.wait_event(before)
            # The first may still read the forests of a call before.
            part.stream.wait_event(first.done)
            own = label if part.number == 0 else cupy.ndarray(n, ids, part.pointer("label", n * ids.itemsize))
            largest = cupy.ndarray(1, ids, part.pointer("largest tree", ids.itemsize))
            _point_to_self(own, part)
            forest = Forest(part.rows.out, part.rows.first, own, largest, symmetric)
            forests.append(forest)
            forest.begin()
            if leaves_out:
                forest.find_largest()
            forest.link_rest()
            if part.number:
                # Whoever reads it finds few roots then, and those soon lie in its cache.
                forest.flatten()
            if leaves_out:
                part.copy(largest.data.ptr, all_largest.data.ptr + part.number * ids.itemsize, ids.itemsize)
            part.done.record(part.stream)
    with first.here:
        for part, forest in zip(parts.all[1:], forests[1:], strict=True):
            first.stream.wait_event(part.done)
            forests[0].join(forest.label.data.ptr)
        first.done.record(first.stream)


def _point_to_self(label: Any, part: Part) -> None:
    """A vertex whose row is elsewhere begins alone."""
    import cupy

    for begin, end in ((0, part.rows.first), (part.rows.last, len(label))):
        if begin < end:
            label[begin:end] = cupy.arange(begin, end, dtype=label.dtype)
