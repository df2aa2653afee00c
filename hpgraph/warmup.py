"""Small calls that compile everything built in, so that what comes later finds it in the cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.device import array_module, normalize_device

# The types that graphs have in practice; any other compiles when it is first met.
_WEIGHTS = ("int32", "int64", "float32", "float64")
_FLOATS = ("float32", "float64")


def built_in_calls(device: str) -> list[tuple[str, Callable[[], Any]]]:
    """A call for every kernel that a first use would otherwise compile.

    Parameters
    ----------
    device : {"cpu", "cuda"}
        Where.

    Returns
    -------
    list of (str, callable)
        What is compiled, and the call that does it.

    Raises
    ------
    MissingExtraError, DeviceError
        When CUDA is asked for and cannot be had.

    Examples
    --------
    >>> [what for what, call in built_in_calls("cpu")][:2]
    ['BFS', 'BFS, smallest parents']
    """
    device = normalize_device(device)
    plain = _small_graph(device)
    weighted = {kind: _small_graph(device, np.ones(4, kind)) for kind in _WEIGHTS}
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("BFS", partial(hpg.bfs, plain, 0)),
        ("BFS, smallest parents", partial(hpg.bfs, plain, 0, deterministic=True)),
        ("SSSP, no weights", partial(hpg.sssp, plain, 0, parents=True)),
    ]
    calls += [(f"SSSP, {kind}", partial(hpg.sssp, weighted[kind], 0, parents=True)) for kind in _WEIGHTS]
    calls += [(f"PageRank, {kind}", partial(hpg.pagerank, plain, dtype=kind)) for kind in _FLOATS]
    # Triangles are counted in another order where degrees are uneven.
    for graph, degrees in ((plain, "even"), (_star(device), "uneven")):
        calls.append((f"triangle count, {degrees}", partial(hpg.triangle_count, graph)))
        calls.append((f"triangles by vertex, {degrees}", partial(hpg.triangles, graph)))
    for kind in _FLOATS:
        matrix = hpg.hyb_array(weighted[kind].out_csr.to_scipy())
        calls.append((f"A @ x, {kind}", partial(matrix.__matmul__, array_module(device).ones(5, dtype=kind))))
    return calls


def _star(device: str) -> hpg.Graph:
    return hpg.Graph.from_edges(np.zeros(200, np.int64), np.arange(1, 201), directed=False).to(device)


def _small_graph(device: str, weight: np.ndarray[Any, np.dtype[Any]] | None = None) -> hpg.Graph:
    # One triangle, a vertex beyond it and one that nothing reaches.
    source, target = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 2])
    return hpg.Graph.from_edges(source, target, weight, n_vertices=5).to(device)
