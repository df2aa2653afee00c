"""Pushes from a frontier on every device, held against the reference and against pulls."""

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host, put
from reference_product import product

from hpgraph import config
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary, get_semiring


def random_arcs(rng, shape, dtype, count, ids=np.int32):
    """A CSR whose rows are sorted, with one row to nearly every target and some without any."""
    source = np.concatenate((rng.integers(1, shape[0] - 2, count), np.zeros(shape[1] - 1, np.int64)))
    target = np.concatenate((rng.integers(0, shape[1], count), np.arange(1, shape[1])))
    csr = CSR.from_coo(source, target, rng.integers(1, 50, len(source)).astype(dtype), shape, duplicates="first")
    return CSR(shape, csr.indptr, csr.indices.astype(ids), csr.data)


def run(device, csr, semiring, x, frontier, out, *, mask=None, accum=None, complement=False):
    ring = get_semiring(semiring)
    moved = put(device, out.copy())
    touched = kernels(device).push(
        csr.to(device),
        ring.gather(csr.data.dtype, x.dtype, out.dtype),
        ring.add,
        (put(device, x),),
        put(device, frontier),
        moved,
        mask=None if mask is None else Bitmask.from_bool(mask).to(device),
        complement=complement,
        accum=None if accum is None else get_binary(accum),
    )
    assert touched.dtype == csr.indices.dtype
    return host(moved), host(touched)


def expect(csr, semiring, x, frontier, out, **options):
    """By the reference, which pulls: along the transposed arcs, from the frontier alone."""
    source = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    entries = list(zip(csr.indices.tolist(), source.tolist(), csr.data, strict=True))
    active = np.zeros(csr.shape[0], bool)
    active[frontier] = True
    result, received, _ = product(entries, semiring, x, out, out.dtype, active=active, **options)
    # A push does not write rows that it does not reach.
    return np.where(received, result, out), np.flatnonzero(received)


@pytest.mark.parametrize(
    ("semiring", "dtype"), [("plus_times", "float32"), ("min_plus", "float64"), ("plus_times", "int64")]
)
def test_push(device, semiring, dtype):
    rng = np.random.default_rng(1)
    csr = random_arcs(rng, (60, 90), dtype, 400)
    x, out = rng.integers(0, 30, 60).astype(dtype), rng.integers(0, 30, 90).astype(dtype)
    accum = semiring.split("_")[0]
    everyone = np.arange(60, dtype=np.int32)
    for frontier in (everyone, everyone[30:37], everyone[:1], everyone[-2:], everyone[:0]):
        for mask, complement in ((None, False), (rng.random(90) < 0.5, False), (rng.random(90) < 0.5, True)):
            for add_to in (None, accum):
                options = {"mask": mask, "complement": complement, "accum": add_to}
                result, touched = run(device, csr, semiring, x, frontier, out, **options)
                wanted, reached = expect(csr, semiring, x, frontier, out, **options)
                np.testing.assert_array_equal(result, wanted)
                np.testing.assert_array_equal(touched, reached)


def test_float_sums_have_the_same_bits_every_time(device):
    rng = np.random.default_rng(3)
    csr = random_arcs(rng, (3000, 500), np.float32, 60_000)
    csr = CSR(csr.shape, csr.indptr, csr.indices, rng.random(csr.nnz).astype(np.float32))
    x, frontier = rng.random(3000).astype(np.float32), np.arange(3000, dtype=np.int32)
    results = []
    for threads in (1, 2, 2):
        with config(threads=threads):
            results.append(run(device, csr, "plus_times", x, frontier, np.zeros(500, np.float32))[0])
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    exact = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape).T.astype(float) @ x
    np.testing.assert_allclose(results[0], exact, rtol=1e-5)


def test_any_takes_one_of_the_messages(device):
    rng = np.random.default_rng(4)
    csr = random_arcs(rng, (60, 90), np.int32, 400)
    frontier = np.arange(5, 40, dtype=np.int32)
    parent, touched = run(device, csr, "any_secondi", np.zeros(60, np.int32), frontier, np.full(90, -7, np.int32))
    matrix = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
    np.testing.assert_array_equal(touched, np.unique(matrix[frontier].indices))
    for v in touched:
        assert parent[v] in frontier
        assert matrix[parent[v], v]
    assert (np.delete(parent, touched) == -7).all()
