"""Communities on the GPU: their members, the initial state of local moving, and the tables of ``group_table.cuh``."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.semiring.c_types import c_type

SOURCE = "group_members.cuh"


class Beginning(NamedTuple):
    """Strengths and sizes of communities, and the vertices with arcs."""

    sent: Any
    received: Any
    size: Any
    active: Any


class Members(NamedTuple):
    """Vertices by community, with the start of each community's members and of its arcs."""

    number: Any
    communities: int
    sent: Any
    received: Any
    starts: Any
    begin: Any
    members: Any
    arcs_before: Any


@functools.cache
def kernel_names(index: str) -> tuple[str, ...]:
    """Name expressions of the kernels of the source, for a C++ type of ids."""
    typed = ("begin_groups", "mark_groups", "number_groups", "list_members", "sum_groups")
    return ("hpgraph::plan_tables", "hpgraph::count_rows", *(f"hpgraph::{name}<{index}>" for name in typed))


def beginning(arcs: CSR, strengths: tuple[Any, Any] | None, label: Any) -> Beginning:
    """Initial state of a search over communities.

    ``strengths``: what vertices send and receive, the same array twice if the graph is undirected; None if not needed.
    """
    import cupy

    n = len(label)
    active = cupy.empty(n, np.bool_)
    sent = received = size = None
    if strengths is not None:
        sums = cupy.zeros((3 if strengths[0] is not strengths[1] else 2, n), np.int64)
        sent, size, received = sums[0], sums[1], sums[-1] if len(sums) == 3 else sums[0]
    apart = strengths is not None and strengths[0] is not strengths[1]
    of = strengths or (None, None)
    _launch(
        "begin_groups", arcs.indices.dtype, n,
        np.int64(n), arcs.indptr, label if strengths is not None else None, of[0], of[1] if apart else None,
        sent, received if apart else None, size, active,
    )  # fmt: skip
    return Beginning(sent, received, size, active)


@attached
def row_counts(arcs: CSR) -> tuple[int, int]:
    """Numbers of rows with entries, and of those with more than a block sums; waits for the GPU the first time."""
    import cupy

    counts = cupy.zeros(2, np.uint64)
    _launch("count_rows", arcs.indices.dtype, arcs.shape[0], np.int64(arcs.shape[0]), arcs.indptr, counts)
    joined, hubs = counts.tolist()
    return joined, hubs


def members_of(level: Level, label: Any) -> Members:
    """The members of communities, numbered from 0 in the order of their labels; waits for the GPU."""
    import cupy

    arcs, n, ids = level.arcs, len(label), label.dtype
    size = np.int64(n)
    present = cupy.zeros(n, ids)
    _launch("mark_groups", ids, n, size, label, present)
    before = cupy.cumsum(present, dtype=ids)
    count = int(before[-1]) if n else 0
    sums = cupy.zeros((5, count + 1), np.int64)
    sent, received, starts, begin, placed = sums
    number = cupy.empty(n, ids)
    incoming = level.received if level.directed else None
    sums_of = number, sent, received, starts, begin
    _launch("number_groups", ids, n, size, arcs.indptr, label, before, level.sent, incoming, *sums_of)
    starts, begin = cupy.cumsum(starts), cupy.cumsum(begin)
    members, arcs_before = cupy.empty(n, ids), cupy.zeros(n + 1, np.int64)
    _launch("list_members", ids, n, size, arcs.indptr, number, starts, placed, members, arcs_before)
    arcs_before = cupy.cumsum(arcs_before)
    # Copies, so that the larger arrays are freed.
    sent = sent[:count].copy()
    received = received[:count].copy() if level.directed else sent
    return Members(number, count, sent, received, starts, begin, members, arcs_before)


def table_plan(members: Members) -> tuple[Any, Any]:
    """Inclusive sums of chunks, of communities with more arcs than a warp sums, and the start of each table."""
    import cupy

    plan = cupy.zeros((2, members.communities + 1), np.int64)
    count = np.int64(members.communities)
    _launch("plan_tables", members.number.dtype, members.communities, count, members.begin, plan[0], plan[1])
    return cupy.cumsum(plan[0]), cupy.cumsum(plan[1])


def group_strengths(level: Level, label: Any, count: int) -> tuple[Any, Any]:
    """`hpgraph.kernels.communities.cpu_aggregate.group_strengths` on the GPU."""
    import cupy

    sent = cupy.zeros(count, np.int64)
    received = cupy.zeros(count, np.int64) if level.directed else sent
    apart = (level.received, sent, received) if level.directed else (None, sent, None)
    _launch("sum_groups", label.dtype, len(label), np.int64(len(label)), label, level.sent, *apart)
    return sent, received


def _launch(name: str, ids: np.dtype[Any], work: int, *arguments: Any) -> None:
    names = kernel_names(c_type(ids))
    if work:
        which = next(full for full in names if full.startswith(f"hpgraph::{name}"))
        kernel = load(SOURCE, names=names, title="members of communities").function(which)
        kernel((-(-work // THREADS),), (THREADS,), arguments)


# As in the source.
THREADS, WARPS = 256, 8
WARP_SLOTS = 512
BLOCK_SLOTS = WARP_SLOTS * WARPS
PIECE_SLOTS = BLOCK_SLOTS
WARP_ENTRIES, BLOCK_ENTRIES = WARP_SLOTS // 2, BLOCK_SLOTS // 2


def sum_type(level: Level) -> str:
    """The C++ type that holds the weight around any vertex of a graph, or of a graph of its communities."""
    return "unsigned" if level.total < 2**31 else "unsigned long long"


def clear_tables(begin: Any, ids: np.dtype[Any], sums: str) -> tuple[Any, Any]:
    """Empty tables, end to end; waits for the GPU.

    ``begin`` (CuPy int64 array of shape (k + 1,)): exclusive sum of the slots.
    """
    import cupy

    slots, dtype = int(begin[-1]), np.uint32 if sums == "unsigned" else np.uint64
    check_memory(slots * (ids.itemsize + np.dtype(dtype).itemsize), "the tables of vertices with many arcs", "cuda")
    return cupy.full(slots, -1, ids), cupy.zeros(slots, dtype)
