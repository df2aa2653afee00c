"""Products of sparse matrices by others: SuiteSparse:GraphBLAS through python-graphblas, cuSPARSE through CuPy."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np


def graphblas_product(S: Any) -> Callable[[], Any]:
    """A @ A of a SciPy matrix, finished: sorted, nothing pending."""
    import graphblas as gb

    A = gb.io.from_scipy_sparse(S)

    def product() -> Any:
        C = A.mxm(A, gb.semiring.plus_times).new()
        C.wait()
        return C

    return product


def graphblas_triangles(L: Any) -> Callable[[], int]:
    """The triangles of a lower triangle, by a masked product."""
    import graphblas as gb

    G = gb.Matrix.from_csr(L.indptr, L.indices, True, ncols=L.shape[1])

    def count() -> int:
        C = gb.Matrix(gb.dtypes.INT64, *G.shape)
        C(G.S) << gb.semiring.plus_pair(G @ G.T)
        return int(C.reduce_scalar().new())

    return count


def cusparse_product(A: Any) -> Callable[[], Any]:
    """A @ A by cuSPARSE's SpGEMM: as CuPy calls it, or, where that gives up, by the second algorithm."""
    from cupyx import cusparse

    S = A.tocsr()

    def product() -> Any:
        try:
            return S @ S
        except cusparse._cusparse.CuSparseError:
            return _second_algorithm(S)

    return product


def _second_algorithm(S: Any) -> Any:
    """ALG2 of cuSPARSE, for which CuPy lacks the call that estimates memory; otherwise CuPy's ``cusparse.spgemm``."""
    import cupy
    from cupy_backends.cuda.libs import cusparse as library
    from cupyx import cusparse
    from cupyx.scipy.sparse import csr_matrix

    native = ctypes.CDLL("libcusparse.so.12")
    n, kind = S.shape[0], cusparse._dtype.to_cuda_dtype(S.dtype)
    C = csr_matrix((n, n), dtype=S.dtype)
    handle, plain = cupy.cuda.device.get_cusparse_handle(), library.CUSPARSE_OPERATION_NON_TRANSPOSE
    a, b, c = (cusparse.SpMatDescriptor.create(matrix) for matrix in (S, S, C))
    one, zero = np.ones(1, S.dtype), np.zeros(1, S.dtype)
    plan = library.spGEMM_createDescr()
    try:
        common = (handle, plain, plain, one.ctypes.data, a.desc, b.desc, zero.ctypes.data, c.desc, kind,
                  library.CUSPARSE_SPGEMM_ALG2, plan)  # fmt: skip
        size = library.spGEMM_workEstimation(*common, 0, 0)
        first = cupy.empty(size, cupy.int8)
        library.spGEMM_workEstimation(*common, size, first.data.ptr)
        pointers = [ctypes.c_void_p(value) for value in (common[3], common[4], common[5], common[6], common[7])]

        def estimate(buffer: int, wanted: Any, needed: Any) -> None:
            status = native.cusparseSpGEMM_estimateMemory(
                ctypes.c_void_p(handle), plain, plain, *pointers, kind, common[9], ctypes.c_void_p(plan),
                ctypes.c_float(1.0), ctypes.byref(wanted), ctypes.c_void_p(buffer), needed,
            )  # fmt: skip
            if status:
                raise RuntimeError(f"cusparseSpGEMM_estimateMemory returns {status}")

        wanted, needed = ctypes.c_size_t(0), ctypes.c_size_t(0)
        estimate(0, wanted, None)
        third = cupy.empty(wanted.value, cupy.int8)
        estimate(third.data.ptr, wanted, ctypes.byref(needed))
        del third
        second = cupy.empty(needed.value, cupy.int8)
        library.spGEMM_compute(*common, needed.value, second.data.ptr)
        shape = [np.zeros(1, np.int64) for _ in range(3)]
        library.spMatGetSize(c.desc, *(value.ctypes.data for value in shape))
        nnz = int(shape[2][0])
        indptr, indices, data = C.indptr, cupy.empty(nnz, np.int32), cupy.empty(nnz, S.dtype)
        library.csrSetPointers(c.desc, indptr.data.ptr, indices.data.ptr, data.data.ptr)
        library.spGEMM_copy(*common)
        return csr_matrix._from_parts(data, indices, indptr, S.shape)
    finally:
        library.spGEMM_destroyDescr(plan)
