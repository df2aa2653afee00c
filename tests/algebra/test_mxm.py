"""Products of sparse matrices against SciPy's, against their definition, and on ugly inputs."""

import importlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from raising import raises
from reference_parts import shown

import hpgraph as hpg
from hpgraph.core.errors import CompileError, DeviceMemoryError
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import Semiring, get_binary, get_monoid, get_semiring
from hpgraph.semiring.semiring import product_of


def random(rng: np.random.Generator, rows: int, columns: int, density: float, dtype: Any = np.float64) -> Any:
    made = sp.random_array((rows, columns), density=density, rng=rng, format="csr")
    low, high = (0, 2) if np.dtype(dtype) == np.bool_ else (1, 6)
    made.data = rng.integers(low, high, made.nnz).astype(dtype)
    return made


def by_definition(A: Any, B: Any, ring: Semiring) -> dict[tuple[int, int], Any]:
    """Every pair of entries that share an index, folded in the order of that index."""
    A, B = A.tocoo(), B.tocoo()
    dtype = ring.result_dtype(A.dtype, B.dtype)
    product, add = product_of(ring, A.dtype, B.dtype), ring.add.op.typed(dtype, dtype, dtype)
    result: dict[tuple[int, int], Any] = {}
    for i, k, a in sorted(zip(A.row, A.col, A.data, strict=True)):
        for q in np.flatnonzero(B.row == k):
            place = int(i), int(B.col[q])
            with np.errstate(all="ignore"):
                sent = dtype.type(product(a, B.data[q], int(i), int(k), place[1]))
                result[place] = add(result[place], sent) if place in result else sent
    return result


def entries(C: hpg.Matrix) -> dict[tuple[int, int], Any]:
    csr = C.to("cpu").csr
    assert csr.is_canonical()
    places = zip(csr.expand_rows().tolist(), csr.indices.tolist(), strict=True)
    return dict(zip(places, csr.data.tolist(), strict=True))


def check(found: hpg.Matrix, expected: dict[tuple[int, int], Any]) -> None:
    got = entries(found)
    assert got.keys() == expected.keys()
    for place, value in expected.items():
        np.testing.assert_allclose(np.float64(got[place]), np.float64(value), rtol=1e-6, err_msg=str(place))


class TestAgainstSciPy:
    @pytest.mark.parametrize("shape", [(3, 4, 5), (1, 1, 1), (40, 60, 300), (200, 3, 70), (5, 200, 4000)])
    def test_whole(self, shape: tuple[int, int, int], device: str) -> None:
        rng = np.random.default_rng(sum(shape))
        m, inner, n = shape
        A, B = random(rng, m, inner, 0.2), random(rng, inner, n, 0.2)
        a, b = hpg.Matrix(A).to(device), hpg.Matrix(B).to(device)
        expected = (A @ B).toarray()
        np.testing.assert_array_equal(shown(a @ b), expected)
        np.testing.assert_array_equal(shown((b.T @ a.T).T), expected)
        np.testing.assert_array_equal(shown(hpg.mxm(hpg.Matrix(A.T.tocsr()).to(device).T, b)), expected)
        assert (a @ b).csr.is_canonical() and (a @ b).dtype == (A @ B).dtype

    def test_sparse_arrays_of_scipy_take_part(self) -> None:
        rng = np.random.default_rng(4)
        A, B = random(rng, 30, 40, 0.2), random(rng, 40, 35, 0.2)
        for found in (hpg.mxm(A, B), hpg.Matrix(A) @ B, hpg.mxm(A, hpg.Matrix(B))):
            np.testing.assert_array_equal(shown(found), (A @ B).toarray())

    def test_mask_and_complement(self, device: str) -> None:
        rng = np.random.default_rng(5)
        A, B = random(rng, 60, 90, 0.2), random(rng, 90, 2000, 0.1)
        # Of the mask's entries some are zero; row 3 has them all.
        M = random(rng, 60, 2000, 0.2).tolil()
        M[3] = 1
        M = M.tocsr()
        M.data[::7] = 0
        a, b, mask = (hpg.Matrix(X).to(device) for X in (A, B, M))
        expected = (A @ B).toarray()
        stored = M.copy()
        stored.data[:] = 1
        for given, allowed in ((mask, M.toarray() != 0), (mask.structure, stored.toarray() != 0)):
            np.testing.assert_array_equal(shown(hpg.mxm(a, b, mask=given)), expected * allowed)
            np.testing.assert_array_equal(shown(hpg.mxm(a, b, mask=given, complement=True)), expected * ~allowed)
            turned = hpg.mxm(b.T, a.T, mask=given.T)
            np.testing.assert_array_equal(shown(turned), (expected * allowed).T)

    def test_kronecker(self, device: str) -> None:
        rng = np.random.default_rng(6)
        A, B = random(rng, 7, 9, 0.3), random(rng, 11, 4, 0.4)
        a, b = hpg.Matrix(A).to(device), hpg.Matrix(B).to(device)
        np.testing.assert_array_equal(shown(hpg.kron(a, b)), sp.kron(A, B).toarray())
        np.testing.assert_array_equal(shown(hpg.kron(a.T, b)), sp.kron(A.T, B).toarray())
        farther = shown(hpg.kronecker(a, b, lambda x, y: 10 * x + y))
        places = sp.kron(A, B).toarray() != 0
        np.testing.assert_array_equal(farther, (np.kron(10 * A.toarray(), np.ones((11, 4))) + np.kron(
            np.ones((7, 9)), B.toarray())) * places)  # fmt: skip
        assert hpg.kron(a, hpg.Matrix((0, 3)).to(device)).shape == (0, 27)
        raises(TypeError, "firsti gives an index", hpg.kron, a, b, "firsti")
        with pytest.raises(ValueError, match="does not fit 64 bits"):
            hpg.kron(hpg.Matrix((1, 2**40)), hpg.Matrix((1, 2**40)))

    @pytest.mark.parametrize("power", [0, 1, 2, 3, 5, 8])
    def test_powers(self, power: int, device: str) -> None:
        A = random(np.random.default_rng(7), 30, 30, 0.05)
        found = hpg.matrix_power(hpg.Matrix(A).to(device), power)
        np.testing.assert_array_equal(shown(found), sp.linalg.matrix_power(A, power).toarray())

    def test_powers_refused(self) -> None:
        A = hpg.Matrix(np.eye(2))
        raises(ValueError, "at least 0, not -1", hpg.matrix_power, A, -1)
        raises(ValueError, "identity of min_plus", hpg.matrix_power, A, 0, "min_plus")
        with pytest.raises(ValueError, match="only a square matrix"):
            hpg.matrix_power(hpg.Matrix((2, 3)), 2)
        with pytest.raises(TypeError):
            hpg.matrix_power(A, 1.5)  # type: ignore[arg-type]


# Sums, terminals, places, and values of one factor only; test_against_graphblas.py has semirings that read the
# other one and that take any value, semiring/test_saturation.py small and unsigned integers. Small integers that wrap
# around are in `test_types`.
RINGS = [
    ("plus_times", "float64"), ("lor_land", "bool"), ("plus_pair", "bool"), ("min_secondi", "int8"),
    ("plus_secondj", "int64"), ("min_second", "float64"), ("min_plus", "int64"),
]  # fmt: skip
# What masked products do otherwise than others: sum, stop at a terminal, count, look at places. With the complement of
# a mask they are the others, but for the places: with values and without.
MASKED_RINGS = {"plus_times", "lor_land", "plus_pair", "min_secondi"}
COMPLEMENT_RINGS = {"plus_times", "plus_pair"}


class TestSemirings:
    @pytest.mark.parametrize(("name", "dtype"), RINGS)
    def test_by_definition(self, name: str, dtype: str, device: str) -> None:
        rng = np.random.default_rng(8)
        A, B, M = (random(rng, *shape, 0.3, np.dtype(dtype)) for shape in ((12, 40), (40, 50), (12, 50)))
        a, b, mask = (hpg.Matrix(X).to(device) for X in (A, B, M))
        expected, allowed = by_definition(A, B, get_semiring(name)), set(entries(mask.structure.astype(bool)))
        check(hpg.mxm(a, b, name), expected)
        if name not in MASKED_RINGS:
            return
        inside = {place: value for place, value in expected.items() if place in allowed}
        check(hpg.mxm(a, b, name, mask=mask.structure), inside)
        if name not in COMPLEMENT_RINGS:
            return
        outside = {place: value for place, value in expected.items() if place not in allowed}
        check(hpg.mxm(a, b, name, mask=mask.structure, complement=True), outside)

    @pytest.mark.parametrize("name", ["plus_pair", "plus_times"])
    def test_places_between_long_rows_and_short_ones(self, name: str, device: str) -> None:
        rng = np.random.default_rng(11)
        A, B, M = (random(rng, *shape, 0.03).tolil() for shape in ((400, 700), (500, 700), (400, 500)))
        # Long rows that meet long and short ones, in many places.
        for X, rows in ((A, (0, 7, 399)), (B, (3, 8, 450))):
            X[rows[0]], X[rows[1], ::2], X[rows[2], 100:500] = 1, 2, 3
        M[7], M[:, 8], M[399, ::2], M[::2, 450] = 1, 1, 1, 1
        # A longer row that the shorter one reaches little of.
        A[11, 300:], B[12, :60], M[11], M[:, 12] = 2, 1, 1, 1
        # Columns so far apart that they share bits of a filter.
        far = np.sort(np.concatenate([np.arange(300), (1 << 20) + np.arange(200), (1 << 22) + np.arange(200)]))
        spread = sp.csr_array((np.ones(700), (np.arange(700), far)), shape=(700, 1 << 23))
        A, B, M = A.tocsr() @ spread, B.tocsr() @ spread, M.tocsr()
        if name == "plus_pair":
            A.data[:], B.data[:] = 1, 1
        places = M.astype(bool).astype(np.float64)
        expected = (A @ B.T).multiply(places).tocsr()
        a, b, mask = (hpg.Matrix(X).to(device) for X in (A, B, M))
        if name == "plus_pair":
            a, b = a.structure.astype(bool), b.structure.astype(bool)
        ring = get_semiring(name)
        product = product_of(ring, a.dtype, b.dtype)
        dots = kernels(device).multiply_by_dots(mask.structure.csr, a.csr, b.csr, product, ring.add)
        np.testing.assert_array_equal(shown(hpg.Matrix(dots)), expected.toarray())

    @pytest.mark.parametrize("name", ["plus_pair", "min_first"])
    def test_hubs_of_a_mask_have_bit_sets(self, name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Rows of more than HUB_ENTRIES that many short ones ask for; the same where there is too little work."""
        rng = np.random.default_rng(17)
        n = 400
        G = (rng.random((n, n)) < 0.02) | (np.arange(n) % 40 == 0)
        L = hpg.Matrix(np.tril(G | G.T, -1)).structure
        A = hpg.Matrix(np.tril(rng.integers(1, 9, (n, n)) * (G | G.T), -1))
        if device == "cpu":
            masked = importlib.import_module("hpgraph.kernels.spgemm.cpu_masked_dots")
            assert int((L.T.csr.degrees > masked.HUB_ENTRIES).sum()) > 3
            monkeypatch.setattr(masked, "HUB_WORK", 0)
        semiring = get_semiring(name)
        given = A if name == "min_first" else L
        # The transpose of an upper triangle whose rows are long: hubs are rows of Bᵀ.
        U = L.T
        found = hpg.mxm(given.T.to(device), U.T.to(device), semiring, mask=U.to(device))
        left, right = shown(given.T), shown(U.T) != 0
        reduce = {"plus": np.sum, "lor": np.max, "min": np.min}[name.split("_")[0]]
        expected = np.zeros((n, n), int)
        for i in range(n):
            # What each k gives to place (i, j), where both entries are there.
            gives = {"min_first": left[i], "min_secondi": np.arange(n)}.get(name, np.ones(n))[:, None]
            meet = (left[i] != 0)[:, None] & right
            expected[i] = reduce(np.where(meet, gives, n if "min" in name else 0), axis=0) * meet.any(axis=0)
        np.testing.assert_array_equal(shown(found), np.where(shown(U) != 0, expected, 0))
        if device == "cpu":
            monkeypatch.setattr(masked, "HUB_WORK", 1 << 60)
            again = hpg.mxm(given.T, U.T, semiring, mask=U).csr
            for one, other in zip(again.arrays, found.csr.arrays, strict=True):
                np.testing.assert_array_equal(one, other)

    def test_patterns(self, device: str) -> None:
        csr = CSR((2, 2), [0, 1, 2], [1, 0]).to(device)
        P = hpg.Matrix(csr)
        assert (P @ P).dtype == np.bool_ and shown(P @ P).tolist() == [[True, False], [False, True]]
        A = hpg.Matrix(np.array([[1.5, 2.0], [3.0, 4.0]])).to(device)
        np.testing.assert_array_equal(shown(P @ A), [[3.0, 4.0], [1.5, 2.0]])

    def test_entries_stay_where_contributions_cancel(self, device: str) -> None:
        A = hpg.Matrix(np.array([[1.0, 1.0]])).to(device)
        B = hpg.Matrix(np.array([[1.0], [-1.0]])).to(device)
        assert entries(A @ B) == {(0, 0): 0.0}

    def test_nan_and_infinity(self, device: str) -> None:
        A = hpg.Matrix(np.array([[np.inf, 1.0], [0.0, np.nan]])).to(device)
        np.testing.assert_array_equal(shown(A @ A), [[np.inf, np.nan], [0, np.nan]])


class TestWriting:
    def test_out_may_be_a_factor_and_the_mask(self, device: str) -> None:
        A = random(np.random.default_rng(12), 20, 20, 0.3)
        out = hpg.Matrix(A).to(device)
        out.mxm(out, mask=out, out=out)
        np.testing.assert_array_equal(shown(out), (A @ A).toarray() * (A.toarray() != 0))

    def test_an_error_leaves_the_output(self, device: str) -> None:
        A = hpg.Matrix(np.eye(3)).to(device)
        out = hpg.Matrix(np.eye(3, dtype=np.int32)).to(device)
        before = out.csr
        raises(TypeError, "float64", A.mxm, A, out=out)
        with pytest.raises(ValueError, match="out must have shape"):
            A.mxm(A, out=hpg.Matrix((3, 4)).to(device))
        with pytest.raises(CompileError):
            A.mxm(A, Semiring(get_monoid("plus"), get_binary(lambda x, y: x.real_part + y)), out=out.astype(float))
        assert out.csr is before


class TestUglyInputs:
    @pytest.mark.parametrize("shape", [(0, 0, 0), (0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 0, 1), (2, 3, 4)])
    def test_empty(self, shape: tuple[int, int, int], device: str) -> None:
        m, inner, n = shape
        A, B, M = (hpg.Matrix(s).to(device) for s in ((m, inner), (inner, n), (m, n)))
        for C in (A @ B, hpg.mxm(A, B, mask=M), hpg.mxm(A, B, mask=M, complement=True)):
            assert C.shape == (m, n) and C.nnz == 0 and C.device == device

    def test_hubs(self, device: str) -> None:
        n = 3000
        rng = np.random.default_rng(13)
        S = random(rng, n, n, 0.001).tolil()
        S[5] = 1
        S[:, 5] = 1
        S[2999, :1500] = 2
        S = S.tocsr()
        A = hpg.Matrix(S).to(device)
        np.testing.assert_array_equal(shown(A @ A), (S @ S).toarray())
        pattern = (S.toarray() != 0).astype(float)
        np.testing.assert_array_equal(shown(hpg.mxm(A, A, "plus_pair", mask=A)), pattern @ pattern * pattern)

    def test_far_more_columns_than_entries(self, device: str) -> None:
        rng = np.random.default_rng(14)
        A, B = random(rng, 20, 30, 0.3), random(rng, 30, 25, 0.3)
        columns = np.sort(rng.choice(2**33, 25, replace=False))
        b = B.copy()
        b.sort_indices()
        wide = CSR((30, 2**33), b.indptr, columns[b.indices], b.data)
        found = hpg.mxm(hpg.Matrix(A).to(device), hpg.Matrix(wide).to(device))
        expected = by_definition(A, B, get_semiring("plus_times"))
        check(found, {(i, int(columns[j])): value for (i, j), value in expected.items()})
        mask = CSR((20, 2**33), np.arange(21) * 2, np.sort(np.tile(columns[[3, 7]], 20).reshape(20, 2)).ravel())
        outside = hpg.mxm(hpg.Matrix(A).to(device), hpg.Matrix(wide).to(device), mask=hpg.Matrix(mask).to(device),
                          complement=True)  # fmt: skip
        check(outside, {(i, int(columns[j])): v for (i, j), v in expected.items() if j not in (3, 7)})

    def test_rows_are_counted_first_where_memory_is_short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(16)
        A, B, M = random(rng, 300, 200, 0.3), random(rng, 200, 900, 0.2), hpg.Matrix(random(rng, 300, 900, 0.3))
        found = [hpg.mxm(hpg.Matrix(A), hpg.Matrix(B), mask=mask, complement=mask is not None) for mask in (None, M)]
        rows = importlib.import_module("hpgraph.kernels.spgemm.cpu")
        monkeypatch.setattr(rows, "free_memory", lambda device: 1000)
        for mask, first in zip((None, M), found, strict=True):
            again = hpg.mxm(hpg.Matrix(A), hpg.Matrix(B), mask=mask, complement=mask is not None).csr
            for one, other in zip(first.csr.arrays, again.arrays, strict=True):
                np.testing.assert_array_equal(one, other)
        monkeypatch.setattr("hpgraph.core.device.free_memory", lambda device: 2 << 20)
        with pytest.raises(DeviceMemoryError, match=rf"a product of {found[0].nnz} entries needs"):
            hpg.mxm(hpg.Matrix(A), hpg.Matrix(B))

    def test_counts_beyond_32_bits(self) -> None:
        # 3 * 2**31 pairs in one row, and as many entries: counted, and refused before anything is allocated.
        n = 2**31
        A = hpg.Matrix(CSR((1, 3), [0, 3], [0, 1, 2]))
        B = hpg.kron(hpg.Matrix(CSR((3, 1), [0, 1, 2, 3], [0, 0, 0])), hpg.Matrix(CSR((1, 4), [0, 4], [0, 1, 2, 3])))
        from hpgraph.kernels.spgemm.cpu_rows import pairs_of_rows

        huge = CSR((3, n), np.array([0, n, 2 * n, 3 * n]), np.empty(0, np.int32), validate=False)
        assert pairs_of_rows(A.csr, huge).tolist() == [3 * n]
        assert pairs_of_rows(A.csr, B.csr).tolist() == [12]

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda A: hpg.mxm(A, hpg.Matrix((4, 4))), ValueError, r"A of shape \(3, 3\) cannot be multiplied by B of"),
            (lambda A: hpg.mxm(A, A, mask=hpg.Matrix((3, 4))), ValueError, r"mask must have shape \(3, 3\)"),
            (lambda A: hpg.mxm(A, A, complement=True), ValueError, r"complement=True needs a mask"),
            (lambda A: hpg.mxm(A, A, accum="plus"), ValueError, r"give out, too"),
            (lambda A: hpg.mxm(A, A, "plus_tims"), ValueError, r"no semiring is called 'plus_tims'"),
            (lambda A: hpg.mxm(A, A, "plus_bor"), TypeError, r"bits"),
            (lambda A: hpg.mxm(A, np.eye(3)), TypeError, r"B must be a Matrix or a sparse array"),
            (lambda A: hpg.kron(A, 3), TypeError, r"B must be a Matrix or a sparse array"),
        ],
    )
    def test_refused(self, call: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            call(hpg.Matrix(np.eye(3)))

    def test_devices_do_not_mix(self, device: str) -> None:
        if device == "cpu":
            return
        with pytest.raises(TypeError, match="move one of them"):
            hpg.mxm(hpg.Matrix(np.eye(3)), hpg.Matrix(np.eye(3)).to(device))

    def test_sums_repeat_bit_for_bit(self, device: str) -> None:
        rng = np.random.default_rng(15)
        S = sp.random_array((400, 400), density=0.2, rng=rng, format="csr")
        A = hpg.Matrix(S).to(device)
        first = [shown(A @ A), shown(hpg.mxm(A, A, mask=A))]
        for threads in (1, 2):
            with hpg.config(threads=threads):
                again = [shown(A @ A), shown(hpg.mxm(A, A, mask=A))]
            for one, other in zip(first, again, strict=True):
                np.testing.assert_array_equal(one, other)


def test_triangles(device: str) -> None:
    G = hpg.datasets.social(10, device=device)
    L = hpg.tril(hpg.Matrix(G), -1)
    assert int(hpg.mxm(L, L.T, "plus_pair", mask=L).sum()) == hpg.triangle_count(G)


def test_types_that_share_a_result_have_products_of_their_own(device: str) -> None:
    """Machine code made for one pair of types does not serve another, whatever order they come in."""
    whole, halves = np.arange(12).reshape(3, 4), np.arange(12).reshape(4, 3) / 2
    for left, right in (("f8", "f8"), ("i4", "f8"), ("c16", "c16"), ("f8", "c16")):
        A, B = (hpg.Matrix(array.astype(kind)).to(device) for array, kind in ((whole, left), (halves, right)))
        np.testing.assert_allclose((A @ B).to("cpu").toarray(), whole @ halves)
