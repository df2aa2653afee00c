"""The Kronecker product on the GPU: code generation for `kronecker.cuh`, and its launch."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.structs import traits
from hpgraph.semiring.cuda import LinkedCode, binary_functor

SOURCE = "kronecker.cuh"
# As in tiles.cuh.
THREADS, TILE = 256, 2048


@functools.lru_cache(maxsize=256)
def kron_code(
    op: Any, types: tuple[Any, Any], patterns: tuple[bool, bool], ids: tuple[Any, Any, Any]
) -> tuple[str, tuple[LinkedCode, ...]]:
    """The C++ text before `kronecker.cuh`, and the code to link with it."""
    code = binary_functor(op, *types, "Apply")
    values = zip("ABC", (*types, op.result_dtype(*types)), strict=True)
    aliases = {**dict(values), **dict(zip(("AIndex", "BIndex", "Index"), ids, strict=True))}
    flags = dict(zip(("a_pattern", "b_pattern"), patterns, strict=True))
    apply = "    __device__ static C apply(A a, B b) { return Apply::apply(a, b); }\n"
    return code.source + traits("Kronecker", aliases, flags, apply), code.ltoir


def kron(a: CSR, b: CSR, op: Any, types: tuple[Any, Any], shape: tuple[int, int]) -> CSR:
    """`hpgraph.kernels.entries.cpu_kronecker.kron` on the GPU."""
    nnz, ids = a.nnz * b.nnz, index_dtype(max(shape))
    indptr = cupy.zeros(shape[0] + 1, np.int64)
    if shape[0]:
        cupy.cumsum(cupy.multiply.outer(a.degrees, b.degrees).ravel(), out=indptr[1:])
    indices, data = cupy.empty(nnz, ids), cupy.empty(nnz, op.result_dtype(*types))
    if nnz:
        code = kron_code(op, types, (a.data is None, b.data is None), (a.indices.dtype, b.indices.dtype, ids))
        name = "hpgraph::kron_entries<Kronecker>"
        module = load(SOURCE, prologue=code[0], ltoir=code[1], names=(name,), title="Kronecker products")
        arguments = (
            indptr, np.int64(shape[0]), np.int64(nnz), a.indptr, a.indices, a.data,
            b.indptr, b.indices, b.data, np.int64(b.shape[0]), np.int64(b.shape[1]),
            indices, data,
        )  # fmt: skip
        module.function(name)((-(-nnz // TILE),), (THREADS,), arguments)
    return CSR(shape, indptr, indices, data, validate=False)
