"""Edges of random graphs on the GPU.

Recursive edges, edges between blocks and attachments are those of the CPU; sorted draws and shuffles of many have the
same distribution as there, but other values.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.sampling import shuffles
from hpgraph.kernels.sampling.blocks import DRAWN, Blocks
from hpgraph.kernels.sampling.cuda_hops import word
from hpgraph.kernels.sampling.draws import first_pairs, to_draw
from hpgraph.kernels.sampling.points import Points, near_pairs
from hpgraph.kernels.sampling.recursive import LEVELS, WORDS, Recursion
from hpgraph.kernels.structure.cuda_undirected import TILE, count_different, keep_different, undirected

RECURSIVE = KernelSet(
    "recursive.cuh", "recursive edges", {"<{Index}>": "recursive_edges"},
    prologue=f"namespace hpgraph {{ constexpr int LEVELS = {LEVELS}, WORDS = {WORDS}; }}",
)  # fmt: skip
BLOCKS = KernelSet(
    "blocks.cuh", "edges between blocks", {"<{Index}>": "block_edges"},
    prologue=f"namespace hpgraph {{ constexpr int TILE = {TILE}, DRAWN = {DRAWN}; }}",
)  # fmt: skip
ORDERED = KernelSet(
    "ordered.cuh", "numbers drawn in order",
    {"": "sum_gaps place_gaps", "<{Index}>": "columns_of_pairs"},
)  # fmt: skip
ATTACHMENTS = KernelSet(
    "attachments.cuh", "edges by degrees",
    {"<{Index}>": "draw_places follow_places enter_targets draw_again follow_listed"},
)  # fmt: skip
SHUFFLES = KernelSet(
    "shuffles.cuh", "shuffles", {"<{Value}>": "shuffle"},
    prologue=f"namespace hpgraph {{ constexpr int ROUNDS = {shuffles.ROUNDS}; }}",
)  # fmt: skip
FIRST = KernelSet("attachments.cuh", "the first edges by degrees", {"<{Index}>": "attach_first"}, threads=1024)
# Edges that one block draws: rounds of few edges cost launches, and more vertices of many edges more blocks.
_FIRST = 1 << 13
# Edges of a vertex up to which a scan finds repeated targets, not a hash table: at 96 it takes 0.7 of the time (H200).
_FEW_ENDS = 128
# Edges of a thread of `recursive_edges`, which shares a table with its block.
_EDGES = 16


def recursive_edges(model: Recursion, count: int, ids: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.recursive_edges` on the GPU."""
    source, target = cupy.empty(count, ids), cupy.empty(count, ids)
    factors = map(word, model.factors)
    RECURSIVE.of(Index=np.dtype(ids)).each(
        "recursive_edges", -(-count // _EDGES), cupy.asarray(model.table), np.int32(model.levels), word(model.seed),
        *factors, np.int64(count), source, target,
    )  # fmt: skip
    return source, target


def block_edges(model: Blocks, ids: Any) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.block_edges` on the GPU."""
    count = int(model.ends[-1])
    source, target = cupy.empty(count, ids), cupy.empty(count, ids)
    ends, *tables = (None if table is None else cupy.asarray(table) for table in model[:-1])
    if count:
        BLOCKS.of(Index=np.dtype(ids)).launch(
            "block_edges", -(-count // TILE), ends, np.int64(len(model.rate)), *tables, word(model.seed),
            np.int64(count), source, target,
        )  # fmt: skip
    return source, target


def sorted_draws(rng: np.random.Generator, total: int, count: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.sorted_draws` on the GPU; waits for it, for how many are different.

    Gaps are drawn twice, for the sums of tiles and for places: that takes less than their traffic. They are whole
    numbers of a small unit, whose sums are the same in any order.
    """
    if not count:
        return cupy.empty(0, np.int64)
    drawn, kernels = to_draw(total, count), ORDERED.of(Index=np.dtype(np.int32))
    tiles = drawn // TILE + 1
    unit = np.float64(2.0 ** (61 - (drawn + 64).bit_length()))
    sums, place = cupy.empty(tiles, np.int64), cupy.empty(drawn, np.int64)
    while True:
        seed = word(int(rng.integers(1 << 62)))
        kernels.launch("sum_gaps", tiles, seed, unit, np.int64(drawn), sums)
        kernels.launch("place_gaps", tiles, seed, unit, np.int64(drawn), np.int64(total), cupy.cumsum(sums), place)
        starts, found = count_different(place)
        if found >= count:
            # A random set without a random subset is again a random set.
            absent = np.sort(rng.choice(found, found - count, replace=False))
            return keep_different(place, starts, found, cupy.asarray(absent))


def rows_of_pairs(n: int, place: Any, directed: bool) -> CSR:
    """`hpgraph.kernels.sampling.Sampling.rows_of_pairs` on the GPU."""
    ids, sizes = index_dtype(n), (np.int64(len(place)), np.bool_(directed))
    indptr = cupy.searchsorted(place, first_pairs(cupy, n, directed)).astype(np.int64)
    column = cupy.empty(len(place), ids)
    tiles = -(-len(place) // TILE)
    if tiles:
        ORDERED.of(Index=ids).launch("columns_of_pairs", tiles, indptr, np.int64(n), place, *sizes, column)
    return CSR((n, n), indptr, column, validate=False)


def attachments(rng: np.random.Generator, n: int, m: int) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.Sampling.attachments` on the GPU; waits for it, as often as the vertices double."""
    count, ids = m * (n - m), index_dtype(n)
    source, target = cupy.empty(count, ids), cupy.empty(count, ids)
    place, listed = cupy.empty(count, np.int64), cupy.empty(count, np.int64)
    kernels, seed = ATTACHMENTS.of(Index=ids), word(int(rng.integers(1 << 62)))
    done = min(max(_FIRST // m, 1) * m, count)
    # Two slots an edge of a round, beyond the edges that are listed.
    first_slots = listed if m > _FEW_ENDS else None
    FIRST.of(Index=ids).launch("attach_first", 1, seed, np.int64(m), np.int64(done), place, source, target, first_slots)
    while done < count:
        # Doubles the number of vertices: draws of earlier edges are final.
        end = min(2 * done, count)
        bounds = np.int64(m), np.int64(done), np.int64(end)
        slots = listed[done:end] if m > _FEW_ENDS else None
        kernels.each("draw_places", end - done, seed, *bounds, place, source)
        kernels.each("follow_places", end - done, place, *bounds, np.False_, target)
        while True:
            if slots is not None:
                slots.fill(-1)
                kernels.each("enter_targets", end - done, *bounds, target, slots)
            again = cupy.zeros(1, np.uint64)
            drawing = seed, *bounds, target, slots, place, listed, again
            kernels.each("draw_again", end - done, *drawing)
            if not (drawn := int(again[0])):
                break
            kernels.each("follow_places", end - done, place, *bounds, np.True_, target)
            kernels.each("follow_listed", drawn, listed, np.int64(drawn), place, *bounds[:2], target)
        done = end
    return source, target


def shuffled(values: Any, seed: int) -> Any:
    """`hpgraph.kernels.sampling.Sampling.shuffled` on the GPU."""
    count = len(values)
    if count <= shuffles.MAX_SERIAL:
        return shuffles.few_shuffled(values, seed)
    out, table = cupy.empty_like(values), map(np.int64, shuffles.table_of(count))
    SHUFFLES.of(Value=values.dtype).each("shuffle", count, word(seed), *table, values, np.int64(count), out)
    return out


def near_points(points: Points) -> CSR:
    """`hpgraph.kernels.sampling.Sampling.near_points` on the GPU."""
    return undirected(len(points.key), *near_pairs(points))
