"""Whether a function of the backend can run a call, and whether that is worth the conversion.

A function refuses a call by its arguments (`serves`) or, if that needs the converted graph, by raising
NotImplementedError; NetworkX then tries the next backend.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar

import networkx as nx

from hpgraph.core.locks import uncollected
from hpgraph.interop.networkx_backend.info import FUNCTIONS

# Functions that visit each edge once in NetworkX, or few of them: the conversion of a graph would take longer.
_ONE_PASS = """
    connected_components is_connected is_weakly_connected node_connected_component number_connected_components
    number_weakly_connected_components weakly_connected_components
    bfs_edges bfs_tree bfs_predecessors bfs_successors bfs_layers descendants ancestors descendants_at_distance
    dfs_edges dfs_tree dfs_predecessors dfs_successors dfs_preorder_nodes dfs_postorder_nodes predecessor
    topological_generations topological_sort has_cycle is_tree is_forest is_arborescence is_branching
    isolates number_of_isolates degree_centrality in_degree_centrality out_degree_centrality is_regular is_k_regular
    is_eulerian is_semieulerian has_eulerian_path number_of_selfloops is_weighted s_metric
    to_scipy_sparse_array adjacency_matrix preferential_attachment maximal_matching reverse
    has_path bidirectional_shortest_path bidirectional_dijkstra dijkstra_path dijkstra_path_length ego_graph
    astar_path astar_path_length group_degree_centrality group_out_degree_centrality
"""
ONE_PASS = frozenset(_ONE_PASS.split())
# Functions that had other results before NetworkX 3.5, which runs them itself there.
_OLDER = """
    constraint effective_size trophic_levels trophic_differences trophic_incoherence_parameter
    minimum_st_node_cut bfs_layers single_target_shortest_path_length
    weisfeiler_lehman_graph_hash weisfeiler_lehman_subgraph_hashes
"""
OLDER = frozenset(_OLDER.split())
# Results follow the NetworkX that is installed where versions differ.
NETWORKX = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))
Function = TypeVar("Function", bound=Callable[..., Any])
Refusal = Callable[[Mapping[str, Any]], "str | None"]


def serves(*, parallel: bool = False, unless: Refusal | None = None) -> Callable[[Function], Function]:
    """Decorator with the conditions of a function of the backend."""

    def mark(function: Function) -> Function:
        function.parallel = parallel  # type: ignore[attr-defined]
        function.unless = unless  # type: ignore[attr-defined]
        return function

    return mark


def undirected(call: Mapping[str, Any]) -> str | None:
    """Refuse directed graphs, whose direction NetworkX follows."""
    return "NetworkX goes along the arcs of a directed graph" if call["G"].is_directed() else None


def plain_classes(call: Mapping[str, Any]) -> str | None:
    """Refuse to make graphs of other classes than NetworkX's plain ones."""
    chosen = call["create_using"]
    return None if chosen in (None, nx.Graph, nx.DiGraph) else "create_using must be nx.Graph or nx.DiGraph"


def family(
    functions: Mapping[str, Callable[..., Any]] | str, *, parallel: bool = False, unless: Refusal | None = None,
    unread: tuple[str, ...] = (), without: tuple[str, ...] = (), only: Mapping[str, tuple[Any, ...]] | None = None,
) -> dict[str, Callable[..., Any]]:  # fmt: skip
    """Functions by name, with the signatures of the installed NetworkX; functions that it lacks are left out.

    A function receives, by name, the arguments for its parameters, except `without`. Any other parameter must have its
    default, or one of the values that `only` lists, unless it is in `unread`: these affect no result.

    ``functions`` as a string of names are functions whose code in NetworkX calls other functions of the backend: it
    runs on a converted graph, so NetworkX dispatches the inner calls here.
    """
    known = registered()
    if isinstance(functions, str):
        functions = {name: known[name].orig_func for name in functions.split() if name in known}
    return {
        name: serves(parallel=parallel, unless=unless)(_with_signature(name, run, unread, without, only or {}))
        for name, run in functions.items()
        if name in known
    }


def _with_signature(
    name: str, run: Callable[..., Any], unread: tuple[str, ...], without: tuple[str, ...],
    only: Mapping[str, tuple[Any, ...]],
) -> Callable[..., Any]:  # fmt: skip
    signature = inspect.signature(registered()[name].orig_func)
    taken = inspect.signature(run).parameters.keys() - set(without)

    delegated = run is registered()[name].orig_func

    def function(*args: Any, **kwargs: Any) -> Any:
        given = args, kwargs
        if not delegated:
            given = (), {key: value for key, value in _bound(function, args, kwargs).items() if key in taken}
        # What is made here has no reference cycles, and NetworkX's dicts take long to be searched for some.
        with _dispatching() if delegated else uncollected():
            found = run(*given[0], **given[1])
            return _advanced(found) if isinstance(found, Iterator) else found

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As `networkx.{name}`."
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.only = {  # type: ignore[attr-defined]
        key: only.get(key, (parameter.default,))
        for key, parameter in signature.parameters.items()
        if key in only or (key not in taken and key not in unread and parameter.default is not parameter.empty)
    }
    return function


def _dispatching() -> AbstractContextManager[Any]:
    """Make NetworkX dispatch inner calls here in its tests too, where it would otherwise run its own code."""
    testing = nx.utils.backends._dispatchable._is_testing
    return nx.config(backend_priority=[], fallback_to_nx=False) if testing else nullcontext()


def _advanced(found: Iterator[Any]) -> Iterator[Any]:
    """A generator advanced to its first item, so that the call itself raises NotImplementedError."""
    try:
        first = next(found)
    except StopIteration:
        return _from_all(())
    except NotImplementedError:
        raise
    except Exception as error:
        return _raising(error)
    return _from_all(chain((first,), found))


def _from_all(items: Iterable[Any]) -> Iterator[Any]:
    yield from items


def _raising(error: Exception) -> Iterator[Any]:
    raise error
    yield


def registered() -> Mapping[str, Any]:
    """NetworkX's functions that dispatch, by name."""
    return nx.utils.backends._registered_algorithms


@cache
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Signature, list[str], dict[str, Any], bool]:
    """Of a function: signature, parameters by place, defaults of all, and whether no parameter takes any more."""
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    places = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    defaults = {p.name: p.default for p in parameters}
    return signature, places, defaults, all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call by name, with defaults, or a TypeError: in a tenth of the time of `inspect`."""
    signature, places, defaults, bounded = _parameters(function)
    given = {**dict(zip(places, args, strict=False)), **kwargs}
    found = {**defaults, **given}
    whole = len(given) == len(args) + len(kwargs) and len(found) == len(defaults)
    if bounded and whole and all(value is not inspect.Parameter.empty for value in found.values()):
        return found
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def reason_against(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
    """Why a call cannot run on the backend, or None."""
    try:
        arguments = _bound(function, args, kwargs)
    except TypeError as error:
        return str(error)
    if NETWORKX < (3, 5) and function.__name__ in OLDER:
        return "results were others before NetworkX 3.5"
    of_networkx = registered()[function.__name__]
    for key, values in getattr(function, "only", {}).items():
        if not any(arguments[key] is one or (one is not None and arguments[key] == one) for one in values):
            return f"{key}={arguments[key]!r} is not taken"
    for graph in graphs_of(function.__name__, arguments):
        if graph.is_multigraph() and not function.parallel:  # type: ignore[attr-defined]
            return "parallel edges are not distinguished"
    cutoff = arguments.get("cutoff")
    if "weight" in arguments and isinstance(cutoff, int | float) and cutoff < 0:
        return "a negative cutoff ends searches at their sources"
    attributes = of_networkx.edge_attrs or ()
    for key in (attributes,) if isinstance(attributes, str) else attributes:
        if not isinstance(arguments.get(key), str | None):
            return f"{key} must be the name of an attribute"
    unless: Refusal | None = function.unless  # type: ignore[attr-defined]
    return None if unless is None else unless(MappingProxyType(arguments))


def graphs_of(name: str, arguments: Mapping[str, Any]) -> list[Any]:
    """The graphs that a function is called with, from its arguments by name."""
    return [arguments[key] for key in registered()[name].graphs if arguments.get(key) is not None]


def graphs_of_call(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The graphs among the arguments of a call that was not bound to a signature."""
    given = ((args[at] if at < len(args) else kwargs.get(key)) for key, at in registered()[name].graphs.items())
    return [graph for graph in given if graph is not None]


def reason_to_leave(name: str, graph: Any) -> str | None:
    """Why NetworkX should run the call itself, as conversion would take longer; None if it should not."""
    least = nx.config.backends.hpgraph.least_edges
    if least and FUNCTIONS.get(name) == "generators":
        return "NetworkX makes the graph, which the first function on it converts"
    if graph is None or getattr(graph, "__networkx_backend__", None) == "hpgraph":
        return None
    if (getattr(graph, "__networkx_cache__", None) or {}).get("backends", {}).get("hpgraph"):
        return None
    if graph.number_of_edges() < least:
        return f"fewer than {least} edges: nx.config.backends.hpgraph.least_edges"
    if least and name in ONE_PASS:
        return "NetworkX goes through the graph once, as the conversion would"
    return None
