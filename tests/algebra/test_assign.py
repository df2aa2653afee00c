"""Assignment against NumPy's to dense arrays, and against the definition of GraphBLAS's."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from raising import raises
from reference_parts import AXIS, dense, shown
from test_against_graphblas import test_assign  # noqa: F401  (and once more, by either way)

import hpgraph as hpg
from hpgraph.core.device import to_device


@pytest.fixture(autouse=True, params=[0, 64], ids=["whole", "spliced"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to put rows in: all of the matrix merged, and those rows alone."""
    monkeypatch.setattr("hpgraph.algebra.assign_matrix.COPIED_ROWS", request.param)


class TestBrackets:
    @pytest.mark.parametrize("dtype", ["int8", "float64"])
    def test_numbers(self, dtype: str, device: str) -> None:
        for i, j in itertools.product(AXIS, AXIS):
            D = dense(dtype)
            A = hpg.Matrix(D).to(device)
            key = tuple(np.asarray(k) if isinstance(k, range) else k for k in (i, j))
            try:
                D[key] = 5
            except IndexError:
                continue
            A[i, j] = 5
            np.testing.assert_array_equal(shown(A), D, err_msg=repr((i, j)))

    def test_arrays(self, device: str) -> None:
        rng = np.random.default_rng(0)
        keys: list[Any] = [
            (slice(1, 6, 2), slice(None, None, -1)), (slice(None), 3), (2, slice(2, 7)), ([1, 1, 4], slice(None)), 3,
            (slice(None), [8, 0, 8]), ([0, 3, 0], [1, 2, 1]), ([[1], [4]], [0, 5, 5]), slice(2, 5), (slice(None),), ...,
            dense() > 40, (np.arange(7) % 2 == 0), ([[0, 1], [2, 3]], [[4, 5], [6, 7]]),
        ]  # fmt: skip
        for key in keys:
            D = dense()
            A = hpg.Matrix(D).to(device)
            x = rng.integers(0, 9, D[key].shape).astype(float)
            D[key] = x
            A[key] = to_device(x, device)
            np.testing.assert_array_equal(shown(A), D, err_msg=repr(key))

    def test_slices_that_select_nothing(self, device: str) -> None:
        for stop, step in itertools.product((None, 0, 1), (-1, -2, -3)):
            D = np.arange(1.0, 4).reshape(3, 1)
            A = hpg.Matrix(D).to(device)
            A[[2], slice(-2, stop, step)] = to_device(np.zeros((1, 0)), device)
            A[slice(-4, stop, step), [0]] = to_device(np.zeros((0, 1)), device)
            np.testing.assert_array_equal(shown(A), D)

    def test_rows_broadcast(self, device: str) -> None:
        D = dense()
        A = hpg.Matrix(D).to(device)
        D[1:4] = A[1:4] = np.arange(9)
        D[:, ::2] = A[:, ::2] = np.arange(7)[:, None]
        D[0, [1, 2]] = A[0, [1, 2]] = [[5]]
        np.testing.assert_array_equal(shown(A), D)

    def test_sparse(self, device: str) -> None:
        D, E = dense(), dense(seed=8)
        for key in [(slice(0, 3), slice(2, 8)), ([5, 0], slice(None)), (slice(None), [1, 4]), slice(None)]:
            F, A = D.copy(), hpg.Matrix(D).to(device)
            part = E[key]
            for x in (scipy.sparse.csr_array(part), hpg.Matrix(part).to(device)):
                if isinstance(x, hpg.Matrix) or device == "cpu":
                    F[key] = part
                    A[key] = x
                    np.testing.assert_array_equal(shown(A), F)
                    assert A.nnz == np.count_nonzero(F), "where a sparse one has no entry there is none"
        A = hpg.Matrix(D).to(device)
        A[2] = A[0]
        A[:, 4] = A[:, 1]
        assert A.nnz == np.count_nonzero(shown(A)) and (shown(A)[2] == shown(A)[0]).sum() >= 8

    def test_places_take_a_vector(self, device: str) -> None:
        D = dense()
        A = hpg.Matrix(D).to(device)
        i, j = [0, 1, 0, 6], [0, 2, 0, 8]
        A[i, j] = hpg.Vector.from_indices([1, 2], [70.0, 80.0], 4).to(device)
        D[i, j] = [0, 70, 80, 0]
        np.testing.assert_array_equal(shown(A), D)
        assert A.nnz == np.count_nonzero(D)

    def test_a_stored_zero(self, device: str) -> None:
        A = hpg.Matrix((2, 2)).to(device)
        A[0, 1] = 0
        assert A.nnz == 1 and A[0, 1] == 0

    def test_what_was_taken_before_stays(self, device: str) -> None:
        A = hpg.Matrix(dense()).to(device)
        turned, before = A.T, shown(A)
        values = A.csr.data
        A[:] = 1
        assert (shown(A) == 1).all() and (shown(turned) == before.T).all() and A.csr.data is not values
        B = A.T
        B[0] = 7
        assert (shown(A) == 1).all() and (shown(B)[0] == 7).all(), "a transpose is rebound for itself"

    def test_layouts(self, device: str) -> None:
        D = dense()
        A = hpg.Matrix(D, format="hyb").to(device)
        x = to_device(np.ones(9), device)
        A @ x
        A[3:5, 1:3] = -2
        D[3:5, 1:3] = -2
        np.testing.assert_allclose(to_device(A @ x, "cpu"), D.sum(1))
        assert A.layout == "hyb"

    def test_patterns(self, device: str) -> None:
        A = hpg.Matrix(dense("bool")).to(device).structure
        A[0:2] = hpg.Matrix(np.eye(2, 9, dtype=bool)).to(device).structure
        assert A.is_pattern and A[0].nvals == 1
        A[0, 0] = False
        assert not A.is_pattern and A.dtype == bool and not A[0, 0] and A[1, 1]

    def test_types_as_in_numpy(self, device: str) -> None:
        A = hpg.Matrix(dense("int64")).to(device)
        A[0, 0] = 3.7
        assert A[0, 0] == 3 and A.dtype == np.int64

    @pytest.mark.parametrize(
        ("key", "x", "error", "message"),
        [
            ((0, 0), [1, 2], ValueError, r"\(2,\) cannot be broadcast to \(\)"),
            ((slice(None), 1), np.ones(9), ValueError, r"cannot be broadcast"),
            ((slice(None), 1), scipy.sparse.eye_array(7, 9), ValueError, r"shape mismatch"),
            ((9, 0), 1, IndexError, r"row index \(9\) out of range for 7 rows"),
            ((0, 0), 2j, TypeError, r"complex values cannot be written"),
            ((0, 0), "a", ValueError, r"could not convert"),
        ],
    )
    def test_refused(self, key: Any, x: Any, error: type[Exception], message: str) -> None:
        A = hpg.Matrix(dense())
        before = A.csr
        with pytest.raises(error, match=message):
            A[key] = x
        assert A.csr is before


def test_refused_regions_and_numbers() -> None:
    A = hpg.eye(3, dtype=int)
    for rows in (np.zeros((2, 2), int), np.zeros((2, 0))):
        raises(IndexError, "along one axis must have one dimension", hpg.subassign, A, 1, rows)
    for mask in (None, A):
        raises(ValueError, "beyond the range of int64", hpg.assign, A, 2**63, mask=mask)
    for method, number in ((A.maximum, 2**63), (A.minimum, -(2**63) - 1), (A.setdiag, 2**63)):
        raises(ValueError, "beyond the range of int64", method, number)


def test_a_number_under_a_mask_makes_no_dense_matrix(device: str) -> None:
    huge = 1 << 20
    C = hpg.eye(huge, device=device)
    M = hpg.eye(huge, k=3, dtype=None, device=device)
    hpg.assign(C, 5, mask=M)
    assert C.nnz == 2 * huge - 3 and C[0, 3] == 5
    raises(MemoryError, r"a number at 1099511627776 places needs", hpg.assign, C, 5)


class TestVector:
    @pytest.mark.parametrize("density", [0.01, 0.3, 1.0])
    def test_brackets(self, density: float, device: str) -> None:
        rng = np.random.default_rng(2)
        D = np.where(rng.random(300) < density, rng.integers(1, 99, 300), 0).astype(np.float64)
        for key in [5, slice(10, 60), slice(250, 20, -7), [5, 7, 5], D > 50, ...]:
            E = D.copy()
            v = hpg.Vector.from_indices(D.nonzero()[0], D[D != 0], 300).to(device)
            x = rng.integers(1, 9, E[key].shape).astype(float)
            E[key] = x
            v[key] = to_device(x, device)
            np.testing.assert_array_equal(shown(v), E, err_msg=repr(key))
            E[key] = 4
            v[key] = 4
            np.testing.assert_array_equal(shown(v), E)
        v = hpg.Vector.from_indices(D.nonzero()[0], D[D != 0], 300).to(device)
        v[2:5] = hpg.Vector.from_indices([1], [8.0], 3).to(device)
        D[2:5] = [0, 8, 0]
        np.testing.assert_array_equal(shown(v), D)
        assert v.nvals == np.count_nonzero(D)

    def test_assign(self, device: str) -> None:
        w = hpg.Vector.from_indices([0, 2], [1.0, 2.0], 4).to(device)
        assert shown(hpg.assign(w, [5.0, 6.0], [2, 3], accum="plus")).tolist() == [1, 0, 7, 6]
        keep = to_device(np.array([True, False, True, False]), device)
        hpg.assign(w, 9, mask=keep, replace=True)
        assert shown(w).tolist() == [9, 0, 9, 0] and w.nvals == 2
        assert shown(hpg.extract(w, [2, 0, 1])).tolist() == [9, 9, 0]
        out = hpg.Vector.full(2, 1.0, device=device)
        assert hpg.extract(w, [2, 1], accum="plus", out=out) is out and shown(out).tolist() == [10, 1]

    def test_arrays_are_written_in_place(self) -> None:
        values = np.arange(4.0)
        v = hpg.Vector(values)
        v[1] = 7
        assert values.tolist() == [0, 7, 2, 3]
