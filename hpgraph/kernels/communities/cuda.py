"""Local moving on the GPU: the algorithm of `hpgraph.kernels.communities.cpu`, with another re-examination rule.

Without bounds of what vertices may gain, all neighbours of a vertex that moves are examined again, hubs by chance; and
after fewer moves than there all vertices are. So communities differ from the CPU's, but not from run to run.
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.communities import cuda_members as groups
from hpgraph.kernels.communities.batches import MANY_MOVES, PRIORITIES, REFINING_ROUNDS, ROUNDS, batch_bits
from hpgraph.kernels.communities.cuda_aggregate import KERNELS as AGGREGATING
from hpgraph.kernels.communities.cuda_aggregate import graph_of_communities
from hpgraph.kernels.communities.level import Ending, Level, summed_by
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, Layout

# As in the CUDA source: two sets of counters, the barrier's word and the number of moves.
_SET = 2 * 5 * 64 + 3
COUNTERS = 2 * _SET + 2
MOVING = Layout(
    "Moving<{Index}, {Weight}, {Sum}>",
    n="i64", indptr="*", indices="*", weights="*", sent="*", received="*",
    label="*", group_sent="*", group_received="*", group_size="*", group_load="*", within="*", load="*", demand="*",
    movable="*", active="*", listed="*", target="*", counters="*",
    hub_of="*", hub_begin="*", hub_inside="*", hub_done="*", hub_keys="*", hub_sums="*",
    hub_best="*",
    seed="u64", joined="i64", few="i64", many="i64", limit="i64", share="double", penalty="double",
    rounds="int", bits="int", two_sided="int", refining="int", alone="int", by_weight="int",
)  # fmt: skip
KERNELS = KernelSet(
    "move_groups.cuh", "communities", {"<{frequent}, {plain}, {Index}, {Weight}, {Sum}>": "move_groups"},
    layouts=(MOVING,), cooperative=True,
)  # fmt: skip


class _Search(NamedTuple):
    """Parameters of a search: batches, scores, and when it ends."""

    rounds: int
    seed: int = 0
    few: int = 0
    share: float = 0.0
    penalty: float = 0.0
    bits: int = 0
    within: Any = None
    by_weight: bool = False
    alone: bool = False
    limit: int = 0

    def is_plain(self, level: Level | None) -> bool:
        """Whether it has no option, so that a smaller kernel does."""
        if level is None:
            return True
        options = self.within is not None or self.by_weight or self.alone or self.limit
        return not (options or level.is_two_sided or level.movable is not None)


def begin_moves(arcs: CSR, weighted: bool, total: float, plain: set[bool]) -> None:
    """See `hpgraph.kernels.communities.Communities`."""
    if arcs.nnz:
        sums = groups.type_of_sums(total)
        # In graphs of communities all arcs have weights.
        for weight in (np.dtype(np.int64) if weighted else "hpgraph::One", np.dtype(np.int64)):
            types = {"Index": arcs.indices.dtype, "Weight": weight, "Sum": sums}
            for kind in plain:
                KERNELS.of(frequent=False, plain=kind, **types)
            AGGREGATING.of(**types)
        groups.KERNELS.of(Index=arcs.indices.dtype)


def move_vertices(
    level: Level, label: Any, resolution: float, seed: int, few: tuple[float, float], *, alone: bool = False,
    limit: int = 0,
) -> tuple[Any, Any]:  # fmt: skip
    """`hpgraph.kernels.communities.cpu.move_vertices` on the GPU.

    The number of moves is an array without dimensions.
    """
    moves, share = few
    search = _Search(ROUNDS, seed, int(moves * len(label)), share, alone=alone, limit=limit)
    return _moved(level, label.copy(), resolution, search)


def aggregate_communities(
    level: Level, label: Any, refining: tuple[float, int] | None = None
) -> tuple[Level, Any, Any]:
    """See `hpgraph.kernels.communities.Communities`."""
    # Represented by their smallest vertices at each level, communities are finally numbered by these.
    if not refining:
        coarse, number = graph_of_communities(level, groups.represented(label))
        return coarse, number, cupy.arange(coarse.arcs.shape[0], dtype=number.dtype)
    resolution, seed = refining
    alone, search = cupy.arange(len(label), dtype=label.dtype), _Search(REFINING_ROUNDS, seed, within=label)
    part = _moved(level, alone, resolution, search)[0]
    coarse, number = graph_of_communities(level, groups.represented(part))
    return coarse, number, groups.communities_of_parts(number, label, coarse.arcs.shape[0])


def in_order(label: Any) -> Any:
    """See `hpgraph.kernels.communities.Communities`."""
    return label


def finish_levels(
    level: Level, label: Any, quality: float, resolution: float, key: int, ending: Ending, *, alone: bool, refines: bool
) -> Any:
    """None: on the GPU no level is small enough."""
    return None


def asynchronous_labels(level: Level, seed: int, rounds: int, few: float) -> Any:
    """`hpgraph.kernels.communities.cpu_asynchronous.asynchronous_labels` on the GPU, in batches of single vertices."""
    n = level.arcs.shape[0]
    label = cupy.arange(n, dtype=level.arcs.indices.dtype)
    return _moved(level, label, 0.0, _Search(rounds, seed, int(few * n), by_weight=True))[0]


def _moved(level: Level, label: Any, resolution: float, search: _Search) -> tuple[Any, Any]:
    """Move vertices, changing the labels in place; returns the number of moves."""
    arcs = level.arcs
    if arcs.nnz == 0 or search.rounds == 0:
        return label, 0
    at_first = groups.beginning(arcs, level, label)
    bits = batch_bits(groups.row_counts(arcs)[0], arcs.nnz)
    search = search._replace(penalty=level.penalty(resolution), bits=bits)
    return label, _launch(arcs, level, label, at_first, search)


def frequent_labels(arcs: CSR, label: Any, rounds: int) -> Any:
    """`hpgraph.kernels.communities.cpu_labels.frequent_labels` on the GPU."""
    label = label.copy()
    if arcs.nnz and rounds:
        pattern = arcs.with_data(None)
        _launch(pattern, None, label, groups.beginning(pattern, None, label), _Search(rounds))
    return label


def _launch(arcs: CSR, level: Level | None, label: Any, at_first: groups.Beginning, search: _Search) -> Any:
    """Run the kernel, label propagation if there is no level; returns the number of moves."""
    n, ids = arcs.shape[0], arcs.indices.dtype
    sums = np.dtype(np.uint32) if level is None else groups.sum_type(level)
    strengths = (None, None) if level is None else (level.sent, level.received)
    types = groups.types_of(arcs, sums)
    kernel = KERNELS.of(frequent=level is None, plain=search.is_plain(level), **types).functions["move_groups"]
    limited = PRIORITIES * n if search.limit else 0
    check_memory(n * (1 + 3 * ids.itemsize) + 8 * limited, "the work space of communities", "cuda")
    counters, (joined, hubs) = cupy.zeros(COUNTERS, np.uint64), groups.row_counts(arcs)
    work, tables = cupy.empty((2, n), ids), _tables(arcs, hubs, sums)
    load, demand = (level.size, cupy.zeros(limited, np.int64)) if level is not None and limited else (None, None)
    made = MOVING.of(**types)(
        np.int64(n), arcs.indptr, arcs.indices, arcs.data, *strengths, label, at_first.sent, at_first.received,
        at_first.size, summed_by(label, load, n) if limited else None, search.within, load, demand,
        None if level is None else level.movable, at_first.active, work[0], work[1], counters, *tables,
        np.uint64(search.seed), np.int64(joined), np.int64(search.few), np.int64(int(MANY_MOVES * n)),
        np.int64(search.limit), np.float64(search.share), np.float64(search.penalty),
        np.int32(search.rounds), np.int32(search.bits),
        np.int32(level is not None and level.is_two_sided), np.int32(search.within is not None),
        np.int32(search.alone), np.int32(search.by_weight),
    )  # fmt: skip
    # A barrier's cost grows with the blocks, so small levels get few.
    busy = max(-(-n // (4 * groups.THREADS)), -(-arcs.nnz // (8 * groups.THREADS)))
    shared = groups.BLOCK_SLOTS * (ids.itemsize + sums.itemsize)
    kernel((min(kernel.resident(groups.THREADS, shared), busy),), (groups.THREADS,), (made,), shared_mem=shared)
    return counters[-1]


def _tables(arcs: CSR, count: int, sums: np.dtype) -> tuple[Any, ...]:
    """Work space of hubs, vertices whose arcs several blocks share."""
    if count == 0:
        return (None,) * 7
    n, ids, degrees = arcs.shape[0], arcs.indices.dtype, arcs.degrees
    hubs = cupy.flatnonzero(degrees > groups.BLOCK_ENTRIES)
    hub_of = cupy.empty(n, ids)
    hub_of[hubs] = cupy.arange(count, dtype=ids)
    begin = cupy.zeros(count + 1, np.int64)
    # Half of the slots stay free, and four are read at once.
    cupy.cumsum((2 * degrees[hubs] + 3) // 4 * 4, out=begin[1:])
    keys, table = groups.clear_tables(int(begin[-1]), ids, sums)
    best = cupy.empty((len(keys) // groups.PIECE_SLOTS + count + 1, 2), np.uint64)
    return hub_of, begin, cupy.zeros(count, np.uint64), cupy.zeros(count, np.uint32), keys, table, best
