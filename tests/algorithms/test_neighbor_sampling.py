"""Samples of neighbours: arcs of the graph, as many as asked for, with their chances; batches, and surroundings."""

import itertools
import threading
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.stats
from arrays import host
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import cuda_available


@pytest.fixture(scope="module")
def graph() -> hpg.Graph:
    """Uneven, with loops, with vertices that have no arcs; weights from 0 on."""
    rng = np.random.default_rng(8)
    source, target = rng.integers(0, 90, 1200) ** 2 // 95, rng.integers(0, 100, 1200)
    return hpg.Graph.from_edges(source, target, rng.integers(0, 5, 1200).astype(float), n_vertices=100)


@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_a_sample_is(graph: hpg.Graph, weighted: bool, replace: bool, incoming: bool, device: str) -> None:
    G = graph.to(device)
    seeds = [7, 3, 7, 99, 50]
    found = hpg.sample_neighbors(G, seeds, [4, -1, 2], replace=replace, weight=weighted, incoming=incoming, seed=2)
    vertex, (row, column), edge = host(found.vertex), host(found.edge_index), host(found.edge)
    assert vertex[host(found.seeds)].tolist() == seeds and found.vertices_of_hop[0] == 4
    assert len(set(vertex.tolist())) == len(vertex) == sum(found.vertices_of_hop) == len(found)
    assert sum(found.edges_of_hop) == len(row) == len(edge)
    # Each edge is the arc that it says it is.
    arcs = graph.edges(both_ways=True)
    ends = (vertex[row], vertex[column]) if incoming else (vertex[column], vertex[row])
    assert (arcs.source[edge] == ends[0]).all() and (arcs.target[edge] == ends[1]).all()
    assert (host(found.weight) == arcs.weight[edge]).all()
    # Numbers are given in the order in which vertices are met, hop by hop, and drawn for once.
    met = dict.fromkeys([*host(found.seeds).tolist(), *row.tolist()])
    assert list(met) == list(range(len(vertex)))
    indptr = host(found.indptr)
    assert indptr[-1] == len(row) and (np.diff(column) >= 0).all()
    table = graph.in_csr if incoming else graph.out_csr
    begin, hop_of = 0, np.repeat(np.arange(4), found.vertices_of_hop)
    for v in range(len(vertex)):
        drawn = edge[indptr[v] : indptr[v + 1]]
        place = slice(table.indptr[vertex[v]], table.indptr[vertex[v] + 1])
        can = int((table.data[place] > 0).sum()) if weighted else place.stop - place.start
        if hop_of[v] == 3:
            assert len(drawn) == 0
            continue
        fanout = [4, -1, 2][hop_of[v]]
        want = can if fanout < 0 else fanout * (can > 0) if replace else min(fanout, can)
        assert len(drawn) == want
        assert replace or len(set(drawn.tolist())) == len(drawn)
        assert not weighted or (arcs.weight[drawn] > 0).all()
        begin += want
    assert begin == len(edge)


def chance_of(counts: dict[Any, int], chances: dict[Any, float]) -> float:
    """The p-value of a χ² test; nothing may be drawn that has no chance."""
    assert counts.keys() <= chances.keys()
    total = sum(counts.values())
    if len(chances) == 1:
        return 1.0
    return float(
        scipy.stats.chisquare([counts.get(k, 0) for k in chances], [chances[k] * total for k in chances]).pvalue
    )


def in_turn(weights: list[float], k: int) -> dict[frozenset[int], float]:
    """The chance of each set, drawn one after the other by weight from those that are left."""
    found: dict[frozenset[int], float] = {}
    for order in itertools.permutations([i for i, w in enumerate(weights) if w > 0], k):
        chance, left = 1.0, sum(weights)
        for i in order:
            chance, left = chance * weights[i] / left, left - weights[i]
        found[frozenset(order)] = found.get(frozenset(order), 0) + chance
    return found


@pytest.mark.parametrize("weights", [
    [1.0] * 7, [1.0, 5.0, 0.0, 2.0, 3.0, 1.0], [1.0, 1e9, 2.0, 1e9, 3.0], [0.0, 4.0, 4.0, 0.0],
])  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_sets_have_their_chances(weights: list[float], weighted: bool, k: int, device: str) -> None:
    """Many vertices with the same arcs; one weight above all others makes proposals fail."""
    copies, d = 6000, len(weights)
    source, target = np.repeat(np.arange(copies), d) + d, np.tile(np.arange(d), copies)
    G = hpg.Graph.from_edges(source, target, np.tile(weights, copies)).to(device)
    found = hpg.sample_neighbors(G, np.arange(copies) + d, k, weight=weighted, seed=13)
    can = [w if weighted else 1.0 for w in weights]
    each = min(k, sum(w > 0 for w in can))
    sets = host(found.vertex)[host(found.edge_index)[0]].reshape(copies, each)
    counts: dict[Any, int] = {}
    for drawn in sets.tolist():
        counts[frozenset(drawn)] = counts.get(frozenset(drawn), 0) + 1
    chances = {drawn: chance for drawn, chance in in_turn(can, each).items() if chance > 1e-5}
    assert chance_of(counts, chances) > 1e-4


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_with_replacement(weighted: bool, device: str) -> None:
    weights = [1.0, 5.0, 0.0, 2.0, 3.0, 1.0]
    G = hpg.Graph.from_edges([9] * 6, [0, 1, 2, 3, 4, 5], weights).to(device)
    found = hpg.sample_neighbors(G, [9], 12_000, replace=True, weight=weighted, seed=21)
    drawn = host(found.vertex)[host(found.edge_index)[0]]
    counts = dict(zip(*(part.tolist() for part in np.unique(drawn, return_counts=True)), strict=True))
    can = weights if weighted else [1.0] * 6
    assert chance_of(counts, {i: w / sum(can) for i, w in enumerate(can) if w}) > 1e-4
    # Pairs of draws that follow each other, too.
    pairs = dict(zip(*np.unique(drawn[::2] * 10 + drawn[1::2], return_counts=True), strict=True))
    both = {10 * i + j: can[i] * can[j] / sum(can) ** 2 for i in range(6) for j in range(6) if can[i] * can[j]}
    assert chance_of(pairs, both) > 1e-4


def test_many_of_a_long_row(device: str) -> None:
    """Of 3,000 arcs nearly all, and some hundred: none twice, each place as likely as another."""
    G = hpg.Graph.from_edges(np.zeros(3000, int), np.arange(1, 3001)).to(device)
    for k in (2990, 300):
        drawn = host(hpg.sample_neighbors(G, [0], k, seed=k).edge)
        assert len(np.unique(drawn)) == k
        assert scipy.stats.kstest(drawn / 3000, "uniform").pvalue > 1e-4
    assert hpg.sample_neighbors(G, [0], 5000).edges_of_hop == [3000]


def test_samples_repeat(graph: hpg.Graph, device: str) -> None:
    G = graph.to(device)

    def drawn(of: hpg.Graph, seed: int, **how: Any) -> Any:
        found = hpg.sample_neighbors(of, np.arange(40), [3, 3], seed=seed, **how)
        return [host(array).tolist() for array in (found.vertex, found.edge_index, found.edge)]

    for how in ({}, {"replace": True}, {"weight": True}):
        assert drawn(G, 6, **how) == drawn(G, 6, **how) != drawn(G, 7, **how)
        with hpg.config(threads=1):
            assert drawn(G, 6, **how) == drawn(graph, 6, **how)


@pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")
@pytest.mark.parametrize("room", [1, 1 << 20])
def test_room_grows(graph: hpg.Graph, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More draws than there was room for at first, and more hops than a launch has."""
    monkeypatch.setattr("hpgraph.kernels.sampling.cuda_hops.ROOM", room)
    G = graph.to("cuda")
    for fanouts in ([4, -1, 40], [2] * 20, [33, 0, 1]):
        for how in ({}, {"replace": True}):
            one, other = (hpg.sample_neighbors(of, np.arange(60) % 40, fanouts, **how) for of in (graph, G))
            assert one.edges_of_hop == other.edges_of_hop and one.vertices_of_hop == other.vertices_of_hop
            for name in ("vertex", "seeds", "edge_index", "edge"):
                assert (getattr(one, name) == host(getattr(other, name))).all()


def test_ugly_samples(graph: hpg.Graph, device: str) -> None:
    G = graph.to(device)
    alone = hpg.sample_neighbors(G, [99], [3, 3])
    assert alone.vertices_of_hop == [1, 0, 0] and host(alone.edge_index).shape == (2, 0)
    empty_graph = hpg.Graph.from_edges([], [], n_vertices=0).to(device)
    for empty in (hpg.sample_neighbors(G, [], [3]), hpg.sample_neighbors(empty_graph, [], [3, -1])):
        assert len(empty) == 0 and host(empty.indptr).tolist() == [0]
    assert hpg.sample_neighbors(G, 3, 0).edges_of_hop == [0]
    raises(IndexError, r"seeds must lie in 0..99", hpg.sample_neighbors, G, [100], 3)
    for bad in ([], -2, [3, 2**40]):
        raises(ValueError, "fanouts must be numbers", hpg.sample_neighbors, G, [0], bad)
    raises(TypeError, "fanouts must be whole numbers", hpg.sample_neighbors, G, [0], [2.5])
    raises(
        MemoryError, "draws needs", hpg.sample_neighbors, hpg.datasets.uniform(12), range(4096), 2**31 - 1, replace=True
    )
    with pytest.raises(ValueError, match="there is -1"):
        hpg.sample_neighbors(hpg.Graph.from_edges([0], [1], [-1.0]).to(device), [0], 1, weight=True)


def test_arrays_are_shared(graph: hpg.Graph) -> None:
    """By DLPack, without a copy, as PyTorch takes them."""
    found = hpg.sample_neighbors(graph, np.arange(9), [3, 3])
    for array in (found.vertex, found.edge_index, found.edge, found.seeds):
        assert array.dtype == np.int64 and np.shares_memory(np.from_dlpack(array), array)


def test_pytorch_shares_them(graph: hpg.Graph, device: str) -> None:
    """Where PyTorch is installed: the memory of tensors is that of the arrays, not a copy."""
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch is of CPUs alone")
    (batch,) = hpg.NeighborLoader(graph.to(device), [3, 3], np.arange(9), batch_size=9)
    for array in (batch.vertex, batch.edge_index, batch.edge, batch.seeds):
        tensor = torch.from_dlpack(array)
        assert tensor.dtype == torch.int64 and tuple(tensor.shape) == array.shape and tensor.is_contiguous()
        assert tensor.data_ptr() == (array.ctypes.data if device == "cpu" else array.data.ptr)
        assert (tensor.cpu().numpy() == host(array)).all()
    loader = hpg.NeighborLoader(graph.to(device), [3], batch_size=30)
    raises(TypeError, r"bfloat16 is no type of NumPy: .* x.view\(torch", loader.attach, torch.ones(100).bfloat16())
    seeds = torch.ones(3, requires_grad=True)
    raises(TypeError, "hpgraph.torch alone", hpg.NeighborLoader, graph, [3], seeds)
    raises(TypeError, "seeds must be whole", hpg.NeighborLoader, graph, [3], seeds.detach())


class TestLoader:
    def test_goes_through_all_seeds(self, graph: hpg.Graph, device: str) -> None:
        G = graph.to(device)
        for prefetch in (0, 1, 3):
            loader = hpg.NeighborLoader(G, [2, 2], batch_size=30, shuffle=True, prefetch=prefetch, seed=5)
            times = [[host(batch.vertex[batch.seeds]).tolist() for batch in loader] for _ in range(2)]
            assert [len(part) for part in times[0]] == [30, 30, 30, 10]
            assert all(sorted(itertools.chain(*once)) == list(range(100)) for once in times)
            assert times[0] != times[1]
            again = hpg.NeighborLoader(G, [2, 2], batch_size=30, shuffle=True, seed=5)
            assert [host(batch.vertex[batch.seeds]).tolist() for batch in again] == times[0]

    def test_batches_are_samples(self, graph: hpg.Graph, device: str) -> None:
        named = hpg.Graph(graph, names=[f"v{i}" for i in range(100)]).to(device)
        loader = hpg.NeighborLoader(named, 3, ["v5", "v9", "v2"], batch_size=2, drop_last=True, replace=True)
        (batch,) = loader
        assert batch.names[:2].tolist() == ["v5", "v9"] and len(loader) == 1
        assert batch.edges_of_hop == [6]
        assert repr(loader) == f"<NeighborLoader: 1 batches of 2 seeds, fanouts 3, {device}>"

    @pytest.mark.parametrize("prefetch", [0, 2])
    def test_attached_features(self, graph: hpg.Graph, prefetch: int, tmp_path: Any, device: str) -> None:
        stored = np.memmap(tmp_path / "x", np.float32, "w+", shape=(100, 3))
        stored[:] = np.arange(300).reshape(100, 3)
        mapped = np.memmap(tmp_path / "x", np.float32, "r", shape=(100, 3))
        loader = hpg.NeighborLoader(graph.to(device), [2, 2], batch_size=30, prefetch=prefetch)
        for batch in loader.attach(mapped):
            assert (host(batch.features) == stored[host(batch.vertex)]).all()
        for batch in loader.attach({"x": mapped, "y": np.arange(100), "z": np.asfortranarray(stored)}):
            assert (host(batch.features["y"]) == host(batch.vertex)).all() and batch.features["x"].dtype == np.float32
            assert (host(batch.features["z"]) == stored[host(batch.vertex)]).all()
        for wrong, error in ((np.zeros(3), ValueError), ([1] * 100, TypeError), ({"x": np.float32(2)}, ValueError)):
            raises(error, "features", loader.attach, wrong)

    def test_makes_ahead_and_stops(self, graph: hpg.Graph) -> None:
        before = threading.active_count()
        batches = iter(hpg.NeighborLoader(graph, 3, batch_size=10))
        next(batches)
        assert threading.active_count() == before + 1
        batches.close()
        assert threading.active_count() == before

    def test_an_error_reaches_the_iterator(self, graph: hpg.Graph) -> None:
        bad = hpg.Graph.from_edges([0], [1], [-1.0])
        with pytest.raises(ValueError, match="there is -1"):
            list(hpg.NeighborLoader(bad, 3, weight=True))
        raises(ValueError, "batch_size must be at least 1", hpg.NeighborLoader, graph, 3, batch_size=0)


@pytest.mark.parametrize("radius", [0, 1, 2, 2.5, np.inf])
@pytest.mark.parametrize("how", [{}, {"center": False}, {"undirected": True}, {"distance": "weight"}])
def test_ego_graphs_as_networkx(how: dict[str, Any], radius: float, device: str) -> None:
    directed = nx.gnp_random_graph(40, 0.05, seed=2, directed=True)
    nx.set_edge_attributes(directed, {edge: 0.5 + (sum(edge) % 4) for edge in directed.edges}, "weight")
    G = hpg.from_networkx(directed).to(device)
    cut = None if radius == np.inf else radius
    for n in (0, 17):
        # Where arcs count 1, NetworkX goes on until the distance is no less than the radius.
        expected = nx.ego_graph(directed, n, cut if cut is None or "distance" in how else int(cut), **how)
        found = hpg.ego_graph(G, n, radius, **{**how, **({"distance": True} if "distance" in how else {})})
        assert set(found) == set(expected)
        source, target, _ = found.edges(names=True)
        assert set(zip(host(source).tolist(), host(target).tolist(), strict=True)) == set(expected.edges)
    raises(ValueError, "radius must not be negative", hpg.ego_graph, G, 0, -1)


@pytest.mark.parametrize("each", [False, True])
def test_surroundings(graph: hpg.Graph, each: bool, device: str) -> None:
    G, middles = graph.to(device), [5, 80, 5, 99]
    found = hpg.k_hop_subgraph(G, middles, 2, each=each)
    vertex, batch, edge = host(found.vertex), host(found.batch), host(found.edge)
    source, target = host(found.edge_index)
    arcs = graph.edges(both_ways=True)
    assert (vertex[source] == arcs.source[edge]).all() and (vertex[target] == arcs.target[edge]).all()
    assert vertex[host(found.centers)].tolist() == middles
    assert len(found) == (4 if each else 1)
    for part, around in enumerate([[v] for v in middles] if each else [middles]):
        expected = hpg.k_hop(graph, around, 2, form="vertices").tolist()
        assert vertex[batch == part].tolist() == expected
        inside = np.isin(arcs.source, expected) & np.isin(arcs.target, expected)
        assert edge[batch[source] == part].tolist() == np.flatnonzero(inside).tolist()
    assert (batch[source] == batch[target]).all()
    raises(ValueError, "vertices is empty", hpg.k_hop_subgraph, G, [], 2)


def test_a_walk_of_the_same_seed_draws_something_else(device: str) -> None:
    G = hpg.Graph.from_edges(np.repeat(np.arange(200), 200), np.tile(np.arange(200), 200)).to(device)
    walked = host(hpg.random_walk(G, np.arange(200), 1, seed=3))[:, 1]
    drawn = [host(hpg.sample_neighbors(G, [v], 1, seed=3).vertex)[-1] for v in range(200)]
    assert np.count_nonzero(walked == drawn) < 20


@pytest.mark.parametrize("ends", [2, 3])
@pytest.mark.parametrize("disjoint", [False, True])
def test_links_and_triangles(graph: hpg.Graph, ends: int, disjoint: bool, device: str) -> None:
    G, seeds = graph.to(device), np.random.default_rng(1).integers(0, 100, (20, ends))
    found = hpg.sample_neighbors(G, seeds, [3, 2], disjoint=disjoint, seed=4)
    assert (host(found.vertex)[host(found.seeds)] == seeds).all()
    if disjoint:
        tree = host(found.batch)
        assert (tree[host(found.seeds)] == np.arange(20)[:, None]).all()
        assert (tree[host(found.edge_index)[0]] == tree[host(found.edge_index)[1]]).all()
    else:
        flat = hpg.sample_neighbors(G, seeds.reshape(-1), [3, 2], seed=4)
        assert (host(flat.vertex) == host(found.vertex)).all() and (host(flat.edge) == host(found.edge)).all()
    batches = list(hpg.NeighborLoader(G, [3], hpg.id(seeds), batch_size=8, disjoint=disjoint))
    assert [len(batch.seeds) for batch in batches] == [8, 8, 4]
    assert (np.concatenate([host(batch.vertex)[host(batch.seeds)] for batch in batches]) == seeds).all()
    T = hpg.TemporalGraph([(0, 1, 3), (1, 2, 5), (3, 2, 9), (2, 4, 4)], directed=False)
    timed = hpg.sample_neighbors(T, np.array([[0, 1], [1, 3]]), [-1, -1], time=[4, 9])
    assert timed.vertex[timed.batch == 0].tolist() == [0, 1] and timed.batch.max() == 1 and len(timed.seeds) == 2


def expected_layers(G: hpg.Graph, weighted: bool) -> Any:
    """The adjacency whose rows sum to 1."""
    dense = np.zeros((G.n_vertices, G.n_vertices))
    arcs = G.edges(both_ways=True)
    np.add.at(dense, (arcs.source, arcs.target), arcs.weight if weighted else 1)
    return dense / np.maximum(dense.sum(axis=1, keepdims=True), 1e-300)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["ladies", "fastgcn"])
def test_layers(graph: hpg.Graph, method: str, weighted: bool, device: str) -> None:
    """How often each vertex is drawn, by chi-square, and the mean of neighbours that samples estimate."""
    graph = graph.simple()
    G, seeds, size, runs = graph.to(device), np.array([7, 3, 50, 20]), 10, 400
    A = expected_layers(graph, weighted)
    chance = (A[seeds] if method == "ladies" else A) ** 2
    chance = chance.sum(axis=0) / chance.sum()
    reached, x = A[seeds].sum(axis=0) > 0, np.random.default_rng(5).random(100)
    times, means = np.zeros(100), []
    for seed in range(runs):
        found = hpg.sample_neighbors(G, seeds, [size], method=method, weight=weighted, seed=seed)
        vertex, (row, column), factor = host(found.vertex), host(found.edge_index), host(found.edge_factor)
        arcs = graph.edges(both_ways=True)
        edge = host(found.edge)
        assert (arcs.source[edge] == vertex[column]).all() and (arcs.target[edge] == vertex[row]).all()
        drawn = np.zeros(100)
        drawn[vertex[row]] = factor * size * chance[vertex[row]] / A[vertex[column], vertex[row]]
        assert np.abs(drawn - drawn.round()).max() < 1e-9
        assert method == "fastgcn" or drawn.sum() == pytest.approx(size)
        times += drawn
        means.append(np.bincount(column, factor * x[vertex[row]], len(vertex))[host(found.seeds)])
    some = reached & (chance > 0)
    if method == "ladies":
        assert scipy.stats.chisquare(times[some], runs * size * chance[some]).pvalue > 1e-4
    assert (times[~some] == 0).all()
    error = (np.mean(means, axis=0) - (A @ x)[seeds]) / (np.std(means, axis=0) / np.sqrt(runs) + 1e-12)
    assert np.abs(error).max() < 5


def test_layers_in_layers(graph: hpg.Graph, device: str) -> None:
    G = graph.to(device)
    found = hpg.sample_neighbors(G, [7, 3, 7], [5, -1, 0], method="ladies", seed=2)
    assert sum(found.edges_of_hop) == found.edge_index.shape[1] and sum(found.vertices_of_hop) == len(found)
    first, all_of, none = (found.of_hop(hop) for hop in range(3))
    known = sum(found.vertices_of_hop[:2])
    assert host(found.edge_index)[1, first].max(initial=0) < found.vertices_of_hop[0] and none.start == none.stop
    degree = graph.out_csr.degrees[host(found.vertex)[:known]]
    assert (np.bincount(host(found.edge_index)[1, all_of], minlength=known)[:known] == degree).all()
    (batch,) = hpg.NeighborLoader(G, [5, 5], [1, 2, 3], method="fastgcn", incoming=True)
    assert len(batch.edges_of_hop) == 2 and len(host(batch.edge_factor)) == batch.edge_index.shape[1]
    alone = hpg.Graph.from_edges([], [], n_vertices=4).to(device)
    empty = hpg.sample_neighbors(alone, [1, 2], [3, 3], method="fastgcn")
    assert empty.edges_of_hop == [0, 0] and len(hpg.sample_neighbors(G, [], [3], method="ladies")) == 0
    for how, said in (
        ({"method": "saint"}, "method must be"), ({"method": "ladies", "disjoint": True}, "without disjoint"),
        ({"method": "fastgcn", "replace": True}, "without disjoint"),
    ):  # fmt: skip
        raises(ValueError, said, hpg.sample_neighbors, G, [0], 2, **how)
        raises(ValueError, said, hpg.NeighborLoader, G, 2, **how)


def test_cached_rows(graph: hpg.Graph, device: str) -> None:
    features = {"x": np.random.default_rng(3).random((100, 4)), "y": np.arange(100)}
    for batch in hpg.NeighborLoader(graph.to(device), [3], batch_size=30).attach(features, cache=30):
        vertex = host(batch.vertex)
        assert (host(batch.features["x"]) == features["x"][vertex]).all()
        assert (host(batch.features["y"]) == vertex).all()


@pytest.mark.parametrize("cache", [0, 20])
def test_rows_of_page_locked_memory(graph: hpg.Graph, cache: int, device: str) -> None:
    """Of all sizes that words have, each batch kept while others are made; an iteration may end early."""
    rng, features = np.random.default_rng(5), {}
    for name, dtype, shape in (
        ("a", np.int8, (3,)),
        ("b", np.float16, ()),
        ("c", np.float32, (32,)),
        ("d", np.float64, (3, 2)),
    ):
        features[name] = rng.integers(0, 100, (100, *shape)).astype(dtype)
        if device == "cuda":
            import cupyx

            pinned = cupyx.empty_pinned(features[name].shape, dtype)
            pinned[...] = features[name]
            features[name] = pinned
    for prefetch in (0, 1, 3):
        loader = hpg.NeighborLoader(graph.to(device), [3, 2], batch_size=7, shuffle=True, prefetch=prefetch)
        loader.attach(features, cache=cache)
        next(iter(loader))
        kept = list(loader)
        assert len(kept) == len(loader) == 15
        for batch in kept:
            for name, given in features.items():
                found = host(batch.features[name])
                assert found.dtype == given.dtype and (found == given[host(batch.vertex)]).all()
