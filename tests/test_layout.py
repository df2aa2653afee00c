"""Layouts against definitions, NetworkX, and what a picture is to show."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import host
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module
from hpgraph.kernels.backend import layouts


def pushed(points: Any, mass: Any) -> Any:
    """Every point by every other."""
    apart = points[:, None] - points[None]
    square = (apart**2).sum(axis=2)
    square[square == 0] = np.inf
    return (mass[:, None, None] * mass[None, :, None] * apart / square[..., None]).sum(axis=1)


@pytest.mark.parametrize("n", [300, 2500])
@pytest.mark.parametrize("kind", ["spread", "clustered", "line", "ring", "same places", "far out"])
def test_repulsion(kind: str, n: int, device: str) -> None:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(n, 2))
    if kind == "clustered":
        points[:200] = points[0] + 1e-9 * points[:200]
    elif kind == "line":
        points[:, 1] = 0
    elif kind == "ring":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    elif kind == "same places":
        points = points.round()
    elif kind == "far out":
        points[7] = 1e12
    mass, xp = rng.random(n) + 0.5, array_module(device)
    expected = pushed(points, mass)

    def error(theta: float) -> float:
        found = host(layouts(device).repulsion(xp.asarray(points), xp.asarray(mass), theta))
        return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))

    assert error(0.0) < 1e-9
    # Around a ring forces nearly cancel.
    assert error(0.5) < 0.02 * (1 + (kind == "ring")) and error(1.2) < 0.1 * (1 + (kind == "ring"))


@pytest.mark.parametrize("place", [0.0, 1.0, 1e100])
def test_one_place_has_no_repulsion(place: float, device: str) -> None:
    xp = array_module(device)
    force = layouts(device).repulsion(xp.full((300, 2), place), xp.ones(300), 0.8)
    assert host(force).tolist() == np.zeros((300, 2)).tolist()


def planted(device: str, parts: int = 4, size: int = 40) -> Any:
    graph = nx.planted_partition_graph(parts, size, 0.3, 0.01, seed=1)
    return hpg.from_networkx(graph).to(device), np.repeat(np.arange(parts), size)


@pytest.mark.parametrize("how", [
    {}, {"linlog": True}, {"distributed_action": True, "weight": True}, {"strong_gravity": True, "gravity": 0.01},
])  # fmt: skip
def test_communities_are_drawn_together(how: dict[str, Any], device: str) -> None:
    G, part = planted(device)
    place = host(hpg.layout.force_atlas2(G, **how))
    assert place.shape == (160, 2) and np.isfinite(place).all()
    middles = np.array([place[part == k].mean(axis=0) for k in range(4)])
    nearest = np.linalg.norm(place[:, None] - middles[None], axis=2).argmin(axis=1)
    assert (nearest == part).mean() > 0.95
    again = host(hpg.layout.force_atlas2(G, **how))
    assert (again == place).all()
    assert (host(hpg.layout.force_atlas2(G, seed=1, max_iter=1)) != host(hpg.layout.force_atlas2(G, max_iter=1))).any()


def test_forces_are_in_balance(device: str) -> None:
    """After many steps what pulls and what pushes a vertex nearly cancel, by the definitions."""
    graph = nx.karate_club_graph()
    G = hpg.from_networkx(graph).to(device)
    place = host(hpg.layout.force_atlas2(G, max_iter=2000, theta=0.0, gravity=0))
    adjacency = nx.to_numpy_array(graph, weight=None)
    mass = adjacency.sum(axis=1) + 1
    push = 2.0 * pushed(place, mass)
    pull = adjacency @ place - adjacency.sum(axis=1)[:, None] * place
    left = np.linalg.norm(push + pull, axis=1)
    assert left.max() < 0.05 * np.linalg.norm(push, axis=1).mean()


def test_beginning_and_ugly_graphs(device: str) -> None:
    G = hpg.Graph.from_edges([0, 1, 1], [1, 2, 1], n_vertices=5, directed=False).to(device)
    given = np.zeros((5, 2))
    place = host(hpg.layout.force_atlas2(G, given, max_iter=30))
    assert np.isfinite(place).all() and len(np.unique(place, axis=0)) == 5 and not given.any()
    assert host(hpg.layout.force_atlas2(G, np.arange(10).reshape(5, 2), max_iter=0)).tolist()[4] == [8, 9]
    empty = hpg.Graph.from_edges([], [], n_vertices=0).to(device)
    for layout in (getattr(hpg.layout, name) for name in hpg.layout.__all__):
        assert host(layout(empty)).shape == (0, 2)
    assert np.isfinite(host(hpg.layout.force_atlas2(hpg.Graph.from_edges([0], [0]).to(device)))).all()
    for how, said in (({"gravity": -1}, "gravity must be finite"), ({"max_iter": -1}, "max_iter must not be"),
                      ({"pos": np.zeros((4, 2))}, "pos must be finite"), ({"node_mass": 0}, "node_mass must be pos"),
                      ({"pos": np.full((5, 2), 1e300)}, "up to 1e.70, not of shape .5, 2., and 1e.300"),
                      ({"gravity": 1e300}, "gravity or scaling_ratio: forces exceed"),
                      ({"theta": np.nan}, "theta must be finite")):  # fmt: skip
        raises(ValueError, said, hpg.layout.force_atlas2, G, **how)
    bad = hpg.Graph.from_edges([0, 1], [1, 2], [1.0, -2.0]).to(device)
    raises(ValueError, "weight: edges pull by finite weights", hpg.layout.force_atlas2, bad, weight=True)


def test_circle_as_networkx(device: str) -> None:
    for n in (1, 2, 7):
        graph = nx.path_graph(n)
        want = nx.circular_layout(graph, scale=3, center=(1, 2))
        found = host(hpg.layout.circular(hpg.from_networkx(graph).to(device), 3, (1, 2)))
        assert np.allclose(found, [want[v] for v in range(n)], atol=1e-6)
    with pytest.raises(ValueError, match="center must be 2 finite numbers"):
        hpg.layout.circular(hpg.Graph.from_edges([0], [1]), center=(1, 2, 3))


@pytest.mark.parametrize("n", [30, 600])
def test_spectral_as_networkx(n: int, device: str) -> None:
    """Up to the sign of each coordinate."""
    graph = nx.path_graph(n) if n < 600 else nx.random_geometric_graph(n, 0.09, seed=1)
    nx.set_edge_attributes(graph, {edge: 1.0 + sum(edge) % 3 for edge in graph.edges}, "weight")
    if n == 600:
        graph = nx.Graph(graph.subgraph(max(nx.connected_components(graph), key=len)))
    want = np.array(list(nx.spectral_layout(graph, center=(0, 0)).values()))
    found = host(hpg.layout.spectral(hpg.from_networkx(graph).to(device)))
    found *= np.sign((found * want).sum(axis=0) + 1e-300)
    assert np.allclose(found, want, atol=1e-4)
    directed = nx.gnp_random_graph(20, 0.2, seed=2, directed=True)
    want = np.array(list(nx.spectral_layout(directed, dim=3).values()))
    found = host(hpg.layout.spectral(hpg.from_networkx(directed).to(device), dim=3))
    assert np.allclose(abs(found), abs(want), atol=1e-6)
    for bad in ([1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [1e308, 1e308, 1e308]):
        G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], bad, directed=False).to(device)
        with pytest.raises(ValueError, match="weight: the Laplacian takes weights from 0 on whose sum is finite"):
            hpg.layout.spectral(G, weight=True)
    with pytest.raises(ValueError, match="dim must be below the number of vertices"):
        hpg.layout.spectral(hpg.from_networkx(nx.path_graph(3)).to(device), dim=3)
