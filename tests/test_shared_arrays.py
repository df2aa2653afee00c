"""What is written to a user's array, or to one that we gave, never leaves two answers at odds."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module
from hpgraph.formats import COO, CSR, ELL, HYB

DENSE = np.array([[0, 2.0, 1.0, 0], [1.0, 0, 0, 0], [0, 3.0, 0, 4.0], [0, 0, 5.0, 0]])


def sparse(device: str) -> Any:
    """The matrix above as SciPy's or CuPy's."""
    if device == "cpu":
        return sp.csr_array(DENSE)
    from cupyx.scipy.sparse import csr_matrix

    return csr_matrix(array_module(device).asarray(DENSE))


def arrays(device: str) -> list[Any]:
    """Offsets, columns and values, in the types that are kept as they are."""
    S = sp.csr_array(DENSE)
    xp = array_module(device)
    return [xp.asarray(array) for array in (S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data)]


def assert_consistent(A: hpg.Matrix, expected: Any) -> None:
    """All ways to read a matrix tell of the same one."""
    x = array_module(A.device).arange(1.0, 5.0)
    for found, of in (
        (A @ x, expected @ host(x)),
        (A.T @ x, expected.T @ host(x)),
        (A.toarray(), expected),
        (A.T.toarray(), expected.T),
        (A.hyb.to_csr().data, expected[expected != 0]),
        (A.sum(axis=0), expected.sum(axis=0)),
    ):
        np.testing.assert_allclose(host(found), of)


class TestGiven:
    """Arrays of the user's that change after we were given them."""

    @pytest.mark.parametrize("make", [hpg.Matrix, hpg.hyb_array, lambda S: hpg.Matrix(CSR.from_scipy(S))])
    @pytest.mark.parametrize("asked_before", [True, False])
    def test_matrix(self, device: str, make: Callable[[Any], hpg.Matrix], asked_before: bool) -> None:
        S = sparse(device)
        A = make(S)
        if asked_before:
            assert_consistent(A, DENSE)
        S.data[:] = 9
        S.indices[0] = 0
        assert_consistent(A, DENSE)

    @pytest.mark.parametrize("directed", [None, True])
    def test_graph(self, device: str, directed: bool | None) -> None:
        S = sparse(device)
        G = hpg.Graph(S, directed=directed)
        S.data[:] = 9
        S.indices[:] = 0
        expected = sp.csr_array(DENSE)
        for found, of in ((G.out_csr, expected), (G.in_csr, expected.T.tocsr())):
            np.testing.assert_array_equal(host(found.indices), of.indices)
            np.testing.assert_array_equal(host(found.data), of.data)

    @pytest.mark.parametrize("make", [hpg.Graph.from_edges, lambda *given: hpg.Graph(given)])
    def test_edges_in_order(self, device: str, make: Callable[..., hpg.Graph]) -> None:
        xp = array_module(device)
        source, target = (xp.asarray(ids, dtype=np.int32) for ids in ([0, 0, 1], [1, 2, 2]))
        weight = xp.asarray([3.0, 4.0, 5.0])
        G = make(source, target, weight)
        for array in (source, target, weight):
            array[:] = 0
        assert host(G.out_csr.indices).tolist() == [1, 2, 2] and host(G.weights).tolist() == [3, 4, 5]

    def test_tuples(self, device: str) -> None:
        xp = array_module(device)
        indptr, indices, data = arrays(device)
        row = xp.asarray(sp.csr_array(DENSE).tocoo().row.astype(np.int32))
        made = [
            hpg.Matrix((data, indices, indptr), (4, 4)),
            hpg.Matrix((data, (row, indices)), (4, 4)),
            hpg.Matrix.from_coo(row, indices, data, (4, 4)),
        ]
        for array in (indptr, indices, data):
            array[:] = 1
        for A in made:
            assert_consistent(A, DENSE)

    def test_containers(self, device: str) -> None:
        xp = array_module(device)
        indptr, indices, data = arrays(device)
        slab = xp.asarray([[1, 0, 1, 2], [2, -1, 3, -1]], dtype=np.int32)
        values = xp.asarray([[2.0, 1, 3, 5], [1, 0, 4, 0]])
        row = xp.asarray(sp.csr_array(DENSE).tocoo().row.astype(np.int32))
        rest = xp.zeros(0, np.int32), xp.zeros(1, np.int64), xp.zeros(0, np.int32), xp.zeros(0)
        made = [
            CSR((4, 4), indptr, indices, data), CSR((4, 4), indptr, indices).with_data(data),
            CSR.from_coo(row, indices, data, (4, 4)), COO((4, 4), row, indices, data).to_csr(),
            ELL((4, 4), slab, values).to_csr(), HYB((4, 4), ELL((4, 4), slab, values), *rest).to_csr(),
        ]  # fmt: skip
        for array in (indptr, indices, data, slab, values, row):
            array[:] = 0
        for csr in made:
            np.testing.assert_array_equal(host(csr.to_scipy().toarray()), DENSE)

    def test_assigned_values(self, device: str) -> None:
        xp = array_module(device)
        values, block = xp.full(6, 7.0), xp.full((4, 4), 2.0)
        A, C = hpg.Matrix(sparse(device)), hpg.Matrix(sparse(device))
        A.data = values
        C[:, :] = block
        values[:], block[:] = 0, 0
        assert_consistent(A, np.where(DENSE != 0, 7.0, 0.0))
        assert_consistent(C, np.full((4, 4), 2.0))

    def test_names(self) -> None:
        names = np.array(["a", "b", "c", "d"])
        G = hpg.Graph(sp.csr_array(DENSE), names=names)
        names[0] = "z"
        assert G.index_of("a") == 0 and G.names.tolist() == ["a", "b", "c", "d"]
        with pytest.raises(ValueError, match="read-only"):
            G.names[0] = "z"

    def test_sharing_is_on_request(self, device: str) -> None:
        S = sparse(device)
        for data in (hpg.Matrix(S, copy=False).csr.data, hpg.Graph(S, copy=False).out_csr.data):
            assert array_module(device).shares_memory(data, S.data)
        indptr, indices, data = arrays(device)
        csr = CSR((4, 4), indptr, indices, data, copy=False)
        assert csr.indptr is indptr and csr.indices is indices and csr.data is data

    def test_a_property_given_to_a_program_is_not_written_to(self) -> None:
        class Series:
            """An array of another library, which NumPy sees without a copy."""

            dtype, shape, ndim = np.dtype(np.float64), (4,), 1

            def __init__(self) -> None:
                self.held = np.full(4, np.inf)

            def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
                return self.held

        from hpgraph.engine.values import array

        given = Series()
        array(np.asarray(given), given, np.dtype(np.float64), "distance")[:] = 0
        assert np.isinf(given.held).all()


class TestHandedOut:
    """What we give: the user's own, or read-only."""

    def test_of_a_graph(self, device: str) -> None:
        G = hpg.Graph(sparse(device))
        for give in (lambda: G.out_degree, lambda: G.in_degree, lambda: G.weights):
            before = host(give()).copy()
            array = give()
            if device == "cpu":
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = 77
            else:
                array[0] = 77
            np.testing.assert_array_equal(host(give()), before)

    @pytest.mark.parametrize("kind", ["CSR", "COO", "HYB"])
    def test_to_scipy(self, device: str, kind: str) -> None:
        csr = hpg.Graph(sparse(device)).out_csr
        container = {"CSR": csr, "COO": COO.from_csr(csr), "HYB": HYB.from_csr(csr)}[kind]
        for copy in (False, True):
            made = container.to_scipy(copy=copy)
            shown = [getattr(made, name) for name in ("data", "indices", "col") if hasattr(made, name)]
            for array in shown:
                if device == "cpu" and not copy and kind != "HYB":
                    with pytest.raises(ValueError, match="read-only"):
                        array[0] = 0
                else:
                    array[0] = 0
            np.testing.assert_array_equal(host(container.to_scipy().toarray()), DENSE)

    def test_what_matrix_turns_into(self, device: str) -> None:
        A = hpg.Matrix(sparse(device))
        assert_consistent(A, DENSE)
        kinds = ("csr", "csc", "coo") if device == "cuda" else ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
        for kind in kinds:
            for copy in (True, False):
                made = getattr(A, f"to{kind}")(copy=copy)
                made *= 3
                if hasattr(made, "data") and hasattr(made.data, "fill"):
                    made.data.fill(5)
                assert_consistent(A, DENSE)
        A.toarray()[:] = 0
        for array in (*A.to_coo(), A.diagonal(), A[0].values, A[[0]].tocsr().data, *A.nonzero()):
            array[:] = 0
        assert_consistent(A, DENSE)

    def test_results_are_the_users(self, device: str) -> None:
        G = hpg.Graph(sparse(device))
        for run, name in (
            (lambda: hpg.bfs(G, 0), "level"),
            (lambda: hpg.sssp(G, 0), "distance"),
            (lambda: hpg.pagerank(G), "rank"),
        ):
            array = getattr(run(), name)
            before = host(array).copy()
            array[:] = 0
            np.testing.assert_allclose(host(getattr(run(), name)), before)


class TestWrittenTo:
    """``A.data`` and its kin may be written to, as SciPy's are."""

    @pytest.mark.parametrize("layout", ["csr", "hyb"])
    def test_values(self, device: str, layout: Any) -> None:
        A, S = hpg.Matrix(sparse(device), format=layout), sp.csr_array(DENSE)
        turned = A.T
        assert_consistent(A, DENSE)
        for change in (
            lambda M: M.data.__setitem__(0, 8.0),
            lambda M: M.data.__setitem__(slice(None), 3.0),
            lambda M: setattr(M, "data", M.data * 2),
            lambda M: M.data.__imul__(0.5),
            lambda M: M.data.__setitem__(1, np.nan),
            lambda M: M.data.__setitem__(1, -1.0),
        ):
            change(A)
            change(S)
            assert_consistent(A, S.toarray()) if not np.isnan(S.data).any() else None
        np.testing.assert_array_equal(host(turned.toarray()), DENSE.T)  # what was taken before stays

    def test_an_array_that_is_kept(self, device: str) -> None:
        A = hpg.Matrix(sparse(device))
        expected = DENSE.copy()
        data = A.data
        part = data[:1]
        for value in (10.0, 20.0, 30.0):
            data[0] = expected[0, 1] = value
            assert_consistent(A, expected)
        del data
        part[0] = expected[0, 1] = 40.0
        assert_consistent(A, expected)
        assert A._copies is not None
        del part
        gc.collect()
        assert_consistent(A, expected)
        assert A._copies is None, "no view is left, and nothing is compared"

    def test_reading_costs_no_layout(self, device: str) -> None:
        A = hpg.Matrix(sparse(device))
        assert_consistent(A, DENSE)
        csr, hyb = A.csr, A.T.hyb
        assert float(A.data.sum()) == DENSE.sum() and len(A.indices) == 6 and len(A.indptr) == 5
        assert A.csr is csr and A.T.hyb is hyb

    def test_columns(self, device: str) -> None:
        A = hpg.Matrix(sparse(device))
        A.indices[0] = 0
        expected = DENSE.copy()
        expected[0, :2] = 2, 0
        assert_consistent(A, expected)
        A.indices[0] = 9
        with pytest.raises(IndexError, match="indices holds 9, and there are 4 columns"):
            A @ array_module(device).ones(4)
        assert_consistent(A, expected)

    def test_copies_are_apart(self, device: str) -> None:
        A = hpg.Matrix(sparse(device))
        C = A.copy()
        C.data[:] = 1
        A[0, 1] = 6
        expected = DENSE.copy()
        expected[0, 1] = 6
        assert_consistent(A, expected)
        assert_consistent(C, (DENSE != 0).astype(float))


MASKED = np.ma.masked_equal([1.0, 2.0, 3.0, 4.0], 3.0)


class TestMasked:
    """numpy.ma: a masked element is absent, or the array is refused."""

    def test_matrix_and_vector(self) -> None:
        given = np.ma.masked_equal(DENSE, 3.0)
        assert_consistent(hpg.Matrix(given), np.where(DENSE == 3, 0, DENSE))
        v = hpg.Vector(MASKED)
        assert v.to_indices()[0].tolist() == [0, 1, 3] and v.reduce("plus") == 7
        v = hpg.Vector(MASKED, np.array([True, False, True, True]))
        assert v.to_indices()[0].tolist() == [0, 3]
        assert hpg.Vector(np.ma.array([1.0, 2.0])).format == "full"
        assert_consistent(hpg.Matrix(np.ma.array(DENSE)), DENSE)

    @pytest.mark.parametrize(
        ("name", "use"),
        [
            ("x", lambda A, m: A @ m),
            ("x", lambda A, m: m @ A),
            ("x", lambda A, m: A.mxv(m)),
            ("x", lambda A, m: A.matvec(m)),
            ("mask", lambda A, m: A.mxv(np.ones(4), mask=m > 1)),
            ("B", lambda A, m: A * m),
            ("B", lambda A, m: A + np.ma.masked_equal(DENSE, 3.0)),
            ("x", lambda A, m: A.__setitem__((0, slice(None)), m)),
            ("data", lambda A, m: setattr(A, "data", m)),
            ("the index", lambda A, m: A[m.astype(int)]),
            ("source", lambda A, m: hpg.Graph.from_edges(m.astype(int), np.arange(4))),
            ("weight", lambda A, m: hpg.Graph.from_edges(np.arange(4), np.arange(4), m)),
            ("values", lambda A, m: hpg.Matrix((m, (np.arange(4), np.arange(4))))),
            ("indices", lambda A, m: CSR((1, 9), [0, 4], m.astype(int))),
            ("data", lambda A, m: CSR((1, 4), [0, 4], np.arange(4), m)),
            ("values", lambda A, m: hpg.Vector.from_indices(np.arange(4), m, 4)),
            ("present", lambda A, m: hpg.Vector(np.ones(4), m > 1)),
            ("personalization", lambda A, m: hpg.pagerank(hpg.Graph(A), personalization=m)),
            ("a diagonal", lambda A, m: hpg.diags([m])),
            ("names", lambda A, m: hpg.Graph(A, names=m)),
            ("sources", lambda A, m: hpg.bfs(hpg.Graph(A), sources=m.astype(int) - 1)),
            ("sources", lambda A, m: hpg.bfs(hpg.Graph(A, names=[1, 2, 3, 4]), sources=m.astype(int))),
            ("index", lambda A, m: hpg.id(m.astype(int))),
            ("seeds", lambda A, m: hpg.sample_neighbors(hpg.Graph(A), m.astype(int) - 1, [2])),
            ("starts", lambda A, m: hpg.random_walk(hpg.Graph(A), m.astype(int) - 1, 2)),
            ("source", lambda A, m: hpg.Graph(A).has_edge(m.astype(int) - 1, [0, 1, 2, 3])),
            ("source", lambda A, m: hpg.Graph(A).update(delete=(m.astype(int) - 1, np.arange(4)), missing="ignore")),
        ],
    )
    def test_elsewhere_refused_by_name(self, name: str, use: Callable[[Any, Any], Any]) -> None:
        A = hpg.Matrix(sp.csr_array(DENSE))
        raises(TypeError, f"{name} is a masked array, whose masked elements would count", use, A, MASKED)

    def test_nothing_masked_is_taken(self) -> None:
        A = hpg.Matrix(sp.csr_array(DENSE))
        for _ in range(2):
            np.testing.assert_allclose(A @ np.ma.array([1.0, 2.0, 3.0, 4.0]), DENSE @ [1, 2, 3, 4])
