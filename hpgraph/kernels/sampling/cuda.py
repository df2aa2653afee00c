"""Sampling on the GPU; `hpgraph.kernels.sampling.cpu` and `cpu_walks` describe it, and draw the same."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.sampling import HOP_SHIFT, KEYS, STEP_SHIFT, TRIES, Bias, Sums

WALKS, DRAWS = "walks.cuh", "draws.cuh"
THREADS = 256
ID = {4: "int", 8: "long long"}
# The types of weights that have a C++ name; others are those of bytes, which are no weights.
WEIGHT = {
    "float32": "float", "float64": "double", "int8": "signed char", "int16": "short", "int32": "int",
    "int64": "long long", "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long long", "bool": "bool",
}  # fmt: skip
_NULL = np.uint64(0)


def prologue() -> str:
    """The constants that both sides share, as C++."""
    return (
        f"namespace hpgraph {{ constexpr int TRIES = {TRIES}, STEP_SHIFT = {STEP_SHIFT}; "
        f"constexpr long long KEYS = {KEYS}ll; }}"
    )


def walk_name(index: str, weighted: bool, biased: bool) -> str:
    """Name expression of the kernel that walks.

    Parameters
    ----------
    index : str
        "int" or "long long".
    weighted, biased : bool

    Returns
    -------
    str
    """
    flags = (str(flag).lower() for flag in (weighted, biased))
    return f"hpgraph::walk<{index}, {', '.join(flags)}>"


def draw_names(index: str, weight: str) -> dict[str, str]:
    """Name expressions of the kernels that draw and number.

    Parameters
    ----------
    index : str
        "int" or "long long".
    weight : str
        C++ type of weights.

    Returns
    -------
    dict
        By what they do.
    """
    names = {"count": "count_draws", "draw": f"draw<{weight}>", "add_up": f"add_up<{weight}>"}
    names |= {name: f"{name}<{index}>" for name in ("meet", "mark_first", "number")}
    return {name: f"hpgraph::{kernel}" for name, kernel in names.items()}


@functools.lru_cache(maxsize=64)
def _walking(gpu: int, index: str, weighted: bool, biased: bool) -> Any:
    name = walk_name(index, weighted, biased)
    return load(WALKS, prologue=prologue(), names=(name,), title="random walks").function(name)


@functools.lru_cache(maxsize=64)
def _drawing(gpu: int, ids: int, weight: str) -> dict[str, Any]:
    """Kernels by what they do: looked up once, as a sample takes a dozen launches and they the most of its time."""
    names = draw_names(ID[ids], "char" if weight == "" else WEIGHT[weight])
    module = load(DRAWS, prologue=prologue(), names=tuple(names.values()), title="sampling")
    return {what: module.function(name) for what, name in names.items()}


def _run(kernel: Any, items: int, *arguments: Any) -> None:
    """Launch a kernel with a thread for each item, if there are any."""
    if items:
        kernel((-(-items // THREADS),), (THREADS,), arguments)


def _draws(ids: np.dtype, weights: Any = None) -> dict[str, Any]:
    import cupy

    return _drawing(cupy.cuda.runtime.getDevice(), ids.itemsize, "" if weights is None else weights.dtype.name)


@attached
def running_sums(arcs: CSR) -> Sums:
    """`hpgraph.kernels.sampling.cpu.running_sums` on the GPU.

    Raises
    ------
    DeviceMemoryError
        When it will not fit.
    """
    import cupy

    n = arcs.shape[0]
    check_memory(8 * (arcs.nnz + n), "the running sums of the weights", "cuda")
    running, positive = cupy.empty(arcs.nnz), cupy.empty(n, np.int64)
    adding = _draws(arcs.indices.dtype, arcs.data)["add_up"]
    _run(adding, 32 * n, arcs.indptr, arcs.data, np.int64(n), running, positive)
    return Sums(running, positive)


def walks(arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
    """`hpgraph.kernels.sampling.cpu_walks.walks` on the GPU."""
    import cupy

    count, index = len(starts), ID[arcs.indices.itemsize]
    found = cupy.empty((count, length + 1), arcs.indices.dtype)
    walking = _walking(cupy.cuda.runtime.getDevice(), index, sums is not None, bias is not None)
    chances = tuple(np.float64(chance) for chance in bias or Bias(1.0, 1.0, 1.0))
    running = _NULL if sums is None else sums.running
    _run(
        walking, count, arcs.indptr, arcs.indices, running, starts, np.int64(count), np.int64(length), _word(seed),
        *chances, found,
    )  # fmt: skip
    return found


def draw(
    arcs: CSR, sums: Sums | None, vertices: Any, fanout: int, replace: bool, seed: int, hop: int
) -> tuple[Any, Any]:
    """`hpgraph.kernels.sampling.cpu.draw` on the GPU; waits for it, to learn how many there are.

    Raises
    ------
    DeviceMemoryError
        When they will not fit.
    """
    import cupy

    many, weights = len(vertices), None if sums is None else arcs.data
    running, positive = (_NULL, _NULL) if sums is None else sums
    if many == 0:
        return cupy.empty(0, np.int64), cupy.empty(0, np.int64)
    counts = cupy.empty(many + 1, np.int64)
    kernels, again = _draws(arcs.indices.dtype, weights), np.bool_(replace)
    _run(kernels["count"], many, arcs.indptr, positive, vertices, np.int64(many), np.int64(fanout), again, counts)
    offsets = cupy.cumsum(counts)
    total = int(offsets[-1])
    check_memory(64 * total, f"{total:,} draws", "cuda")
    owner, place = cupy.empty(total, np.int64), cupy.empty(total, np.int64)
    again = np.bool_(replace and fanout >= 0)
    given = _NULL if weights is None else weights
    _run(
        kernels["draw"], 32 * many if total else 0, arcs.indptr, running, given, vertices, offsets, np.int64(many),
        _word(seed), np.uint64(hop << HOP_SHIFT), again, owner, place,
    )  # fmt: skip
    return owner, place


class Numbering:
    """A numbering that knows nobody yet, by a table of all vertices.

    Attributes
    ----------
    vertices : int64 array
        By number.
    """

    def __init__(self, n: int) -> None:
        import cupy

        check_memory(8 * n, "a table of the vertices met", "cuda")
        self.vertices = cupy.empty(0, np.int64)
        self._table = cupy.full(n, np.iinfo(np.int64).max)

    def number(self, found: Any) -> Any:
        """`hpgraph.kernels.sampling.cpu_numbering.Numbering.number` on the GPU; waits for it, to learn who is new."""
        import cupy

        many, known, kernels = len(found), len(self.vertices), _draws(found.dtype)
        numbers = cupy.empty(many, np.int64)
        if many == 0:
            return numbers
        first, size = cupy.empty(many, np.int64), np.int64(many)
        _run(kernels["meet"], many, found, size, self._table)
        _run(kernels["mark_first"], many, found, size, self._table, first)
        ends = cupy.cumsum(first)
        vertices = cupy.empty(known + int(ends[-1]), np.int64)
        vertices[:known] = self.vertices
        _run(kernels["number"], many, found, size, np.int64(known), ends, self._table, vertices, numbers)
        self.vertices = vertices
        return numbers


def numbering(n: int) -> Numbering:
    """`hpgraph.kernels.sampling.cpu_numbering.numbering` on the GPU.

    Raises
    ------
    DeviceMemoryError
        When its table will not fit.
    """
    return Numbering(n)


def _word(number: int) -> np.uint64:
    return np.uint64(number % 2**64)
