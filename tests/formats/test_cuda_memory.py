"""Peak memory of building on the GPU: below 2.5 times the result."""

import pytest

from hpgraph.core.device import cuda_available
from hpgraph.formats import CSR, HYB

LIMIT = 2.5


@pytest.fixture
def peak():
    """Runs a builder and tells what it made, and the bytes that its arrays and scratch took from the driver."""
    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    import cupy

    def measure(build):
        pool = cupy.cuda.MemoryPool()
        with cupy.cuda.using_allocator(pool.malloc):
            made = build()
            return made, pool.total_bytes()

    return measure


def random_csr(values):
    import cupy

    cupy.random.seed(7)
    n, entries = 500_000, 24_000_000
    # Low ids are hubs.
    row, col = ((cupy.random.random(entries) ** 4 * n).astype(cupy.int32) for _ in range(2))
    data = cupy.random.random(entries, dtype=cupy.float32) if values else None
    return CSR.from_coo(row, col, data, (n, n), duplicates="first")


@pytest.mark.parametrize("values", [False, True])
def test_hyb_and_transpose_stay_below_the_limit(peak, values):
    csr = random_csr(values)
    for build in (lambda: HYB.from_csr(csr), csr.transpose):
        made, nbytes = peak(build)
        assert made.nnz == csr.nnz
        assert nbytes < LIMIT * made.nbytes
