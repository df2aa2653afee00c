"""Peeling on the GPU: work space for the kernel of ``peeling.cuh``, and its launch."""

from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.persistent import (
    FRONTIER,
    THREADS,
    Space,
    checks,
    heavy_pieces,
    techniques_type,
)
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.semiring.c_types import c_type

SOURCE = "peeling.cuh"
LEVELS = Layout("Levels", least=("u64", 3), tail=("u64", 2)).of()
SPACE = Layout(
    "PeelSpace<{Index}, {Count}>", header="*", levels="*", left="*", remaining="*", fewer="*", queue=FRONTIER,
    following=FRONTIER,
)  # fmt: skip


# Type of remaining degrees if no vertex has many arcs.
SMALL = np.dtype(np.uint16)


def counts_of(ids: np.dtype) -> np.dtype:
    """Type of remaining degrees if a vertex may have as many arcs as there are ids."""
    return np.dtype(f"u{ids.itemsize}")


def kernel_name(index: str, count: str, techniques: str, levels: bool) -> str:
    """Name expression of the kernel, for ids of a C++ type."""
    return f"hpgraph::peel<{index}, {count}, {techniques}, {'true' if levels else 'false'}>"


def text_around(ids: np.dtype, count: np.dtype) -> dict[str, Any]:
    """What precedes and follows the source, where `load` and a test compile it."""
    prologue = f"#define HPGRAPH_THREADS {THREADS}\n"
    return {"prologue": prologue, "checks": checks(LEVELS, SPACE.of(Index=ids, Count=count))}


@lru_cache(maxsize=16)
def _kernel(ids: np.dtype, count: np.dtype, chosen: str, levels: bool, device: int) -> Any:
    name = kernel_name(c_type(ids), c_type(count), chosen, levels)
    title = "core numbers" if levels else "topological sorts"
    module = load(SOURCE, names=(name,), cooperative=True, title=title, **text_around(ids, count))
    return module.function(name)


def peel(arcs: CSR) -> tuple[Any, Any]:
    """`hpgraph.kernels.structure.cpu_peeling.peel` on the GPU."""
    import cupy

    n, ids = arcs.shape[0], arcs.indices.dtype
    core, round_ = cupy.empty(n, ids), cupy.empty(n, ids)
    # Without a heavy vertex no degree is above 256, and two share a word; the last may have its own.
    left = cupy.empty(n + 1, counts_of(ids) if heavy_pieces(arcs) else SMALL)
    _launch(arcs, left, core, round_, levels=True)
    return core, round_


def generations(out: CSR, in_degree: Any) -> Any:
    """`hpgraph.kernels.structure.cpu_peeling.generations` on the GPU."""
    import cupy

    n, ids = out.shape[0], out.indices.dtype
    round_ = cupy.full(n, -1, ids)
    _launch(out, in_degree.astype(counts_of(ids)), round_, round_, levels=False)
    return round_


def _launch(arcs: CSR, left: Any, core: Any, round_: Any, *, levels: bool) -> None:
    import cupy

    n, ids = arcs.shape[0], arcs.indices.dtype
    if n == 0:
        return
    pieces, each = heavy_pieces(arcs) * 2 * ids.itemsize, n * ids.itemsize
    listed = each if levels else 0
    sizes = LEVELS.size, listed, listed, each, pieces, each, pieces
    check_memory(sum(sizes), "peeling a graph", "cuda")
    space = Space(*sizes)
    numbers, *others = space.addresses
    kernel = _kernel(ids, left.dtype, techniques_type(), levels, cupy.cuda.runtime.getDevice())
    made = SPACE.of(Index=ids, Count=left.dtype)(space.header, numbers, left, *others)
    kernel((multiprocessors(),), (THREADS,), (np.int64(n), arcs.indptr, arcs.indices, made, core, round_))
