"""Components on CUDA: weak ones by union-find, launched in phases; strong ones of few vertices by colours."""

from typing import Any, NamedTuple, Self

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.entries.cuda_extract import induced
from hpgraph.kernels.runtime.cuda.kernel_set import Kernels, KernelSet, multiprocessors, struct
from hpgraph.kernels.runtime.sampling import NEIGHBOURS

KERNELS = KernelSet(
    "components.cuh", "connected components",
    {"<{Id}, {Offset}>": "begin_forest link_first",
     "<{Id}>": "shorten_paths most_frequent_root link_rest link_listed link_within link_listed_within mark_roots "
               "rank_words number"},
)  # fmt: skip
THREADS = 256
# As in components.cuh: longest row of one warp (longer ones are the whole grid's), vertices of a thread reading labels,
# and words of one that ranks roots.
WARP_ARCS, VERTICES_EACH, WORDS_EACH = 4096, 4, 4
# Mean degree below which a vertex's first neighbour is seldom near a root: paths are long before anything is linked,
# and a pass that shortens each by up to HOPS steps pays. So does starting at a nearby neighbour, whose label is in the
# cache. With more arcs one leads to a small id.
FEW_ARCS, HOPS = 8, np.int32(32)
# Type of row bounds where rows are whole.
_OFFSETS = np.dtype(np.int64)


def components(arcs: CSR, symmetric: bool) -> tuple[int, Any]:
    """`hpgraph.kernels.structure.cpu_components.components` on the GPU; waits for it to learn how many there are."""
    n, ids = arcs.shape[0], arcs.indices.dtype
    if n == 0 or arcs.nnz == 0:
        return n, cupy.arange(n, dtype=ids)
    forest = Forest(Rows.of(arcs), cupy.empty(n, ids), symmetric)
    forest.begin()
    forest.link_first()
    if symmetric:
        # Every arc is stored in both directions, so those that leave the largest tree can be skipped.
        forest.find_largest()
    forest.link_rest()
    return numbered_trees(forest.label)


def components_within(arcs: CSR, group: Any) -> tuple[int, Any]:
    """`hpgraph.kernels.structure.cpu_components.components_within` on the GPU; waits for it."""
    n, ids = arcs.shape[0], arcs.indices.dtype
    label, rows = cupy.arange(n, dtype=ids), Rows.of(arcs)
    if arcs.nnz == 0:
        return n, label
    listed, tail = cupy.empty(rows.room_for_long(), ids), cupy.zeros(1, np.uint64)
    given = rows.argument, group.astype(ids, copy=False), label, listed, tail
    run("link_within", ids, rows.blocks, *given)
    run("link_listed_within", ids, 4 * multiprocessors(), *given)
    return numbered_trees(label)


class Rows(NamedTuple):
    """Rows of consecutive vertices, or of each the arcs to some columns, from ``begins`` to ``ends`` in `indices`.

    Bounds are int64 if rows are whole, else uint32 or int64. ``first, arcs``: first vertex, and how many arcs there
    are.
    """

    begins: Any
    ends: Any
    indices: Any
    first: int
    arcs: int

    @classmethod
    def of(cls, csr: CSR, first: int = 0) -> Self:
        """Rows of a CSR, whole."""
        return cls(csr.indptr[:-1], csr.indptr[1:], csr.indices, first, csr.nnz)

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def blocks(self) -> int:
        """Thread blocks for one thread a row."""
        return -(-len(self) // THREADS)

    @property
    def argument(self) -> Any:
        """A struct ``Rows``."""
        return struct(self.begins, self.ends, self.indices, np.int64(self.first), np.int64(len(self)))

    def room_for_long(self) -> int:
        """Upper bound of the number of rows too long for a warp."""
        return int(self.indices.size // WARP_ARCS + 1)


class Forest:
    """A growing union-find forest: a label points to a vertex with a smaller id, or to its own.

    Only labels of vertices with a row are read and written. ``largest``: array of one vertex of the largest tree.
    """

    def __init__(self, rows: Rows, label: Any, symmetric: bool) -> None:
        self._rows, self._argument = rows, rows.argument
        self.label, self.largest, self._symmetric = label, cupy.empty(1, label.dtype), np.bool_(symmetric)
        self._leaves_out, self._left, self._first = False, cupy.empty(1, np.bool_), np.int32(NEIGHBOURS)
        self._kernels, self._of_rows = _kernels(label.dtype), KERNELS.of(Id=label.dtype, Offset=rows.begins.dtype)
        self._few = rows.arcs < FEW_ARCS * len(rows)
        self._near = np.bool_(self._few and symmetric)
        self._range = np.int64(rows.first), np.int64(len(rows))

    def _run(self, name: str, *arguments: Any, blocks: int = 0) -> None:
        kernels = self._of_rows if name in ("begin_forest", "link_first") else self._kernels
        kernels.launch(name, blocks or self._rows.blocks, *arguments)

    def begin(self) -> None:
        """Point every vertex at a smaller neighbour."""
        self._run("begin_forest", self._argument, self._first, self._near, self.label, self._left)

    def link_first(self) -> None:
        """Link the first few arcs of every row."""
        if self._few:
            self._run("shorten_paths", *self._range, HOPS, self.label)
        self._run("link_first", self._argument, self._first, self._symmetric, self._near, self.label, self._left)

    def find_largest(self) -> None:
        """Note the largest tree of a sample: `link_rest` leaves its vertices out."""
        self._run("most_frequent_root", *self._range, self.label, self.largest, blocks=1)
        self._leaves_out = True

    def link_rest(self) -> None:
        """Link the arcs that are left, of vertices outside the largest tree."""
        # Host work before the first launch delays the device; so the allocations come here.
        if not self._leaves_out:
            self.largest.fill(-1)
        listed, tail = cupy.empty(self._rows.room_for_long(), self.label.dtype), cupy.zeros(1, np.uint64)
        done = np.int32(0) if self._symmetric else self._first
        self._run("link_rest", self._argument, done, self.largest, self.label, listed, tail, self._left)
        self._run("link_listed", self._argument, done, self.label, listed, tail, blocks=4 * multiprocessors())


def run(name: str, ids: np.dtype, blocks: int, *arguments: Any) -> None:
    """Launch a kernel of the source, for ids of a type, on the current device and stream."""
    _kernels(ids).launch(name, blocks, *arguments)


def _kernels(ids: np.dtype) -> Kernels:
    """The kernels where rows are whole."""
    return KERNELS.of(Id=ids, Offset=_OFFSETS)


def blocks_of(n: int) -> int:
    """Thread blocks of kernels in which each thread has several of n vertices."""
    return -(-n // (VERTICES_EACH * THREADS))


def numbered_trees(label: Any) -> tuple[int, Any]:
    """Trees by number, in the order of their roots; waits for the device to learn how many there are."""
    n, ids = len(label), label.dtype
    blocks, size, number = blocks_of(n), np.int64(n), cupy.empty(n, ids)
    roots = cupy.empty(-(-n // 32), np.uint32)
    run("mark_roots", ids, blocks, size, label, roots)
    ranks = Ranks(roots, ids)
    ranks.find()
    run("number", ids, blocks, size, ranks.argument, label, number)
    return ranks.count(), number


class Ranks:
    """Rank of each root among all, from the bitmap of the roots; ``argument``: the struct ``Ranks``."""

    def __init__(self, roots: Any, ids: np.dtype) -> None:
        self._roots, self._before = roots, cupy.empty(len(roots), ids)
        self._state = cupy.empty(-(-len(roots) // (WORDS_EACH * THREADS)), np.uint64)
        self.argument = struct(roots, self._before)

    def find(self) -> None:
        """Launch the kernel that finds them."""
        words = np.int64(len(self._roots))
        self._state.data.memset_async(0, self._state.nbytes)
        run("rank_words", self._before.dtype, len(self._state), words, self._roots, self._state, self._before)

    def count(self) -> int:
        """Number of roots; waits for the device."""
        # The two bits above the number are the block's state.
        return int(self._state[-1]) & ((1 << 62) - 1)


COLORING_THREADS = 1024
COLORING = KernelSet(
    "coloring.cuh", "strong components", {"<{Index}>": "color_components"}, threads=COLORING_THREADS, cooperative=True
)


def color_few(arcs: CSR, part: Any, smallest: Any) -> bool:
    """Write the smallest vertex of each strong component into `smallest`, unless there are more vertices than warps.

    With a warp for each a pass over all rows takes as long as one row. No component has vertices in two parts, int64;
    vertices of negative parts are left as they are.
    """
    chosen, blocks = Bitmask.from_bool(part >= 0), multiprocessors()
    if chosen.count() > blocks * COLORING_THREADS // 32:
        return False
    few, vertices = induced(arcs.pattern, chosen)
    n, ids = few.shape[0], few.indices.dtype
    if n:
        label, numbers, reached = cupy.empty(n, ids), cupy.empty((2, n), np.int64), cupy.empty(n, np.uint8)
        state = cupy.zeros(4, np.uint32)
        given = np.int64(n), few.indptr, few.indices, part[vertices], *numbers, reached, label, state, state[1:]
        COLORING.of(Index=ids).launch("color_components", blocks, *given)
        smallest[vertices] = vertices[label]
    return True
