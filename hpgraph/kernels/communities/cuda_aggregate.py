"""The graph of communities on the GPU: the algorithm of `hpgraph.kernels.communities.cpu_aggregate`."""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.communities import cuda_members as groups
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, Layout, multiprocessors

# Entries of a block's tile.
TILE = groups.THREADS * 8
# Maximum number of partial sums of a quality.
MAX_SUMS = 128
AGGREGATION = Layout(
    "Aggregation<{Index}, {Weight}, {Sum}>", indptr="*", indices="*", weights="*", number="*", members="*",
    arcs_before="*", starts="*", begin="*", count="i64", wide="*", sums="*", lengths="*", table_begin="*",
    table_keys="*", table_sums="*",
)  # fmt: skip
KERNELS = KernelSet(
    "aggregate_groups.cuh", "graphs of communities",
    {"<{Index}, {Weight}, {Sum}>": "aggregate_by_warp aggregate_by_chunk rows_of_tables",
     "<{Index}, {Sum}>": "close_up", "<{Index}, {Weight}>": "weigh_between"}, layouts=(AGGREGATION,),
)  # fmt: skip


def graph_of_communities(level: Level, label: Any) -> tuple[Level, Any]:
    """The graph of communities, numbered in the order of their labels, and each vertex's number; rows are unsorted."""
    arcs = level.arcs
    width = 2 * arcs.indices.itemsize + 8 + groups.sum_type(level).itemsize
    check_memory(arcs.nnz * width + 40 * len(label), "the graph of the communities", "cuda")
    members = groups.members_of(level, label)
    coarse = _arcs(level, members)
    return level.of_parts(coarse, members.sent, members.received, members.number), members.number


def _arcs(level: Level, by: groups.Members) -> CSR:
    arcs, sums, ids, count = level.arcs, groups.sum_type(level), by.number.dtype, by.communities
    lengths = cupy.zeros(count + 1, np.int64)
    if arcs.nnz == 0:
        return CSR((count, count), lengths, cupy.empty(0, ids), cupy.empty(0, np.int64), validate=False, copy=False)
    wide, summed = cupy.empty(arcs.nnz, ids), cupy.empty(arcs.nnz, sums)
    shared, slots, table_begin = int(by.slots[-1]), 0, by.slots
    if shared:
        slots = shared - int(by.chunks[-1])
        table_begin = by.slots - by.chunks[-1]
    tables = groups.clear_tables(slots, ids, sums)
    types = groups.types_of(arcs, sums)
    launch = KERNELS.of(**types).launch
    room = groups.BLOCK_SLOTS * (ids.itemsize + sums.itemsize)
    made = AGGREGATION.of(**types)(
        arcs.indptr, arcs.indices, arcs.data, by.number, by.members, by.arcs_before, by.starts, by.begin,
        np.int64(count), wide, summed, lengths, table_begin, *tables,
    )  # fmt: skip
    blocks = 4 * multiprocessors()
    launch("aggregate_by_warp", min(2 * blocks, -(-count // groups.WARPS)), made, shared_mem=room)
    if shared:
        chunks = min(blocks, -(-arcs.nnz // groups.WARP_ENTRIES))
        launch("aggregate_by_chunk", chunks, made, by.chunks, shared_mem=room)
    if slots:
        launch("rows_of_tables", -(-slots // TILE), made, np.int64(slots))
    indptr = cupy.cumsum(lengths)
    nnz = int(indptr[-1])
    indices, data = cupy.empty(nnz, ids), cupy.empty(nnz, np.int64)
    if nnz:
        arguments = by.begin, indptr, np.int64(count), np.int64(nnz), wide, summed, indices, data
        launch("close_up", -(-nnz // TILE), *arguments)
    return CSR((count, count), indptr, indices, data, validate=False, copy=False)


def weight_between(arcs: CSR, label: Any) -> int:
    """`hpgraph.kernels.communities.cpu_aggregate.weight_between` on the GPU; waits for it."""
    total = cupy.zeros(1, np.uint64)
    _weigh(arcs, label, total)
    return int(total[0])


def _weigh(arcs: CSR, label: Any, total: Any) -> None:
    if arcs.nnz == 0:
        return
    label = label.astype(arcs.indices.dtype, copy=False)
    arguments = arcs.indptr, arcs.indices, arcs.data, np.int64(len(label)), np.int64(arcs.nnz), label, total
    KERNELS.of(**groups.types_of(arcs, np.dtype(np.uint32))).launch("weigh_between", -(-arcs.nnz // TILE), *arguments)


def quality_terms(level: Level, label: Any, count: int, between: int | None) -> tuple[int, float]:
    """See `hpgraph.kernels.communities.Communities`; one transfer for both."""
    blocks = min(MAX_SUMS, -(-count // groups.THREADS))
    made = cupy.zeros(1 + blocks, np.uint64)
    if between is None:
        _weigh(level.arcs, label, made)
    if blocks:
        sent, received = groups.group_strengths(level, label, count)
        arguments = np.int64(count), sent, received, np.float64(level.total), made[1:]
        groups.KERNELS.of(Index=label.dtype).launch("multiply_shares", blocks, *arguments)
    words = made.get()
    return int(words[0]) if between is None else between, float(words[1:].view(np.float64).sum())
