"""Visits of the arcs of chosen rows on the GPU, in place: listed in groups, which warps process."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.kernels.out_of_core import Spread
from hpgraph.kernels.pages.gaps import GROUP, word_bits
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors, struct
from hpgraph.kernels.runtime.cuda.program import CUDAProgram
from hpgraph.semiring.c_types import c_type

SOURCE, THREADS = "spread.cuh", 256
KERNELS = KernelSet(SOURCE, "pages", {"": "survey_pages list_groups"})
# Bytes of an `Item`.
ITEM = 16


def survey(indptr: Any, tables: tuple[Any, ...], rows: Any, more: Any) -> np.ndarray:
    """For each page, the numbers of chosen rows with a bit in `more` and of their arcs there, int64; waits."""
    first_arc, first_row, last_row = tables
    pages = len(first_arc) - 1
    found = cupy.empty((pages, 2), np.int64)
    if pages:
        KERNELS.of().launch("survey_pages", pages, indptr, first_arc, first_row, last_row, rows, more, found)
    return found.get()


def visit(
    functor: str, fields: tuple[Any, ...], part: Spread, program: CUDAProgram | None, *, numbered: bool = False
) -> None:
    """Call a functor on the arcs of chosen rows, with an arc's weight, or its number if `numbered`."""
    pages = part.pages
    room = max(part.groups, 1)
    items, tail = cupy.empty(room * ITEM, np.uint8), cupy.zeros(1, np.uint64)
    begin, end = part.rows
    KERNELS.of().launch(
        "list_groups", -(-(end - begin // 32 * 32) // THREADS), part.indptr, part.first_arc, np.int64(pages.n_pages),
        part.chosen, part.bits, part.more, np.int64(begin), np.int64(end), items, tail, np.uint64(room),
    )  # fmt: skip
    gaps = str(pages.encoding == "gaps").lower()
    weight = "hpgraph::NoWeights" if part.data is None or program is None else program.weight_type
    weight = "hpgraph::ArcNumbers" if numbered else weight
    name = f"hpgraph::visit_groups<{c_type(pages.id_dtype)}, {weight}, {gaps}, {functor}>"
    made: dict[str, Any] = {}
    if program is not None:
        made = {"prologue": program.prologue, "ltoir": program.ltoir, "title": program.code.name}
    kernel = load(part.source, names=(name,), **made).function(name)
    mask = np.uint32((1 << word_bits(pages.shape[1])) - 1)
    spread = struct(
        part.indptr, part.first_arc, part.offset, part.where, part.data, pages.n_pages, pages.shape[1], mask
    )
    warps = THREADS // 32
    blocks = min(-(-room // warps), 8 * multiprocessors())
    kernel((blocks,), (THREADS,), (struct(*fields), spread, items, tail, np.uint64(room), part.damaged))


def groups_of(counts: np.ndarray) -> int:
    """Upper bound of the groups of these numbers of rows and arcs: each row may begin and end within one."""
    return int((counts[:, 1] // GROUP + 2 * counts[:, 0]).sum())
