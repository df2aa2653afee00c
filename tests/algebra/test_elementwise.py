"""Operations entry by entry beyond what python-graphblas tells: functions, types, refusals, large matrices."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import cuda_available, to_device
from hpgraph.core.errors import CompileError
from hpgraph.formats import CSR


def sparse(seed: int, shape: tuple[int, int] = (30, 40), density: float = 0.2, dtype: str = "float64") -> Any:
    S = scipy.sparse.random_array(shape, density=density, rng=seed, format="csr")
    S.data = (10 * S.data).astype(dtype)
    S.sort_indices()
    return S


def dense(A: Any) -> Any:
    return to_device(A.toarray(), "cpu")


def on(device: str, *seeds: int, **options: Any) -> list[hpg.Matrix]:
    return [hpg.Matrix(sparse(seed, **options)).to(device) for seed in seeds]


class TestTypes:
    @pytest.mark.parametrize(
        ("left", "right"), [("int8", "uint8"), ("int32", "float32"), ("bool", "int64"), ("uint64", "int64")]
    )
    def test_promotion_is_numpys(self, left: str, right: str, device: str) -> None:
        A, B = on(device, 1, shape=(4, 5), dtype=left)[0], on(device, 2, shape=(4, 5), dtype=right)[0]
        # An intersection compiles a third of a union, and has the same types.
        found, both = A.ewise_mult(B, "max"), (dense(A) != 0) & (dense(B) != 0)
        assert found.dtype == np.result_type(left, right)
        np.testing.assert_array_equal(dense(found), np.where(both, np.maximum(dense(A), dense(B)), 0))

    def test_a_number_of_python_takes_the_values_type(self, device: str) -> None:
        (A,) = on(device, 1, dtype="float32")
        assert A.apply("times", right=2).dtype == A.apply("plus", left=0.5).dtype == np.float32
        assert A.apply("times", right=np.float64(2)).dtype == np.float64
        assert A.astype("int8").apply("plus", right=0.5).dtype == np.float64
        assert A.astype("int8").apply("plus", right=1000).dtype == np.int64

    def test_patterns(self, device: str) -> None:
        A, B = on(device, 1, 2)
        union = A.structure.ewise_add(B.structure, "pair")
        np.testing.assert_array_equal(dense(union), (dense(A) != 0) | (dense(B) != 0))
        np.testing.assert_allclose(dense(A.ewise_mult(B.structure, "first")), dense(A) * (dense(B) != 0))
        assert A.structure.select("tril").is_pattern
        np.testing.assert_allclose(dense(A.structure.apply("times", right=2.5)), 2.5 * (dense(A) != 0))


class TestFunctions:
    def test_of_the_user(self, device: str) -> None:
        A, B = on(device, 1, 2)
        D, E = dense(A), dense(B)
        both = (D != 0) & (E != 0)
        found = dense(A.ewise_mult(B, lambda a, b: a * a - b))
        np.testing.assert_allclose(found, np.where(both, D * D - E, 0))
        found = dense(A.ewise_add(B, lambda a, b: a * a - b))
        np.testing.assert_allclose(found, np.where(both, D * D - E, D + E))
        rows, columns = np.indices(D.shape)
        np.testing.assert_allclose(dense(A.apply(lambda x: x + 1)), np.where(D != 0, D + 1, 0))
        np.testing.assert_allclose(
            dense(A.apply(lambda x, i, j: x + 100 * i + j)), np.where(D != 0, D + 100 * rows + columns, 0)
        )
        np.testing.assert_allclose(dense(A.apply(lambda a, b: a / b, left=1)), np.divide(1, D, where=D != 0, out=0 * D))
        np.testing.assert_allclose(dense(A.select(lambda x: x > 5)), np.where(D > 5, D, 0))
        np.testing.assert_allclose(dense(A.select(lambda x, i, j: i + j > x)), np.where(rows + columns > D, D, 0))
        np.testing.assert_allclose(dense(A.select(lambda x, i, j, k: i + k > x, 3)), np.where(rows + 3 > D, D, 0))

    def test_positions_of_both(self, device: str) -> None:
        A, B = on(device, 1, 2)
        rows, columns = np.indices(A.shape)
        both = (dense(A) != 0) & (dense(B) != 0)
        for op, wanted in [("firsti", rows), ("secondi", rows), ("firstj", columns), ("secondj", columns)]:
            np.testing.assert_array_equal(dense(A.ewise_mult(B, op)), np.where(both, wanted, 0))

    def test_that_do_not_compile(self, device: str) -> None:
        (A,) = on(device, 1)
        out = A.copy()
        for call in (lambda: A.ewise_mult(A, lambda a, b: a.b, out=out), lambda: A.apply(lambda a: a.b, out=out)):
            with pytest.raises(CompileError):
                call()
        np.testing.assert_array_equal(dense(out), dense(A))


class TestLarge:
    """Long enough for several tasks and tiles, with a row that holds most."""

    def pair(self, device: str) -> tuple[Any, Any, Any, Any]:
        S, R = sparse(1, (3000, 2000), 0.03), sparse(2, (3000, 2000), 0.02)
        S = scipy.sparse.csr_array(scipy.sparse.vstack([S[:1500], np.ones((1, 2000)), S[1501:]]))
        return S, R, hpg.Matrix(S).to(device), hpg.Matrix(R).to(device)

    def test_unions_and_intersections(self, device: str) -> None:
        S, R, A, B = self.pair(device)
        for found, wanted in [(A.ewise_add(B), S + R), (A.ewise_mult(B), S * R), (A + A, S + S)]:
            assert found.to("cpu").csr.is_canonical() and found.nnz == wanted.nnz
            np.testing.assert_allclose(dense(found), wanted.toarray())

    def test_masks(self, device: str) -> None:
        S, R, A, B = self.pair(device)
        allowed = R.toarray() != 0
        found = A.apply("ainv", mask=B.structure, complement=True)
        np.testing.assert_allclose(dense(found), np.where(allowed, 0, -S.toarray()))
        A.apply("ainv", mask=B, out=B, accum="plus")
        np.testing.assert_allclose(dense(B), R.toarray() - np.where(allowed, S.toarray(), 0))

    @pytest.mark.parametrize("few", [0, 1, 40, 2000])
    def test_few_among_many(self, few: int, device: str) -> None:
        S, _, A, _ = self.pair(device)
        rng = np.random.default_rng(few)
        ends = [[0, 0], [2999, 1999], [1500, 7]] if few > 2 else []
        R = scipy.sparse.coo_array(
            (np.ones(few + len(ends)), (rng.integers(0, 3000, few).tolist() + [u for u, _ in ends],
                                        rng.integers(0, 2000, few).tolist() + [v for _, v in ends])), (3000, 2000)
        ).tocsr()  # fmt: skip
        B, there, given = hpg.Matrix(R).to(device), S.toarray() != 0, R.toarray() != 0
        for op, function in (("plus", np.add), ("first", lambda a, _: a)):
            wanted = np.where(there & given, function(S.toarray(), R.toarray()), S.toarray() + R.toarray())
            found = A.ewise_add(B, op)
            assert found.to("cpu").csr.is_canonical() and found.nnz == (there | given).sum()
            np.testing.assert_allclose(dense(found), wanted)
        kept = A.apply("identity", mask=B.structure, complement=True)
        assert kept.to("cpu").csr.is_canonical() and kept.nnz == (there & ~given).sum()
        np.testing.assert_allclose(dense(kept), np.where(given, 0, S.toarray()))
        both = A.structure.ewise_add(B.structure, "pair")
        np.testing.assert_array_equal(dense(both) != 0, there | given)

    def test_selections(self, device: str) -> None:
        S, _, A, _ = self.pair(device)
        for k in (-100, 0, 1500):
            np.testing.assert_array_equal(dense(hpg.tril(A, k)), np.tril(S.toarray(), k))
        assert A.select("valuegt", 5).nnz == (S.toarray() > 5).sum()
        np.testing.assert_array_equal(to_device(A.apply("rowindex").csr.data, "cpu"), S.nonzero()[0])

    def test_vectors(self, device: str) -> None:
        rng = np.random.default_rng(0)
        x, y, px, py = rng.random(200_000), rng.random(200_000), rng.random(200_000) < 0.5, rng.random(200_000) < 0.3
        u, v = hpg.Vector(x, px).to(device), hpg.Vector(y, py).to(device)
        wanted = np.where(px & py, x - y, np.where(px, x, y))
        found = u.ewise_add(v, "minus").to("cpu")
        np.testing.assert_array_equal(found.structure.to_bool(), px | py)
        np.testing.assert_allclose(found.to_indices()[1], wanted[px | py])


def test_out_keeps_what_was_taken_from_it(device: str) -> None:
    A, B = on(device, 1, 2)
    before, turned = dense(A), A.T
    out = A
    assert A.ewise_add(B, out=out) is A
    np.testing.assert_allclose(dense(A), before + dense(B))
    np.testing.assert_allclose(dense(turned), before.T)
    np.testing.assert_allclose(dense(A.T), (before + dense(B)).T)


def test_out_may_be_an_operand_and_the_mask(device: str) -> None:
    (A,) = on(device, 1)
    D = dense(A)
    hpg.ewise_add(A, A, "plus", mask=A, accum="times", out=A)
    np.testing.assert_allclose(dense(A), D * 2 * D)


def test_empty_matrices(device: str) -> None:
    for shape in ((0, 0), (0, 3), (3, 0), (3, 3)):
        A = hpg.Matrix(CSR.from_coo(np.zeros(0, int), np.zeros(0, int), np.zeros(0), shape)).to(device)
        assert A.ewise_add(A).nnz == A.ewise_mult(A).nnz == A.apply("sqrt").nnz == A.select("tril").nnz == 0
        assert A.reduce("plus") == 0 and A.reduce("plus", 1).nvals == 0 and A.reduce("max", 0).size == shape[1]
        assert np.isnan(A.reduce("mean")) and A.reduce("count") == 0


@pytest.mark.parametrize("entries", [1, 31, 32, 33, 2047, 2048, 2049, 4096, 5000])
def test_entries_are_kept_at_the_borders_of_words_and_tiles(entries: int, device: str) -> None:
    rng = np.random.default_rng(entries)
    x, y = rng.integers(1, 3, entries), rng.integers(0, 3, entries)
    ids = np.arange(entries)
    A, B = (hpg.Matrix(CSR.from_coo(ids // 700, ids, v, (9, entries))).to(device) for v in (x, y))
    rows = (ids // 700, ids)
    for found, wanted in (
        (A.select("valuegt", 1), np.where(x > 1, x, 0)),
        (A.select("valuegt", 0), x),
        (A.select("valuegt", 9), 0 * x),
        (A != B, x != y),
        (A - B, x - y),
        (A.multiply(B), x * y),
    ):
        assert found.nnz == np.count_nonzero(wanted)
        np.testing.assert_array_equal(dense(found)[rows], wanted)
    even = hpg.Matrix(CSR.from_coo(ids[::2] // 700, ids[::2], y[::2], (9, entries))).to(device)
    assert A.ewise_add(even).nnz == A.nnz and A.ewise_mult(even).nnz == even.nnz
    np.testing.assert_array_equal(dense(A - even)[rows], np.where(ids % 2 == 0, x - y, x))
    np.testing.assert_array_equal(dense(even - A)[rows], np.where(ids % 2 == 0, y - x, -x))


class TestRefused:
    """One clear error each, and the output as it was."""

    def check(self, error: type[Exception], match: str, device: str, *args: Any, **options: Any) -> None:
        A, out = on(device, 1, 3)
        before = dense(out)
        raises(error, match, A.ewise_add, *args, out=out, **options)
        np.testing.assert_array_equal(dense(out), before)

    def test_operands(self, device: str) -> None:
        (B,) = on(device, 2)
        self.check(ValueError, r"same shape, not \(30, 40\) and \(40, 30\)", device, B.T)
        self.check(TypeError, r"B must be a Matrix, a Vector or a sparse array, not int", device, 3)
        self.check(TypeError, r"both be matrices or both vectors", device, hpg.Vector.full(3, 1.0, device=device))
        self.check(ValueError, r"no binary operator is called 'pluss'; similar: plus", device, B, "pluss")
        self.check(TypeError, r"band works on the bits of integers and bool, not on float64", device, B, "band")
        self.check(TypeError, r"for places whatever their values give A\.structure", device, B, mask=[1])

    def test_numbers(self, device: str) -> None:
        (A,) = on(device, 1)
        raises(ValueError, r"left and right are both given", A.apply, "plus", left=1, right=2)
        raises(TypeError, r"right must be a number, not 'x'", A.apply, "plus", right="x")
        raises(TypeError, r"thunk must be a whole number for tril, not 0\.5", A.select, "tril", 0.5)
        raises(TypeError, r"give one of them as left= or right=", A.apply, lambda a, b: a)
        raises(ValueError, r"no unary operator is called 'sqrtt'; similar: sqrt", A.apply, "sqrtt")
        raises(ValueError, r"no index-unary operator is called 'trill'; similar: tril", A.select, "trill")
        raises(ValueError, r"axis must be None, 0 \(columns\) or 1 \(rows\), not 2", A.reduce, "plus", 2)
        with pytest.raises(ValueError, match=r"need an axis"):
            A.reduce("plus", out=hpg.Vector.full(3, 1.0))
        raises(ValueError, r"no monoid is called 'minus'", A.reduce, "minus")

    @pytest.mark.skipif(not cuda_available(), reason="takes two devices")
    def test_devices_that_differ(self) -> None:
        (A,) = on("cpu", 1)
        with pytest.raises(TypeError, match=r'A lies on "cpu" and B on "cuda"'):
            A.ewise_add(A.to("cuda"))
        with pytest.raises(TypeError, match=r'mask lies on "cuda"'):
            A.ewise_add(A, mask=A.to("cuda"))
