"""SciPy's tests of its solvers, with our matrices in the place of theirs.

The tests are imported from the installed SciPy, not copied. Each calls a solver by the name it has in the test's own
module; there that name is bound, while the tests run, to a function that hands A over as a `Matrix` and calls the
solver. What no Matrix holds (extended precision, operators without entries) is handed over as it is.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse import linalg

import hpgraph as hpg
from hpgraph.formats.checks import VALUE_DTYPES


def as_matrix(A: Any) -> Any:
    """A as a Matrix, where one can hold it."""
    sparse = scipy.sparse.issparse(A) and A.ndim == 2
    dense = isinstance(A, np.ndarray) and A.ndim == 2
    return hpg.Matrix(A) if (sparse or dense) and A.dtype in VALUE_DTYPES and min(A.shape) else A


def adopt(name: str, solvers: tuple[str, ...], *, leave: tuple[str, ...] = (), **places: str) -> dict[str, Any]:
    """The tests of one of SciPy's modules, for the namespace of one of ours.

    `solvers` are the functions that take A first. `leave` are tests, classes and, as "Class.test", single tests of a
    class that are left out. `places` name lists in the module, and an attribute of their members in which the matrix
    stands.
    """
    # Some make their matrices at random while they are imported, and a few of those fail with SciPy's own, too.
    np.random.seed(0)  # noqa: NPY002
    module = pytest.importorskip(name, reason="SciPy was installed without its tests")
    given = itertools.count()

    def handing_over(solve: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(solve)
        def solve_ours(A: Any, *args: Any, **options: Any) -> Any:
            ours = as_matrix(A)
            if ours is not A:
                next(given)
            try:
                return solve(ours, *args, **options)
            except TypeError as error:
                if "must be bool, int8..int64" in str(error):
                    pytest.skip("vectors of long double numbers are refused, by name")
                raise

        return solve_ours

    @pytest.fixture(autouse=True, scope="module")
    def ours() -> Iterator[None]:
        # Some look at what is written to standard error, and would find word of a first compilation.
        with pytest.MonkeyPatch.context() as patch, hpg.config(verbose=False):
            for solver in solvers:
                if solver.startswith("_") and not hasattr(module, solver):
                    continue  # private to SciPy: other versions have others
                owner = module if hasattr(module, solver) else linalg
                patch.setattr(owner, solver, handing_over(getattr(owner, solver)))
            for members, attribute in places.items():
                for member in getattr(module, members):
                    matrix = as_matrix(getattr(member, attribute))
                    if matrix is not getattr(member, attribute):
                        next(given)
                        patch.setattr(member, attribute, matrix)
            yield
        assert next(given), "no test got one of our matrices"

    tests = {
        key: value
        for key, value in vars(module).items()
        if key not in leave
        and (key.startswith(("test", "Test")) or type(value).__name__ == "FixtureFunctionDefinition")
    }
    for name, _, method in (one.partition(".") for one in leave if "." in one):
        assert callable(getattr(tests[name], method)), f"{name} has no {method} to leave out"
        tests[name] = type(name, (tests[name],), {method: None})
    return {**tests, "ours": ours}
