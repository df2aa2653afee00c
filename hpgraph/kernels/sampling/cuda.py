"""Sampling on the GPU; `hpgraph.kernels.sampling.cpu` and `cpu_walks` describe it, and draw the same."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.compile import Module, load
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
def _module(gpu: int, source: str, names: tuple[str, ...]) -> Module:
    return load(source, prologue=prologue(), names=names, title="sampling")


def _run(source: str, names: tuple[str, ...], name: str, items: int, *arguments: Any) -> None:
    """Launch a kernel with a thread for each item, if there are any."""
    import cupy

    if items == 0:
        return
    kernel = _module(cupy.cuda.runtime.getDevice(), source, names).function(name)
    given = tuple(
        _NULL if value is None else np.int64(value) if type(value) is int else value for value in arguments
    )
    kernel((-(-items // THREADS),), (THREADS,), given)


def _draws(what: str, ids: np.dtype, weights: Any, items: int, *arguments: Any) -> None:
    names = draw_names(ID[ids.itemsize], "char" if weights is None else WEIGHT[weights.dtype.name])
    _run(DRAWS, tuple(names.values()), names[what], items, *arguments)


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
    _draws("add_up", arcs.indices.dtype, arcs.data, 32 * n, arcs.indptr, arcs.data, n, running, positive)
    return Sums(running, positive)


def walks(arcs: CSR, sums: Sums | None, starts: Any, length: int, seed: int, bias: Bias | None) -> Any:
    """`hpgraph.kernels.sampling.cpu_walks.walks` on the GPU."""
    import cupy

    count, index = len(starts), ID[arcs.indices.itemsize]
    found = cupy.empty((count, length + 1), arcs.indices.dtype)
    name = walk_name(index, sums is not None, bias is not None)
    chances = tuple(np.float64(chance) for chance in bias or Bias(1.0, 1.0, 1.0))
    running = None if sums is None else sums.running
    _run(
        WALKS, (name,), name, count,
        arcs.indptr, arcs.indices, running, starts, count, length, _word(seed), *chances, found,
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

    many, ids = len(vertices), arcs.indices.dtype
    weights = None if sums is None else arcs.data
    running, positive = (None, None) if sums is None else sums
    if many == 0:
        return cupy.empty(0, np.int64), cupy.empty(0, np.int64)
    counts = cupy.empty(many + 1, np.int64)
    again = np.bool_(replace)
    _draws("count", ids, weights, many, arcs.indptr, positive, vertices, many, fanout, again, counts)
    offsets = cupy.cumsum(counts)
    total = int(offsets[-1])
    check_memory(64 * total, f"{total:,} draws", "cuda")
    owner, place = cupy.empty(total, np.int64), cupy.empty(total, np.int64)
    again = np.bool_(replace and fanout >= 0)
    _draws(
        "draw", ids, weights, 32 * many if total else 0, arcs.indptr, running, weights, vertices, offsets, many,
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

        many, known, ids = len(found), len(self.vertices), found.dtype
        numbers = cupy.empty(many, np.int64)
        if many == 0:
            return numbers
        first = cupy.empty(many, np.int64)
        _draws("meet", ids, None, many, found, many, self._table)
        _draws("mark_first", ids, None, many, found, many, self._table, first)
        ends = cupy.cumsum(first)
        vertices = cupy.empty(known + int(ends[-1]), np.int64)
        vertices[:known] = self.vertices
        _draws("number", ids, None, many, found, many, known, ends, self._table, vertices, numbers)
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
