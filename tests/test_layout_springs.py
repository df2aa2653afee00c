"""Springs, stress and layers against NetworkX's and definitions."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import host

import hpgraph as hpg

KARATE = nx.karate_club_graph()


def array(places: dict[Any, Any]) -> Any:
    return np.array([places[v] for v in sorted(places)])


def apart(place: Any) -> Any:
    return np.linalg.norm(place[:, None] - place[None], axis=2)


def stress(place: Any, distance: Any) -> float:
    """Kamada and Kawai's energy, at the best scale."""
    pairs = np.triu_indices(len(place), 1)
    length, want = apart(place)[pairs], distance[pairs]
    scale = (length / want).sum() / ((length / want) ** 2).sum()
    return float(((scale * length / want - 1) ** 2).sum())


@pytest.mark.parametrize(
    "how", [{}, {"k": 0.3, "iterations": 3}, {"weight": "weight", "iterations": 2}, {"fixed": [0, 33], "iterations": 3}]
)
def test_spring_as_networkx(how: dict[str, Any], device: str) -> None:
    """To the step, while no two vertices are nearer than 0.01, from where on NetworkX pushes no harder."""
    pytest.importorskip("networkx", "3.5", reason="older NetworkX stops otherwise")
    start = np.random.default_rng(1).random((34, 2))
    want = nx.spring_layout(KARATE, pos=dict(enumerate(start)), **{"weight": None, **how})
    G = hpg.from_networkx(KARATE).to(device)
    mine = {"weight": None, **how} | ({"weight": True} if "weight" in how else {})
    exact = host(hpg.layout.spring(G, pos=start, theta=0, **mine))
    assert np.allclose(exact, array(want), atol=1e-5)
    found = host(hpg.layout.spring(G, pos=start, iterations=3, theta=0.5, weight=None))
    want = nx.spring_layout(KARATE, pos=dict(enumerate(start)), weight=None, iterations=3)
    assert np.allclose(found, array(want), atol=0.1)


def test_sfdp_unfolds_a_grid(device: str) -> None:
    """Distances in the picture are those in the plane; a random beginning and a few steps leave it folded."""
    side = 24
    G = hpg.datasets.grid(side, removed=0).to(device)
    place = host(hpg.layout.sfdp(G))
    grid = np.stack(np.divmod(np.arange(side * side), side), axis=1).astype(float)
    assert np.corrcoef(apart(place).ravel(), apart(grid).ravel())[0, 1] > 0.98
    assert (host(hpg.layout.sfdp(G)) == place).all() and (host(hpg.layout.sfdp(G, seed=1)) != place).any()


@pytest.mark.parametrize("graph", [nx.star_graph(300), nx.path_graph(200), nx.empty_graph(120), nx.complete_graph(70)])
def test_sfdp_of_shapes(graph: Any, device: str) -> None:
    place = host(hpg.layout.sfdp(hpg.from_networkx(graph).to(device), scale=3, center=(1, 2)))
    assert np.isfinite(place).all() and abs(place - (1, 2)).max() == pytest.approx(3)
    assert len(np.unique(place, axis=0)) == len(graph)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_stress_is_below_networkx(weight: Any, device: str) -> None:
    distance = np.array(nx.floyd_warshall_numpy(KARATE, weight=weight or "none"))
    want = array(nx.kamada_kawai_layout(KARATE, weight=weight))
    G = hpg.from_networkx(KARATE).to(device)
    found = host(hpg.layout.kamada_kawai(G, weight=weight))
    assert stress(found, distance) < 1.02 * stress(want, distance)
    few = host(hpg.layout.kamada_kawai(G, weight=weight, pivots=12))
    begun = host(hpg.layout.kamada_kawai(G, weight=weight, pivots=12, max_iter=0))
    assert stress(few, distance) < min(2.5 * stress(want, distance), stress(begun, distance))


def test_stress_of_a_path_and_of_parts(device: str) -> None:
    place = host(hpg.layout.kamada_kawai(hpg.from_networkx(nx.path_graph(10)).to(device)))
    length = np.linalg.norm(np.diff(place, axis=0), axis=1)
    assert np.allclose(length, length[0], rtol=1e-3)
    for graph in (nx.empty_graph(7), nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(5)), nx.path_graph(1)):
        place = host(hpg.layout.kamada_kawai(hpg.from_networkx(graph).to(device), pivots=4))
        assert np.isfinite(place).all() and len(np.unique(place, axis=0)) == len(graph)
    zero = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], [0.0, 1.0, 0.0], directed=False).to(device)
    assert np.isfinite(host(hpg.layout.kamada_kawai(zero))).all()
    # Distances that differ so much coincide in the picture.
    far = hpg.Graph.from_edges([18, 22, 11, 8], [13, 21, 5, 6], [1e9, 0.0, 1e-9, 3.3], n_vertices=24, directed=False)
    assert np.isfinite(host(hpg.layout.kamada_kawai(far.to(device)))).all()


def crossings(G: Any, place: Any) -> int:
    """Pairs of arcs between the same two layers that cross, by their places."""
    source, target, _ = (host(part) for part in G.edges())
    found = 0
    for a in range(len(source)):
        for b in range(a):
            one, other = (place[source[e]] for e in (a, b)), (place[target[e]] for e in (a, b))
            (x, y), (z, w) = one, other
            found += x[1] == y[1] and z[1] == w[1] and (x[0] - y[0]) * (z[0] - w[0]) < 0
    return found


@pytest.mark.parametrize("seed", range(5))
def test_layers_go_down(seed: int, device: str) -> None:
    graph = nx.gnp_random_graph(30, 0.1, seed=seed)
    G = hpg.from_networkx(nx.DiGraph(list(graph.edges))).to(device)
    place = host(hpg.layout.layered(G))
    source, target, _ = (host(part) for part in G.edges())
    assert (place[source, 1] > place[target, 1]).all() and abs(place).max() <= 1 + 1e-12
    assert len(np.unique(place.round(9), axis=0)) == G.n_vertices
    layer = [len(generation) for generation in nx.topological_generations(nx.DiGraph(list(graph.edges)))]
    assert np.unique(place[:, 1].round(9), return_counts=True)[1].tolist() == layer[::-1]


def test_layers_of_a_tree_do_not_cross(device: str) -> None:
    tree = nx.balanced_tree(3, 3, create_using=nx.DiGraph)
    names = np.random.default_rng(2).permutation(len(tree))
    G = hpg.from_networkx(nx.relabel_nodes(tree, dict(enumerate(names.tolist())))).to(device)
    assert crossings(G, host(hpg.layout.layered(G))) == 0
    one = hpg.Graph.from_edges([0], [1]).to(device)
    assert host(hpg.layout.layered(one)).tolist() == [[0.0, 1.0], [0.0, -1.0]]
    with pytest.raises(ValueError, match="G has a cycle"):
        hpg.layout.layered(hpg.Graph.from_edges([0, 1], [1, 0]).to(device))


@pytest.mark.parametrize(("layout", "how", "said"), [
    ("spring", {"k": 0}, "k must be from"), ("spring", {"fixed": [0]}, "give pos"),
    ("spring", {"iterations": -1}, "iterations must not be"), ("spring", {"theta": np.nan}, "theta must be finite"),
    ("sfdp", {"theta": -1}, "theta must be finite"), ("sfdp", {"center": (1, 2, 3)}, "center must be 2"),
    ("kamada_kawai", {"pivots": 0}, "pivots must be at least 1"),
    ("kamada_kawai", {"max_iter": -1}, "max_iter must not be"),
    ("layered", {"scale": np.inf}, "scale must be finite"),
])  # fmt: skip
def test_refused_arguments(layout: str, how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        getattr(hpg.layout, layout)(hpg.Graph.from_edges([0, 1], [1, 2]), **how)


@pytest.mark.parametrize("layout", ["spring", "sfdp", "kamada_kawai"])
def test_refused_weights(layout: str, device: str) -> None:
    for bad in ([1.0, -2.0], [1.0, np.nan], *([[1.0, 1e300]] if layout == "kamada_kawai" else ())):
        with pytest.raises(ValueError, match="weight"):
            getattr(hpg.layout, layout)(hpg.Graph.from_edges([0, 1], [1, 2], bad).to(device), weight=True)
