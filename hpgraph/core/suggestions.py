"""Names from other libraries, and misspelt names, with the names to suggest in error messages."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from hpgraph.core.cupy_kernels import begin
from hpgraph.core.number import flag


def _by_name(table: dict[str, str]) -> dict[str, str]:
    """Invert a table of names with their alternatives."""
    return {name: meant for meant, names in table.items() for name in names.split()}


# Names in NetworkX, igraph, cuGraph and SciPy of functions with another name here.
_ELSEWHERE = _by_name({
    "all_pairs_shortest_path_length": "all_pairs_dijkstra_path_length",
    "sssp": "bellman_ford dijkstra shortest_paths single_source_dijkstra",
    "betweenness_centrality": "betweenness",
    "bfs": "bfs_edges bfs_tree breadth_first_search single_source_shortest_path single_source_shortest_path_length",
    "closeness_centrality": "closeness",
    "greedy_color": "color",
    "core_number": "core_numbers coreness",
    "degree_centrality": "degrees",
    "Graph": "digraph from_scipy from_scipy_sparse_array",
    "fastest_duration": "fastest fastest_path",
    "fewest_hops": "shortest shortest_temporal_path",
    "from_edges": "from_arrow from_cudf_edgelist from_edgelist from_pandas from_pandas_edgelist from_polars",
    "k_core": "kcore",
    "k_truss": "ktruss",
    "label_propagation_communities": "label_propagation_community",
    "leiden": "leiden_communities",
    "louvain": "louvain_communities",
    "minimum_spanning_forest": "minimum_spanning_tree",
    "read": "read_edgelist read_graph read_graphml read_parquet",
    'connected_components(G, connection="strong")': "strongly_connected_components",
    "Matrix": "to_scipy_sparse_array",
    "write": "write_graphml",
    "connected_components": "weakly_connected_components",
})  # fmt: skip
# Names of arguments in NetworkX, cuGraph, igraph and PyTorch Geometric; the first of several that exists is suggested.
_ARGUMENTS = _by_name({
    "damping": "alpha",
    "weight": "capacity distance edge_attr weighted weights",
    "directed": "create_using",
    "max_depth within": "cutoff",
    "max_depth cutoff k": "depth_limit",
    "cutoff max_depth": "dist_cutoff",
    "pairs": "ebunch vertex_pair",
    "fanouts": "fanout_vals num_neighbors",
    "seeds": "input_nodes",
    "length cutoff": "max_depth",
    "max_iteration max_level n_iterations": "max_iter",
    "max_size": "max_cluster_size max_comm_size",
    "max_level max_iter": "max_iteration",
    "max_iteration max_level": "max_iterations",
    "max_iteration": "max_iters maxiter",
    "n_iterations": "max_level",
    "vertices sources": "nbunch",
    "vertices sources G": "nodes",
    "objective": "objective_function partition_type",
    "resolution": "gamma resolution_parameter",
    "start": "initial_membership nstart",
    "k": "num_hops",
    "starts": "num_walks",
    "communities labels": "partition",
    "seed": "random_state rng",
    "k within": "radius",
    "personalization": "reset",
    "source": "root s start",
    "starts seeds": "start_nodes",
    "starts sources": "start_vertices",
    "target sink": "t",
    "sink": "target",
    "tol threshold": "tolerance",
    "vertices": "v",
    "length": "walk_length",
    "replace": "with_replacement",
})  # fmt: skip
# Arguments without an equivalent argument here.
_OTHERWISE = {
    "backend": "hpgraph runs it already; with hpg.config(threads=...) sets threads, G.to(...) the device",
    "device": "it runs where the graph lies: G.to(...)",
    "directed": "the graph says so: G.undirected is the other",
    **dict.fromkeys(
        ("weight", "weighted", "weights"),
        "weights, where they count, are the graph's own: hpg.from_edges(..., weight=...)",
    ),
}
# Attributes of graphs in NetworkX and igraph, and their equivalents here.
_OF_GRAPHS = {
    "add_edge": "graphs do not change: G.add_edges([u], [v]) gives another, G.add_edges([(u, v), ...]) too",
    "add_edges_from": "graphs do not change: G.add_edges([(u, v), ...]) gives another",
    "add_node": "graphs do not change: G.add_edges(...) gives another, with the vertices of its edges",
    "add_weighted_edges_from": "graphs do not change: G.add_edges(sources, targets, weights) gives another",
    "adj": "G.neighbors(v) are the neighbours of v, G.out_csr all",
    "edge_list": "G.edges()",
    "ecount": "G.n_edges counts arcs",
    "get_edge_data": "G.has_edge(u, v), and G.weights in the order of G.edges(both_ways=True)",
    "is_directed": "G.directed",
    "is_weighted": "G.weighted",
    "nodes": "list(G) are the vertices, G.names an array of their names, len(G) how many there are",
    "number_of_edges": "G.n_edges counts arcs, an undirected edge twice",
    "number_of_nodes": "G.n_vertices, or len(G)",
    "order": "G.n_vertices, or len(G)",
    "remove_edge": "graphs do not change: G.remove_edges([u], [v]) gives another",
    "remove_edges_from": "graphs do not change: G.remove_edges([(u, v), ...]) gives another",
    "size": "G.n_edges counts arcs, an undirected edge twice",
    "to_directed": "Graph(G, directed=True)",
    "to_undirected": "G.undirected",
    "vcount": "G.n_vertices, or len(G)",
    "vertices": "list(G) are the vertices, G.names an array of their names, len(G) how many there are",
}
Function = TypeVar("Function", bound=Callable[..., Any])


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: similar names, or an empty text."""
    if (meant := _ELSEWHERE.get(name.lower())) is not None:
        return f": did you mean {meant}?"
    plain = {_plain(other): other for other in known}
    near = difflib.get_close_matches(_plain(name), plain, n=2, cutoff=0.75)
    return f": did you mean {' or '.join(plain[other] for other in near)}?" if near else ""


def no_attribute(kind: type, name: str) -> AttributeError:
    """The error for a missing attribute of a graph, with an equivalent or a similar name."""
    if (advice := _OF_GRAPHS.get(name)) is not None:
        return AttributeError(f"{kind.__name__} has no attribute {name!r}: {advice}")
    names = {*dir(kind), *(held for base in kind.__mro__ for held in inspect.get_annotations(base))}
    near = "" if name.startswith("_") else did_you_mean(name, sorted(held for held in names if held[0] != "_"))
    return AttributeError(f"{kind.__name__} has no attribute {name!r}{near}")


def naming_arguments(function: Function) -> Function:
    """Decorator that checks whether a graph serves the function, and flags, and suggests known arguments."""
    signature = inspect.signature(function)
    names = frozenset(signature.parameters)
    variadic = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values())
    at, of = next(((at, name) for at, name in enumerate(signature.parameters) if name in ("G", "graph")), (0, ""))

    kinds = [parameter.annotation for parameter in signature.parameters.values()]
    flags = [(name, place) for place, (name, kind) in enumerate(zip(signature.parameters, kinds, strict=True))
             if kind in (bool, bool | None, "bool", "bool | None")]  # fmt: skip

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        graph: Any = given[at] if at < len(given) else named.get(of)
        try:
            if hasattr(type(graph), "_check_serves"):
                graph._check_serves(function.__name__)
            if getattr(graph, "device", None) == "cuda":
                begin(function.__name__)
            for name, place in flags:
                value = given[place] if place < len(given) else named.get(name)
                if value is not None and type(value) is not bool:
                    flag(value, name)
            return function(*given, **named)
        except TypeError as error:
            # An error of the call itself, raised before the function began, has only this frame.
            began = error.__traceback__ is not None and error.__traceback__.tb_next is not None
            wrong = None if variadic else next((name for name in named if name not in names), None)
            if began or wrong is None:
                raise
            raise TypeError(
                f"{function.__name__}() has no argument {wrong!r}{_similar_argument(wrong, names)}"
            ) from None

    return cast(Function, call)


def _similar_argument(name: str, known: frozenset[str]) -> str:
    """The end of a message about an unknown argument."""
    for other in _ARGUMENTS.get(name, "").split():
        if other in known:
            return f": did you mean {other}?"
    end = did_you_mean(name, known) if name not in _OTHERWISE else f": {_OTHERWISE[name]}"
    return end or f"; it has {', '.join(sorted(known))}"


def _plain(name: str) -> str:
    return name.lower().replace("_", "")
