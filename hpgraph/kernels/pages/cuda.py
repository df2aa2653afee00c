"""Pages on the GPU: what was copied there as it is stored becomes plain ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import Pages
from hpgraph.kernels.pages.cpu_gaps import GROUP, word_bits
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.semiring.c_types import c_type

SOURCE = "gaps.cuh"
THREADS = 256


def kernel_name(dtype: Any) -> str:
    """Name expression of the kernel that decodes whole pages."""
    return f"hpgraph::decode_pages<{c_type(np.dtype(dtype))}>"


def decode_run(stored: Any, offset: Any, first_arc: Any, columns: int, out: Any, damaged: Any) -> None:
    """The ids of consecutive pages that are stored as gaps, on CuPy's current stream; nothing waits for it.

    ``stored``: the pages' bytes, one page after the other, at a multiple of 8; ``offset, first_arc`` (cupy.ndarray of
    int64, shape (pages + 1,)): of these pages, as in `hpgraph.formats.Pages`; ``damaged`` (cupy.ndarray of int32, shape
    (1,)): becomes 1 where bytes are no such page, or an id is none of the columns; else it stays as it is.
    """
    if len(offset) > 1:
        _decode(stored, offset, first_arc, columns, out, damaged)


def _decode(stored: Any, offset: Any, first_arc: Any, columns: int, out: Any, damaged: Any) -> None:
    pages, name = len(offset) - 1, kernel_name(out.dtype)
    kernel = load(SOURCE, names=(name,), title="pages").function(name)
    # A group a warp where pages are equally full; where not, warps go on to the next.
    warps = -(-len(out) // (pages * GROUP))
    grid = min(pages, 1 << 20), min(-(-warps // (THREADS // 32)), 1 << 15)
    mask = np.uint32((1 << word_bits(columns)) - 1)
    kernel(grid, (THREADS,), (stored, offset, first_arc, np.int64(pages), np.int64(columns), mask, out, damaged))


def decode_places(
    pages: Pages, offset: Any, first_arc: Any, run: tuple[int, int], places: np.ndarray, damaged: Any
) -> Any:
    """The ids of consecutive pages, wherever each of them lies on the device; nothing waits for it.

    ``damaged`` (cupy.ndarray of int32, shape (1,)): as for `decode_run`.
    """
    import cupy

    begin, end = run
    arcs, stored, columns = pages.first_arc, pages.offset, pages.shape[1]
    ids = cupy.empty(int(arcs[end] - arcs[begin]), pages.id_dtype)
    for page, place in zip(range(begin, end), places.tolist(), strict=True):
        out = ids[int(arcs[page] - arcs[begin]) : int(arcs[page + 1] - arcs[begin])]
        if pages.encoding == "gaps":
            _decode(np.uint64(place), offset[page : page + 2], first_arc[page : page + 2], columns, out, damaged)
        else:
            nbytes, now = int(stored[page + 1] - stored[page]), cupy.cuda.get_current_stream()
            cupy.cuda.runtime.memcpyAsync(out.data.ptr, place, nbytes, 3, now.ptr)
    if pages.encoding != "gaps":
        wrong = (ids < 0) | (ids >= columns)
        damaged[0] |= wrong.any().astype(np.int32)
        ids[wrong] = 0
    return ids
