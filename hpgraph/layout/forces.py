"""Shared by force-directed layouts: initial positions, and the arcs that attract."""

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import weight_facts
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, to_device
from hpgraph.formats import CSR
from hpgraph.semiring.counter_random import uniform


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
    if positions.shape != (n, 2) or not np.isfinite(positions).all():
        raise ValueError(f"pos must be finite, of shape ({n}, 2), not {positions.shape}")
    if len(np.unique(positions, axis=0)) < n:
        # Repulsion does not separate coincident points.
        positions = positions + drawn * 1e-6 * max(float(abs(positions).max(initial=0.0)), 1.0)
    return xp.array(positions)
