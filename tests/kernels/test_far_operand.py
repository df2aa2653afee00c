"""Products with a vector on another GPU: in two stages, and not before the vector is there."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from busy_stream import made_ready, spin
from cuda_build import GENERATIONS, compiles

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.core.device import cuda_available, to_device
from hpgraph.core.devices import Devices, copy_between, reach_each_other
from hpgraph.kernels.spmv import cuda, cuda_choice, cuda_column_blocks, cuda_far_operand
from hpgraph.kernels.spmv import cuda_column_blocks_layout as layout
from hpgraph.kernels.spmv.layout_cost import RATES
from hpgraph.kernels.sweep import cuda_divided
from hpgraph.scipy_api.divided_matrix import divide_matrix

needs_cuda = pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")


def _two_gpus() -> bool:
    if not cuda_available():
        return False
    import cupy

    return bool(cupy.cuda.runtime.getDeviceCount() > 1)


needs_two = pytest.mark.skipif(not _two_gpus(), reason="there are not two GPUs")


@pytest.fixture
def by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products by blocks of columns, however small the matrix is."""
    monkeypatch.setattr(cuda, "CHOICE_ENTRIES", 1)
    monkeypatch.setattr(cuda_choice, "CHOICE_ENTRIES", 1)
    monkeypatch.setattr(layout, "MIN", 1)
    monkeypatch.setattr(layout, "blocks_seconds", lambda *sizes: 1e-9)


def _skewed(dtype: str) -> scipy.sparse.csr_array:
    """A random matrix of which half of the entries lie in a hundred columns, of whole numbers."""
    rng = np.random.default_rng(3)
    row, col = rng.integers(0, 3000, 200_000), rng.integers(0, 100_000, 200_000)
    col[:100_000] = rng.permutation(100_000)[rng.integers(0, 100, 100_000)]
    found = scipy.sparse.csr_array((rng.integers(1, 9, 200_000).astype(dtype), (row, col)), shape=(3000, 100_000))
    found.sum_duplicates()
    return found


@needs_cuda
@pytest.mark.parametrize("hot_blocks", [0, 1, 2, 4])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.usefixtures("by_blocks")
def test_stages_give_what_one_does(monkeypatch: pytest.MonkeyPatch, hot_blocks: int, dtype: str) -> None:
    import cupy

    A, x = hpg.Matrix(_skewed(dtype)).to("cuda"), cupy.asarray(np.arange(100_000) % 31, dtype)
    want = A @ x
    asked = []
    monkeypatch.setattr(cuda_column_blocks, "is_far", lambda vector, found: asked.append(found.order) or True)
    monkeypatch.setattr(cuda_far_operand, "fewest_delays", lambda *given: hot_blocks)
    cupy.testing.assert_array_equal(A @ x, want)
    assert asked and asked[0] is not None


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


def test_a_first_stage_is_as_long_as_the_copy() -> None:
    rates, block = RATES["cuda"], 1 << 15
    copied = 1 << 26
    # As many stretches as take the time of the copy: from one block, from two, and too few to be worth the fetching.
    enough = round(copied / rates.link / cuda_far_operand.entries_seconds(layout.STRETCH, 4, rates))
    weights = np.empty(1, np.float32)
    for of_blocks, want in (([enough], 1), ([enough // 2] * 2, 2), ([enough // 1000] * 64, 0), ([], 0)):
        stretches = np.concatenate(([0], np.cumsum([*of_blocks, *[0] * 10]))).astype(np.int64)
        assert cuda_far_operand.fewest_delays(stretches, block, copied, weights) == want


def test_who_waits_for_the_vector_has_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, nnz, parts = 1 << 24, 1 << 29, 2
    csr = SimpleNamespace(nnz=nnz, shape=(rows, rows))
    shape = SimpleNamespace(weight=4)
    monkeypatch.setattr(cuda_choice, "multiprocessors", lambda: 132)
    monkeypatch.setattr(cuda_choice, "shape_of", lambda *given: shape)
    monkeypatch.setattr(cuda_choice, "known_survey", lambda *given: survey)

    def longer(by: str, order: object = None, hottest: float = 0.0) -> float:
        nonlocal survey
        monkeypatch.setattr(cuda_choice, "predict", lambda *given: {"rows": 2e-3, "blocks": 3e-3, by: 1e-3})
        survey = SimpleNamespace(order=order, hottest=hottest, shift=15)
        return cuda_choice.longer_abroad(csr, 4, 4, parts)

    survey = None
    rates = RATES["cuda"]
    copied, written = 4 * rows / rates.link / 1e-3, 4 * rows / parts * rates.abroad / 1e-3
    # By rows the whole copy is waited for; blocks in their own order read the vector where it is.
    assert longer("rows") == pytest.approx(copied + written)
    assert longer("blocks") == pytest.approx(written)
    # In an order of heat a product has two stages, and the copy is hidden by the first if that is long enough.
    hidden, shown = longer("blocks", order=object(), hottest=0.5), longer("blocks", order=object(), hottest=0.01)
    assert written + 0.03 < hidden < written + 0.15
    assert copied < shown < hidden + copied


@pytest.mark.parametrize("arch", GENERATIONS)
def test_it_compiles(arch: str) -> None:
    pytest.importorskip("cuda.core")
    names = tuple(f"hpgraph::take_far<{word}>" for word in cuda_far_operand.WORDS.values())
    compiles(cuda_far_operand.SOURCE, names=names, arch=arch)


@needs_cuda
@pytest.mark.parametrize("hot_blocks", [0, 1, 3])
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.usefixtures("by_blocks")
def test_sweeps_bring_what_others_have(monkeypatch: pytest.MonkeyPatch, hot_blocks: int, parts: int) -> None:
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 70_000, (2, 300_000))
    ends[1, :150_000] = rng.permutation(70_000)[rng.integers(0, 100, 150_000)]
    graph = hpg.Graph.from_edges(ends[0], ends[1], n_vertices=70_000)
    want = hpg.pagerank(graph, tol=1e-10)
    monkeypatch.setattr(cuda_far_operand, "fewest_delays", lambda *given: hot_blocks)
    places = [[Devices("cuda", (0,))] * parts]
    if _two_gpus():
        places.append([Devices("cuda", (number % 2,)) for number in range(parts)])
    brought = []
    bring = cuda_divided._ComingRanges.hot
    monkeypatch.setattr(cuda_divided._ComingRanges, "hot", lambda self: brought.append(self) or bring(self))
    for devices in places:
        divided = divide(graph.to("cuda"), devices)
        found, again = (hpg.pagerank(divided, tol=1e-10) for _ in range(2))
        assert found.iterations == want.iterations and len({id(one) for one in brought}) == 2 * parts
        np.testing.assert_allclose(to_device(found.rank, "cpu"), want.rank, rtol=1e-9)
        np.testing.assert_array_equal(to_device(found.rank, "cpu"), to_device(again.rank, "cpu"))
        brought.clear()
