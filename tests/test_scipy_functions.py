"""SciPy's functions of a sparse array, given ours: each returns what it returns for csr_array, in the same class."""

import io
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.io
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse import csgraph, linalg

import hpgraph as hpg

N = 12
RNG = np.random.default_rng(0)
D = sp.random_array((N, N), density=0.3, format="csr", rng=RNG)
# Symmetric, positive definite; the other is neither.
S = sp.csr_array(D + D.T + 8 * sp.eye_array(N))
R = sp.csr_array(D)
B, X = RNG.random(N), RNG.random((N, 3))
PREDECESSORS = csgraph.shortest_path(S, return_predecessors=True)[1]
# What came after the oldest SciPy.
LATER = ("funm_multiply_krylov", "swapaxes")
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")

Function = Callable[[Any], Any]


def through_file(write: Callable[..., Any], read: Callable[..., Any]) -> Function:
    def there_and_back(A: Any) -> Any:
        file = io.BytesIO()
        write(file, A)
        file.seek(0)
        return read(file)

    return there_and_back


def written(into: Any, A: Any) -> Any:
    into[:, :] = A
    return into


# The iterative solvers and what finds eigenvalues: tests/scipy_suite.
LINALG: dict[str, Function] = {
    "expm": linalg.expm, "inv": linalg.inv,
    "funm_multiply_krylov": lambda A: linalg.funm_multiply_krylov(scipy.linalg.expm, A, B),
    "matrix_power": lambda A: linalg.matrix_power(A, 3), "spsolve": lambda A: linalg.spsolve(A, B),
    "spsolve for many": lambda A: linalg.spsolve(A, X), "spsolve for sparse": lambda A: linalg.spsolve(S.tocsc(), A),
    "splu": lambda A: linalg.splu(A).solve(B), "spilu": lambda A: linalg.spilu(A).solve(B),
    "factorized": lambda A: linalg.factorized(A)(B),
    "spsolve_triangular": lambda A: linalg.spsolve_triangular(sp.tril(A, format="csr"), B), "norm": linalg.norm,
    "norm 1": lambda A: linalg.norm(A, 1), "norm 2": lambda A: linalg.norm(A, 2),
    "norm by rows": lambda A: linalg.norm(A, axis=1),
}  # fmt: skip

CSGRAPH: dict[str, Function] = {
    **{
        name: getattr(csgraph, name)
        for name in (
            "shortest_path", "dijkstra", "floyd_warshall", "bellman_ford", "johnson", "connected_components",
            "laplacian", "minimum_spanning_tree", "reverse_cuthill_mckee", "maximum_bipartite_matching",
            "structural_rank", "csgraph_to_dense", "csgraph_to_masked", "min_weight_full_bipartite_matching",
        )
    },
    **{
        name: lambda A, name=name: getattr(csgraph, name)(A, 0)
        for name in ("breadth_first_order", "breadth_first_tree", "depth_first_order", "depth_first_tree")
    },
    **{
        f"shortest_path {method}": lambda A, method=method: csgraph.shortest_path(A, method, directed=False)
        for method in ("auto", "FW", "D", "BF", "J")
    },
    "shortest_path unweighted": lambda A: csgraph.shortest_path(A, unweighted=True),
    "dijkstra predecessors": lambda A: csgraph.dijkstra(A, indices=[0, 1], return_predecessors=True),
    "maximum_flow": lambda A: csgraph.maximum_flow(A.astype(np.int32), 0, 5).flow_value,
    "yen": lambda A: csgraph.yen(A, 0, 5, 3),
    "laplacian normed": lambda A: csgraph.laplacian(A, normed=True),
    "reconstruct_path": lambda A: csgraph.reconstruct_path(A, PREDECESSORS[0]),
    "construct_dist_matrix": lambda A: csgraph.construct_dist_matrix(A, PREDECESSORS),
}  # fmt: skip

CONSTRUCTION: dict[str, Function] = {
    "hstack": lambda A: sp.hstack([A, R]),
    "hstack of ours": lambda A: sp.hstack([A, A]),
    "hstack as float32": lambda A: sp.hstack([A, A], format="csr", dtype=np.float32),
    "vstack": lambda A: sp.vstack([R, A]),
    "vstack of ours": lambda A: sp.vstack([A, A], format="csc"),
    "block_array": lambda A: sp.block_array([[A, None], [None, A]]),
    "bmat": lambda A: sp.bmat([[A, R], [None, A]], format="csr"),
    "block_diag": lambda A: sp.block_diag([A, R, A]),
    "kron": lambda A: sp.kron(A, R),
    "kron, other way": lambda A: sp.kron(R, A, format="csr"),
    "kronsum": lambda A: sp.kronsum(A, R),
    "find": sp.find,
    "tril": sp.tril,
    "triu": lambda A: sp.triu(A, 1, format="csr"),
    "swapaxes": lambda A: sp.swapaxes(A, 0, 1),
    "save_npz": through_file(sp.save_npz, sp.load_npz),
    "mmwrite": through_file(scipy.io.mmwrite, scipy.io.mmread),
    "savemat": through_file(lambda file, A: scipy.io.savemat(file, {"A": A}), lambda file: scipy.io.loadmat(file)["A"]),
    **{f"{kind}_array": getattr(sp, f"{kind}_array") for kind in FORMATS},
    **{f"{kind}_matrix": getattr(sp, f"{kind}_matrix") for kind in FORMATS},
    **{f"asformat {kind}": lambda A, kind=kind: A.asformat(kind) for kind in FORMATS},
    "eye in its format": lambda A: sp.eye_array(N, format=A.format),
}

OPERATORS: dict[str, Function] = {
    **{
        f"{kind} {name} A": lambda A, kind=kind, name=name: getattr(operator, name)(S.asformat(kind), A)
        for kind in FORMATS
        for name in ("add", "sub", "mul", "matmul")
        # SciPy itself multiplies a DOK or LIL array entry by entry by a number alone.
        if not (name == "mul" and kind in ("dok", "lil"))
    },
    **{
        f"{name} of scipy and A": lambda A, name=name: getattr(operator, name)(S, A)
        for name in ("truediv", "eq", "ne", "lt", "gt", "le", "ge")
    },
    "multiply by a row": lambda A: S.multiply(A[[0]]),
    "multiply by a column": lambda A: S.multiply(A[:, [0]]),
    "maximum": lambda A: S.maximum(A),
    "minimum": lambda A: S.minimum(A),
    "assignment": lambda A: written(R.copy(), A),
    "assignment to lil": lambda A: written(R.tolil(), A),
}


def dense(found: Any) -> Any:
    if isinstance(found, tuple | list):
        return [dense(part) for part in found]
    return np.asarray(found.toarray() if sp.issparse(found) or isinstance(found, hpg.Vector) else found)


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(ours, theirs)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("layout", ["csr", "hyb"])
@pytest.mark.parametrize("name", [*LINALG, *CSGRAPH, *CONSTRUCTION, *OPERATORS])
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
def test_as_with_csr_array(name: str, layout: Any) -> None:
    if name in LATER and not any(hasattr(module, name) for module in (sp, linalg)):
        pytest.skip(f"SciPy {scipy.__version__} has no {name}")
    function = (LINALG | CSGRAPH | CONSTRUCTION | OPERATORS)[name]
    A = hpg.Matrix(S, format=layout)
    expected, found = function(S), function(A)
    assert_same(dense(found), dense(expected))
    if sp.issparse(expected):
        # Arrays and SciPy's older matrices mean different things by *.
        assert isinstance(found, sp.sparray) == isinstance(expected, sp.sparray) and found.format == expected.format
    assert (A != S).nnz == 0, "and A is what it was"


def test_hyb_is_the_layout_and_csr_the_format() -> None:
    A = hpg.Matrix(S, format="hyb")
    assert (A.format, A.layout, hpg.Matrix(S).layout) == ("csr", "hyb", "csr")
    assert isinstance(A, sp.sparray) and not isinstance(A, sp.spmatrix)
