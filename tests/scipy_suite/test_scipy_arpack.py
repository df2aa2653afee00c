"""SciPy's own tests of eigs and eigsh, on our matrices."""

from substitution import adopt

# Left out: of a dense A all eigenvalues can be had, and a Matrix is sparse.
globals().update(
    adopt(
        "scipy.sparse.linalg._eigen.arpack.tests.test_arpack",
        ("eigs", "eigsh"),
        leave=("test_eigs_for_k_greater", "test_eigsh_for_k_greater"),
    )
)
