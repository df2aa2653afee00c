"""Functions of entries on the GPU: code generation for `entries.cuh`, and launches."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.entries.cuda_marks import THREADS, TILE, Marks, keep_marked
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.cuda import LinkedCode, entry_functor

SOURCE = "entries.cuh"
MAP = "hpgraph::map_entries<Map>"
MARK = "hpgraph::mark_entries<Map>"
ZIP = "hpgraph::zip_entries<Zip>"
_FLAG = {True: "true", False: "false"}


@functools.lru_cache(maxsize=512)
def map_code(function: Any, pattern: bool, index_dtype: np.dtype[Any]) -> tuple[str, tuple[LinkedCode, ...]]:
    """The text before `entries.cuh` for a map, and the code to link with it."""
    code = entry_functor(function, "Apply")
    x, y, r = (c_type(dtype) for dtype in (function.x_dtype, function.y_dtype, function.dtype))
    source = f"""{code.source}struct Map {{
    typedef {c_type(index_dtype)} Index;
    typedef {x} X;
    typedef {y} Y;
    typedef {r} R;
    static constexpr bool pattern = {_FLAG[pattern]};
    static constexpr bool uses_position = {_FLAG[function.uses_position]};
    __device__ static R apply(X x, Y y, long long i, long long j) {{ return Apply::apply(x, y, i, j); }}
}};
"""
    return source, code.ltoir


def branches(both: Any, left: Any, right: Any, called: bool = True) -> tuple[str, tuple[LinkedCode, ...], str]:
    """Code, what to link with it, and members `has_both`, `both` and so on, of the functions given; or flags alone."""
    source, ltoir, members = "", tuple[LinkedCode, ...](), ""
    for name, function in (("both", both), ("left", left), ("right", right)):
        members += f"    static constexpr bool has_{name} = {_FLAG[function is not None]};\n"
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
    source += f"""struct Zip {{
    typedef {c_type(both.x_dtype)} X;
    typedef {c_type(both.y_dtype)} Y;
    typedef {c_type(both.dtype)} R;
{members}}};
"""
    return source, ltoir


@functools.lru_cache(maxsize=512)
def _module(gpu: int, code: tuple[str, tuple[LinkedCode, ...]], name: str, title: str) -> Module:
    return load(SOURCE, prologue=code[0], ltoir=code[1], names=(name,), title=title)


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
    code = map_code(function, csr.data is None, csr.indices.dtype)
    module = _module(cupy.cuda.runtime.getDevice(), code, name, f"{function.name} of entries")
    arguments = (
        csr.indptr,
        np.int64(csr.shape[0]),
        csr.indices,
        csr.data,
        np.int64(csr.nnz),
        function.y_dtype.type(thunk),
        out,
    )
    module.function(name)((blocks,), (THREADS,), arguments)


def zip_entries(
    x: Any, y: Any, x_present: Bitmask | None, y_present: Bitmask | None, both: Any, left: Any, right: Any, dtype: Any,
    *, fills: tuple[Any, Any] = (True, True),
) -> Any:  # fmt: skip
    """`hpgraph.kernels.entries.cpu.zip_entries` on the GPU."""
    out = cupy.empty(len(x), dtype)
    if len(out):
        code = zip_code(both, left, right)
        module = _module(cupy.cuda.runtime.getDevice(), code, ZIP, f"{both.name} of vectors")
        x_words, y_words = (None if present is None else present.words for present in (x_present, y_present))
        arguments = (
            cupy.ascontiguousarray(x), x_words, cupy.ascontiguousarray(y), y_words, np.int64(len(out)),
            x.dtype.type(fills[0]), y.dtype.type(fills[1]), out,
        )  # fmt: skip
        module.function(ZIP)((-(-len(out) // TILE),), (THREADS,), arguments)
    return out
