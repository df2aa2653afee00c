"""Symmetric patterns of triangles, of edges in any order or of arcs, on the GPU: `mirroring` in few passes.

Edges are sorted as keys of both ends by CuPy's radix sort, and the triangle that they make is transposed by digits.
"""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.convert_cuda import by_digits
from hpgraph.kernels.entries.cuda_merge import merge
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function

KERNELS = KernelSet(
    "undirected.cuh", "edges both ways",
    {"": "count_different keep_different find_rows", "<{Id}>": "edge_keys", "<{Index}>": "read_columns spread_rows"},
)  # fmt: skip
# Entries of a block of the kernels that work by tiles.
TILE = 2048


def count_different(ordered: Any) -> tuple[Any, int]:
    """Number of distinct keys before each tile of sorted keys, and in all; waits for the device."""
    sums = cupy.empty(max(-(-len(ordered) // TILE), 1), np.int64)
    _kernels(np.int32).launch("count_different", len(sums), ordered, np.int64(len(ordered)), sums)
    ends = cupy.cumsum(sums)
    return ends - sums, int(ends[-1])


def keep_different(ordered: Any, starts: Any, count: int, absent: Any = None) -> Any:
    """The `count` distinct keys, without those whose ranks are in `absent`, ascending."""
    removed = 0 if absent is None else len(absent)
    kept = cupy.empty(count - removed, np.int64)
    _kernels(np.int32).launch(
        "keep_different", len(starts), ordered, np.int64(len(ordered)), starts, absent, np.int64(removed), kept
    )
    return kept


def undirected(n: int, source: Any, target: Any) -> CSR:
    """`hpgraph.kernels.structure.Structure.undirected` on the GPU; waits for the number of edges."""
    ids, below = index_dtype(n), np.int32(max(n - 1, 1).bit_length())
    given = np.dtype(np.int32 if source.dtype == np.int32 == target.dtype else np.int64)
    kernels, key = _kernels(ids, given), cupy.empty(len(source), np.int64)
    ends = (cupy.ascontiguousarray(side, given) for side in (source, target))
    kernels.each("edge_keys", len(key), *ends, np.int64(len(key)), below, key)
    key.sort()
    key = keep_different(key, *count_different(key))
    indptr, column, count = cupy.empty(n + 1, np.int64), cupy.empty(len(key), ids), np.int64(len(key))
    kernels.each("find_rows", n + 1, key, count, np.int64(n), below, indptr)
    kernels.each("read_columns", len(key), key, count, below, column)
    del key
    return mirrored(CSR((n, n), indptr, column, validate=False))


def mirrored(triangle: CSR) -> CSR:
    """`hpgraph.kernels.structure.Structure.mirrored` on the GPU."""
    n, m, indptr, column = triangle.shape[0], triangle.nnz, triangle.indptr, triangle.indices
    if not m:
        return triangle
    begins, ids, _ = by_digits(column, indptr, None, n)
    out, tiles, kernels = cupy.empty(2 * m, column.dtype), -(-m // TILE), _kernels(column.dtype)
    # Entries of the transpose precede each row.
    kernels.launch("spread_rows", tiles, indptr, np.int64(n), column, np.int64(m), begins, np.True_, out)
    kernels.launch("spread_rows", tiles, begins, np.int64(n), ids, np.int64(m), indptr, np.False_, out)
    return CSR((n, n), indptr + begins, out, validate=False)


def with_reverses(arcs: CSR, lightest: bool = False) -> CSR:
    """`hpgraph.kernels.structure.Structure.with_reverses` on the GPU; waits for the number of arcs."""
    back, kind = arcs.transpose(), np.dtype(bool) if arcs.data is None else arcs.data.dtype
    is_kept = lightest or back.data is None
    op = "min" if lightest and back.data is not None else "first"
    both, left, right = (entry_function(get_binary(name), kind, kind, kind) for name in (op, "first", "second"))
    back = back if is_kept else back.with_data(cupy.zeros_like(back.data), copy=False)
    joined = merge(arcs, back, both, left, right, arcs.dtype)
    if not is_kept:
        joined.data[joined.expand_rows() == joined.indices] = 0
    return joined


def _kernels(ids: Any, given: Any = np.int64) -> Any:
    return KERNELS.of(Id=np.dtype(given), Index=np.dtype(ids))
