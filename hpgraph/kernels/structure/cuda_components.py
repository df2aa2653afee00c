"""Weakly connected components on CUDA: union-find, launched in phases."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.sampling import NEIGHBOURS
from hpgraph.semiring.c_types import c_type

SOURCE = "components.cuh"
THREADS = 256
# As in the source: more arcs of a row than this are the whole grid's work; vertices of a thread that looks for roots.
WARP_ARCS, VERTICES_EACH = 4096, 4
# Of few arcs a vertex in the mean, the first leads to a neighbour that is seldom near a root: before anything is linked
# the paths up are long, and a pass that shortens each by so many vertices pays. So does beginning at a neighbour near,
# whose label is in the cache already. Among many arcs is one to a small id.
FEW_ARCS, HOPS = 8, np.int32(32)
_NAMES = (
    "begin_forest", "shorten_paths", "link_first", "most_frequent_root", "link_rest", "link_listed", "join_forest",
    "flatten", "count_roots", "number_roots", "number_others",
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
    forest = Forest(arcs, 0, cupy.empty(n, ids), cupy.empty(1, ids), symmetric)
    forest.begin()
    if symmetric:
        # Every arc is there in both directions, so those that leave the largest tree need no look.
        forest.find_largest()
    forest.link_rest()
    return numbered_trees(forest.label)


class Forest:
    """Trees of vertices that arcs join, while they grow: a label points to a vertex with a smaller id, or to its own.

    Parameters
    ----------
    arcs : CSR
        Rows of the vertices from number `first` on, with the ids of all.
    first : int
    label : CuPy array of ids, of all vertices
        Those of vertices without a row point to themselves; the others need no value.
    largest : CuPy array of one id
        For the root of the largest tree.
    symmetric : bool
        Whether each arc has its reverse, in this part of the graph or in another.
    """

    def __init__(self, arcs: CSR, first: int, label: Any, largest: Any, symmetric: bool) -> None:
        self._rows = arcs
        self.label, self.largest, self._base, self._symmetric = label, largest, np.int64(first), symmetric
        self._leaves_out = False
        self._size, self._first = np.int64(arcs.shape[0]), np.int32(NEIGHBOURS)
        self._each = -(-arcs.shape[0] // THREADS)

    def _run(self, name: str, *arguments: Any, blocks: int = 0) -> None:
        run(name, self.label.dtype, blocks or self._each, *arguments)

    def begin(self) -> None:
        """Link the first few arcs of every row."""
        import cupy

        arcs, n = self._rows, len(self.label)
        if not arcs.shape[0]:
            return
        few, self._left = arcs.nnz < FEW_ARCS * arcs.shape[0], cupy.empty(1, np.bool_)
        near = np.bool_(few and self._symmetric)
        self._run(
            "begin_forest", arcs.indptr, arcs.indices, self._base, self._size, self._first, near, self.label, self._left
        )
        if few:
            self._run("shorten_paths", np.int64(n), HOPS, self.label, blocks=-(-n // THREADS))
        self._run(
            "link_first", arcs.indptr, arcs.indices, self._base, self._size, self._first, np.bool_(self._symmetric),
            near, self.label, self._left,
        )  # fmt: skip

    def find_largest(self) -> None:
        """Note which tree is the largest, as far as a sample tells: `link_rest` leaves its vertices out."""
        self._run("most_frequent_root", np.int64(len(self.label)), self.label, self.largest, blocks=1)
        self._leaves_out = True

    def link_rest(self) -> None:
        """Link the arcs that are left, of vertices outside the largest tree."""
        import cupy

        arcs = self._rows
        if not arcs.shape[0]:
            return
        # What the host does before the first launch the device waits for; so the rest of it comes here.
        if not self._leaves_out:
            self.largest.fill(-1)
        # Rows that are too long for a warp, of which there are few.
        listed = cupy.empty(arcs.nnz // WARP_ARCS + 1, self.label.dtype)
        done, tail = np.int32(0) if self._symmetric else self._first, cupy.zeros(1, np.uint64)
        self._run(
            "link_rest", arcs.indptr, arcs.indices, self._base, self._size, done, self.largest, self.label,
            listed, tail, self._left,
        )  # fmt: skip
        self._run(
            "link_listed", arcs.indptr, arcs.indices, self._base, done, self.label, listed, tail,
            blocks=4 * multiprocessors(),
        )  # fmt: skip

    def flatten(self) -> None:
        """Put every vertex right below its root."""
        n = len(self.label)
        self._run("flatten", np.int64(n), self.label, blocks=-(-n // THREADS))

    def join(self, other: Any) -> None:
        """Join the trees of another forest of the same vertices, which may lie on another GPU."""
        n = len(self.label)
        self._run("join_forest", np.int64(n), other, self.label, blocks=-(-n // THREADS))


def run(name: str, ids: np.dtype, blocks: int, *arguments: Any) -> None:
    """Launch a kernel of the source, for ids of a type, on the current device and stream.

    Parameters
    ----------
    name : str
    ids : numpy.dtype
    blocks : int
    *arguments
        The kernel's.
    """
    import cupy

    _kernels(ids, cupy.cuda.runtime.getDevice())[name]((blocks,), (THREADS,), arguments)


@lru_cache(maxsize=16)
def _kernels(ids: np.dtype, device: int) -> dict[str, Any]:
    names = kernel_names(c_type(ids))
    module = load(SOURCE, names=names, title="connected components")
    return {short: module.function(name) for short, name in zip(_NAMES, names, strict=True)}


def numbered_trees(label: Any) -> tuple[int, Any]:
    """Trees by number, in the order of their roots; waits for the device to learn how many there are.

    Parameters
    ----------
    label : CuPy array of ids
        A forest: each vertex points to one with a smaller id, or to itself. Paths are shortened.

    Returns
    -------
    int, CuPy array
        How many trees there are, and the number of each vertex's.
    """
    import cupy

    n, ids = len(label), label.dtype
    each, number, size = -(-n // (VERTICES_EACH * THREADS)), cupy.empty(n, ids), np.int64(n)
    roots = cupy.empty(each, ids)
    run("count_roots", ids, each, size, label, roots)
    roots = cupy.cumsum(roots, dtype=ids)
    run("number_roots", ids, each, size, label, roots, number)
    run("number_others", ids, each, size, label, number)
    return int(roots[-1]), number
