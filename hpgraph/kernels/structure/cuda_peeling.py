"""Peeling on the GPU: work space for the kernel of ``peeling.cuh``, and its launch."""

from __future__ import annotations

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
from hpgraph.kernels.structure.cuda_degree_order import c_type

SOURCE = "peeling.cuh"
LEVELS = Layout("Levels", least=("u64", 3), tail=("u64", 2)).of()
SPACE = Layout(
    "PeelSpace<{Index}>", header="*", levels="*", left="*", remaining="*", fewer="*", queue=FRONTIER,
    following=FRONTIER,
)  # fmt: skip


def kernel_name(index: str, techniques: str) -> str:
    """Name expression of the kernel, for ids of a C++ type.

    Parameters
    ----------
    index : str
        "int" or "long long".
    techniques : str
        The type that `techniques_type` gives.

    Returns
    -------
    str
    """
    return f"hpgraph::peel<{index}, {techniques}>"


def text_around(ids: np.dtype) -> dict[str, Any]:
    """What stands before the source and after it, where `load` and a test compile it."""
    prologue = f"#define HPGRAPH_THREADS {THREADS}\n"
    return {"prologue": prologue, "checks": checks(LEVELS, SPACE.of(Index=ids))}


@lru_cache(maxsize=16)
def _kernel(ids: np.dtype, chosen: str, device: int) -> Any:
    name = kernel_name(c_type(ids), chosen)
    module = load(SOURCE, names=(name,), cooperative=True, title="core numbers", **text_around(ids))
    return module.function(name)


def peel(arcs: CSR) -> tuple[Any, Any]:
    """`hpgraph.kernels.structure.cpu_peeling.peel` on the GPU.

    Raises
    ------
    DeviceMemoryError
        When the work space will not fit.
    """
    import cupy

    n, ids = arcs.shape[0], arcs.indices.dtype
    core, round_ = cupy.empty(n, ids), cupy.empty(n, ids)
    if n == 0:
        return core, round_
    pieces = heavy_pieces(arcs) * 2 * ids.itemsize
    each = n * ids.itemsize
    sizes = LEVELS.size, each, each, each, each, pieces, each, pieces
    check_memory(sum(sizes), "peeling a graph", "cuda")
    space = Space(*sizes)
    kernel = _kernel(ids, techniques_type(), cupy.cuda.runtime.getDevice())
    kernel(
        (multiprocessors(),),
        (THREADS,),
        (np.int64(n), arcs.indptr, arcs.indices, SPACE.of(Index=ids)(space.header, *space.addresses), core, round_),
    )
    return core, round_
