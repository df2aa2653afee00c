"""``A[...]`` and ``v[...]`` against NumPy's dense arrays and SciPy's sparse ones."""

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from reference_parts import AXIS, dense, shown

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR, Bitmask

DTYPES = ["bool", "int8", "uint16", "int64", "float32", "float64"]


class TestMatrix:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_rows_and_columns(self, dtype: str, device: str) -> None:
        D = dense(dtype)
        A = hpg.Matrix(D).to(device)
        for i, j in itertools.product(AXIS, AXIS):
            as_array = [np.asarray(k) if isinstance(k, range) else k for k in (i, j)]
            try:
                expected = D[as_array[0], as_array[1]]
            except IndexError:  # arrays of different lengths
                with pytest.raises(IndexError, match="shape mismatch"):
                    A[i, j]
                continue
            found = A[i, j]
            assert found.dtype == D.dtype and found.shape == expected.shape, (i, j)
            np.testing.assert_array_equal(shown(found), expected, err_msg=repr((i, j)))

    def test_one_index(self, device: str) -> None:
        D = dense()
        A = hpg.Matrix(D).to(device)
        mask = np.random.default_rng(1).random(7) < 0.5
        wide = np.random.default_rng(1).random(9) < 0.5
        for i in (*AXIS, mask, mask.tolist(), ..., (..., 2), (2, ...), (None, 1), (1, None), (slice(1, 3), 2, None),
                  (None, 1, 2), (1, slice(None), None), (None, slice(1, 3), 2)):  # fmt: skip
            key = np.asarray(i) if isinstance(i, range) else i
            np.testing.assert_array_equal(shown(A[i]), D[key], err_msg=repr(i))
        np.testing.assert_array_equal(shown(A[:, wide]), D[:, wide])
        np.testing.assert_array_equal(shown(A[to_device(mask, device)]), D[mask])
        np.testing.assert_array_equal(shown(A[np.ix_(mask, wide)]), D[np.ix_(mask, wide)])

    def test_places(self, device: str) -> None:
        D = dense()
        A = hpg.Matrix(D).to(device)
        rng = np.random.default_rng(5)
        i, j = rng.integers(-7, 7, 60), rng.integers(-9, 9, 60)
        for key in [(i, j), (i.reshape(6, 10), j.reshape(6, 10)), (i[:, None], j), (i[None], j[:, None]), (i, 3),
                    (2, j.reshape(6, 10)), ([[]], [[]])]:  # fmt: skip
            np.testing.assert_array_equal(shown(A[key]), D[key])
        found = A[i, j]
        assert found.nvals == np.count_nonzero(D[i, j]), "a place without an entry is absent"

    def test_masks_of_the_matrix_s_shape(self, device: str) -> None:
        D = dense()
        A = hpg.Matrix(D).to(device)
        mask = (D > 20) | (np.arange(9) % 3 == 0)
        sparse = scipy.sparse.csr_array(mask)
        for key in (to_device(mask, device), hpg.Matrix(sparse).to(device)):
            np.testing.assert_array_equal(shown(A[key]), D[mask])
        with pytest.raises(IndexError, match=r"mask of bool, not float64: give A\[B != 0\]"):
            A[A]

    def test_layouts_and_transposes(self, device: str) -> None:
        D = dense()
        for A, E in [(hpg.hyb_array(D), D), (hpg.Matrix(D).T, D.T), (hpg.hyb_array(D).T, D.T)]:
            A = A.to(device)
            np.testing.assert_array_equal(shown(A[[3, 1], ::2]), E[[3, 1], ::2])
            assert A[1:3].layout == A.layout

    def test_patterns(self, device: str) -> None:
        D = dense("bool")
        A = hpg.Matrix(D).to(device).structure
        assert A.is_pattern and A[1:4].is_pattern and A[[3, 1], [[2], [0]]].shape == (2, 2)
        np.testing.assert_array_equal(shown(A[[3, 1], ::-1]), D[[3, 1], ::-1])
        assert shown(A[3]).tolist() == D[3].tolist() and bool(A[3, int(D[3].argmax())]) is True

    def test_stored_zeros_stay(self, device: str) -> None:
        A = hpg.Matrix(CSR((2, 3), [0, 2, 3], [0, 2, 1], [0.0, 5.0, 0.0])).to(device)
        assert A[[1, 0]].nnz == 3 and A[0].nvals == 2 and A[:, [0, 0]].nnz == 2 and A[[0, 1], [0, 0]].nvals == 1

    def test_whole_rows_share_the_arrays(self) -> None:
        A = hpg.Matrix(dense())
        assert np.shares_memory(A[2:5].csr.data, A.csr.data) and A[:].csr is A.csr

    def test_iteration(self, device: str) -> None:
        D = dense()
        rows = list(hpg.Matrix(D).to(device))
        assert len(rows) == 7 and all((shown(row) == D[i]).all() for i, row in enumerate(rows))

    def test_empty_matrices(self, device: str) -> None:
        for shape in [(0, 0), (0, 5), (5, 0)]:
            A = hpg.Matrix(np.zeros(shape)).to(device)
            assert A[::-1, ::-1].shape == shape and A[[], :].shape == (0, shape[1]) and A[:, []].shape == (shape[0], 0)

    def test_wide_ids(self, device: str) -> None:
        """Beyond 2**31 columns ids take 64 bits; a part of few columns has short ones again."""
        wide = 1 << 40
        xp = array_module(device)
        A = hpg.Matrix(CSR((2, wide), xp.asarray([0, 2, 3]), xp.asarray([5, wide - 1, 7]), xp.asarray([1.0, 2.0, 3.0])))
        part = A[:, wide - 4 :]
        assert part.shape == (2, 4) and part.csr.indices.dtype == np.int32 and shown(part)[0].tolist() == [0, 0, 0, 2]
        assert A[0].format == "list" and A[0].size == wide and A[0, wide - 1] == 2

    def test_random_parts_of_a_larger_matrix(self, device: str) -> None:
        S = scipy.sparse.random_array((2000, 1500), density=0.03, rng=np.random.default_rng(0), format="csr")
        A = hpg.Matrix(S).to(device)
        rng = np.random.default_rng(1)
        i, j = rng.integers(0, 2000, 3000), rng.integers(0, 1500, 900)
        for rows, columns in [(i, slice(None)), (slice(None), j), (i, slice(100, 700)), (np.sort(i), np.sort(j))]:
            expected = S[rows][:, columns]
            assert (abs(hpg.Matrix(A[rows, :][:, columns]).to("cpu").tocsr() - expected)).nnz == 0
        part = A[i[:, None], j].to("cpu").tocsr()
        assert abs(part - S[i][:, j]).nnz == 0


class TestRefused:
    @pytest.mark.parametrize(
        ("key", "message"),
        [
            (7, r"row index \(7\) out of range for 7 rows: give -7\.\.6"),
            ((0, -10), r"column index \(-10\) out of range for 9 columns"),
            ((slice(None), [0, 9]), r"column index \(9\) out of range for 9 columns"),
            (([0, -8], 0), r"row index \(-8\) out of range for 7 rows"),
            (range(5, 9), r"row index \(8\) out of range"),
            (np.ones(6, bool), r"bool index of the rows has shape \(6,\) instead of \(7,\)"),
            (np.ones((7, 8), bool), r"bool index 0 has shape \(7, 8\) instead of \(7, 9\)"),
            (([1, 2], [1, 2, 3]), r"shape mismatch"),
            ("row", r"Index dimension must be 1 or 2"),
            ([0.5], r"an integer or a bool; got 1 and float64|its type an integer or bool; got 1 and float64"),
            ((1, 2, 3), r"too many indices: a matrix has 2 axes, and the index needs 3"),
            ((..., 1, ...), r"a single ellipsis"),
            ((slice(None), [[1, 2]]), r">2D is not supported"),
            ((None, slice(None), slice(None)), r">2D is not supported"),
            (True, r"Index dimension"),
        ],
    )
    def test_indices(self, key: Any, message: str, device: str) -> None:
        A = hpg.Matrix(dense()).to(device)
        with pytest.raises(IndexError, match=message):
            A[key]


class TestVector:
    @pytest.mark.parametrize("density", [0.01, 0.3, 1.0])
    def test_entries(self, density: float, device: str) -> None:
        rng = np.random.default_rng(2)
        D = np.where(rng.random(300) < density, rng.integers(1, 99, 300), 0).astype(np.float64)
        v = hpg.Vector.from_indices(D.nonzero()[0], D[D != 0], 300).to(device)
        assert v.format == {0.01: "list", 0.3: "bitmap", 1.0: "full"}[density]
        for key in [slice(None), slice(10, 200), slice(None, None, -1), slice(250, 20, -7), [5, 5, -1], D > 50,
                    np.arange(300)[::-2], rng.integers(-300, 300, 500), [], ...]:  # fmt: skip
            found = v[key]
            np.testing.assert_array_equal(shown(found), D[key], err_msg=repr(key))
            assert found.nvals == np.count_nonzero(D[key])
        for i in (0, -1, 17):
            assert v[i] == D[i] and isinstance(v[i], np.float64)
        with pytest.raises(IndexError, match=r"index \(300\) out of range for a vector of 300"):
            v[300]
        mask = hpg.Vector(D > 50).to(device)
        np.testing.assert_array_equal(shown(v[mask]), D[D > 50])
        np.testing.assert_array_equal(shown(v[Bitmask.from_bool(to_device(D > 50, device))]), D[D > 50])
