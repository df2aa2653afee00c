"""Strong components of few vertices on the GPU: work space for the kernel of ``coloring.cuh``, and its launch."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.entries.cuda_induced import induced
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors

THREADS = 1024
KERNELS = KernelSet(
    "coloring.cuh", "strong components", {"<{Index}>": "color_components"}, threads=THREADS, cooperative=True
)


def color_few(arcs: CSR, part: Any, smallest: Any) -> bool:
    """Write the smallest vertex of each strong component into `smallest`, unless there are more vertices than warps.

    With a warp for each a pass over all rows takes as long as one row. No component has vertices in two parts, int64;
    vertices of negative parts are left as they are.
    """
    chosen, blocks = Bitmask.from_bool(part >= 0), multiprocessors()
    if chosen.count() > blocks * THREADS // 32:
        return False
    few, vertices = induced(arcs.pattern, chosen)
    n, ids = few.shape[0], few.indices.dtype
    if n:
        label, numbers, reached = cupy.empty(n, ids), cupy.empty((2, n), np.int64), cupy.empty(n, np.uint8)
        state = cupy.zeros(4, np.uint32)
        given = np.int64(n), few.indptr, few.indices, part[vertices], *numbers, reached, label, state, state[1:]
        KERNELS.of(Index=ids).launch("color_components", blocks, *given)
        smallest[vertices] = vertices[label]
    return True
