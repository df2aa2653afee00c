"""Communities on the GPU: their members, the initial state of local moving, and the tables of ``group_table.cuh``."""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR, attached
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

# As in the CUDA source.
THREADS, WARPS = 256, 8
WARP_SLOTS = 512
BLOCK_SLOTS = WARP_SLOTS * WARPS
PIECE_SLOTS = BLOCK_SLOTS
WARP_ENTRIES, BLOCK_ENTRIES = WARP_SLOTS // 2, BLOCK_SLOTS // 2
KERNELS = KernelSet(
    "group_members.cuh", "members of communities",
    {"": "plan_tables count_rows multiply_shares",
     "<{Index}>": "begin_groups least_members represent inherit mark_groups number_groups list_members sum_groups"},
)  # fmt: skip
# Strengths and sizes of communities, and the vertices with arcs.
Beginning = namedtuple("Beginning", "sent received size active")
# Vertices by community, with the start of each community's members and of its arcs; inclusive sums of chunks, of
# communities with more arcs than a warp sums, and of slots, these less `chunks[-1]`.
Members = namedtuple("Members", "number communities sent received starts begin chunks slots members arcs_before")


def beginning(arcs: CSR, level: Level | None, label: Any) -> Beginning:
    """Initial state of a search over communities; of the vertices alone if there is no level."""
    n, ids = len(label), arcs.indices.dtype
    active = cupy.empty(n, np.bool_)
    sent = received = size = given = incoming = None
    is_wide = False
    if level is not None:
        sums, given, incoming = sum_type(level), level.sent, level.received if level.is_two_sided else None
        sent, size, is_wide = cupy.zeros(n, sums), cupy.zeros(n, ids), sums.itemsize == 8
        received = cupy.zeros(n, sums) if level.is_two_sided else sent
    KERNELS.of(Index=ids).each(
        "begin_groups", n, np.int64(n), arcs.indptr, None if level is None else label, given, incoming,
        np.bool_(is_wide), sent, None if incoming is None else received, size, active)  # fmt: skip
    return Beginning(sent, received, size, active)


@attached
def row_counts(arcs: CSR) -> tuple[int, int]:
    """Numbers of rows with entries, and of those with more than a block sums; waits for the GPU the first time."""
    counts = cupy.zeros(2, np.uint64)
    n = arcs.shape[0]
    KERNELS.of(Index=arcs.indices.dtype).each("count_rows", n, np.int64(n), arcs.indptr, counts)
    joined, hubs = counts.tolist()
    return joined, hubs


def represented(label: Any) -> Any:
    """`hpgraph.kernels.communities.Communities.represented` on the GPU."""
    n, made = len(label), cupy.empty_like(label)
    KERNELS.of(Index=label.dtype).each("represent", n, np.int64(n), label, _least_members(label), made)
    return made


def communities_of_parts(number: Any, label: Any, count: int) -> Any:
    """The community of each part, numbered by its part with the smallest vertex; `number`: of each vertex's part."""
    n, made = len(label), cupy.empty(count, number.dtype)
    KERNELS.of(Index=label.dtype).each("inherit", n, np.int64(n), label, number, _least_members(label), made)
    return made


def _least_members(label: Any) -> Any:
    n = len(label)
    least = cupy.full(n, n, label.dtype)
    KERNELS.of(Index=label.dtype).each("least_members", n, np.int64(n), label, least)
    return least


def members_of(level: Level, label: Any) -> Members:
    """The members of communities, numbered from 0 in the order of their labels; waits for the GPU."""
    arcs, n, ids = level.arcs, len(label), label.dtype
    size = np.int64(n)
    present = cupy.zeros(n, ids)
    kernels = KERNELS.of(Index=ids)
    kernels.each("mark_groups", n, size, label, present)
    before = cupy.cumsum(present, dtype=ids)
    count = int(before[-1]) if n else 0
    sent = cupy.zeros(count, np.int64)
    received = cupy.zeros(count, np.int64) if level.is_two_sided else sent
    placed, *planned = rows = cupy.zeros((5, count + 1), np.int64)
    number = cupy.empty(n, ids)
    incoming = level.received if level.is_two_sided else None
    given = arcs.indptr, label, before, level.sent, incoming
    kernels.each("number_groups", n, size, *given, number, sent, received, *planned[:2])
    kernels.each("plan_tables", count, np.int64(count), size, np.int64(arcs.nnz), *planned[1:])
    # A scan takes the host longer than three kernels.
    starts, begin, chunks, slots = cupy.cumsum(rows[1:]).reshape(4, -1)
    members, arcs_before = cupy.empty(n, ids), cupy.zeros(n + 1, np.int64)
    kernels.each("list_members", n, size, arcs.indptr, number, starts, placed, members, arcs_before)
    arcs_before = cupy.cumsum(arcs_before)
    return Members(number, count, sent, received, starts, begin, chunks, slots, members, arcs_before)


def group_strengths(level: Level, label: Any, count: int) -> tuple[Any, Any]:
    """Strengths of communities: sums of their vertices' strengths, sent and received."""
    sent = cupy.zeros(count, np.int64)
    received = cupy.zeros(count, np.int64) if level.is_two_sided else sent
    apart = (level.received, sent, received) if level.is_two_sided else (None, sent, None)
    n = len(label)
    KERNELS.of(Index=label.dtype).each("sum_groups", n, np.int64(n), label, level.sent, *apart)
    return sent, received


def sum_type(level: Level) -> np.dtype:
    """The type that holds the weight around any vertex, and any strength, of a graph or a graph of its communities."""
    return type_of_sums(max(level.total, level.strength))


def type_of_sums(total: float) -> np.dtype:
    """The type that holds sums of weights up to a total, and of two such."""
    return np.dtype(np.uint32 if total < 2**31 else np.uint64)


def types_of(arcs: CSR, sums: np.dtype) -> dict[str, Any]:
    """The parameters of the templates that sum the weights of arcs."""
    weight = "hpgraph::One" if arcs.data is None else arcs.data.dtype
    return {"Index": arcs.indices.dtype, "Weight": weight, "Sum": sums}


def clear_tables(slots: int, ids: np.dtype, sums: np.dtype) -> tuple[Any, Any]:
    """Empty tables, end to end."""
    check_memory(slots * (ids.itemsize + sums.itemsize), "the tables of vertices with many arcs", "cuda")
    return cupy.full(slots, -1, ids), cupy.zeros(slots, sums)
