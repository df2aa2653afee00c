"""Similarity on the GPU: the functions of `hpgraph.kernels.similarity.cpu`."""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy, prefix_sum
from hpgraph.formats import CSR
from hpgraph.kernels import similarity
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.similarity import COMMON, Common

THREADS = 256
# Minimum number of entries of a warp, and maximum number of stretches: each takes 16 bytes.
MIN_SPAN, MAX_STRETCHES = 256, 1 << 20
# As in the CUDA source.
ONE, VALUE, LESSER, PRODUCT = range(4)
_MEASURES = ", ".join(f"{name} = {getattr(similarity, name)}" for name in similarity.MEASURES)
KERNELS = KernelSet(
    "similarity.cuh", "similarity",
    {"<{Index}>": "order_pairs measure_pairs", "<{Index}, {Data}, {term}>": "add_common"},
    prologue=f"namespace hpgraph {{ enum Measure {{ {_MEASURES} }}; }}",
)  # fmt: skip


def pair_scores(rows: CSR, source: Any, target: Any, common: Common, measure: int, sizes: Any) -> Any:
    """`hpgraph.kernels.similarity.cpu.pair_scores` on the GPU; waits for it, for the amount of work."""
    pairs = len(source)
    check_memory(40 * pairs, f"{pairs:,} pairs", "cuda")
    found = cupy.empty(pairs)
    if pairs == 0:
        return found
    weighted = common.values is None and rows.data is not None
    term = VALUE if common.values is not None else ONE if not weighted else PRODUCT if common.product else LESSER
    types = {"Index": rows.indices.dtype, "Data": rows.data.dtype if weighted else "char", "term": term}
    launch = KERNELS.of(**types).launch
    longer, shorter = cupy.empty((2, pairs), rows.indices.dtype)
    lengths, count, blocks = cupy.empty(pairs + 1, np.int64), np.int64(pairs), -(-pairs // THREADS)
    launch("order_pairs", blocks, rows.indptr, source, target, count, longer, shorter, lengths)
    offsets = cupy.cumsum(lengths)
    total = int(offsets[-1])
    span = max(MIN_SPAN, -(-total // (32 * MAX_STRETCHES)) * 32)
    stretches = -(-total // span)
    head, tail = cupy.empty((2, max(stretches, 1)))
    if total:
        launch(
            "add_common", -(-stretches // (THREADS // 32)), rows.indptr, rows.indices,
            rows.data if weighted else None, common.values, longer, shorter, offsets, count, np.int64(span), found,
            head, tail,
        )  # fmt: skip
    ends = longer, shorter, sizes if measure != COMMON else None
    launch("measure_pairs", blocks, offsets, count, np.int64(span), head, tail, *ends, np.int32(measure), found)
    return found


def best_of_rows(rows: CSR, k: int) -> CSR:
    """`hpgraph.kernels.similarity.cpu.best_of_rows` on the GPU: entries are sorted, and the first of each row kept."""
    check_memory(48 * rows.nnz, "the order of entries", "cuda")
    row = rows.expand_rows()
    # Rows are sorted by column, and the sort is stable.
    order = cupy.lexsort(cupy.stack((rows.indices.astype(np.float64), -rows.data, row.astype(np.float64))))
    kept = order[cupy.arange(rows.nnz) - rows.indptr[:-1][row] < k]
    lengths = cupy.minimum(cupy.diff(rows.indptr), k)
    indptr = prefix_sum(lengths)
    return CSR(rows.shape, indptr, rows.indices[kept], rows.data[kept], validate=False)
