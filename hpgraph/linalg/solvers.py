"""Solvers of SciPy and CuPy, with the matrix converted to the form that each requires."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.device import is_sparse_matrix
from hpgraph.linalg.norms import device_of_operator, library
from hpgraph.scipy_api.matrix import Matrix


def _passed(name: str, what: str, form: str | None = None) -> Callable[..., Any]:
    """The function of that name for the matrix's device; `form`: the format that the matrix is copied to, if any."""

    def function(A: Any, *args: Any, **options: Any) -> Any:
        solve = getattr(library(A), name, None)
        if solve is None:
            raise NotImplementedError(
                f"CuPy has no {name}, and nothing is copied to the CPU unasked: give A.to('cpu'), or see "
                "hpgraph.linalg for what there is on the GPU"
            )
        # CuPy's is a direct solver.
        taken = "csr" if name == "lsqr" and device_of_operator(A) == "cuda" else form
        if taken is None:
            return solve(A, *args, **options)
        matrix = (A if is_sparse_matrix(A) else Matrix(A)).asformat(taken)
        if matrix.dtype.kind not in "fc":
            matrix = matrix.astype(np.float64)
        return solve(matrix, *args, **options)

    reason = "multiplies by the matrix itself" if form is None else f"is given the matrix in the {form.upper()} format"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what}: `scipy.sparse.linalg.{name}`.

    SciPy's on the CPU; on the GPU CuPy's, if it has one. It {reason}.

    Parameters
    ----------
    A : Matrix, sparse array or matrix of SciPy or CuPy, or linear operator if the library takes one
    *args, **options : object
        As for the library's function; arrays on the device of A.

    Returns
    -------
    object
        What the library's function returns.

    Raises
    ------
    NotImplementedError
        On the GPU, if CuPy has no such function.
    """
    return function


spsolve = _passed("spsolve", "The solution of a system, by an LU factorization", "csc")
splu = _passed("splu", "The LU factorization", "csc")
spilu = _passed("spilu", "An incomplete LU factorization", "csc")
factorized = _passed("factorized", "A function that solves systems, by an LU factorization", "csc")
spsolve_triangular = _passed("spsolve_triangular", "The solution of a triangular system", "csr")
inv = _passed("inv", "The inverse", "csc")
expm = _passed("expm", "The exponential", "csc")
bicg = _passed("bicg", "The solution of a system by biconjugate gradients")
bicgstab = _passed("bicgstab", "The solution of a system by stabilized biconjugate gradients")
cg = _passed("cg", "The solution of a positive definite system by conjugate gradients")
cgs = _passed("cgs", "The solution of a system by squared conjugate gradients")
gcrotmk = _passed("gcrotmk", "The solution of a system by GCROT(m, k)")
gmres = _passed("gmres", "The solution of a system by generalized minimal residuals")
lgmres = _passed("lgmres", "The solution of a system by LGMRES")
minres = _passed("minres", "The solution of a symmetric system by minimal residuals")
qmr = _passed("qmr", "The solution of a system by quasi-minimal residuals")
tfqmr = _passed("tfqmr", "The solution of a system by transpose-free quasi-minimal residuals")
lsmr = _passed("lsmr", "The solution of a least-squares problem by LSMR")
lsqr = _passed("lsqr", "The solution of a least-squares problem by LSQR")
eigs = _passed("eigs", "Some eigenvalues and eigenvectors")
eigsh = _passed("eigsh", "Some eigenvalues and eigenvectors of a symmetric matrix")
lobpcg = _passed("lobpcg", "Some eigenvalues and eigenvectors of a symmetric matrix by LOBPCG")
svds = _passed("svds", "Some singular values and vectors")


def aslinearoperator(A: Any) -> Any:
    """A matrix as a linear operator of SciPy, or on the GPU of CuPy: `scipy.sparse.linalg.aslinearoperator`.

    SciPy supports batches of operators from 1.18 on. A `Matrix` multiplies batches with any version, on both devices:
    ``A @ X`` multiplies each matrix of X, of shape (..., n, k), and `matvec` and `rmatvec` each vector of (..., n).

    Parameters
    ----------
    A : Matrix, sparse or dense array, or linear operator

    Returns
    -------
    LinearOperator

    Examples
    --------
    >>> A = hpg.linalg.aslinearoperator(hpg.Matrix([[0, 2], [1, 0]]))
    >>> ((A + A).H @ np.array([1, 10])).tolist()
    [20, 4]
    """
    if device_of_operator(A) == "cuda" and isinstance(A, Matrix):
        from cupyx.scipy.sparse.linalg import LinearOperator

        return LinearOperator(A.shape, A.matvec, rmatvec=A.rmatvec, matmat=A.matmat, rmatmat=A.rmatmat, dtype=A.dtype)
    return library(A).aslinearoperator(A)
