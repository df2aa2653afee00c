"""Maximum flows against SciPy's, and against what makes a flow one."""

import numpy as np
import pytest
import scipy.sparse as sp
from raising import raises
from scipy.sparse.csgraph import maximum_flow

import hpgraph as hpg
from hpgraph import csgraph
from hpgraph.algorithms.maximum_flow import MaximumFlow, _push, both_ways
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import cuda_available


@pytest.fixture(params=["cpu", *(["pushed", "by paths"] if cuda_available() else [])])
def device(request, monkeypatch):
    """Each device in turn, the GPU twice: it leaves small networks to the CPU, and here only some of them."""
    monkeypatch.setattr("hpgraph.algorithms.maximum_flow.MIN_PUSHED", 1 << 22 if request.param == "by paths" else 0)
    monkeypatch.setattr("hpgraph.algorithms.maximum_flow.ARCS_A_SUPERSTEP", 1e-6)
    return "cpu" if request.param == "cpu" else "cuda"


def random_network(n, m, seed, most=50):
    random = np.random.default_rng(seed)
    ends = random.integers(0, n, (2, m))
    network = sp.coo_array((random.integers(0, most, m).astype(np.int32), ends), shape=(n, n)).tocsr()
    network.sum_duplicates()
    return network


def layered(layers, width, seed):
    """Many ways of one length, with room that ends at other places than it begins: much flows back."""
    random = np.random.default_rng(seed)
    n = layers * width + 2
    source = [np.full(width, n - 2), *(np.arange(layers * width - width) for _ in range(3))]
    target = [np.arange(width)]
    target += [(source[1] // width + 1) * width + random.integers(0, width, len(source[1])) for _ in range(3)]
    source.append(np.arange((layers - 1) * width, layers * width))
    target.append(np.full(width, n - 1))
    ends = np.concatenate(source), np.concatenate(target)
    room = random.integers(1, 20, len(ends[0])).astype(np.int32)
    room[:width] = 1000
    network = sp.coo_array((room, ends), shape=(n, n)).tocsr()
    network.sum_duplicates()
    return network


def check(network, found, source, sink):
    flow = found.flow
    flow = flow.to("cpu").toarray()
    room = network.toarray()
    assert found.flow_value == maximum_flow(network, source, sink).flow_value
    assert (flow == -flow.T).all() and (flow <= room).all()
    through = flow.sum(axis=1)
    assert through[source] == found.flow_value == -through[sink]
    assert not np.delete(through, [source, sink]).any()
    assert isinstance(found.flow_value, int) and flow.dtype == np.int64


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "m"), [(2, 3), (12, 40), (60, 150), (300, 2500)])
def test_random_networks(n, m, seed, device):
    network = random_network(n, m, seed)
    found = hpg.maximum_flow(hpg.Graph(network, directed=True).to(device), 0, n - 1)
    check(network, found, 0, n - 1)


@pytest.mark.parametrize("seed", range(3))
def test_what_flows_back(seed, device):
    network = layered(8, 25, seed)
    n = network.shape[0]
    G = hpg.Graph(network, directed=True).to(device)
    found = hpg.maximum_flow(G, n - 2, n - 1)
    check(network, found, n - 2, n - 1)
    again = hpg.maximum_flow(G, n - 2, n - 1)
    assert (again.flow.to("cpu").toarray() == found.flow.to("cpu").toarray()).all()


def test_later_calls_on_a_graph(device):
    """What the first call keeps serves others, there and on another device."""
    network = random_network(60, 500, 5)
    graph, floats = (hpg.Graph(capacity).to(device) for capacity in (network, network / 4))
    for s, t in ((0, 59), (59, 0), (3, 7)):
        wanted = maximum_flow(network, s, t).flow_value
        assert hpg.maximum_flow(graph, s, t).flow_value == wanted
        assert hpg.maximum_flow(graph.to("cpu"), s, t).flow_value == wanted
        found = hpg.maximum_flow(floats, s, t)
        flow = found.flow.to("cpu").toarray()
        assert found.flow_value == wanted / 4 and (flow == -flow.T).all()


def test_undirected_and_unweighted_edges(device):
    network = random_network(80, 300, 7)
    both = network.maximum(network.T).tocsr()
    check(both, hpg.maximum_flow(hpg.Graph(both, directed=False).to(device), 3, 9), 3, 9)
    ones = sp.csr_array((np.ones(network.nnz, np.int32), network.indices, network.indptr), shape=network.shape)
    pattern = hpg.Graph.from_edges(*ones.tocoo().coords, n_vertices=80).to(device)
    check(ones, hpg.maximum_flow(pattern, 3, 9), 3, 9)


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_large_capacities(kind, device):
    # More than 64 bits hold if flows either way were added to what the arcs carry.
    huge = np.iinfo(kind).max
    weight = np.array([1 << 60, huge, huge, huge, 5], kind)
    G = hpg.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 3], weight, directed=False).to(device)
    for source, sink in ((0, 4), (0, 2)):
        found = hpg.maximum_flow(G, source, sink)
        flow = found.flow.to("cpu").toarray()
        assert found.flow_value == (1 << 60) + 5 == int(flow[source].sum()) == -int(flow[sink].sum())
        assert (flow == -flow.T).all()


def test_push_relabel_on_the_cpu():
    # What serves the GPU.
    network = layered(8, 25, 1)
    both, capacity = both_ways(hpg.Graph(network, directed=True))
    source, sink = network.shape[0] - 2, network.shape[0] - 1
    assert _push(both, capacity, source, sink, 10) is None, "it takes more supersteps"
    value, flow = _push(both, capacity, source, sink, np.inf)
    check(
        network, MaximumFlow(value, matrix_of_csr(both.out_csr.with_data(flow - flow[both.reverse_arcs]))), source, sink
    )


def test_names_and_nothing_to_carry(device):
    G = hpg.Graph.from_edges([0, 1], [1, 2], [4, 3], names=["well", "pipe", "tap"]).to(device)
    found = hpg.maximum_flow(G, "well", "tap")
    assert found.flow_value == 3 and repr(found) == "<MaximumFlow: 3>"
    assert hpg.maximum_flow(G, "tap", "well").flow_value == 0


@pytest.mark.parametrize(
    ("weight", "ends", "error", "says"),
    [
        ([1.5, np.inf], (0, 2), ValueError, "capacities must be finite"),
        ([1, -2], (0, 2), ValueError, "capacities must not be negative, and there is one of -2"),
        ([1e308, 1e308], (0, 2), ValueError, "and so must their sum"),
        ([1 << 62, 1], (0, 2), ValueError, "which cannot be counted"),
        (np.array([1 << 63, 1], np.uint64), (0, 2), ValueError, "which cannot be counted"),
        ([1, 2], (1, 1), ValueError, "two vertices"),
        ([1, 2], (0, 3), IndexError, "sink"),
    ],
)
def test_bad_input(weight, ends, error, says):
    with pytest.raises(error, match=says):
        hpg.maximum_flow(hpg.Graph.from_edges([0, 1], [1, 2], weight), *ends)


def test_of_csgraph(device):
    network = random_network(60, 300, 2)
    given = network
    if device == "cuda":
        import cupyx.scipy.sparse

        given = cupyx.scipy.sparse.csr_matrix(network.astype(np.float64))
    found = csgraph.maximum_flow(given, 0, 59)
    expected = maximum_flow(network, 0, 59)
    assert found.flow_value == expected.flow_value
    flow = (found.flow.get() if device == "cuda" else found.flow).toarray()
    assert (flow == -flow.T).all() and flow.dtype == (np.float64 if device == "cuda" else np.int32)
    assert (flow <= network.toarray()).all() and flow[0].sum() == expected.flow_value
    assert not flow[1:59].sum(axis=1).any()
    if device == "cuda":
        for wrong in (0.5, 2.0**54):
            raises(ValueError, "whole numbers", csgraph.maximum_flow, given * wrong, 0, 59)
    raises(ValueError, "method", csgraph.maximum_flow, given, 0, 59, method="magic")
