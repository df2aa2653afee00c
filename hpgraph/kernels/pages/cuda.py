"""Decoding of pages on the GPU."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Pages
from hpgraph.kernels.pages.gaps import GROUP, word_bits
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

THREADS = 256
KERNELS = KernelSet("gaps.cuh", "pages", {"<{Id}>": "decode_pages"})


def decode_run(stored: Any, offset: Any, first_arc: Any, columns: int, out: Any, damaged: Any) -> None:
    """Decode consecutive pages of gaps, on CuPy's current stream; does not wait.

    ``stored``: the pages' bytes, end to end, aligned to 8 bytes; ``offset, first_arc`` (cupy.ndarray of int64, shape
    (pages + 1,)): of these pages, as in `hpgraph.formats.Pages`; ``damaged`` (cupy.ndarray of int32, shape (1,)): set
    to 1 if bytes are not such a page, or an id is out of range; else unchanged.
    """
    pages, kernel = len(offset) - 1, KERNELS.of(Id=out.dtype).functions["decode_pages"]
    if not pages:
        return
    # One group a warp if pages are equally full; otherwise warps loop.
    warps = -(-len(out) // (pages * GROUP))
    grid = min(pages, 1 << 20), min(-(-warps // (THREADS // 32)), 1 << 15)
    mask = np.uint32((1 << word_bits(columns)) - 1)
    kernel(grid, (THREADS,), (stored, offset, first_arc, np.int64(pages), np.int64(columns), mask, out, damaged))


def decode_places(
    pages: Pages, offset: Any, first_arc: Any, run: tuple[int, int], places: np.ndarray, damaged: Any
) -> Any:
    """Decode consecutive pages from separate addresses on the device, as `decode_run`; does not wait."""
    begin, end = run
    arcs, stored, columns = pages.first_arc, pages.offset, pages.shape[1]
    ids = cupy.empty(int(arcs[end] - arcs[begin]), pages.id_dtype)
    for page, place in zip(range(begin, end), places.tolist(), strict=True):
        out = ids[int(arcs[page] - arcs[begin]) : int(arcs[page + 1] - arcs[begin])]
        if pages.encoding == "gaps":
            decode_run(np.uint64(place), offset[page : page + 2], first_arc[page : page + 2], columns, out, damaged)
        else:
            nbytes, now = int(stored[page + 1] - stored[page]), cupy.cuda.get_current_stream()
            cupy.cuda.runtime.memcpyAsync(out.data.ptr, place, nbytes, 3, now.ptr)
    if pages.encoding != "gaps":
        wrong = (ids < 0) | (ids >= columns)
        damaged[0] |= wrong.any().astype(np.int32)
        ids[wrong] = 0
    return ids
