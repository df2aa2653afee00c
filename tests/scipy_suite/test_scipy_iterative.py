"""SciPy's own tests of cg, gmres and the other iterative solvers, on our matrices."""

from substitution import adopt

# Left out: the first expects what some platforms get, and matrices of its own; the second inverts dense matrices for
# six seconds, and asks of A what the others do.
globals().update(
    adopt(
        "scipy.sparse.linalg._isolve.tests.test_iterative",
        (),
        cases="A",
        leave=("test_maxiter_worsening", "test_precond_inverse"),
    )
)
