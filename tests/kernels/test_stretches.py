"""Products over CSR by stretches of entries, rows binned by length, and products that choose by time."""

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda import row_bins
from hpgraph.kernels.runtime.cuda.specialization import specialize_for
from hpgraph.kernels.spmv import cuda, cuda_choice, cuda_locality
from hpgraph.kernels.spmv.cuda_stretches import by_stretches, can_stretch
from hpgraph.kernels.spmv.product_plan import plan
from hpgraph.semiring import get_semiring


def lengths(kind: str) -> np.ndarray:
    """Rows of lengths that are awkward for stretches of 1,024 entries."""
    rng = np.random.default_rng(4)
    return {
        "short": rng.integers(0, 5, 30_000),
        "empty ends": np.concatenate((np.zeros(5000, int), rng.integers(1, 9, 700), np.zeros(5000, int))),
        "one long": np.concatenate((rng.integers(0, 3, 2000), [90_000], rng.integers(0, 3, 2000))),
        "all in one": np.array([70_001]),
        "whole stretches": np.full(64, 1024),
        "two stretches": np.full(33, 2048),
        "full chunks": np.full(512, 256),
        "mixed": np.minimum((rng.pareto(0.8, 20_000)).astype(int), 60_000),
        "one entry": np.array([0, 0, 1, 0]),
    }[kind]


def matrix(kind: str, dtype: str, columns: int = 100_000) -> scipy.sparse.csr_array:
    rows = lengths(kind)
    rng = np.random.default_rng(5)
    indptr = np.concatenate(([0], np.cumsum(rows)))
    indices = np.concatenate([np.sort(rng.choice(columns, size, replace=False)) for size in rows]).astype(np.int32)
    data = rng.integers(1, 9, len(indices)).astype(dtype)
    return scipy.sparse.csr_array((data, indices, indptr), shape=(len(rows), columns))


KINDS = (
    "short", "empty ends", "one long", "all in one", "whole stretches", "two stretches", "full chunks", "mixed",
    "one entry",
)  # fmt: skip


def by_hand(S, x, semiring, gpu):
    """The product by stretches, whatever would be chosen."""
    csr, x = CSR.from_scipy(S).to(gpu), to_device(x, gpu)
    gather, reduce, dtype = plan(get_semiring(semiring), csr.dtype, x.dtype)
    special = specialize_for(csr, gather, reduce, (x.dtype,), dtype, None, False)
    out = to_device(np.full(S.shape[0], 7, dtype), gpu)
    assert can_stretch(csr)
    multiply = by_stretches(csr, special)
    multiply((x,), out)
    again = out.copy()
    multiply((x,), again)
    assert (out == again).all(), "the same bits each time"
    return to_device(out, "cpu")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_sums_equal_scipy(gpu, kind, dtype):
    S = matrix(kind, dtype)
    x = np.random.default_rng(6).integers(-9, 9, S.shape[1]).astype(dtype)
    # Whole numbers: sums are exact in any order.
    assert (by_hand(S, x, "plus_times", gpu) == S @ x).all()


@pytest.mark.parametrize("kind", KINDS)
def test_least_equal_a_loop(gpu, kind):
    S = matrix(kind, "float64")
    x = np.random.default_rng(7).random(S.shape[1])
    filled = np.diff(S.indptr) > 0
    expected = np.full(S.shape[0], np.inf)
    expected[filled] = np.minimum.reduceat(S.data + x[S.indices], S.indptr[:-1][filled])
    assert (by_hand(S, x, "min_plus", gpu) == expected).all()


@pytest.mark.parametrize("kind", ["mixed", "one long"])
@pytest.mark.parametrize("way", ["rows", "stretches", "hyb"])
def test_every_way_gives_the_product(gpu, choosing, monkeypatch, kind, way):
    predicted = {name: 1.0 - (name == way) for name in ("rows", "stretches", "hyb")}
    monkeypatch.setattr(cuda, "predict", lambda *given: predicted)
    S = matrix(kind, "float64")
    x = np.random.default_rng(8).random(S.shape[1])
    A = hpg.Matrix(S, format="hyb" if way == "hyb" else "csr").to(gpu)
    np.testing.assert_allclose(to_device(A @ to_device(x, gpu), "cpu"), S @ x, rtol=1e-12)


@pytest.mark.parametrize("setting", [True, False, "auto"])
@pytest.mark.parametrize("semiring", ["plus_times", "min_plus"])
def test_first_products_are_timed_where_they_may(gpu, choosing, monkeypatch, setting, semiring):
    timed = []
    clock = cuda_choice._seconds
    monkeypatch.setattr(cuda_choice, "UNSURE", 1e9)
    monkeypatch.setattr(cuda_choice, "_seconds", lambda *given: timed.append(1) or clock(*given))
    S = matrix("mixed", "float32")
    x = to_device(np.random.default_rng(9).random(S.shape[1]).astype(np.float32), gpu)
    with hpg.config(measure_layouts=setting):
        A = hpg.Matrix(S, format="csr").to(gpu)
        first, again = A.mxv(x, semiring), A.mxv(x, semiring)
    assert (first == again).all()
    expected = setting is True or (setting == "auto" and semiring == "min_plus")
    assert len(timed) == (3 if expected else 0), "rows, stretches and hyb, once"
    on_cpu = hpg.Matrix(S).mxv(to_device(x, "cpu"), semiring)
    np.testing.assert_allclose(to_device(again, "cpu"), on_cpu, rtol=1e-4)


def test_the_way_depends_on_the_matrix_alone(gpu, choosing):
    S = matrix("mixed", "float64")
    x = to_device(np.random.default_rng(9).random(S.shape[1]), gpu)
    products = [to_device(hpg.Matrix(S).to(gpu) @ x, "cpu") for _ in range(3)]
    assert all((found == products[0]).all() for found in products)


def diagonals(n: int, width: int) -> scipy.sparse.csr_array:
    return scipy.sparse.diags_array([np.ones(n)] * width, offsets=range(width), shape=(n, n), format="csr")


def test_sectors_of_known_matrices(gpu):
    # Eight floats lie in a sector: a diagonal touches each eighth of one, five beside each other a fortieth.
    for width, size, expected in ((1, 4, 1 / 8), (5, 4, 1 / 40), (1, 8, 1 / 4)):
        local = cuda_locality.locality(CSR.from_scipy(diagonals(200_000, width)).to(gpu), size)
        assert local.sectors == pytest.approx(expected, rel=0.05) and local.misses == 0
    scattered = scipy.sparse.random_array((2000, 1_000_000), density=2e-4, rng=1, format="csr")
    assert cuda_locality.locality(CSR.from_scipy(scattered).to(gpu), 4).sectors > 0.95


@pytest.mark.parametrize("rows", [0, 1, 31, 1024, 9000])
def test_bins_hold_their_rows_in_order(rows, gpu):
    import cupy

    rng = np.random.default_rng(rows)
    lengths = rng.choice([0, 1, 4, 5, 16, 17, 32, 33, 128, 129, 1024, 1025, 5000], rows)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    found = row_bins.make_bins(cupy.asarray(indptr))
    long = lengths > 1024
    expected = [
        np.flatnonzero((lengths > low) & (lengths <= high) & ~long)
        for low, high in ((128, 1 << 40), (32, 128), (16, 32), (4, 16), (-1, 4))
    ]
    # A row in both lists would be updated twice.
    assert found.slots.get().tolist() == np.concatenate(expected).tolist()
    assert found.long_slots.get().tolist() == np.flatnonzero(long).tolist()
    pieces = -(-lengths[long] // 1024)
    assert found.first_piece.get().tolist() == [0, *np.cumsum(pieces)]
    assert found.piece_slot.get().tolist() == np.repeat(np.flatnonzero(long), pieces).tolist()
    assert found.piece_order.get().tolist() == [order for count in pieces for order in range(count)]
    assert (found.rows, found.pieces, found.long_rows) == (rows, pieces.sum(), long.sum())
    assert found.blocks == -(-pieces.sum() // 8) + sum(
        -(-len(members) // (256 // lanes)) for members, lanes in zip(expected, (32, 16, 8, 4, 1), strict=True)
    )
