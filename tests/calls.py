"""What public functions are given behind a graph: a value for each parameter that they need, by its name."""

import inspect
from operator import attrgetter
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.placements import FUNCTIONS

# Parameters that have a default, and are given all the same.
GIVEN = {
    **dict.fromkeys(("bfs", "sssp", "simrank_similarity"), ("source",)), "reach": ("sources",), "landmarks": ("k",),
    **dict.fromkeys(("k_core", "k_shell"), ("k",)), "spectral_clustering": ("n_clusters",),
    **dict.fromkeys(("random_walk", "node2vec_walk"), ("starts", "length")), "min_cost_flow": ("demand",),
    **dict.fromkeys(FUNCTIONS["similarity"].split()[:-1], ("pairs",)),
    **{f"embed.{name}": ("dim",) for name in hpg.embed.__all__},
}  # fmt: skip


def arguments(name: str, n: int, **others: Any) -> tuple[Any, ...]:
    """Positional arguments of a function of a graph of n vertices, four at least; `others`: instead of the usual."""
    values = {
        "source": 0, "target": 3, "sink": 3, "sources": [0, 3], "vertices": [0], "seeds": [0], "starts": [0],
        "initial": [0], "terminal_nodes": [0, 3], "n": 0, "S": [0, 3], "C": [0, 3], "k": 3, "n_clusters": 2,
        "dim": 4, "length": 2, "fanouts": [2], "beta": 0.3, "gamma": 0.5, "span": 2, "heat": np.eye(n)[0],
        "attribute": np.arange(n) % 3, "communities": np.arange(n) % 2, "partition": np.arange(n) % 2,
        "labels": {0: 0, 1: 1}, "unary": np.ones((n, 2)) + np.eye(n, 2), "potential": np.eye(2) + 1.0,
        "pattern": ([0, 0, 1], [1, 2, 2]), "pairs": [(0, 1), (2, 3)], "demand": {0: -1, 3: 1},
    } | others  # fmt: skip
    _, *parameters = inspect.signature(inspect.unwrap(attrgetter(name)(hpg))).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return tuple(values[parameter] for parameter in (*needed, *GIVEN.get(name, ())))
