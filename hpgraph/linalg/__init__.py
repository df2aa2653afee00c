"""The functions of `scipy.sparse.linalg` under their names, for matrices on the CPU and on the GPU.

`norm`, `onenormest` and `expm_multiply` work on both. Solvers of systems, of eigenvalues and of singular values are
SciPy's for a matrix on the CPU and CuPy's for one on the GPU, with their arguments and results: iterative ones multiply
by the `hpgraph.Matrix` itself, direct ones use a copy in CSR or CSC. Functions that CuPy lacks raise a
`NotImplementedError` on the GPU; the data is copied to the CPU only on request.

Examples
--------
>>> A = hpg.Matrix([[4.0, 1.0], [1.0, 3.0]])
>>> hpg.linalg.spsolve(A, np.array([1.0, 2.0])).round(3).tolist()
[0.091, 0.636]
"""

from hpgraph.linalg.exponential import expm_multiply
from hpgraph.linalg.norms import norm, onenormest
from hpgraph.linalg.solvers import (
    aslinearoperator,
    bicg,
    bicgstab,
    cg,
    cgs,
    eigs,
    eigsh,
    expm,
    factorized,
    gcrotmk,
    gmres,
    inv,
    lgmres,
    lobpcg,
    lsmr,
    lsqr,
    minres,
    qmr,
    spilu,
    splu,
    spsolve,
    spsolve_triangular,
    svds,
    tfqmr,
)
from hpgraph.scipy_api.array_functions import matrix_power

__all__ = [
    "aslinearoperator", "bicg", "bicgstab", "cg", "cgs", "eigs", "eigsh", "expm", "expm_multiply", "factorized",
    "gcrotmk", "gmres", "inv", "lgmres", "lobpcg", "lsmr", "lsqr", "matrix_power", "minres", "norm", "onenormest",
    "qmr", "spilu", "splu", "spsolve", "spsolve_triangular", "svds", "tfqmr",
]  # fmt: skip
