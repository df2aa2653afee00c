"""Weakly connected components on CUDA: union-find, launched in phases."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.sampling import NEIGHBOURS
from hpgraph.kernels.structure.cuda_degree_order import c_type

SOURCE = "components.cuh"
THREADS = 256
# As in the source: more arcs of a row than this are the whole grid's work.
WARP_ARCS = 4096
# Of few arcs a vertex in the mean, the first leads to a neighbour that is seldom near a root: before anything is linked
# the paths up are long, and a pass that shortens each by so many vertices pays. Among many arcs is one to a small id.
FEW_ARCS, HOPS = 8, np.int32(32)
_NAMES = (
    "begin_forest", "shorten_paths", "link_first", "most_frequent_root", "link_rest", "link_listed", "flatten",
    "number_roots", "rename",
)  # fmt: skip


def kernel_names(index: str) -> tuple[str, ...]:
    """Name expressions of every kernel of the source, for ids of a C++ type.

    Parameters
    ----------
    index : str
        "int" or "long long".

    Returns
    -------
    tuple of str
    """
    return tuple(f"hpgraph::{name}<{index}>" for name in _NAMES)


def components(arcs: CSR, symmetric: bool) -> tuple[int, Any]:
    """`hpgraph.kernels.structure.cpu_components.components` on the GPU; waits for it to learn how many there are."""
    import cupy

    n, ids = arcs.shape[0], arcs.indices.dtype
    if n == 0 or arcs.nnz == 0:
        return n, cupy.arange(n, dtype=ids)
    label = cupy.empty(n, ids)
    # The root of the largest tree, and rows that are too long for a warp, of which there are few.
    largest, listed = cupy.full(1, -1, ids), cupy.empty(arcs.nnz // WARP_ARCS + 1, ids)
    tail = cupy.zeros(1, np.uint64)
    index = c_type(ids)
    module = load(SOURCE, names=kernel_names(index), title="connected components")

    def run(name: str, blocks: int, *arguments: Any) -> None:
        module.function(f"hpgraph::{name}<{index}>")((blocks,), (THREADS,), arguments)

    each, size, first = -(-n // THREADS), np.int64(n), np.int32(NEIGHBOURS)
    done = np.int32(0) if symmetric else first
    run("begin_forest", each, arcs.indptr, arcs.indices, size, label)
    if arcs.nnz < FEW_ARCS * n:
        run("shorten_paths", each, size, HOPS, label)
    run("link_first", each, arcs.indptr, arcs.indices, size, first, np.bool_(symmetric), label)
    if symmetric:
        # Every arc is there in both directions, so those that leave the largest tree need no look.
        run("most_frequent_root", 1, size, label, largest)
    run("link_rest", each, arcs.indptr, arcs.indices, size, done, largest, label, listed, tail)
    run("link_listed", 4 * multiprocessors(), arcs.indptr, arcs.indices, done, label, listed, tail)
    return numbered_trees(label)


def numbered_trees(label: Any) -> tuple[int, Any]:
    """Trees by number, in the order of their roots; waits for the device to learn how many there are.

    Parameters
    ----------
    label : CuPy array of ids
        A forest: each vertex points to one with a smaller id, or to itself. Overwritten.

    Returns
    -------
    int, CuPy array
        How many trees there are, and the number of each vertex's: the array that was given.
    """
    import cupy

    n, ids = len(label), label.dtype
    index = c_type(ids)
    module = load(SOURCE, names=kernel_names(index), title="connected components")
    each, number, size = -(-n // THREADS), cupy.empty(n, ids), np.int64(n)
    roots = cupy.empty(each, ids)

    def run(name: str, *arguments: Any) -> None:
        module.function(f"hpgraph::{name}<{index}>")((each,), (THREADS,), arguments)

    run("flatten", size, label, roots)
    roots = cupy.cumsum(roots, dtype=ids)
    run("number_roots", size, label, roots, number)
    run("rename", size, number, label)
    return int(roots[-1]), label
