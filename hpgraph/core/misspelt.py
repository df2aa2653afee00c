"""Names that other libraries have, or that are nearly right: messages say which one is meant."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

# What NetworkX, igraph, cuGraph and SciPy call what goes by another name here.
_ELSEWHERE = {
    "all_pairs_dijkstra_path_length": "all_pairs_shortest_path_length",
    "bellman_ford": "sssp",
    "betweenness": "betweenness_centrality",
    "bfs_edges": "bfs",
    "bfs_tree": "bfs",
    "breadth_first_search": "bfs",
    "closeness": "closeness_centrality",
    "color": "greedy_color",
    "core_numbers": "core_number",
    "coreness": "core_number",
    "degrees": "degree_centrality",
    "digraph": "Graph",
    "dijkstra": "sssp",
    "from_arrow": "from_edges",
    "from_cudf_edgelist": "from_edges",
    "from_edgelist": "from_edges",
    "from_pandas": "from_edges",
    "from_pandas_edgelist": "from_edges",
    "from_polars": "from_edges",
    "from_scipy": "Graph",
    "from_scipy_sparse_array": "Graph",
    "kcore": "k_core",
    "ktruss": "k_truss",
    "label_propagation_community": "label_propagation_communities",
    "leiden_communities": "leiden",
    "load": "read",
    "louvain_communities": "louvain",
    "minimum_spanning_tree": "minimum_spanning_forest",
    "read_edgelist": "read",
    "read_graph": "read",
    "shortest_paths": "sssp",
    "single_source_dijkstra": "sssp",
    "single_source_shortest_path": "bfs",
    "single_source_shortest_path_length": "bfs",
    "strongly_connected_components": 'connected_components(G, connection="strong")',
    "to_scipy_sparse_array": "Matrix",
    "weakly_connected_components": "connected_components",
}
_ARGUMENTS = {
    "alpha": "damping",
    "depth_limit": "max_depth",
    "dist_cutoff": "cutoff",
    "max_iter": "max_iteration",
    "max_iters": "max_iteration",
    "maxiter": "max_iteration",
    "nstart": "start",
    "tolerance": "tol",
    "weight": "weighted",
    "weights": "weighted",
}
Function = TypeVar("Function", bound=Callable[..., Any])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that is not there; empty where nothing comes near.

    Parameters
    ----------
    name : str
    known : iterable of str
        The names that there are.

    Returns
    -------
    str

    Examples
    --------
    >>> did_you_mean("page_rank", ["pagerank", "hits"])
    ': did you mean pagerank?'
    >>> did_you_mean("louvain_communities", ["louvain"]), did_you_mean("zzz", ["hits"])
    (': did you mean louvain?', '')
    """
    if (meant := _ELSEWHERE.get(name.lower())) is not None:
        return f": did you mean {meant}?"
    plain = {_plain(other): other for other in known}
    near = difflib.get_close_matches(_plain(name), plain, n=2, cutoff=0.75)
    return f": did you mean {' or '.join(plain[other] for other in near)}?" if near else ""


def naming_arguments(function: Function) -> Function:
    """A function that names the right argument where it is given a wrong one.

    Examples
    --------
    >>> @naming_arguments
    ... def rank(G, *, damping=0.85, max_iteration=100):
    ...     return damping
    >>> rank(None, alpha=0.9)
    Traceback (most recent call last):
    ...
    TypeError: rank() has no argument 'alpha': did you mean damping?
    """
    known = frozenset(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        if not known.issuperset(named):
            name = next(name for name in named if name not in known)
            meant = _ARGUMENTS.get(name)
            end = f": did you mean {meant}?" if meant in known else did_you_mean(name, known)
            end = end or f"; it has {', '.join(sorted(known))}"
            raise TypeError(f"{function.__name__}() has no argument {name!r}{end}")
        return function(*given, **named)

    return cast(Function, call)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")
