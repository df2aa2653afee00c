"""Shortest paths from many sources: what single searches answer, bit for bit; and bad input."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
from raising import raises
from reference_algorithms import GRAPHS, check_shortest_paths, random_digraph, sources, stored

import hpgraph as hpg
from hpgraph.core.device import device_of, to_device


@pytest.mark.parametrize("name", GRAPHS)
def test_real_graphs(data_dir, name, device):
    csr = stored(data_dir, name)
    G = hpg.Graph(csr, directed=True).to(device)
    chosen = sources(csr)
    found = hpg.sssp(G, sources=chosen, parents=True)
    assert (to_device(found.distance, "cpu") == scipy.sparse.csgraph.dijkstra(csr, indices=chosen)).all()
    for i, source in enumerate(chosen[:4]):
        check_shortest_paths(csr, source, to_device(found.distance[i], "cpu"), to_device(found.parent[i], "cpu"))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("cutoff", [None, 0, 12.5])
def test_every_lane_is_its_single_search(dtype, cutoff, device):
    csr = random_digraph(600, 4000, seed=4).astype(dtype)
    csr.data[::9] = 0
    csr.data[::31] = np.inf
    G = hpg.Graph(csr, directed=True).to(device)
    chosen = [5, 17, 5, 599, *range(40, 60)]
    parents = dtype == "float64"
    found = hpg.sssp(G, sources=chosen, cutoff=cutoff, parents=parents, deterministic=True)
    assert found.sources.tolist() == chosen and device_of(found.distance) == device
    assert found.distance.dtype == dtype
    for i, source in enumerate(chosen):
        single = hpg.sssp(G, source, cutoff=cutoff, parents=parents, deterministic=True)
        assert (to_device(found.distance[i], "cpu") == to_device(single.distance, "cpu")).all()
        if parents:
            assert (to_device(found.parent[i], "cpu") == to_device(single.parent, "cpu")).all()
    assert "24 sources, 600 vertices" in repr(found)


def test_negative_weights_and_cycles(device):
    G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [2.0, -1.0, 4.0]).to(device)
    found = hpg.sssp(G, sources=[1, 0], parents=True)
    assert to_device(found.distance, "cpu").tolist() == [[np.inf, 0, -1, 3], [0, 2, 1, 5]]
    assert to_device(found.parent, "cpu").tolist() == [[-1, 1, 1, 2], [0, 0, 1, 2]]
    G = hpg.Graph.from_edges([0, 1], [1, 0], [2.0, -3.0], n_vertices=3).to(device)
    with pytest.raises(hpg.NegativeCycleError):
        hpg.sssp(G, sources=[2, 0])


def test_names_groups_and_no_sources(device):
    G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], names=["a", "b", "c"]).to(device)
    found = hpg.sssp(G, sources=["b", hpg.id(0), "b"], group_size=2)
    assert found.sources.tolist() == [1, 0, 1] and len(found.traces) == 2
    assert to_device(found.distance, "cpu").tolist() == [[np.inf, 0, 2], [0, 1, 3], [np.inf, 0, 2]]
    none = hpg.sssp(G, sources=[], parents=True)
    assert none.distance.shape == none.parent.shape == (0, 3) and none.traces == []


def test_bad_input(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0]).to(device)
    raises(IndexError, "sources", hpg.sssp, G, sources=[0, 3])
    raises(TypeError, "either source=, one vertex, or sources=, several", hpg.sssp, G)
    raises(TypeError, "either source", hpg.sssp, G, 0, sources=[1])
    raises(TypeError, "one vertex alone is source", hpg.sssp, G, sources=3)
    raises(ValueError, "group_size must be at least 1", hpg.sssp, G, sources=[0], group_size=0)
    raises(ValueError, "cutoff", hpg.sssp, G, sources=[0], cutoff=-1)
    wide = hpg.Graph.from_edges([0, 1], [1, 2], [1e308, 1e308]).to(device)
    raises(ValueError, "divide them by their largest", hpg.sssp, wide, sources=[1, 0])


def test_former_names_warn():
    with pytest.warns(DeprecationWarning, match="lanes is called group_size now"):
        assert len(hpg.sssp(hpg.datasets.grid(3), sources=[0, 1], lanes=1).traces) == 2
    with pytest.warns(DeprecationWarning, match="MultiSourceSSSPResult"):
        assert hpg.SSSPLanesResult is hpg.MultiSourceSSSPResult


def test_memory_is_predicted():
    csr = random_digraph(600, 4000, seed=4)
    # Of so small a share of the memory each search gets its turn alone.
    with hpg.config(memory_share=1e-9):
        found = hpg.sssp(hpg.Graph(csr, directed=True), sources=list(range(600)))
    assert len(found.traces) == 600 and (found.distance == scipy.sparse.csgraph.dijkstra(csr)).all()
    n = 1 << 22
    with pytest.raises(hpg.DeviceMemoryError, match=f"from {n} sources to {n} vertices"):
        hpg.sssp(hpg.Graph(scipy.sparse.csr_array((n, n))), sources=np.zeros(n, np.int64))


@pytest.mark.parametrize("weight", [None, True])
def test_all_pairs_block_by_block(weight, device):
    csr = random_digraph(150, 600, seed=6)
    G = hpg.Graph(csr, directed=True).to(device)
    expected = scipy.sparse.csgraph.dijkstra(csr, unweighted=weight is None, limit=9.0)
    seen = []
    for listed, lengths in hpg.all_pairs_shortest_path_length(G, 9.0, block=64, weight=weight):
        mine = to_device(lengths, "cpu").astype(np.float64)
        if weight is None:
            mine[mine < 0] = np.inf
        assert (mine == expected[listed]).all()
        seen += listed.tolist()
    assert seen == list(range(150))
    raises(ValueError, "block must be at least 1", hpg.all_pairs_shortest_path_length, G, block=0)
