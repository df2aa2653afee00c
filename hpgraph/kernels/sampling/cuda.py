"""Sampling on the GPU: the algorithms of `hpgraph.kernels.sampling.cpu` and `cpu_walks`, with the same draws."""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.sampling import Bias, Sums
from hpgraph.kernels.sampling.cuda_edges import (
    attachments,
    block_edges,
    near_points,
    recursive_edges,
    rows_of_pairs,
    shuffled,
    sorted_draws,
)
from hpgraph.kernels.sampling.cuda_hops import PROLOGUE, sample, word

__all__ = [
    "Numbering",
    "attachments",
    "block_edges",
    "draw",
    "fetch_rows",
    "near_points",
    "recursive_edges",
    "rows_of_pairs",
    "running_sums",
    "sample",
    "shuffled",
    "sorted_draws",
    "walks",
]

WALKS = KernelSet("walks.cuh", "random walks", {"<{Index}, {weighted}, {biased}>": "walk"}, prologue=PROLOGUE)
# Words in flight of a thread, and bytes in flight of all threads: half of these saturate a link of 54 GB/s, a quarter
# do not.
FETCHED, UNDER_WAY = 4, 1 << 20
FETCH = KernelSet(
    "fetch.cuh", "rows of features", {"<{Index}, {Word}>": "fetch_rows"},
    prologue=f"namespace hpgraph {{ constexpr int FETCHED = {FETCHED}; }}",
)  # fmt: skip
# Types in which rows are copied, by size in bytes.
WORDS = {16: "uint4", 8: "uint2", 4: "unsigned int", 2: "unsigned short", 1: "unsigned char"}
SUMS = KernelSet("draws.cuh", "sums of weights", {"<{Weight}>": "add_up"}, prologue=PROLOGUE)


@attached
def running_sums(arcs: CSR) -> Sums:
    """`hpgraph.kernels.sampling.cpu.running_sums` on the GPU."""
    n = arcs.shape[0]
    check_memory(8 * (arcs.nnz + n), "the running sums of the weights", "cuda")
    running, positive = cupy.empty(arcs.nnz), cupy.empty(n, np.int64)
    SUMS.of(Weight=arcs.data.dtype).each("add_up", 32 * n, arcs.indptr, arcs.data, np.int64(n), running, positive)
    return Sums(running, positive)


def fetch_rows(rows: Any, vertex: Any, out: Any, order: Any = None, slot: Any = None, cached: Any = None) -> None:
    """``out[order[i]]`` becomes ``rows[vertex[i]]``, of page-locked memory, or ``cached[slot[i]]`` if slot[i] >= 0."""
    if not out.size:
        return
    size = out.nbytes // len(out)
    arrays = [one for one in (rows, cached, out) if one is not None]
    word = next(word for word in WORDS if size % word == 0 and not any(one.data.ptr % word for one in arrays))
    kernels = FETCH.of(Index=vertex.dtype, Word=WORDS[word])
    count, words, block = len(vertex), size // word, kernels.threads * FETCHED * word
    blocks = min(-(-count * size // block), UNDER_WAY // block)
    kernels.launch("fetch_rows", blocks, vertex, order, slot, np.int64(count), np.int64(words), rows, cached, out)


def walks(arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
    """`hpgraph.kernels.sampling.cpu_walks.walks` on the GPU."""
    count = len(starts)
    found = cupy.empty((count, length + 1), arcs.indices.dtype)
    types = {"Index": arcs.indices.dtype, "weighted": sums is not None, "biased": bias is not None}
    biases = tuple(np.float64(value) for value in bias or Bias(1.0, 1.0, 1.0))
    running = None if sums is None else sums.running
    sizes = np.int64(count), np.int64(length), word(seed)
    WALKS.of(**types).each("walk", count, arcs.indptr, arcs.indices, running, starts, *sizes, *biases, found)
    return found


def draw(arcs: CSR, sums: Sums | None, vertices: Any, fanout: int, replace: bool, seed: int) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.cpu.draw` on the GPU: a sample of one hop."""
    found = sample(arcs, sums, vertices, [fanout], replace, seed)
    return found.edge_index[1], found.place


class Numbering:
    """`hpgraph.kernels.sampling.cpu.Numbering` on the GPU, by sorting."""

    def __init__(self) -> None:
        self.vertices = cupy.empty(0, np.int64)

    def number(self, found: Any) -> Any:
        """The numbers of vertices; new ones are numbered in the order given."""
        known = len(self.vertices)
        distinct, first, which = cupy.unique(
            cupy.concatenate((self.vertices, found)), return_index=True, return_inverse=True
        )
        order = cupy.argsort(first)
        numbers = cupy.empty(len(order), np.int64)
        numbers[order] = cupy.arange(len(order))
        self.vertices = distinct[order]
        return numbers[which[known:]]
