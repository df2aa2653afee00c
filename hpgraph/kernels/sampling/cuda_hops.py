"""Neighbour sampling on the GPU: work space for the kernel of ``hops.cuh``, and its launch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, Layout, multiprocessors, struct
from hpgraph.kernels.runtime.cuda.persistent import Space
from hpgraph.kernels.sampling import HOP_SHIFT, KEYS, STEP_SHIFT, TRIES, Drawn, Sums

# Hops of a launch; further ones take more launches.
HOPS = 16
# Initial bound of the list of discovered vertices: the number of vertices, or this.
ROOM = 1 << 20
DRAW_LIST = Layout("DrawList<{Index}>", table="*", found="*", owner="*", place="*", vertex="*", offset="*", room="i64")
HOPS_OF_LAUNCH = Layout(
    "Hops", begin="i64", count="i64", fanout=("i64", HOPS), known="i64", frontier="i64", length="i64", seed="u64",
    replace="i64",
)  # fmt: skip
PROGRESS = Layout(
    "Progress", hops="i64", wanted="i64", known="i64", frontier="i64", length="i64", vertices=("i64", HOPS),
    edges=("i64", HOPS),
)  # fmt: skip
# The constants shared with the CPU, as C++.
PROLOGUE = (
    f"namespace hpgraph {{ constexpr int TRIES = {TRIES}, STEP_SHIFT = {STEP_SHIFT}, HOP_SHIFT = {HOP_SHIFT}, "
    f"HOPS = {HOPS}; constexpr long long KEYS = {KEYS}ll; }}"
)
# One block a multiprocessor.
KERNELS = KernelSet(
    "hops.cuh", "sampling", {"<{Index}, {Weight}>": "sample", "<{Index}>": "write_sample"},
    layouts=(HOPS_OF_LAUNCH, PROGRESS, DRAW_LIST), prologue=PROLOGUE, threads=768, cooperative=True,
)  # fmt: skip


def word(number: int) -> np.uint64:
    """A seed as the kernels expect it."""
    return np.uint64(number % 2**64)


def sample(arcs: CSR, sums: Sums | None, seeds: Any, fanouts: list[int], replace: bool, seed: int) -> Drawn:
    """`hpgraph.kernels.sampling.cpu.sample` on the GPU; waits for it, for the number of draws."""
    n, ids, blocks = arcs.shape[0], arcs.indices.dtype, multiprocessors()
    most = _longest_list(arcs, len(seeds), fanouts, replace)
    draws = _DrawList(ids, n, min(most, max(n, ROOM) + len(seeds)))
    space = Space(PROGRESS.of().size, 8 * blocks)
    progress, of_blocks = (np.uint64(address) for address in space.addresses)
    running, positive, weights = (None, None, None) if sums is None else (*sums, arcs.data)
    urn = struct(arcs.indptr, arcs.indices, running, weights, positive)
    types = {"Index": ids, "Weight": "char" if sums is None else arcs.data.dtype}
    begin, begun, vertices_of_hop, edges_of_hop = 0, len(seeds), [], []
    known, frontier, length = 0, 0, 0
    while True:
        part = fanouts[begin : begin + HOPS]
        hops = HOPS_OF_LAUNCH.of()(
            begin, len(part), *part, *[0] * (HOPS - len(part)), known, frontier, length, word(seed), int(replace)
        )
        given = urn, draws.struct, hops, seeds, np.int64(begun)
        KERNELS.of(**types).launch("sample", blocks, *given, np.uint64(space.header), of_blocks, progress)
        done, wanted, known, frontier, length, *of_hops = space.array(int(progress), 5 + 2 * HOPS, np.int64).tolist()
        vertices_of_hop += of_hops[:done]
        edges_of_hop += of_hops[HOPS : HOPS + done]
        begin, begun = begin + done, 0
        if begin == len(fanouts):
            break
        if wanted:
            draws.lengthen(max(length + wanted, min(most, 2 * draws.room)), length, known)
        space.clear()
    drawn = length - len(seeds)
    vertex, numbers, place = (cupy.empty(size, np.int64) for size in (known, len(seeds), drawn))
    edge_index = cupy.empty((2, drawn), np.int64)
    counts = np.int64(len(seeds)), np.int64(length), np.int64(known)
    written = vertex, numbers, edge_index[0], edge_index[1], place
    KERNELS.of(**types).launch("write_sample", blocks, draws.struct, *counts, *written)
    return Drawn(vertex, numbers, edge_index, place, [known - sum(vertices_of_hop), *vertices_of_hop], edges_of_hop)


def _longest_list(arcs: CSR, seeds: int, fanouts: Sequence[int], replace: bool) -> int:
    """Upper bound of the length of the list, where no two rows share entries."""
    frontier, most = min(seeds, arcs.shape[0]), seeds
    for fanout in fanouts:
        drawn = arcs.nnz if fanout < 0 else frontier * fanout
        most += drawn if replace else min(drawn, arcs.nnz)
        frontier = min(drawn, arcs.shape[0])
    return most


class _DrawList:
    """Memory of the list of drawn vertices, and the table of all vertices, initially empty."""

    def __init__(self, ids: np.dtype, n: int, room: int) -> None:
        self._layout, self._ids, self._n, self.room = DRAW_LIST.of(Index=ids), ids, n, room
        check_memory(8 * n + self._bytes(room), f"a sample of up to {room:,} draws", "cuda")
        self._table = cupy.empty(n, np.uint64)
        self._table.data.memset_async(0xFF, self._table.nbytes)
        self._make(room)

    def _bytes(self, room: int) -> int:
        """Bytes of the list, and of the sample if all of it is used."""
        return room * (16 + self._ids.itemsize + 24) + min(room, self._n) * (16 + 8)

    def _make(self, room: int) -> None:
        by_number = min(room, self._n)
        sizes = (room, self._ids), (room, np.int64), (room, np.int64), (by_number, np.int64), (by_number + 1, np.int64)
        # Vertices drawn, numbers they were drawn for, entries; by number: vertices, and where their draws begin.
        self._arrays = [cupy.empty(*size) for size in sizes]
        self.room, self.struct = room, self._layout(self._table, *self._arrays, room)

    def lengthen(self, room: int, length: int, known: int) -> None:
        """Enlarge the list, keeping its contents."""
        check_memory(self._bytes(room), f"a sample of up to {room:,} draws", "cuda")
        before = self._arrays
        self._make(room)
        for new, old, size in zip(self._arrays, before, (length, length, length, known, known), strict=True):
            new[:size] = old[:size]
