"""Weakly connected components on CUDA."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.sampling import NEIGHBOURS, most_frequent
from hpgraph.kernels.structure.cuda_degree_order import c_type

SOURCE = "components.cuh"
THREADS = 256
# Arcs that a block of link_arcs follows.
TILE = THREADS * 8


def kernel_names(index: str) -> tuple[str, ...]:
    """Name expressions of every kernel of the source, for ids of a C++ type.

    Parameters
    ----------
    index : str
        "int" or "long long".

    Returns
    -------
    tuple of str
    """
    return tuple(f"hpgraph::{name}<{index}>" for name in ("link_first", "link_rest", "link_arcs", "flatten"))


def components(arcs: CSR, symmetric: bool) -> Any:
    """`hpgraph.kernels.structure.cpu_components.components` on the GPU; where `symmetric`, this waits for it once."""
    import cupy

    n, ids = arcs.shape[0], arcs.indices.dtype
    label = cupy.arange(n, dtype=ids)
    if arcs.nnz == 0:
        return label
    index = c_type(ids)
    module = load(SOURCE, names=kernel_names(index), title="connected components")

    def run(name: str, size: int, *arguments: Any) -> None:
        module.function(f"hpgraph::{name}<{index}>")((-(-size // THREADS),), (THREADS,), arguments)

    if symmetric:
        run("link_first", n, arcs.indptr, arcs.indices, np.int64(n), np.int32(NEIGHBOURS), label)
        run("flatten", n, np.int64(n), label)
        largest = np.int64(most_frequent(label))
        run("link_rest", n, arcs.indptr, arcs.indices, np.int64(n), np.int32(NEIGHBOURS), largest, label)
    else:
        tiles = -(-arcs.nnz // TILE)
        run("link_arcs", tiles * THREADS, arcs.indptr, arcs.indices, np.int64(n), np.int64(arcs.nnz), label)
    run("flatten", n, np.int64(n), label)
    return label
