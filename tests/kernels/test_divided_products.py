"""Products and sweeps by blocks of columns on several GPUs: not before the vector is there."""

import numpy as np
import pytest
import scipy.sparse
from busy_stream import made_ready, spin

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.core.device import cuda_available, to_device
from hpgraph.core.devices import Devices, copy_between, reach_each_other
from hpgraph.scipy_api.divided_matrix import divide_matrix

needs_cuda = pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")


def _two_gpus() -> bool:
    if not cuda_available():
        return False
    import cupy

    return bool(cupy.cuda.runtime.getDeviceCount() > 1)


needs_two = pytest.mark.skipif(not _two_gpus(), reason="there are not two GPUs")


def _skewed(dtype: str) -> scipy.sparse.csr_array:
    """A random matrix of which half of the entries lie in a hundred columns, of whole numbers."""
    rng = np.random.default_rng(3)
    row, col = rng.integers(0, 3000, 200_000), rng.integers(0, 100_000, 200_000)
    col[:100_000] = rng.permutation(100_000)[rng.integers(0, 100, 100_000)]
    found = scipy.sparse.csr_array((rng.integers(1, 9, 200_000).astype(dtype), (row, col)), shape=(3000, 100_000))
    found.sum_duplicates()
    return found


@needs_two
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.usefixtures("by_blocks")
def test_a_product_on_another_gpu_waits_for_the_vector(dtype: str) -> None:
    import cupy

    S = _skewed(dtype)
    D = divide_matrix(hpg.Matrix(S).to("cuda:0"), ["cuda:0", "cuda:1"])
    x = cupy.zeros(100_000, dtype)
    assert not (D @ x).any()
    made_ready()
    values = cupy.asarray(np.arange(100_000) % 17, dtype)
    cupy.cuda.Device().synchronize()
    for busy in (0, 1):
        x.fill(0)
        cupy.cuda.Device(0).synchronize()
        with cupy.cuda.Device(busy):
            spin()
        x[...] = values
        y = D @ x
        # Behind the product, which still reads it.
        x.fill(5)
        np.testing.assert_array_equal(y.get(), S @ values.get())


@needs_two
def test_copies_wait_for_both_sides_and_hold_them() -> None:
    import cupy

    reach_each_other(Devices("cuda", (0, 1)))
    n = 1 << 20
    with cupy.cuda.Device(1):
        made_ready()
        target = cupy.zeros(n, np.int32)
    made_ready()
    source = cupy.zeros(n, np.int32)
    for busy in (0, 1):
        for device in (0, 1):
            cupy.cuda.Device(device).synchronize()
        with cupy.cuda.Device(busy):
            spin()
        source.fill(busy + 1)
        with cupy.cuda.Device(1):
            # What is written before the copy must not come after it.
            target.fill(99)
        copy_between(source, target)
        source.fill(7)
        with cupy.cuda.Device(1):
            kept = target.copy()
            target.fill(8)
            assert (kept.get() == busy + 1).all()


@needs_cuda
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.usefixtures("by_blocks")
def test_sweeps_by_blocks(parts: int) -> None:
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 70_000, (2, 300_000))
    ends[1, :150_000] = rng.permutation(70_000)[rng.integers(0, 100, 150_000)]
    graph = hpg.Graph.from_edges(ends[0], ends[1], n_vertices=70_000)
    want = hpg.pagerank(graph, tol=1e-10)
    places = [[Devices("cuda", (0,))] * parts]
    if _two_gpus():
        places.append([Devices("cuda", (number % 2,)) for number in range(parts)])
    for devices in places:
        divided = divide(graph.to("cuda"), devices)
        found, again = (hpg.pagerank(divided, tol=1e-10) for _ in range(2))
        assert found.iterations == want.iterations
        np.testing.assert_allclose(to_device(found.rank, "cpu"), want.rank, rtol=1e-9)
        np.testing.assert_array_equal(to_device(found.rank, "cpu"), to_device(again.rank, "cpu"))
