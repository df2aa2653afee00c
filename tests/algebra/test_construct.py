"""Matrices made from tuples, from others and at random, changed in shape and taken apart, against SciPy's."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises
from reference_parts import dense, shown

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR


def on(device: str, *arrays: Any) -> tuple[Any, ...]:
    return tuple(to_device(np.asarray(array), device) for array in arrays)


class TestTuples:
    def test_scipy_s_forms(self, device: str) -> None:
        empty = hpg.Matrix((3, 4), dtype="int8")
        assert (empty.shape, empty.nnz, empty.dtype) == ((3, 4), 0, np.int8) and hpg.Matrix((2, 2)).dtype == np.float64
        data, i, j = on(device, [5.0, 6.0, 1.0], [0, 1, 0], [2, 0, 2])
        for shape in (None, (4, 5)):
            expected = scipy.sparse.csr_array(([5.0, 6.0, 1.0], ([0, 1, 0], [2, 0, 2])), shape=shape).toarray()
            np.testing.assert_array_equal(shown(hpg.Matrix((data, (i, j)), shape)), expected)
        data, indices, indptr = on(device, [1, 2, 3, 4], [2, 0, 1, 1], [0, 2, 2, 4])
        A = hpg.Matrix((data, indices, indptr))
        assert shown(A).tolist() == [[2, 0, 1], [0, 0, 0], [0, 7, 0]] and A.device == device
        assert hpg.Matrix(([2**63 + 1, 1], ([0, 1], [0, 1])), dtype=np.uint64)[0, 0] == np.uint64(2**63 + 1)

    def test_arrays_of_accepted_types_are_shared_on_request(self) -> None:
        S = scipy.sparse.csr_array(dense())
        arrays = S.data, S.indices, S.indptr
        assert np.shares_memory(hpg.Matrix(arrays, S.shape, copy=False).csr.data, S.data)
        assert not np.shares_memory(hpg.Matrix(arrays, S.shape).csr.data, S.data)

    @pytest.mark.parametrize(
        ("source", "shape", "error", "message"),
        [
            ((-1, 3), None, ValueError, r"shape must not be negative"),
            (([1.0], ([0], [5])), (2, 2), IndexError, r"col holds 5"),
            (([1.0], (["a"], [5])), None, TypeError, r"row must hold integers, not <U1"),
            (([1.0, 2.0], ([0], [0])), None, ValueError, r"data must have one value for each index"),
            (([1.0], [0], [0, 2]), (1, 1), ValueError, r"indptr must run from 0 to the number of entries"),
            (([1.0], [0], [0, 1], [3]), None, TypeError, r"not 4 items"),
            (([1, 2], 3), None, TypeError, r"give rows of numbers as a list"),
            (np.eye(3), (2, 2), ValueError, r"use A\.resize\(shape\)"),
            ((np.ones(1, np.float16), ([0], [0])), None, TypeError, r"not float16"),
        ],
    )
    def test_refused(self, source: Any, shape: Any, error: type[Exception], message: str) -> None:
        raises(error, message, hpg.Matrix, source, shape)

    @pytest.mark.parametrize("op", ["plus", "min", "max", "times", "first", "second", "any", "minus"])
    def test_duplicates(self, op: str, device: str) -> None:
        rng = np.random.default_rng(1)
        i, j, values = rng.integers(0, 5, 80), rng.integers(0, 4, 80), rng.integers(1, 4, 80).astype(float)
        fold = {"plus": np.add, "min": np.minimum, "max": np.maximum, "times": np.multiply, "minus": np.subtract}
        expected: dict[tuple[int, int], float] = {}
        for place, value in zip(zip(i.tolist(), j.tolist(), strict=True), values, strict=True):
            if place not in expected or op == "second":
                expected[place] = value
            elif op in fold:
                expected[place] = fold[op](expected[place], value)
        A = hpg.Matrix.from_coo(*on(device, i, j, values), (5, 4), dup_op=op)
        assert A.device == device and A.csr.is_canonical()
        rows, columns, found = (to_device(array, "cpu") for array in A.to_coo())
        places = list(zip(rows.tolist(), columns.tolist(), strict=True))
        assert places == sorted(expected)
        if op == "any":
            assert all(value in values[(i == r) & (j == c)] for (r, c), value in zip(places, found, strict=True))
        else:
            np.testing.assert_allclose(found, [expected[place] for place in places])
        row = i == 2
        v = hpg.Vector.from_indices(*on(device, j[row], values[row]), 4, dup_op=op)
        if op != "any":
            for index, value in zip(*(to_device(array, "cpu") for array in v.to_indices()), strict=True):
                assert value == pytest.approx(expected[2, int(index)])

    def test_an_operator_of_the_user(self, device: str) -> None:
        arrays = on(device, [0, 0, 0, 1], [1, 1, 1, 0], [2.0, 3.0, 4.0, 9.0])
        A = hpg.Matrix.from_coo(*arrays, dup_op=lambda a, b: 10 * a + b)
        assert shown(A).tolist() == [[0, 234], [9, 0]]

    def test_patterns_and_numbers(self, device: str) -> None:
        i, j = on(device, [0, 1, 0], [1, 0, 1])
        A = hpg.Matrix.from_coo(i, j, shape=(2, 2))
        assert A.is_pattern and A.nnz == 2 and hpg.Matrix.from_coo(i, j, 7.0)[0, 1] == 14
        with pytest.raises(ValueError, match=r"entry \(0, 1\) is given more than once"):
            hpg.Matrix.from_coo(i, j, [1, 2, 3], dup_op=None) if device == "cpu" else hpg.Matrix.from_coo(
                i, j, 1, dup_op=None
            )
        raises(ValueError, r"give dup_op", hpg.Vector.from_indices, [1, 1], [1, 2], 6)


class TestMade:
    @pytest.mark.parametrize(("m", "n", "k"), [(3, None, 0), (3, 5, 1), (5, 3, -2), (2, 2, 5), (0, 4, 0)])
    def test_eye(self, m: int, n: Any, k: int, device: str) -> None:
        np.testing.assert_array_equal(shown(hpg.eye(m, n, k, device=device)), np.eye(m, n, k))
        pattern = hpg.eye(m, n, k, None, device=device)
        assert pattern.is_pattern and pattern.nnz == int(np.eye(m, n, k).sum())

    def test_diag(self, device: str) -> None:
        v = hpg.Vector.from_indices([0, 2], [5.0, 0.0], 3).to(device)
        for k in (-2, 0, 1):
            A = hpg.diag(v, k)
            assert A.nnz == 2, "a stored zero stays"
            np.testing.assert_array_equal(shown(A), np.diag([5.0, 0, 0], k))
            assert shown(hpg.diag(A, k)).tolist() == [5, 0, 0] and hpg.diag(A, k).nvals == 2
        D = dense()
        for k in range(-8, 10):
            np.testing.assert_array_equal(shown(hpg.diag(hpg.Matrix(D).to(device), k)), np.diag(D, k))

    def test_diags(self, device: str) -> None:
        parts = [[1.0, 2, 3], [4.0, 5, 6, 7], [8.0]]
        expected = scipy.sparse.diags_array(parts, offsets=[-1, 0, 2], shape=(4, 4)).toarray()
        np.testing.assert_array_equal(shown(hpg.diags(on(device, *parts), [-1, 0, 2], (4, 4))), expected)
        np.testing.assert_array_equal(shown(hpg.diags([1, 2, 3], 1)), np.diag([1, 2, 3], 1))
        raises(ValueError, r"diagonal 0 \(offset 1\) must have length 3 .* not 2", hpg.diags, [[1, 2]], [1], (4, 4))
        raises(ValueError, r"offsets must differ", hpg.diags, [[1], [2]], [1, 1], (4, 4))

    @pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
    @pytest.mark.parametrize("density", [0, 0.02, 0.7, 1])
    def test_random(self, dtype: str, density: float, device: str) -> None:
        A = hpg.random(50, 40, density, dtype, rng=3, device=device)
        assert A.nnz == round(2000 * density) and A.dtype == dtype and A.csr.is_canonical() and A.device == device
        again = hpg.random(50, 40, density, dtype, rng=3, device=device)
        assert (shown(A) == shown(again)).all()
        if density == 0.7 and dtype != "bool":
            other = hpg.random(50, 40, density, dtype, rng=4, device=device)
            assert (shown(other) != shown(A)).any() and len(np.unique(shown(A))) > 50

    def test_random_places_are_uniform(self) -> None:
        counts = sum(hpg.random(6, 5, 0.2, rng=seed).structure.toarray().astype(int) for seed in range(2000))
        # Each of 30 places is there with probability 0.2: 400 of 2,000 times, give or take 18.
        assert counts.min() > 400 - 90 and counts.max() < 400 + 90

    def test_blocks(self, device: str) -> None:
        rng = np.random.default_rng(2)
        parts = [[(rng.random((m, n)) < 0.4) * rng.integers(1, 9, (m, n)) for n in (3, 0, 4)] for m in (2, 5, 1)]
        blocks: list[list[Any]] = [[hpg.Matrix(part).to(device) for part in row] for row in parts]
        np.testing.assert_array_equal(shown(hpg.block_array(blocks)), np.block(parts))
        blocks[1][2] = None
        parts[1][2] = np.zeros((5, 4), int)
        found = hpg.bmat(blocks)
        np.testing.assert_array_equal(shown(found), np.block(parts))
        assert found.csr.is_canonical() and found.device == device
        np.testing.assert_array_equal(shown(hpg.hstack(blocks[0])), np.hstack(parts[0]))
        np.testing.assert_array_equal(shown(hpg.vstack([row[0] for row in blocks])), np.vstack([p[0] for p in parts]))
        expected = scipy.sparse.block_diag(parts[0]).toarray()
        np.testing.assert_array_equal(shown(hpg.block_diag(blocks[0])), expected)

    def test_blocks_of_several_kinds(self) -> None:
        S = scipy.sparse.csr_array(dense("int8"))
        A = hpg.hstack([S, dense("float32"), hpg.Matrix(S).structure])
        assert A.dtype == np.float32 and A.shape == (7, 27)
        assert hpg.hstack([hpg.Matrix(S).structure] * 2).is_pattern

    def test_rows_and_numbers_as_blocks(self) -> None:
        S = scipy.sparse.csr_array(dense("int8"))
        for blocks in ([S, np.arange(S.shape[1])], [[1.0] * S.shape[1], S]):
            np.testing.assert_array_equal(shown(hpg.vstack(blocks)), scipy.sparse.vstack(blocks).toarray())
        for blocks in ([S, 5], [[0, 1, 2], 2.5, [4, 5]]):
            np.testing.assert_array_equal(shown(hpg.block_diag(blocks)), scipy.sparse.block_diag(blocks).toarray())

    @pytest.mark.parametrize(
        ("blocks", "message"),
        [
            ([[np.eye(2), np.eye(3)]], r"blocks in row 0 must have the same length along it, not \[2, 3\]"),
            ([[np.eye(2)], [np.ones((1, 3))]], r"blocks in column 0 must have the same length along it, not \[2, 3\]"),
            ([[None, np.eye(2)], [None, np.eye(2)]], r"blocks in column 0 are all None"),
            ([], r"a rectangle of blocks"),
            ([[np.eye(2)], []], r"a rectangle of blocks"),
        ],
    )
    def test_blocks_that_do_not_fit(self, blocks: Any, message: str) -> None:
        raises(ValueError, message, hpg.block_array, blocks)


class TestChanged:
    @pytest.mark.parametrize("shape", [(3, 4), (12, 20), (7, 2), (2, 9), (0, 0), (30, 1)])
    def test_resize(self, shape: tuple[int, int], device: str) -> None:
        D = dense()
        A = hpg.Matrix(D).to(device)
        expected = scipy.sparse.csr_array(D)
        expected.resize(shape)
        A.resize(shape)
        np.testing.assert_array_equal(shown(A), expected.toarray())
        v = hpg.Vector(D[0]).to(device)
        v.resize(shape[0])
        assert v.size == shape[0] and shown(v)[:9].tolist() == D[0][: shape[0]].tolist()

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("shape", [(9, 7), (63, 1), (1, -1), (-1, 21), (7, 9), 63])
    def test_reshape(self, shape: Any, order: Any, device: str) -> None:
        D = dense()
        A = hpg.Matrix(D).to(device)
        np.testing.assert_array_equal(shown(A.reshape(shape, order=order)), D.reshape(shape, order=order))
        for bad in [(5, 5), (-1, -1), (-1, 5), (7, 3, 3), (-7, -9)]:
            raises(ValueError, r".", A.reshape, bad)

    @pytest.mark.parametrize("k", [-6, -2, 0, 3, 8])
    def test_setdiag(self, k: int, device: str) -> None:
        for values in (4, [1.0, 2.0], np.arange(1.0, 20)):
            A = hpg.Matrix(dense()).to(device)
            S = scipy.sparse.lil_array(dense())
            A.setdiag(to_device(np.asarray(values), device) if np.ndim(values) else values, k)
            S.setdiag(values, k)
            np.testing.assert_array_equal(shown(A), S.toarray())
        raises(ValueError, r"k exceeds array dimensions", A.setdiag, 1, 9)

    def test_zeros_dropped(self, device: str) -> None:
        A = hpg.Matrix(CSR((2, 3), [0, 2, 3], [0, 2, 1], [0.0, 5.0, 0.0])).to(device)
        turned = A.T
        A.eliminate_zeros()
        assert A.nnz == 1 and turned.nnz == 3 and [len(ids) for ids in turned.nonzero()] == [1, 1]

    def test_arrays(self, device: str) -> None:
        D = dense()
        A, S = hpg.Matrix(D).to(device), scipy.sparse.csr_array(D)
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(to_device(getattr(A, name), "cpu"), getattr(S, name))
            assert getattr(A, name).dtype == getattr(S, name).dtype
        assert A.data is not A.csr.data and A.indices is not A.csr.indices, "they may be written to"
        A.data = array_module(device).ones(A.nnz)
        np.testing.assert_array_equal(shown(A), D != 0)
        A.check_format()

    def test_scipy_takes_it_for_sparse(self) -> None:
        if not scipy.sparse.issparse(hpg.Matrix((1, 1))):
            pytest.skip("this SciPy knows its own classes alone")
        D = dense()
        S = scipy.sparse.csr_array(hpg.Matrix(D))
        np.testing.assert_array_equal(S.toarray(), D)
        np.testing.assert_array_equal((S + hpg.Matrix(D)).toarray(), 2 * D)


tuples = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(-3, 3)), max_size=25)


@settings(max_examples=60, deadline=None)
@given(entries=tuples, op=st.sampled_from(["plus", "min", "max", "times", "first", "second"]))
def test_build_against_graphblas(entries: list[tuple[int, int, int]], op: str) -> None:
    gb = pytest.importorskip("graphblas")
    i, j, x = (np.array([entry[k] for entry in entries], dtype=np.int64) for k in range(3))
    expected = gb.Matrix.from_coo(i, j, x, nrows=6, ncols=7, dup_op=getattr(gb.binary, op), dtype=np.int64)
    found = hpg.Matrix.from_coo(i, j, x, (6, 7), dup_op=op)
    for ours, theirs in zip(found.to_coo(), expected.to_coo(sort=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
