"""Graph attention at the entries of a matrix, on the GPU: launches of `attention.cuh`."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import Kernels, KernelSet, struct
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, bins

SUMS = KernelSet("attention.cuh", "sums at entries", {"<{Index}, {Value}>": "sample_sums"})
SOFTMAX = KernelSet(
    "attention.cuh", "softmax by rows", {"<{Value}, hpgraph::{Fold}>": "fold_pieces join_pieces write_rows"}
)
WARP = 32


def _value(array: Any, half: str | None) -> Any:
    return f"hpgraph::{half}" if half else array.dtype


def _shape(csr: CSR, heads: int, tasks: int) -> tuple[int, Any]:
    """Blocks, and `struct Heads` of attention.cuh: no more lanes for a row than it has entries on average."""
    tile = min(heads, WARP)
    entries, tiles = 1 << (WARP // tile).bit_length() - 1, -(-heads // tile)
    while entries > 1 and entries // 2 * csr.shape[0] >= csr.nnz:
        entries //= 2
    rows = WARP // (tile * entries)
    blocks = -(-tasks // (rows * BLOCK // WARP)) * tiles
    return blocks, struct(heads, *(np.uint32(word) for word in (tile, tiles, entries)))


def sample_sums(csr: CSR, x: Any, y: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.sample_sums`."""
    if not out.size:
        return
    binned = bins(csr)
    short = len(binned.slots)
    blocks, heads = _shape(csr, out.shape[1], binned.pieces + short)
    kernels = SUMS.of(Index=csr.indices.dtype, Value=_value(x, half))
    kernels.launch("sample_sums", blocks, csr.indptr, csr.indices, binned.arguments, np.int64(short), heads, x, y, out)


def row_softmax(csr: CSR, scores: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.row_softmax`."""
    # A maximum and a sum a piece and head.
    _by_rows(csr, SOFTMAX.of(Value=_value(scores, half), Fold="Exponentials"), 2, scores, None, out)


def softmax_derivative(csr: CSR, softmax: Any, gradient: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.softmax_derivative`."""
    _by_rows(csr, SOFTMAX.of(Value=_value(softmax, half), Fold="Products"), 1, softmax, gradient, out)


def _by_rows(csr: CSR, kernels: Kernels, words: int, a: Any, b: Any, out: Any) -> None:
    if not out.size:
        return
    binned, count = bins(csr), out.shape[1]
    short = len(binned.slots)
    part = cupy.empty(binned.pieces * count * words, np.promote_types(out.dtype, np.float32))
    if binned.pieces:
        blocks, heads = _shape(csr, count, binned.pieces)
        kernels.launch("fold_pieces", blocks, csr.indptr, binned.arguments, heads, a, b, part)
        long_rows = np.int64(binned.long_rows)
        kernels.each("join_pieces", binned.long_rows * count, binned.first_piece, long_rows, np.int64(count), part)
    blocks, heads = _shape(csr, count, binned.pieces + short)
    kernels.launch("write_rows", blocks, csr.indptr, binned.arguments, np.int64(short), heads, a, b, part, out)
