"""Local moving on the GPU; `hpgraph.kernels.communities.cpu` describes it, and its answers are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.communities.batches import FEW_MOVES, MANY_MOVES, REFINING_ROUNDS, ROUNDS, batch_bits
from hpgraph.kernels.communities.cuda_tables import BLOCK_ENTRIES, BLOCK_SLOTS, THREADS, clear_tables, sum_type
from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.structure.cuda_degree_order import c_type

SOURCE = "move_groups.cuh"
# As in the source: two sets of counters, the barrier's and the number of moves.
_SET = 2 * 5 * 64 + 2
COUNTERS = 2 * _SET + 2
# Blocks that a multiprocessor holds at once, by the launch bounds and by their shared memory.
BLOCKS = 4
_FIELDS = {
    "n": "i64", "indptr": "*", "indices": "*", "weights": "*", "sent": "*", "received": "*",
    "label": "*", "group_sent": "*", "group_received": "*", "group_size": "*", "within": "*",
    "active": "*", "listed": "*", "target": "*", "counters": "*",
    "hub_of": "*", "hub_begin": "*", "hub_inside": "*", "hub_done": "*", "hub_keys": "*", "hub_sums": "*",
    "seed": "u64", "few": "i64", "many": "i64", "penalty": "double",
    "rounds": "int", "bits": "int", "directed": "int", "refining": "int",
}  # fmt: skip


def kernel_name(frequent: bool, index: str, weight: str, sums: str) -> str:
    """Name expression of the kernel.

    Parameters
    ----------
    frequent : bool
        Whether it finds the most frequent labels, rather than communities of a higher modularity.
    index : str
        "int" or "long long".
    weight : str
        "hpgraph::One" or "long long".
    sums : str
        "unsigned" or "unsigned long long".

    Returns
    -------
    str
    """
    return f"hpgraph::move_groups<{'true' if frequent else 'false'}, {index}, {weight}, {sums}>"


def layout(index: str, weight: str, sums: str) -> Any:
    """The layout of the kernel's argument, for C++ types as in `kernel_name`."""
    return Layout(f"Moving<{index}, {weight}, {sums}>", **_FIELDS).of()


def move_vertices(
    level: Level, label: Any, resolution: float, seed: int, rounds: int = ROUNDS, few: float = FEW_MOVES
) -> tuple[Any, int]:
    """`hpgraph.kernels.communities.cpu.move_vertices` on the GPU; waits for it.

    Raises
    ------
    DeviceMemoryError
        When the work space will not fit.
    """
    return _moved(level, label.copy(), None, resolution, seed, rounds, int(few * len(label)))


def refine_communities(level: Level, within: Any, resolution: float, seed: int) -> Any:
    """`hpgraph.kernels.communities.cpu.refine_communities` on the GPU; waits for it.

    Raises
    ------
    DeviceMemoryError
        When the work space will not fit.
    """
    import cupy

    label = cupy.arange(len(within), dtype=within.dtype)
    return _moved(level, label, within, resolution, seed, REFINING_ROUNDS, 0)[0]


def _moved(
    level: Level, label: Any, within: Any, resolution: float, seed: int, rounds: int, few: int
) -> tuple[Any, int]:
    import cupy

    arcs, n = level.arcs, len(label)
    if arcs.nnz == 0:
        return label, 0
    degrees = arcs.degrees
    joined = degrees > 0
    sent = _sums(label, level.sent)
    received = _sums(label, level.received) if level.directed else sent
    size = cupy.bincount(label, minlength=n)
    bits = batch_bits(int(cupy.count_nonzero(joined)), arcs.nnz)
    counters = _launch(
        arcs, degrees, joined, (level.sent, level.received), (label, sent, received, size), within, False,
        sum_type(level), seed, few, level.penalty(resolution), rounds, bits, level.directed,
    )  # fmt: skip
    return label, int(counters[-1])


def frequent_labels(arcs: CSR, label: Any, rounds: int) -> Any:
    """`hpgraph.kernels.communities.cpu_labels.frequent_labels` on the GPU.

    Raises
    ------
    DeviceMemoryError
        When the work space will not fit.
    """
    label = label.copy()
    if arcs.nnz and rounds:
        degrees = arcs.degrees
        pattern, groups = arcs.with_data(None), (label, None, None, None)
        joined = degrees > 0
        _launch(pattern, degrees, joined, (None, None), groups, None, True, "unsigned", 0, 0, 0.0, rounds, 0, False)
    return label


def _sums(label: Any, strength: Any) -> Any:
    """What the vertices of each community send, or receive; whole numbers, and so exact in any order."""
    import cupy

    return cupy.bincount(label, weights=strength, minlength=len(label)).astype(np.int64)


def _launch(
    arcs: CSR, degrees: Any, active: Any, strengths: tuple[Any, Any], groups: tuple[Any, ...], within: Any, frequent:
    bool, sums: str, seed: int, few: int, penalty: float, rounds: int, bits: int, directed: bool,
) -> Any:  # fmt: skip
    import cupy

    n, ids = arcs.shape[0], arcs.indices.dtype
    types = c_type(ids), "hpgraph::One" if arcs.data is None else "long long", sums
    name, described = kernel_name(frequent, *types), layout(*types)
    module = load(SOURCE, names=(name,), cooperative=True, title="communities", checks=described.checks)
    kernel = module.function(name)
    width = ids.itemsize + (4 if sums == "unsigned" else 8)
    if kernel.max_dynamic_shared_size_bytes < BLOCK_SLOTS * width:
        kernel.max_dynamic_shared_size_bytes = BLOCK_SLOTS * width
    check_memory(n * (1 + 3 * ids.itemsize), "the work space of communities", "cuda")
    hubs = cupy.flatnonzero(degrees > BLOCK_ENTRIES)
    hub_of = hub_begin = inside = done = keys = table = None
    if len(hubs):
        hub_of = cupy.zeros(n, ids)
        hub_of[hubs] = cupy.arange(len(hubs), dtype=ids)
        hub_begin, keys, table = clear_tables(degrees[hubs], ids, sums)
        inside, done = cupy.zeros(len(hubs), np.uint64), cupy.zeros(len(hubs), np.uint32)
    counters = cupy.zeros(COUNTERS, np.uint64)
    flags, listed, target = active.astype(np.uint8), cupy.empty(n, ids), cupy.empty(n, ids)
    made = described(
        np.int64(n), arcs.indptr, arcs.indices, arcs.data, *strengths, *groups, within, flags, listed, target, counters,
        hub_of, hub_begin, inside, done, keys, table, np.uint64(seed), np.int64(few), np.int64(int(MANY_MOVES * n)),
        np.float64(penalty), np.int32(rounds), np.int32(bits), np.int32(directed), np.int32(within is not None),
    )  # fmt: skip
    # A barrier costs what its blocks cost, so a level of few vertices has few of them.
    busy = max(-(-n // (4 * THREADS)), -(-arcs.nnz // (8 * THREADS)))
    blocks = min(BLOCKS * multiprocessors(), busy)
    kernel((blocks,), (THREADS,), (made,), shared_mem=BLOCK_SLOTS * width)
    return counters
