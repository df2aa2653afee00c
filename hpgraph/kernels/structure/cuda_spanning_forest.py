"""A spanning forest of least weight on the GPU: Borůvka's rounds, each some launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.semiring.c_types import c_type

SOURCE = "spanning_forest.cuh"
THREADS = 256
# As in the source: a block handles longer rows.
MANY_ARCS = 4096
TREES = Layout("Trees<{Id}>", root="*", above="*", source="*", arc="*", chosen="*", key="*", ends="*")
LOOKING = Layout("Looking<{Id}>", list="*", count="i64")


def kernel_names(index: str, weight: str) -> dict[str, str]:
    """Name expressions of every kernel, by what the launches below call it."""
    of_ids = "begin_trees", "flatten_trees"
    names = {name: f"hpgraph::{name}<{index}>" for name in of_ids}
    names |= {name: f"hpgraph::{name}<{index}, {weight}>" for name in ("settle_ties", "join_trees")}
    for name in ("find_lightest", "find_lightest_listed"):
        names |= {f"{name} {flag}": f"hpgraph::{name}<{index}, {weight}, {flag}>" for flag in ("true", "false")}
    return names


def text_around(ids: np.dtype) -> dict[str, Any]:
    """What follows the source, where `load` and a test compile it."""
    return {"checks": f"{TREES.of(Id=ids).checks}\n{LOOKING.of(Id=ids).checks}"}


def spanning_forest(arcs: CSR) -> tuple[Any, Any]:
    """`hpgraph.kernels.structure.cpu_spanning_forest.spanning_forest` on the GPU.

    Waits for the device once a round, of which there are some log n, and in the end.
    """
    import cupy

    n, ids = arcs.shape[0], arcs.indices.dtype
    if n > 1 << 32:
        raise ValueError(f"spanning forests on CUDA are those of up to 2**32 vertices, not {n}: use the CPU")
    if n == 0 or arcs.nnz == 0:
        return cupy.empty(0, ids), cupy.empty(0, np.int64)
    most_listed = arcs.nnz // MANY_ARCS + 1
    check_memory(n * (32 + 5 * ids.itemsize) + most_listed * ids.itemsize, "a spanning forest", "cuda")
    index, weight = c_type(ids), "hpgraph::Pattern" if arcs.data is None else c_type(arcs.data.dtype)
    names = kernel_names(index, weight)
    layout, looking = TREES.of(Id=ids), LOOKING.of(Id=ids)
    module = load(SOURCE, names=tuple(names.values()), title="spanning forests", **text_around(ids))
    root, above, source = (cupy.empty(n, ids) for _ in range(3))
    arc, chosen = (cupy.empty(n, np.int64) for _ in range(2))
    key, ends = (cupy.empty(n, np.uint64) for _ in range(2))
    trees = layout(root, above, source, arc, chosen, key, ends)
    counts = cupy.empty(3, np.uint64)
    size, each, rows = np.int64(n), -(-n // THREADS), (arcs.indptr, arcs.indices, arcs.data)

    def launch(name: str, blocks: int, *arguments: Any) -> None:
        module.function(names[name])((blocks,), (THREADS,), arguments)

    launch("begin_trees", each, size, trees, counts)
    # Host work before the first launch delays the device; so the allocations come here.
    left_out, listed = cupy.full(1, -1, ids), cupy.empty(most_listed, ids)
    next_list, other_list = cupy.empty((2, n), ids)
    first, here, has_long, active = "true", n, True, looking(None, n)
    while True:
        blocks = -(-here // THREADS)
        launch(f"find_lightest {first}", blocks, *rows, active, left_out, trees, listed, counts)
        # In the first round all rows are read: if none is long then, none will be.
        if has_long:
            launch(f"find_lightest_listed {first}", 2 * multiprocessors(), *rows, trees, listed, counts)
        launch("settle_ties", blocks, arcs.indices, arcs.data, active, left_out, trees)
        launch("join_trees", blocks, arcs.indices, arcs.data, active, left_out, trees, next_list, counts)
        long_rows, joined, here = counts.tolist()
        if not joined or not here:
            break
        launch("flatten_trees", each, size, trees, counts, left_out)
        has_long = has_long and (first == "false" or long_rows > 0)
        first, active, next_list, other_list = "false", looking(next_list, here), other_list, next_list
    kept = cupy.flatnonzero(chosen >= 0)
    return source[kept], chosen[kept]
