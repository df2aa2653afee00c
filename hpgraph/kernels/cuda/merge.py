"""Union, intersection and difference of two matrices on the GPU: what `merge.cuh` is compiled for, and its launches."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.device import check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.cuda.compile import Module, load
from hpgraph.kernels.cuda.entries import THREADS, TILE, index_type, keep_entries
from hpgraph.kernels.cuda.structs import struct
from hpgraph.semiring.cuda import LinkedCode, c_type, entry_functor

SOURCE = "merge.cuh"
MERGE_KERNELS = ("merge_rows", "merge_left", "merge_right")


@functools.lru_cache(maxsize=512)
def merge_code(
    both: Any,
    left: Any,
    right: Any,
    x_dtype: np.dtype[Any] | None,
    y_dtype: np.dtype[Any] | None,
    index_dtype: np.dtype[Any],
    dtype: np.dtype[Any] | None,
) -> tuple[str, tuple[LinkedCode, ...]]:
    """The text before `merge.cuh` that says what is merged, and the code to link with it.

    Parameters
    ----------
    both, left, right : EntryFunction or None
    x_dtype, y_dtype : dtype or None
        Of the operands' values; None for a pattern.
    index_dtype : dtype
    dtype : dtype or None
        Of the result; None for a pattern.

    Returns
    -------
    str, tuple of LinkedCode
    """
    source, ltoir, members = "", tuple[LinkedCode, ...](), ""
    flag = {True: "true", False: "false"}
    x, y = (c_type(bool if given is None else given) for given in (x_dtype, y_dtype))
    r = c_type(bool if dtype is None else dtype)
    for name, function in (("both", both), ("left", left), ("right", right)):
        members += f"    static constexpr bool keeps_{name} = {flag[function is not None]};\n"
        if function is None or dtype is None:
            continue
        code = entry_functor(function, name.title())
        source += code.source
        ltoir += code.ltoir
        members += f"    __device__ static {r} {name}({x} x, {y} y, long long i, long long j) {{\n"
        members += f"        return ({r}){name.title()}::apply(x, y, i, j);\n    }}\n"
    source += f"""struct Merge {{
    typedef {index_type(index_dtype)} Index;
    typedef {x} X;
    typedef {y} Y;
    typedef {r} R;
    static constexpr bool x_pattern = {flag[x_dtype is None]};
    static constexpr bool y_pattern = {flag[y_dtype is None]};
    static constexpr bool r_pattern = {flag[dtype is None]};
{members}}};
"""
    return source, tuple(dict.fromkeys(ltoir))


@functools.lru_cache(maxsize=512)
def _merge_module(gpu: int, code: tuple[str, tuple[LinkedCode, ...]], name: str) -> Module:
    names = tuple(f"hpgraph::{kernel}<Merge>" for kernel in MERGE_KERNELS)
    return load(SOURCE, prologue=code[0], ltoir=code[1], names=names, title=f"the merge by {name}")


def _ranks(a: CSR, b: CSR, ids: Any, *, with_shared: bool) -> tuple[Any, Any]:
    """Where in b the entries of a stand or would stand, and, if asked for, which of them do."""
    import cupy

    rank = cupy.empty(a.nnz, np.int64)
    shared = cupy.empty(a.nnz, np.bool_) if with_shared else None
    if a.nnz:
        name = f"hpgraph::rank_entries<{index_type(ids)}>"
        module = load(SOURCE, prologue=_NOTHING, names=(name,), title="places of entries")
        module.function(name)(
            (-(-a.nnz // TILE),),
            (THREADS,),
            (
                a.indptr,
                np.int64(a.shape[0]),
                a.indices.astype(ids, copy=False),
                np.int64(a.nnz),
                b.indptr,
                b.indices.astype(ids, copy=False),
                rank,
                np.uint64(0) if shared is None else shared,
            ),
        )
    return rank, shared


_NOTHING = "struct Merge {};\n"


def merge(
    a: CSR,
    b: CSR,
    both: Any,
    left: Any,
    right: Any,
    dtype: Any,
    *,
    fill_a: Any = True,
    fill_b: Any = True,
    nonzero: bool = False,
) -> CSR:
    """`hpgraph.kernels.cpu.merge.merge` on the GPU.

    Raises
    ------
    DeviceMemoryError
        When it will not fit.
    CompileError
        When a Python function cannot be compiled for the GPU.

    Notes
    -----
    Waits for the device, to learn how many entries there are. Takes 17 bytes an entry of `a` besides the result, and 8
    an entry of `b` where `right` is given.
    """
    import cupy

    ids = np.result_type(a.indices.dtype, b.indices.dtype)
    dtype = None if dtype is None else np.dtype(dtype)
    rows = a.shape[0]
    check_memory(17 * a.nnz + (8 * b.nnz if right is not None else 0), "merging two matrices", "cuda")
    rank, shared = _ranks(a, b, ids, with_shared=True)
    shared_before = cupy.zeros(a.nnz + 1, np.int64)
    if a.nnz:
        cupy.cumsum(shared, dtype=np.int64, out=shared_before[1:])
    del shared
    code = merge_code(both, left, right, a.dtype, b.dtype, ids, dtype)
    title = next((function.name for function in (both, left, right) if function is not None), "nothing")
    module = _merge_module(cupy.cuda.runtime.getDevice(), code, title)
    first, second = (csr.indices.astype(ids, copy=False) for csr in (a, b))
    operands = (
        struct(a.indptr, first, a.data, a.nnz),
        struct(b.indptr, second, b.data, b.nnz),
        np.int64(rows),
    )
    indptr = cupy.empty(rows + 1, np.int64)
    run = functools.partial(_run, module)
    run("merge_rows", -(-(rows + 1) // THREADS), *operands, shared_before, indptr)
    nnz = int(indptr[-1])  # waits for the device
    check_memory(nnz * (ids.itemsize + (0 if dtype is None else dtype.itemsize)), f"a result of {nnz} entries", "cuda")
    indices = cupy.empty(nnz, ids)
    data = None if dtype is None else cupy.empty(nnz, dtype)
    place = indices, np.uint64(0) if data is None else data
    x, y = (np.dtype(bool) if csr.dtype is None else csr.dtype for csr in (a, b))
    if nnz and (both is not None or left is not None):
        run("merge_left", -(-a.nnz // TILE), *operands, rank, shared_before, y.type(fill_b), *place)
    if nnz and right is not None:
        del rank
        rank, _ = _ranks(b, a, ids, with_shared=False)
        run("merge_right", -(-b.nnz // TILE), *operands, rank, shared_before, x.type(fill_a), *place)
    made = CSR(a.shape, indptr, indices, data, validate=False)
    if not nonzero or data is None:
        return made
    # Comparisons mostly leave zeros, sums mostly none: then a count is all that it takes.
    if data.dtype != np.bool_ and int(cupy.count_nonzero(data)) == nnz:
        return made
    return keep_entries(made, data)


def _run(module: Module, name: str, blocks: int, *arguments: Any) -> None:
    if blocks:
        module.function(f"hpgraph::{name}<Merge>")((blocks,), (THREADS,), arguments)


def locate(a: CSR, b: CSR) -> Any:
    """`hpgraph.kernels.cpu.merge.locate` on the GPU."""
    import cupy

    rank, _ = _ranks(a, b, np.result_type(a.indices.dtype, b.indices.dtype), with_shared=False)
    return cupy.maximum(rank, -1, out=rank)
