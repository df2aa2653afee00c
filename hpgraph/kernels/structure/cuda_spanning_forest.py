"""A spanning forest of least weight on the GPU: Borůvka's rounds, each some launches."""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, Layout, multiprocessors

# As in the CUDA source: threads of a block, and arcs of a row beyond which a block handles it.
THREADS = 256
MANY_ARCS = 4096
TREES = Layout("Trees<{Id}>", root="*", above="*", source="*", arc="*", chosen="*", key="*", ends="*")
LOOKING = Layout("Looking<{Id}>", list="*", count="i64")
KERNELS = KernelSet(
    "spanning_forest.cuh", "spanning forests",
    {"<{Id}>": "begin_trees flatten_trees count_kept list_kept", "<{Id}, {Weight}>": "settle_ties join_trees",
     "<{Id}, {Weight}, true>": "find_first=find_lightest find_first_listed=find_lightest_listed",
     "<{Id}, {Weight}, false>": "find_next=find_lightest find_next_listed=find_lightest_listed"},
    layouts=(TREES, LOOKING),
)  # fmt: skip


def spanning_forest(arcs: CSR) -> tuple[Any, Any, Any]:
    """`hpgraph.kernels.structure.cpu_spanning_forest.spanning_forest` on the GPU.

    Waits for the device once in each of about log n rounds, and at the end.
    """
    n, ids = arcs.shape[0], arcs.indices.dtype
    if n > 1 << 32:
        raise ValueError(f"spanning forests on CUDA are those of up to 2**32 vertices, not {n}: use the CPU")
    if n == 0 or arcs.nnz == 0:
        return cupy.empty(0, ids), cupy.empty(0, np.int64), cupy.arange(n, dtype=ids)
    most_listed = arcs.nnz // MANY_ARCS + 1
    check_memory(n * (32 + 5 * ids.itemsize) + most_listed * ids.itemsize, "a spanning forest", "cuda")
    types = {"Id": ids, "Weight": "hpgraph::Pattern" if arcs.data is None else arcs.data.dtype}
    kernels = KERNELS.of(**types)
    launch, each = kernels.launch, kernels.each
    layout, looking = TREES.of(Id=ids), LOOKING.of(Id=ids)
    root, above, source = (cupy.empty(n, ids) for _ in range(3))
    arc, chosen = (cupy.empty(n, np.int64) for _ in range(2))
    key, ends = (cupy.empty(n, np.uint64) for _ in range(2))
    trees = layout(root, above, source, arc, chosen, key, ends)
    counts = cupy.empty(3, np.uint64)
    size, rows = np.int64(n), (arcs.indptr, arcs.indices, arcs.data)
    each("begin_trees", n, size, trees, counts)
    # Host work before the first launch delays the device; so the allocations come here.
    left_out, listed = cupy.full(1, -1, ids), cupy.empty(most_listed, ids)
    next_list, other_list = cupy.empty((2, n), ids)
    find, searching, has_long, active = "find_first", n, True, looking(None, n)
    while True:
        each(find, searching, *rows, active, left_out, trees, listed, counts)
        # In the first round all rows are read: if none is long then, none will be.
        if has_long:
            launch(f"{find}_listed", 2 * multiprocessors(), *rows, trees, listed, counts)
        each("settle_ties", searching, arcs.indices, arcs.data, active, left_out, trees)
        each("join_trees", searching, arcs.indices, arcs.data, active, left_out, trees, next_list, counts)
        long_rows, joined, searching = counts.tolist()
        if joined:
            each("flatten_trees", n, size, trees, counts, left_out)
        if not joined or not searching:
            break
        has_long = has_long and (find == "find_next" or long_rows > 0)
        find, active, next_list, other_list = "find_next", looking(next_list, searching), other_list, next_list
    tail = cupy.empty(-(-n // THREADS), ids)
    each("count_kept", n, size, trees, tail)
    tail = cupy.cumsum(tail, dtype=ids)
    count = int(tail[-1])
    ends, kept = cupy.empty(count, ids), cupy.empty(count, np.int64)
    each("list_kept", n, size, trees, tail, ends, kept)
    return ends, kept, root
