"""Graphs divided between devices: the container, and the names of devices."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from new_process import printed
from raising import raises

import hpgraph as hpg
from hpgraph.containers.divided_graph import divide
from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph
from hpgraph.core.device import cuda_available, to_device
from hpgraph.core.devices import Devices, even_ranges, move_array, reach_each_other
from hpgraph.core.errors import DeviceError, MissingExtraError
from hpgraph.io.hpg_writer import write_hpg
from hpgraph.scipy_api.divided_matrix import divide_matrix


def _hubs_first(directed: bool) -> hpg.Graph:
    """A graph whose first vertices have most arcs, weighted."""
    rng = np.random.default_rng(1)
    source, target = (1000 * rng.random((2, 3000)) ** 4).astype(np.int32)
    return hpg.Graph.from_edges(source, target, rng.random(3000, np.float32), 1000, directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scatter", [False, True])
def test_shards_hold_the_graph(device: str, directed: bool, scatter: bool) -> None:
    whole = _hubs_first(directed)
    divided = divide(whole.to(device), [device] * 3, scatter=scatter)
    assert divided.n_edges == whole.n_edges and divided.directed == directed
    assert divided.bounds[0] == 0 and all(bound % 64 == 0 for bound in divided.bounds[:-1])
    order = np.arange(1000) if divided.order is None else to_device(divided.order, "cpu")
    assert (divided.order is not None) == scatter
    np.testing.assert_array_equal(np.sort(order), np.arange(1000))
    arcs = whole.out_csr.to_scipy()
    renumbered = arcs[order][:, order].toarray()
    for shard in divided.shards:
        for csr, dense in ((shard.out_csr, renumbered), (shard.in_csr, renumbered.T)):
            assert csr.device == device and csr.is_canonical()
            assert csr.shape == (shard.last - shard.first, 1000)
            np.testing.assert_array_equal(to_device(csr.to_scipy().toarray(), "cpu"), dense[shard.first : shard.last])
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(to_device(getattr(divided.out_csr, name), "cpu"), getattr(whole.out_csr, name))
    np.testing.assert_array_equal(to_device(divided.out_degree, "cpu"), whole.out_degree)
    np.testing.assert_array_equal(to_device(divided.in_degree, "cpu"), whole.in_degree)
    back = pickle.loads(pickle.dumps(divided))
    assert type(back) is hpg.Graph and back.n_edges == whole.n_edges


@pytest.mark.parametrize("scatter", [False, True])
def test_what_is_made_of_it_is_whole(device: str, scatter: bool) -> None:
    whole = _hubs_first(True).to(device)
    divided = divide(whole, [device] * 2, scatter=scatter)
    some = np.arange(0, 1000, 3)
    for made, expected in (
        (divided.subgraph(some), whole.subgraph(some)), (divided.reverse(), whole.reverse()),
        (divided | whole.reverse(), whole | whole.reverse()), (hpg.k_core(divided, 2), hpg.k_core(whole, 2)),
    ):  # fmt: skip
        assert type(made) is hpg.Graph and made.device == device
        dense = [to_device(graph.out_csr.to_scipy().toarray(), "cpu") for graph in (made, expected)]
        np.testing.assert_array_equal(*dense)
    target, weight = to_device(divided.successors(0), "cpu"), to_device(divided.edges().weight, "cpu")
    np.testing.assert_array_equal(target, to_device(whole.successors(0), "cpu"))
    np.testing.assert_array_equal(weight, to_device(whole.weights, "cpu"))


def test_hubs_go_round_robin_where_ranges_would_be_uneven() -> None:
    divided = divide(_hubs_first(False), ["cpu", "cpu"])
    assert divided.order is not None and divided.bounds == (0, 512, 1000)
    arcs = [shard.out_csr.nnz for shard in divided.shards]
    assert max(arcs) < 1.1 * sum(arcs) / 2
    assert divided.by_own_ids.order is None
    # A lattice has no hubs: vertices stay where they are, next to their neighbours.
    assert divide(hpg.datasets.grid(20), ["cpu", "cpu"]).order is None


@pytest.mark.parametrize("n", [0, 1, 3, 64, 65])
def test_few_vertices(n: int) -> None:
    graph = hpg.Graph.from_edges(np.arange(max(n - 1, 0)), np.arange(1, max(n, 1)), n_vertices=n)
    for scatter in (True, False):
        divided = divide(graph, ["cpu"] * 3, scatter=scatter)
        assert divided.n_vertices == n and divided.n_edges == max(n - 1, 0)
        assert divided.whole.n_edges == divided.n_edges


def test_even_ranges() -> None:
    degrees = np.random.default_rng(0).integers(0, 50, 10_000)
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    bounds = even_ranges(indptr, 7)
    assert bounds[0] == 0 and bounds[-1] == 10_000 and (bounds[:-1] % 64 == 0).all()
    assert np.abs(np.diff(indptr[bounds]) - indptr[-1] / 7).max() <= 64 * 50


@pytest.mark.parametrize("name", ["tpu", "cpu:0", "cuda:", "cuda:x", "cuda:-1", ["cpu", "cuda:0"], [], 0, None])
def test_names_that_are_none(name: Any) -> None:
    with pytest.raises(ValueError, match=r"device must be|only between GPUs") as caught:
        Devices.of(name)
    assert not isinstance(caught.value, DeviceError)


@pytest.mark.parametrize("name", ["cuda:0,0", ["cuda:1", "cuda:1"]])
def test_one_gpu_twice(name: Any) -> None:
    # Raised before devices are queried.
    raises(ValueError, "twice", Devices.of, name)


@pytest.mark.skipif(cuda_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", ["cuda:0", "cuda:0,1", "cuda:all", ["cuda:0", "cuda:1"]])
def test_without_a_gpu(name: Any) -> None:
    with pytest.raises((MissingExtraError, DeviceError)):
        hpg.Graph(([0], [1]), device=name)


def test_a_gpu_that_is_not_there() -> None:
    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    raises(DeviceError, "there is no cuda:99", hpg.Graph, ([0], [1]), device="cuda:0,99")


def test_device_when_made() -> None:
    assert hpg.Graph(([0], [1]), device="cpu").device == "cpu"


def test_disabled_access_is_reported_once() -> None:
    both = Devices("cuda", (2, 3))
    with hpg.config(peer_access=False):
        text = r"^cuda:2,3 do not access each other's memory, as peer_access is off: .* through the host"
        with pytest.warns(UserWarning, match=text):
            assert not reach_each_other(both)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not reach_each_other(both)


_APART = """
import warnings
import numpy as np, hpgraph as hpg
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    plain = hpg.datasets.kron(10, weighted=True)
    G, A = plain.to("cuda:0,1"), hpg.Matrix(plain.out_csr.to_scipy()).to("cuda:0,1")
    assert np.allclose(hpg.pagerank(G).rank.get(), hpg.pagerank(plain).rank, rtol=1e-6)
    assert (hpg.core_number(G).get() == hpg.core_number(plain)).all()
    for multi_gpu in (False, True):
        with hpg.techniques(multi_gpu=multi_gpu):
            assert (hpg.bfs(G, 1).level.get() == hpg.bfs(plain, 1).level).all()
            assert np.allclose(hpg.sssp(G, 1).distance.get(), hpg.sssp(plain, 1).distance, rtol=1e-5)
            assert (hpg.connected_components(G).label.get() == hpg.connected_components(plain).label).all()
    x = hpg.pagerank(G, gather=False).rank
    assert np.allclose((A @ x.gather()).get(), plain.out_csr.to_scipy() @ np.asarray(x), rtol=1e-4)
    assert np.allclose(np.asarray(A @ x), plain.out_csr.to_scipy() @ np.asarray(x), rtol=1e-4)
assert [str(one.message).count("peer_access is off") for one in said].count(1) == 1, said
"""


@pytest.mark.usefixtures("two_gpus")
def test_without_access_to_each_other() -> None:
    """In a process without peer access, a kernel that writes to another device's memory would fail."""
    printed(_APART, HPGRAPH_PEER_ACCESS=0)


@pytest.mark.usefixtures("two_gpus")
def test_on_two_gpus(tmp_path: Any) -> None:
    import cupy

    whole = _hubs_first(True)
    for divided in (whole.to("cuda:0,1"), hpg.Graph(whole, device=["cuda:0", "cuda:1"]), whole.to("cuda:all")):
        assert isinstance(divided, hpg.DividedGraph) and str(divided.devices).startswith("cuda:0,1")
        assert [int(shard.out_csr.indices.device.id) for shard in divided.shards[:2]] == [0, 1]
        np.testing.assert_array_equal(divided.out_csr.indices.get(), whole.out_csr.indices)
        np.testing.assert_array_equal(divided.to("cpu").out_csr.data, whole.out_csr.data)
    other = whole.to("cuda:1")
    raises(DeviceError, "current device", hpg.bfs, other, 0)
    with cupy.cuda.Device(1):
        level = hpg.bfs(other, 0).level
        assert int(level.device.id) == 1
        # What lies on the first GPU is not worked on from another.
        whole.save(path := tmp_path / "hubs.hpg")
        for elsewhere in (whole.to("cuda:0"), whole.to("cuda:0,1"), hpg.open(path, device="cuda:0,1", memory="2MiB")):
            raises(DeviceError, "current device", hpg.bfs, elsewhere, 0)
        streamed = hpg.open(path, device="cuda", memory="2MiB")
    raises(DeviceError, "current device", hpg.bfs, streamed, 0)
    np.testing.assert_array_equal(level.get(), hpg.bfs(whole, 0).level)
    A = hpg.Matrix(whole.out_csr.to_scipy()).to("cuda:1")
    x = cupy.ones(A.shape[1])
    for call in (lambda: A @ x, lambda: A + A, lambda: A.sum(axis=0), lambda: A.T @ x, lambda: A[0, 0]):
        raises(DeviceError, "the matrix lies on cuda:1", call)
    with cupy.cuda.Device(1):
        y = A @ cupy.ones(A.shape[1])
    raises(DeviceError, "the matrix lies on cuda:1", lambda: A @ x)
    np.testing.assert_allclose(y.get(), whole.out_csr.to_scipy() @ np.ones(A.shape[1]))
    for back in (A.to("cpu"), A.T.to("cpu").T, A.to("cuda:0").to("cpu"), A.to("cuda:0,1").blocks[0].matrix.to("cpu")):
        first = back.csr.to_scipy()
        assert (first != whole.out_csr.to_scipy()[: first.shape[0]]).nnz == 0
    there = move_array(level, Devices("cuda", (0,)))
    assert int(there.device.id) == 0
    np.testing.assert_array_equal(there.get(), level.get())


@pytest.mark.usefixtures("two_gpus")
def test_a_file_on_two_gpus(tmp_path: Any) -> None:
    whole = hpg.datasets.grid(60, weighted=True)
    whole.save(tmp_path / "grid.hpg")
    plain = 8 * whole.n_edges + 8 * (whole.n_vertices + 1)
    # Each has room for its half and the data of all vertices; with less, each streams its own pages.
    assert isinstance(hpg.open(tmp_path / "grid.hpg", device="cuda:0,1", memory=2 * plain), DividedStreamedGraph)
    opened = hpg.open(tmp_path / "grid.hpg", device="cuda:0,1", memory=4 * plain)
    assert isinstance(opened, hpg.DividedGraph)
    np.testing.assert_array_equal(hpg.bfs(opened, 0).level.get(), hpg.bfs(whole, 0).level)
    one = hpg.open(tmp_path / "grid.hpg", device="cuda", memory=max(2 * plain, 1 << 20))
    assert isinstance(one, hpg.StreamedGraph)
    # Neither has two: each streams its own.
    larger = hpg.datasets.grid(300, weighted=True)
    write_hpg(larger, tmp_path / "larger.hpg", arcs_per_page=4096)
    both = hpg.open(tmp_path / "larger.hpg", device="cuda:0,1", memory="2MiB")
    assert isinstance(both, DividedStreamedGraph)
    assert [str(shard.device) for shard in both.shards] == ["cuda:0", "cuda:1"]
    np.testing.assert_array_equal(hpg.bfs(both, 0).level.get(), hpg.bfs(larger, 0).level)
    np.testing.assert_allclose(hpg.pagerank(both).rank.get(), hpg.pagerank(larger).rank, rtol=1e-9)
    assert all(shard.graph.moved > 0 for shard in both.shards)


SPARSE = scipy.sparse.random_array((500, 300), density=0.05, rng=np.random.default_rng(1), format="csr")


def test_products(places: list[str]) -> None:
    D, rng = divide_matrix(hpg.Matrix(SPARSE), places), np.random.default_rng(2)
    assert D.shape == SPARSE.shape and D.nnz == SPARSE.nnz and 0 < D.blocks[1].first < 500
    kind = places[0].partition(":")[0]
    for shape in ((300,), (300, 3)):
        x = rng.random(shape)
        found = D @ to_device(x, kind)
        np.testing.assert_allclose(to_device(found, "cpu"), SPARSE @ x, rtol=1e-12)
        D._writes_there = not D._writes_there  # as where GPUs have no access to each other's memory
        np.testing.assert_array_equal(to_device(D @ to_device(x, kind), "cpu"), to_device(found, "cpu"))
    y = rng.random(500)
    np.testing.assert_allclose(to_device(D.rmatvec(to_device(y, kind)), "cpu"), SPARSE.T @ y, rtol=1e-12)
    x = rng.random(300)
    dense = np.where(SPARSE.toarray() != 0, SPARSE.toarray() + x, np.inf)
    np.testing.assert_array_equal(to_device(D.mxv(to_device(x, kind), "min_plus"), "cpu"), dense.min(axis=1))


def test_a_solver() -> None:
    lattice = scipy.sparse.csgraph.laplacian(hpg.datasets.grid(12).out_csr.to_scipy()) + scipy.sparse.eye_array(144)
    D = divide_matrix(hpg.Matrix(lattice), ["cpu", "cpu"])
    x, info = scipy.sparse.linalg.cg(D, np.arange(144.0), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(lattice @ x, np.arange(144.0), atol=1e-6)


def test_bad_operands() -> None:
    D = divide_matrix(hpg.Matrix(SPARSE), ["cpu", "cpu"])
    with pytest.raises(ValueError, match="x must have length 300"):
        _ = D @ np.zeros(500)
    raises(ValueError, r"x must have shape \(500,\)", D.rmatvec, np.zeros(300))
    raises(ValueError, "column by column", D.mxv, np.zeros((300, 2)), "min_plus")
