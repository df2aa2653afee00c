"""Sampling on the GPU: the algorithms of `hpgraph.kernels.sampling.cpu` and `cpu_walks`, with the same draws."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.sampling import Bias, Sums
from hpgraph.kernels.sampling.cuda_hops import DRAWS, prologue, sample, word
from hpgraph.semiring.c_types import c_type

__all__ = ["running_sums", "sample", "walks"]

WALKS = "walks.cuh"
THREADS = 256


def walk_name(index: str, weighted: bool, biased: bool) -> str:
    """Name expression of the walking kernel."""
    flags = (str(flag).lower() for flag in (weighted, biased))
    return f"hpgraph::walk<{index}, {', '.join(flags)}>"


def summing_name(weight: str) -> str:
    """Name expression of the kernel that sums weights."""
    return f"hpgraph::add_up<{weight}>"


@functools.lru_cache(maxsize=64)
def _walking(gpu: int, index: str, weighted: bool, biased: bool) -> Any:
    name = walk_name(index, weighted, biased)
    return load(WALKS, prologue=prologue(), names=(name,), title="random walks").function(name)


def _run(kernel: Any, items: int, *arguments: Any) -> None:
    """Launch a kernel with a thread for each item, if there are any."""
    if items:
        kernel((-(-items // THREADS),), (THREADS,), arguments)


@attached
def running_sums(arcs: CSR) -> Sums:
    """`hpgraph.kernels.sampling.cpu.running_sums` on the GPU."""
    import cupy

    n = arcs.shape[0]
    check_memory(8 * (arcs.nnz + n), "the running sums of the weights", "cuda")
    running, positive = cupy.empty(arcs.nnz), cupy.empty(n, np.int64)
    name = summing_name(c_type(arcs.data.dtype))
    adding = load(DRAWS, prologue=prologue(), names=(name,), title="sums of weights").function(name)
    _run(adding, 32 * n, arcs.indptr, arcs.data, np.int64(n), running, positive)
    return Sums(running, positive)


def walks(arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
    """`hpgraph.kernels.sampling.cpu_walks.walks` on the GPU."""
    import cupy

    count, index = len(starts), c_type(arcs.indices.dtype)
    found = cupy.empty((count, length + 1), arcs.indices.dtype)
    walking = _walking(cupy.cuda.runtime.getDevice(), index, sums is not None, bias is not None)
    chances = tuple(np.float64(chance) for chance in bias or Bias(1.0, 1.0, 1.0))
    running = None if sums is None else sums.running
    _run(
        walking, count, arcs.indptr, arcs.indices, running, starts, np.int64(count), np.int64(length), word(seed),
        *chances, found,
    )  # fmt: skip
    return found
