"""Betweenness on the GPU: work space, number of sources that fit, and launches."""

from collections import namedtuple
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, count, cupy, sources_within
from hpgraph.formats import CSR, attached, occurrences
from hpgraph.kernels.betweenness import GROUP, Sums, sums_of
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, Layout, multiprocessors, struct

# Threads of a block, blocks a multiprocessor.
THREADS, BLOCKS = 512, 2
# As in path_sources.cuh: arcs of a piece of a long row.
PIECE_ARCS = 2048
LONG_ROWS = Layout("LongRows", rows="*", first="*", owner="*", count="i64", pieces="i64")
ARCS = Layout("PathArcs<{Index}>", indptr="*", indices="*", weights="*", lengthy=LONG_ROWS)
LEVEL_SLOT = Layout("LevelSlot", **dict.fromkeys(("count", "leaving", "reaching", "full", "large", "heavy"), "u64"))
LEVEL_ROW = Layout("LevelRow", begin="i64", leaving="u64", reaching="u64", heavy="u64")
STATE = Layout(
    "PathState<{Index}>", numbers="*", exponents="*", distances="*", pending="*", seen="*", fronts="*",
    listed="*", masks="*", levels="*", partial="*", partial_exponents="*", partial_received="*", slots="*", chunks="*",
    barrier="*", outcome="*", n="i64", every="u64", stride="i64",
)  # fmt: skip

KERNELS = KernelSet(
    "betweenness.cuh", "betweenness",
    {"<{Index}>": "paths_begin paths_pending paths_reach", "<{Index}, {scaled}, {weighted}>": "paths_forward",
     "<{Index}, {scaled}, {places}, {weighted}>": "paths_backward"},
    layouts=(LONG_ROWS, LEVEL_SLOT, LEVEL_ROW, ARCS, STATE), threads=THREADS, cooperative=True,
    prologue=f"#define HPGRAPH_PATH_THREADS {THREADS}\n#define HPGRAPH_PATH_BLOCKS {BLOCKS}",
)  # fmt: skip
# Bytes of the structs of a level.
_SLOT, _ROW = LEVEL_SLOT.of().size, LEVEL_ROW.of().size
# Rows of more than `PIECE_ARCS` arcs, int64 arrays: the rows, the first piece of each, the row of each piece.
Pieces = namedtuple("Pieces", "rows first owner")


@attached
def long_rows(arcs: CSR) -> Pieces:
    """The long rows of a matrix, computed once; waits for the device."""
    degrees = arcs.degrees
    rows = cupy.flatnonzero(degrees > PIECE_ARCS)
    first = cupy.zeros(len(rows) + 1, np.int64)
    cupy.cumsum(-(-degrees[rows] // PIECE_ARCS), out=first[1:])
    owner = cupy.searchsorted(first, cupy.arange(int(first[-1])), side="right") - 1
    return Pieces(rows.astype(np.int64), first, owner.astype(np.int64))


def dependencies(
    out: CSR, in_: CSR, sources: np.ndarray, sums: Sums, *, profile: Callable[[], np.ndarray],
    done: Callable[[int], None],
) -> None:  # fmt: skip
    """`hpgraph.kernels.betweenness.cpu.dependencies` on the GPU, always jointly; waits for it."""
    most = sources_within(min(len(sources), GROUP), lambda count: _bytes(out, in_, count, False), "cuda")
    check_memory(_bytes(out, in_, most, False), "the search for shortest paths from one source", "cuda")
    for group in np.array_split(np.arange(len(sources)), -(-len(sources) // most)):
        part = sums_of(sums, slice(group[0], group[-1] + 1))
        _Search(out, in_, sources[group], None).run(part)
        done(len(group))


def weighted_dependencies(out: CSR, in_: CSR, distances: Any, sources: np.ndarray, sums: Sums) -> bool:
    """`hpgraph.kernels.betweenness.cpu.weighted_dependencies` on the GPU; waits for it."""
    check_memory(_bytes(out, in_, len(sources), True), "the search for shortest paths", "cuda")
    return _Search(out, in_, sources, distances).run(sums)


def _bytes(out: CSR, in_: CSR, sources: int, weighted: bool) -> int:
    """Upper bound of a search's bytes: numbers, exponents, the list; bitmasks; sums of pieces."""
    each = 8 + 4 + out.indices.dtype.itemsize + 8 + (12 if weighted else 0)
    pieces = max(len(long_rows(out).owner), len(long_rows(in_).owner))
    stride = _stride(sources)
    return out.shape[0] * (stride * each + 32) + pieces * (stride * 12 + 8)


def _stride(sources: int) -> int:
    """Sources rounded up to a power of two: a thread handles two."""
    return max(2, 1 << (sources - 1).bit_length())


class _Search:
    """One group of sources and its work space."""

    def __init__(self, out: CSR, in_: CSR, sources: np.ndarray, distances: Any) -> None:
        n, ids = out.shape[0], out.indices.dtype
        self.n, self.in_arcs, self.ids = n, in_.nnz, ids
        self.weighted, self.count = distances is not None, len(sources)
        self.stride = stride = _stride(len(sources))
        self.out, self.in_ = _arcs_struct(out, self.weighted), _arcs_struct(in_, self.weighted)
        self.sources = cupy.asarray(sources)
        pieces = max(len(long_rows(out).owner), len(long_rows(in_).owner))
        self.numbers = cupy.empty(n * stride)
        self.exponents: Any = None
        self.distances = self.pending = None
        if distances is not None:
            self.distances = cupy.full((n, stride), np.inf)
            self.distances[:, : len(sources)] = distances.T
            self.pending = cupy.empty(n * stride, np.int32)
        # Seen, three fronts.
        self.bits = cupy.zeros((4, n), np.uint64)
        self.listed = cupy.empty(n * len(sources), ids)
        self.masks = cupy.empty(n * len(sources), np.uint64)
        # Weighted paths may have more arcs than the unweighted depth, but visit no vertex twice.
        self.levels = cupy.empty((n + 2) * _ROW, np.uint8)
        self.partial = cupy.empty(pieces * stride)
        self.partial_exponents = cupy.empty(pieces * stride, np.int32)
        self.partial_received = cupy.empty(pieces, np.uint64)
        # Outcome, slots, counters and the barrier's word.
        self.small = cupy.zeros(4 * 8 + 4 * _SLOT + 4 * 8 + 8, np.uint8)

    def _launch(self, name: str, blocks: int, *arguments: Any, places: bool = False) -> None:
        types = {"scaled": self.exponents is not None, "places": places, "weighted": self.weighted}
        KERNELS.of(Index=self.ids, **types).launch(f"paths_{name}", blocks, *arguments)

    def _state(self) -> bytes:
        address = self.small.data.ptr
        slots, chunks = address + 32, address + 32 + 4 * _SLOT
        return STATE.of(Index=self.ids)(
            self.numbers, self.exponents, self.distances, self.pending, self.bits[0], self.bits[1:], self.listed,
            self.masks, self.levels, self.partial, self.partial_exponents, self.partial_received, slots, chunks,
            chunks + 32, address, self.n, np.uint64((1 << self.count) - 1), self.stride,
        )  # fmt: skip

    def _outcome(self) -> list[int]:
        outcome: list[int] = self.small[:32].get().view(np.int64).tolist()
        # Counters and barrier start at zero in each launch.
        self.small[32 + 4 * _SLOT :] = 0
        return outcome

    def run(self, sums: Sums) -> bool:
        """Run both passes; returns whether the paths of all sources are free of cycles."""
        places, grid = bool(len(sums.arcs)), BLOCKS * multiprocessors()
        launch = partial(self._launch, places=places)
        launch("begin", 1, self.out, self._state(), self.sources, np.int64(self.count))
        if self.weighted:
            launch("pending", grid, self.in_, self._state())
        level, begin, end, open_ = 0, 0, self._outcome()[0], self.in_arcs
        while True:
            state = np.int64(level), np.int64(begin), np.int64(end), np.uint64(open_)
            launch("forward", grid, self.out, self.in_, self._state(), *state)
            level, end, open_, large = self._outcome()
            if not large:
                break
            begin = self._begin_of(level)
            self.exponents = cupy.zeros(self.n * self.stride, np.int32)
        reach = cupy.zeros(64, np.uint64)
        if self.weighted or len(sums.reach):
            reached = sums.reached if len(sums.reached) else None
            launch("reach", grid, self._state(), reached, reach)
        if len(sums.reach):
            sums.reach[:] = reach[: self.count]
            # A source does not count at itself.
            others = sums.reached
            others -= occurrences(self.sources, self.n)
        if self.weighted and int(reach.sum()) != count(cupy.isfinite(self.distances)):
            return False
        self.bits[:] = 0
        ends = struct(sums.vertices, sums.arcs if places else None, sums.shares)
        launch("backward", grid, self.out, self.in_, self._state(), ends, np.int64(level))
        return True

    def _begin_of(self, level: int) -> int:
        row = self.levels[level * _ROW : (level + 1) * _ROW].get().view(LEVEL_ROW.of().dtype)[0]
        return int(row["begin"])


def _arcs_struct(arcs: CSR, weighted: bool) -> bytes:
    rows = long_rows(arcs)
    return ARCS.of(Index=arcs.indices.dtype)(
        arcs.indptr, arcs.indices, arcs.data if weighted else None, rows.rows, rows.first, rows.owner, len(rows.rows),
        len(rows.owner),
    )  # fmt: skip
