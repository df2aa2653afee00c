"""Layouts that ignore edges, scaling of layouts, and what force-directed ones begin with."""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import weight_facts
from hpgraph.containers.graph import Graph, as_graph, real
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR
from hpgraph.semiring.counter_random import uniform

# Coordinates whose squares, and sums of their squares, are finite.
_FARTHEST = 1e70


def circular(G: Graph | Any, scale: float = 1, center: Any = None) -> Any:
    """Vertices on a circle, in order of index, as NetworkX's ``circular_layout``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    scale : number
        The circle's radius.
    center : two numbers, optional
        Its middle.

    Returns
    -------
    float64 array of shape (n, 2)
        On the graph's device; NetworkX gives a dict. One vertex alone lies in the middle.

    Raises
    ------
    ValueError, TypeError
        When `scale` or `center` is not of finite numbers.

    Examples
    --------
    >>> hpg.layout.circular(hpg.Graph.from_edges([0, 1], [1, 2], n_vertices=4)).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-0.0, -1.0]]
    """
    graph = as_graph(G)
    xp, n = array_module(graph.device), graph.n_vertices
    radius, middle = checked(scale, center, 2)
    if n == 1:
        return xp.asarray(middle)[None, :]
    angle = xp.arange(n) * (2 * math.pi / max(n, 1))
    return radius * xp.stack((xp.cos(angle), xp.sin(angle)), axis=1) + xp.asarray(middle)


def checked(scale: Any, center: Any, dim: int) -> tuple[float, Any]:
    """Checked scale and center of a layout."""
    size = real(scale, "scale")
    if not math.isfinite(size):
        raise ValueError(f"scale must be finite, not {scale!r}")
    middle = np.zeros(dim) if center is None else np.asarray(center, dtype=np.float64)
    if middle.shape != (dim,) or not np.isfinite(middle).all():
        raise ValueError(f"center must be {dim} finite numbers, not {center!r}")
    return size, middle


def rescaled(points: Any, scale: float, middle: Any) -> Any:
    """Points centred at `middle`, scaled so that the farthest coordinate is `scale` away from it."""
    xp = array_module(points)
    if len(points) == 0:
        return points
    apart = points - points.mean(axis=0)
    largest = float(abs(apart).max())
    return apart * (scale / largest if largest > 0 else 1.0) + xp.asarray(middle)


def pulling(graph: Graph, weighted: bool) -> CSR:
    """The arcs without loops, with the strength of their attraction."""
    xp, arcs = array_module(graph.device), graph.out_csr.without_diagonal()
    if not weighted:
        return arcs.with_data(xp.ones(arcs.nnz), copy=False)
    facts = weight_facts(graph.out_csr)
    if facts.has_nan or facts.least < 0 or not np.isfinite(facts.mean):
        raise ValueError("weight: edges pull by finite weights from 0 on; or weight=None")
    return arcs.with_data(arcs.data.astype(np.float64), copy=False)


def beginning(graph: Graph, pos: Any, seed: int) -> Any:
    """Initial positions, random or given, all distinct."""
    xp, n = array_module(graph.device), graph.n_vertices
    ids = np.arange(n)
    drawn = np.stack((uniform(seed, ids, 0), uniform(seed, ids, 1)), axis=1) * 2 - 1
    if pos is None:
        return to_device(drawn, graph.device)
    positions = np.asarray(to_device(pos, "cpu"), dtype=np.float64)
    farthest = float(abs(positions).max(initial=0.0))
    if positions.shape != (n, 2) or not farthest <= _FARTHEST:
        found = f"of shape {positions.shape}, and {farthest:g}"
        raise ValueError(f"pos must be finite, of shape ({n}, 2), with numbers up to {_FARTHEST:g}, not {found}")
    if len(np.unique(positions, axis=0)) < n:
        # Repulsion does not separate coincident points.
        positions = positions + drawn * 1e-6 * max(farthest, 1.0)
    return xp.array(positions)
