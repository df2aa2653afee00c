"""SciPy's own tests of cg, gmres and the other iterative solvers, on our matrices."""

import pytest
from substitution import adopt


@pytest.fixture(autouse=True)
def _not_by_luck(request: pytest.FixtureRequest) -> None:
    """In float32 tfqmr fails on about a tenth of such random matrices, of NumPy's and SciPy's classes too."""
    if "rand-sym-pd-F-tfqmr" in request.node.name:
        pytest.skip("whether it converges is a matter of rounding")


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
