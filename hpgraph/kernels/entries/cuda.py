"""Functions of entries on the GPU: code generation for `entries.cuh`, and launches."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.entries.cuda_marks import THREADS, TILE, Marks, keep_marked
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.structs import traits, word
from hpgraph.semiring.cuda import LinkedCode, entry_functor

SOURCE = "entries.cuh"
MAP = "hpgraph::map_entries<Map>"
MARK = "hpgraph::mark_entries<Map>"
ZIP = "hpgraph::zip_entries<Zip>"


@functools.lru_cache(maxsize=512)
def map_code(function: Any, pattern: bool, index_dtype: np.dtype[Any]) -> tuple[str, tuple[LinkedCode, ...]]:
    """The text before `entries.cuh` for a map, and the code to link with it."""
    code = entry_functor(function, "Apply")
    types = {"Index": index_dtype, "X": function.x_dtype, "Y": function.y_dtype, "R": function.dtype}
    apply = "    __device__ static R apply(X x, Y y, long long i, long long j) { return Apply::apply(x, y, i, j); }\n"
    flags = {"pattern": pattern, "uses_position": function.uses_position}
    return code.source + traits("Map", types, flags, apply), code.ltoir


def branches(both: Any, left: Any, right: Any, called: bool = True) -> tuple[str, tuple[LinkedCode, ...], str]:
    """Code, what to link with it, and members `has_both`, `both` and so on, of the functions given; or flags alone."""
    source, ltoir, members = "", tuple[LinkedCode, ...](), ""
    for name, function in (("both", both), ("left", left), ("right", right)):
        members += f"    static constexpr bool has_{name} = {word(function is not None)};\n"
        if function is not None and called:
            code = entry_functor(function, name.title())
            source += code.source
            ltoir += code.ltoir
            members += f"    __device__ static R {name}(X x, Y y, long long i, long long j) {{\n"
            members += f"        return (R){name.title()}::apply(x, y, i, j);\n    }}\n"
    return source, tuple(dict.fromkeys(ltoir)), members


@functools.lru_cache(maxsize=512)
def zip_code(both: Any, left: Any, right: Any) -> tuple[str, tuple[LinkedCode, ...]]:
    """The text before `entries.cuh` for a zip, and the code to link with it."""
    source, ltoir, members = branches(both, left, right)
    return source + traits("Zip", {"X": both.x_dtype, "Y": both.y_dtype, "R": both.dtype}, {}, members), ltoir


def map_entries(csr: CSR, function: Any, thunk: Any = False) -> Any:
    """`hpgraph.kernels.entries.cpu.map_entries` on the GPU."""
    out = cupy.empty(csr.nnz, function.dtype)
    if csr.nnz:
        _run_map(MAP, -(-csr.nnz // TILE), csr, function, thunk, out)
    return out


def select_entries(csr: CSR, predicate: Any, thunk: Any = False) -> CSR:
    """`hpgraph.kernels.entries.cpu.select_entries` on the GPU; waits for it, for the number of entries kept."""
    if not csr.nnz:
        return csr
    marks = Marks.empty(csr.nnz)
    _run_map(MARK, marks.blocks, csr, predicate, thunk, marks.argument)
    return keep_marked(csr, marks.add_up())


def _run_map(name: str, blocks: int, csr: CSR, function: Any, thunk: Any, out: Any) -> None:
    prologue, ltoir = map_code(function, csr.data is None, csr.indices.dtype)
    module = load(SOURCE, prologue=prologue, ltoir=ltoir, names=(name,), title=f"{function.name} of entries")
    entries = csr.indptr, np.int64(csr.shape[0]), csr.indices, csr.data, np.int64(csr.nnz)
    module.function(name)((blocks,), (THREADS,), (*entries, function.y_dtype.type(thunk), out))


def zip_entries(
    x: Any, y: Any, x_present: Bitmask | None, y_present: Bitmask | None, both: Any, left: Any, right: Any, dtype: Any,
    *, fills: tuple[Any, Any] = (True, True),
) -> Any:  # fmt: skip
    """`hpgraph.kernels.entries.cpu.zip_entries` on the GPU."""
    out = cupy.empty(len(x), dtype)
    if len(out):
        prologue, ltoir = zip_code(both, left, right)
        module = load(SOURCE, prologue=prologue, ltoir=ltoir, names=(ZIP,), title=f"{both.name} of vectors")
        x_words, y_words = (None if present is None else present.words for present in (x_present, y_present))
        arguments = (
            cupy.ascontiguousarray(x), x_words, cupy.ascontiguousarray(y), y_words, np.int64(len(out)),
            x.dtype.type(fills[0]), y.dtype.type(fills[1]), out,
        )  # fmt: skip
        module.function(ZIP)((-(-len(out) // TILE),), (THREADS,), arguments)
    return out
