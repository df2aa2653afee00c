"""Small NetworkX graphs of every kind, for comparing what ours are asked and made into."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np

KINDS = list(itertools.product((False, True), repeat=3))


def example(directed: bool, weighted: bool, named: bool, n: int = 40, seed: int = 1) -> nx.Graph:
    """Random, with loops, some vertices alone; names are texts, in no order."""
    rng = np.random.default_rng(seed)
    made = nx.DiGraph() if directed else nx.Graph()
    nodes = [f"v{i}" for i in rng.permutation(n)] if named else list(range(n))
    made.add_nodes_from(nodes)
    for u, v in rng.integers(0, n - 3, (4 * n, 2)).tolist():
        made.add_edge(nodes[u], nodes[v], **({"weight": float(rng.integers(1, 9))} if weighted else {}))
    return made
