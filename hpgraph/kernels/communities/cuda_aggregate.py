"""The graph of communities on the GPU: the algorithm of `hpgraph.kernels.communities.cpu_aggregate`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.communities.cuda_members import (
    BLOCK_SLOTS,
    THREADS,
    WARP_ENTRIES,
    WARPS,
    Members,
    clear_tables,
    members_of,
    sum_type,
    table_plan,
)  # fmt: skip
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.semiring.c_types import c_type

SOURCE = "aggregate_groups.cuh"
# Entries that a block of tiles takes.
TILE = THREADS * 8
_FIELDS = {
    "indptr": "*", "indices": "*", "weights": "*", "number": "*", "members": "*", "arcs_before": "*", "starts": "*",
    "begin": "*", "count": "i64", "wide": "*", "sums": "*", "lengths": "*", "table_begin": "*", "table_keys": "*",
    "table_sums": "*",
}  # fmt: skip


def kernel_names(index: str, weight: str, sums: str) -> tuple[str, ...]:
    """Name expressions of the kernels of the source, for C++ types as in `hpgraph.kernels.communities.cuda`."""
    summing = f"{index}, {weight}, {sums}"
    names = (f"{name}<{summing}>" for name in ("aggregate_by_warp", "aggregate_by_chunk", "rows_of_tables"))
    return tuple(
        f"hpgraph::{name}" for name in (*names, f"close_up<{index}, {sums}>", f"weigh_between<{index}, {weight}>")
    )


@functools.cache
def layout(index: str, weight: str, sums: str) -> Any:
    """The layout of the kernels' argument."""
    return Layout(f"Aggregation<{index}, {weight}, {sums}>", **_FIELDS).of()


def aggregate_communities(level: Level, label: Any) -> tuple[Level, Any]:
    """`hpgraph.kernels.communities.cpu_aggregate.aggregate_communities` on the GPU; rows are unsorted."""
    arcs = level.arcs
    width = 2 * arcs.indices.itemsize + 8 + (4 if sum_type(level) == "unsigned" else 8)
    check_memory(arcs.nnz * width + 40 * len(label), "the graph of the communities", "cuda")
    members = members_of(level, label)
    coarse = _arcs(level, members)
    return Level(coarse, members.sent, members.received, level.total, level.unit), members.number


def _arcs(level: Level, by: Members) -> CSR:
    import cupy

    arcs, sums, ids, count = level.arcs, sum_type(level), by.number.dtype, by.communities
    lengths = cupy.zeros(count + 1, np.int64)
    if arcs.nnz == 0:
        return CSR((count, count), lengths, cupy.empty(0, ids), cupy.empty(0, np.int64), validate=False, copy=False)
    wide_sum = np.uint32 if sums == "unsigned" else np.uint64
    wide, summed = cupy.empty(arcs.nnz, ids), cupy.empty(arcs.nnz, wide_sum)
    chunk_ends, table_begin = table_plan(by)
    tables = clear_tables(table_begin, ids, sums)
    types = c_type(ids), "hpgraph::One" if arcs.data is None else "long long", sums
    names, described = kernel_names(*types), layout(*types)
    by_warp, by_chunk, rows_of_tables, close_up, _ = map(_module(types).function, names)
    room = BLOCK_SLOTS * (ids.itemsize + np.dtype(wide_sum).itemsize)
    made = described(
        arcs.indptr, arcs.indices, arcs.data, by.number, by.members, by.arcs_before, by.starts, by.begin,
        np.int64(count), wide, summed, lengths, table_begin, *tables,
    )  # fmt: skip
    blocks = 4 * multiprocessors()
    by_warp((min(2 * blocks, -(-count // WARPS)),), (THREADS,), (made,), shared_mem=room)
    # Returns at once if there are no chunks.
    by_chunk((min(blocks, -(-arcs.nnz // WARP_ENTRIES)),), (THREADS,), (made, chunk_ends), shared_mem=room)
    slots = len(tables[0])
    if slots:
        rows_of_tables((-(-slots // TILE),), (THREADS,), (made, np.int64(slots)))
    indptr = cupy.cumsum(lengths)
    nnz = int(indptr[-1])
    indices, data = cupy.empty(nnz, ids), cupy.empty(nnz, np.int64)
    if nnz:
        arguments = by.begin, indptr, np.int64(count), np.int64(nnz), wide, summed, indices, data
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
    _module(types).function(kernel_names(*types)[4])((-(-arcs.nnz // TILE),), (THREADS,), arguments)
    return int(total[0])
