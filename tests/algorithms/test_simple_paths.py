"""Several paths between two vertices, and A*, against NetworkX."""

import itertools

import networkx as nx
import numpy as np
from graph_examples import every_kind, example
from raising import raises

import hpgraph as hpg


@every_kind
def test_all_shortest_paths(directed, weighted, named, device):
    g, weight = example(directed, weighted, named), "weight" if weighted else None
    G = hpg.from_networkx(g).to(device)
    for source, target in itertools.product(list(g)[:6], list(g)[-6:]):
        if not nx.has_path(g, source, target):
            for function in (hpg.all_shortest_paths, hpg.shortest_simple_paths, hpg.astar_path):
                raises(hpg.NoPathError, f"from {source} to {target}", function, G, source, target, weight=weight)
            continue
        wanted = list(nx.all_shortest_paths(g, source, target, weight))
        found = list(hpg.all_shortest_paths(G, source, target, weight=weight))
        assert sorted(found) == sorted(wanted) and len(set(map(tuple, found))) == len(found)
        found = list(itertools.islice(hpg.shortest_simple_paths(G, source, target, weight=weight), 12))
        wanted = list(itertools.islice(nx.shortest_simple_paths(g, source, target, weight), 12))
        length = (lambda path: nx.path_weight(g, path, weight)) if weighted else len
        assert list(map(length, found)) == list(map(length, wanted))
        assert len(set(map(tuple, found))) == len(found) and all(len(set(path)) == len(path) for path in found)
        path = hpg.astar_path(G, source, target, weight=weight)
        assert nx.is_path(g, path) and length(path) == length(wanted[0])


@every_kind
def test_all_simple_paths(directed, weighted, named, device):
    g = example(directed, weighted, named)
    G = hpg.from_networkx(g).to(device)
    for source, target, cutoff in itertools.product(list(g)[:4], list(g)[-4:], (0, 1, 3, 4)):
        found, wanted = hpg.all_simple_paths(G, source, target, cutoff), nx.all_simple_paths(g, source, target, cutoff)
        assert sorted(found) == sorted(wanted)
    small = nx.complete_graph(7, nx.DiGraph if directed else nx.Graph)
    found = list(hpg.all_simple_paths(hpg.from_networkx(small), 0, 6))
    assert sorted(found) == sorted(nx.all_simple_paths(small, 0, 6)) and found[0] == list(range(7))
    assert list(hpg.all_simple_paths(G, source, source)) == [[source]]


def test_many_simple_paths_are_found_on_demand():
    """There are 38! or so; and far more ways that lead nowhere than time to take them, but for the distances left."""
    G = hpg.datasets.gnp_random_graph(40, 1)
    found = list(itertools.islice(hpg.all_simple_paths(G, 0, 39), 50_000))
    assert len(set(map(tuple, found))) == 50_000 and all(len(set(path)) == len(path) for path in found)
    grid = hpg.datasets.grid(200, removed=0)
    assert sum(1 for _ in hpg.all_simple_paths(grid, 0, 10 + 200 * 10, 20)) == 184756


def test_paths_along_arcs_of_no_weight():
    """A cycle of weight 0 on the way is left out."""
    G = hpg.Graph.from_edges([0, 1, 2, 2, 1], [1, 2, 1, 3, 3], [1.0, 0.0, 0.0, 2.0, 2.0])
    assert sorted(hpg.all_shortest_paths(G, 0, 3, weight=True)) == [[0, 1, 2, 3], [0, 1, 3]]
    assert list(hpg.all_shortest_paths(G, 0, 0, weight=True)) == [[0]] == list(hpg.shortest_simple_paths(G, 0, 0))


def test_astar_by_arrays_and_functions(device):
    side = 60
    G = hpg.datasets.grid(side, removed=0.2, weighted=True, device=device)
    x, y = (np.arange(side * side) // side).astype(float), (np.arange(side * side) % side).astype(float)
    least = 1.0

    def lattice(v, target):
        return least * (abs(x[v] - x[target]) + abs(y[v] - y[target]))

    rng = np.random.default_rng(3)
    reach = hpg.connected_components(G.to("cpu")).label
    inside = np.flatnonzero(reach == reach[side * side // 2])
    for source, target in rng.choice(inside, (8, 2)):
        wanted = hpg.sssp(G.to("cpu"), hpg.id(source)).distance
        bounds = abs(x - x[target]) + abs(y - y[target])
        # Bounds that are no higher than distances, but differ by more than an arc weighs: vertices are visited again.
        rough = np.where(rng.random(side * side) < 0.5, 0, hpg.sssp(G.to("cpu"), hpg.id(target)).distance)
        rough[np.isinf(rough)] = 0
        for heuristic in (None, lattice, bounds, dict(enumerate(bounds.tolist())), rough):
            path = hpg.astar_path(G, source, target, heuristic, weight=True)
            assert path[0] == source and path[-1] == target
            rows = G.to("cpu").out_csr.to_scipy()
            assert sum(rows[u, v] for u, v in itertools.pairwise(path)) == wanted[target]


def test_arguments():
    G = hpg.Graph.from_edges([0, 1], [1, 2], [1.0, 2.0])
    for call, error, says in (
        (lambda: hpg.astar_path(G, 0, 2, [1.0, 2.0]), ValueError, "heuristic must have one value for each"),
        (lambda: hpg.astar_path(G, 0, 2, lambda v, t: {v: t}), hpg.CompileError, "heuristic"),
        (lambda: hpg.all_shortest_paths(G, 0, 5), IndexError, "target"),
        (lambda: hpg.shortest_simple_paths(([0], [1], [-1.0]), 0, 1, weight=True), ValueError, "negative"),
    ):
        raises(error, says, call)
