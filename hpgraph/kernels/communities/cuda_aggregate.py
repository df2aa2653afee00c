"""The graph of communities on the GPU; `hpgraph.kernels.communities.cpu_aggregate` describes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.communities.cuda_tables import (
    BLOCK_ENTRIES,
    BLOCK_SLOTS,
    THREADS,
    WARP_ENTRIES,
    WARPS,
    clear_tables,
    sum_type,
)
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.structure.cuda_degree_order import c_type

SOURCE = "aggregate_groups.cuh"
# Entries that a block of tiles takes.
TILE = THREADS * 8
_FIELDS = {
    "indptr": "*", "indices": "*", "weights": "*", "number": "*", "members": "*", "arcs_before": "*", "starts": "*",
    "count": "i64", "wide": "*", "sums": "*", "lengths": "*", "table_begin": "*", "done": "*", "table_keys": "*",
    "table_sums": "*",
}  # fmt: skip


def kernel_names(index: str, weight: str, sums: str) -> tuple[str, ...]:
    """Name expressions of the kernels of the source, for C++ types as in `hpgraph.kernels.communities.cuda`.

    Returns
    -------
    tuple of str
    """
    summing = f"{index}, {weight}, {sums}"
    names = f"aggregate_by_warp<{summing}>", f"aggregate_by_chunk<{summing}>", f"close_up<{index}, {sums}>"
    return tuple(f"hpgraph::{name}" for name in (*names, f"weigh_between<{index}, {weight}>"))


def layout(index: str, weight: str, sums: str) -> Any:
    """The layout of the kernels' argument."""
    return Layout(f"Aggregation<{index}, {weight}, {sums}>", **_FIELDS).of()


def aggregate_communities(level: Level, label: Any) -> tuple[Level, Any]:
    """`hpgraph.kernels.communities.cpu_aggregate.aggregate_communities` on the GPU; rows are in no order.

    Raises
    ------
    DeviceMemoryError
        When it will not fit.
    """
    import cupy

    n, ids = len(label), label.dtype
    present = cupy.zeros(n, np.bool_)
    present[label] = True
    before = cupy.cumsum(present, dtype=ids)
    count = int(before[-1]) if n else 0
    number = (before - 1)[label] if n else label
    sent = _strengths(number, level.sent, count)
    received = _strengths(number, level.received, count) if level.directed else sent
    coarse = _arcs(level, number, count, ids)
    return Level(coarse, sent, received, level.total, level.unit), number


def _strengths(number: Any, strength: Any, count: int) -> Any:
    import cupy

    return cupy.bincount(number, weights=strength, minlength=count).astype(np.int64)


def _arcs(level: Level, number: Any, count: int, ids: np.dtype[Any]) -> CSR:
    import cupy

    arcs, n, sums = level.arcs, len(number), sum_type(level)
    indptr = cupy.zeros(count + 1, np.int64)
    if arcs.nnz == 0:
        return CSR((count, count), indptr, cupy.empty(0, ids), cupy.empty(0, np.int64), validate=False, copy=False)
    wide_sum = np.uint32 if sums == "unsigned" else np.uint64
    an_arc = 2 * ids.itemsize + np.dtype(wide_sum).itemsize + 8
    check_memory(arcs.nnz * an_arc + 32 * n, "the graph of the communities", "cuda")
    members = cupy.argsort(number, kind="stable").astype(ids, copy=False)
    starts, arcs_before = cupy.zeros(count + 1, np.int64), cupy.zeros(n + 1, np.int64)
    cupy.cumsum(cupy.bincount(number, minlength=count), out=starts[1:])
    cupy.cumsum(arcs.degrees[members], out=arcs_before[1:])
    begin = arcs_before[starts]
    entries = cupy.diff(begin)
    few = cupy.flatnonzero((entries > 0) & (entries <= WARP_ENTRIES))
    many = cupy.flatnonzero(entries > WARP_ENTRIES)
    wide, summed, lengths = cupy.empty(arcs.nnz, ids), cupy.empty(arcs.nnz, wide_sum), cupy.zeros(count, np.int64)
    chunk_ends = cupy.zeros(len(many) + 1, np.int64)
    tables: tuple[Any, ...] = None, None, None
    done = None
    if len(many):
        cupy.cumsum(-(-entries[many] // BLOCK_ENTRIES), out=chunk_ends[1:])
        shared = entries[many]
        # No more communities than there are; one that a block sums by itself needs no table.
        tables = clear_tables(cupy.where(shared > BLOCK_ENTRIES, cupy.minimum(shared, count), 0), ids, sums)
        done = cupy.zeros(len(many), np.uint32)
    types = c_type(ids), "hpgraph::One" if arcs.data is None else "long long", sums
    names, described = kernel_names(*types), layout(*types)
    by_warp, by_chunk, close_up, _ = map(_module(types).function, names)
    room = BLOCK_SLOTS * (ids.itemsize + np.dtype(wide_sum).itemsize)
    made = described(
        arcs.indptr, arcs.indices, arcs.data, number, members, arcs_before, starts, np.int64(count), wide, summed,
        lengths, tables[0], done, tables[1], tables[2],
    )  # fmt: skip
    blocks = 4 * multiprocessors()
    for kernel in (by_warp, by_chunk):
        if kernel.max_dynamic_shared_size_bytes < room:
            kernel.max_dynamic_shared_size_bytes = room
    if len(few):
        by_warp((min(blocks, -(-len(few) // WARPS)),), (THREADS,), (made, few, np.int64(len(few))), shared_mem=room)
    if len(many):
        by_chunk((blocks,), (THREADS,), (made, many, np.int64(len(many)), chunk_ends), shared_mem=room)
    cupy.cumsum(lengths, out=indptr[1:])
    nnz = int(indptr[-1])
    indices, data = cupy.empty(nnz, ids), cupy.empty(nnz, np.int64)
    if nnz:
        arguments = begin, indptr, np.int64(count), np.int64(nnz), wide, summed, indices, data
        close_up((-(-nnz // TILE),), (THREADS,), arguments)
    return CSR((count, count), indptr, indices, data, validate=False, copy=False)


def _module(types: tuple[str, str, str]) -> Any:
    return load(SOURCE, names=kernel_names(*types), title="graphs of communities", checks=layout(*types).checks)


def weight_between(level: Level, label: Any) -> int:
    """`hpgraph.kernels.communities.cpu_aggregate.weight_between` on the GPU; waits for it."""
    import cupy

    arcs = level.arcs
    if arcs.nnz == 0:
        return 0
    types = c_type(arcs.indices.dtype), "hpgraph::One" if arcs.data is None else "long long", "unsigned"
    total = cupy.zeros(1, np.uint64)
    label = label.astype(arcs.indices.dtype, copy=False)
    arguments = arcs.indptr, arcs.indices, arcs.data, np.int64(len(label)), np.int64(arcs.nnz), label, total
    given = tuple(np.uint64(0) if value is None else value for value in arguments)
    _module(types).function(kernel_names(*types)[3])((-(-arcs.nnz // TILE),), (THREADS,), given)
    return int(total[0])
