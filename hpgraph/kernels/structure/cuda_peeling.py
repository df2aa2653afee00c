"""Peeling on the GPU: work space for the kernel of ``peeling.cuh``, and its launch."""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, Layout, multiprocessors
from hpgraph.kernels.runtime.cuda.persistent import FRONTIER, SHARED, THREADS, Space, heavy_pieces, techniques_type

LEVELS = Layout("Levels", least=("u64", 3), tail=("u64", 2)).of()
SPACE = Layout(
    "PeelSpace<{Index}, {Count}>", header="*", levels="*", left="*", remaining="*", fewer="*", queue=FRONTIER,
    following=FRONTIER,
)  # fmt: skip
KERNELS = KernelSet(
    "peeling.cuh", "cores and topological sorts", {"<{Index}, {Count}, {techniques}, {levels}>": "peel"},
    layouts=(*SHARED, LEVELS, SPACE), prologue=f"#define HPGRAPH_THREADS {THREADS}\n", threads=THREADS,
    cooperative=True,
)  # fmt: skip
# Type of remaining degrees if no vertex has many arcs.
SMALL = np.dtype(np.uint16)


def counts_of(ids: np.dtype) -> np.dtype:
    """Type of remaining degrees if a vertex may have as many arcs as there are ids."""
    return np.dtype(f"u{ids.itemsize}")


def peel(arcs: CSR, beyond: Any = None) -> tuple[Any, Any]:
    """`hpgraph.kernels.structure.cpu_peeling.peel` on the GPU."""
    n, ids = arcs.shape[0], arcs.indices.dtype
    core, round_ = cupy.empty(n, ids), cupy.empty(n, ids)
    # Without a heavy vertex no degree is above 256, and two share a word; the last may have its own.
    left = cupy.empty(n + 1, counts_of(ids) if beyond is not None or heavy_pieces(arcs) else SMALL)
    _launch(arcs, left, core, round_, None if beyond is None else beyond.astype(ids), levels=True)
    return core, round_


def generations(out: CSR, in_degree: Any) -> Any:
    """`hpgraph.kernels.structure.cpu_peeling.generations` on the GPU."""
    n, ids = out.shape[0], out.indices.dtype
    round_ = cupy.full(n, -1, ids)
    _launch(out, in_degree.astype(counts_of(ids)), round_, round_, None, levels=False)
    return round_


def _launch(arcs: CSR, left: Any, core: Any, round_: Any, beyond: Any, *, levels: bool) -> None:
    n, ids = arcs.shape[0], arcs.indices.dtype
    if n == 0:
        return
    pieces, each = heavy_pieces(arcs) * 2 * ids.itemsize, n * ids.itemsize
    listed = each if levels else 0
    sizes = LEVELS.size, listed, listed, each, pieces, each, pieces
    check_memory(sum(sizes), "peeling a graph", "cuda")
    space = Space(*sizes)
    numbers, *others = space.addresses
    types = {"Index": ids, "Count": left.dtype}
    arguments = np.int64(n), arcs.indptr, arcs.indices, SPACE.of(**types)(space.header, numbers, left, *others)
    types |= {"techniques": techniques_type(), "levels": levels}
    KERNELS.of(**types).launch("peel", multiprocessors(), *arguments, core, round_, beyond)
