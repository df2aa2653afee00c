"""Every function of the NetworkX backend beside NetworkX's own, through NetworkX's dispatching."""

import inspect
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from new_process import printed
from raising import raises

import hpgraph as hpg
from hpgraph.interop.networkx_backend import interface
from hpgraph.interop.networkx_backend.info import FAMILIES, FUNCTIONS, NOTES, get_info
from hpgraph.interop.networkx_backend.serving import NETWORKX
from tests.interop.networkx_calls import CALLS, DRAWN, MISSING, REGISTERED, in_order, public
from tests.interop.networkx_graphs import GRAPHS, NODES, STRONG
from tests.networkx_suite.entry import ROOT, write_entry_points

pytestmark = pytest.mark.usefixtures("networkx_backend")


def comparable(found: Any) -> Any:
    """Generators as lists, graphs and matrices as what they hold, in order."""
    if isinstance(found, nx.Graph):
        rows = {node: list(row) for node, row in found.adj.items()}
        kind = type(found).__name__
        return kind, found.graph, list(found.nodes(data=True)), rows, list(found.edges(data=True))
    if scipy.sparse.issparse(found):
        return type(found).__name__, found.dtype.str, found.toarray().tolist()
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.tolist()
    if isinstance(found, pandas.DataFrame):
        return found.dtypes.to_dict(), list(found.index), found.astype(object).fillna("none").to_dict("list")
    if inspect.isgenerator(found):
        return "generator", list(found)
    if isinstance(found, Iterator):
        return list(found)
    return [comparable(one) for one in found] if isinstance(found, tuple) else found


def outcome(function: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
    """What a call gives, generators as lists; or what it raises."""
    try:
        return comparable(function(graph, *args, **kwargs))
    except Exception as error:
        # Python words these by its version, and the place where they arise.
        words_vary = isinstance(error, ZeroDivisionError) or "unhashable type" in str(error)
        return type(error), "" if words_vary else str(error)


def assert_same(found: Any, wanted: Any, ordered: bool) -> None:
    """Alike to the types, the order of dicts and lists, and all but the last bits of floats."""
    assert type(found) is type(wanted)
    if isinstance(wanted, float):
        assert math.isclose(found, wanted, rel_tol=1e-5, abs_tol=1e-9) or (found != found and wanted != wanted)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted) if ordered else found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert_same(found[key], value, ordered)
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other, ordered)
    else:
        assert found == wanted


def test_every_function_is_tested_and_described() -> None:
    assert set(CALLS) | DRAWN == set(FUNCTIONS) & set(REGISTERED) >= set(FUNCTIONS) - MISSING
    assert set(NOTES) <= set(FUNCTIONS)
    assert set(get_info()["functions"]) == set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() & REGISTERED))
def test_called_as_in_networkx(name: str) -> None:
    theirs = inspect.signature(REGISTERED[name].orig_func).parameters
    ours = inspect.signature(getattr(interface, name)).parameters
    assert {key: ours[key].default for key in theirs} == {key: p.default for key, p in theirs.items()}
    by_place, places = (
        [key for key, p in given.items() if p.kind is p.POSITIONAL_OR_KEYWORD] for given in (theirs, ours)
    )
    assert places[: len(by_place)] == by_place
    # What only NetworkX of another version has goes by its name.
    assert set(places) <= set(theirs)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_same_as_networkx(name: str) -> None:
    function = public(name)
    for graph, *args in CALLS[name]:
        kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
        given = [GRAPHS.get(graph, graph) if isinstance(graph, str) else graph]
        wanted = outcome(function, *given, *args, **kwargs, backend="networkx")
        found = outcome(function, *given, *args, **kwargs, backend="hpgraph")
        if NETWORKX < (3, 6) and isinstance(found, tuple) and found[0] is NotImplementedError:
            continue
        assert_same(found, wanted, in_order(name, args, kwargs))


def test_what_it_leaves_to_networkx() -> None:
    graph = GRAPHS["connected"]
    several = nx.MultiGraph(graph)
    assert interface.can_run("connected_components", (several,), {}) is True
    raises(
        NotImplementedError, "pagerank: parallel edges are not distinguished", nx.pagerank, several, backend="hpgraph"
    )
    with pytest.raises(NotImplementedError, match="weight must be the name of an attribute"):
        nx.dijkstra_path_length(graph, *NODES, weight=lambda u, v, data: 1, backend="hpgraph")
    raises(NotImplementedError, "dangling is not taken", nx.pagerank, graph, dangling={"v3": 1}, backend="hpgraph")
    with pytest.raises(NotImplementedError, match="order of predecessors"):
        nx.shortest_path_length(GRAPHS["directed"], target=STRONG[0], backend="hpgraph")
    negative = nx.Graph([("a", "b", {"weight": -1})])
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(negative, "a", backend="hpgraph")
    with nx.config(backend_priority=["hpgraph"]):
        assert nx.pagerank(graph, dangling={"v3": 1}) == nx.pagerank(graph, dangling={"v3": 1}, backend="networkx")


@pytest.mark.parametrize("name", sorted(DRAWN & set(FAMILIES["generators"].split())))
def test_generators(name: str) -> None:
    """Those that take no argument give NetworkX's graph; the others' parameters are compared above."""
    if all(p.default is not p.empty for p in inspect.signature(public(name)).parameters.values()):
        found, wanted = (public(name)(backend=backend) for backend in ("hpgraph", "networkx"))
        assert comparable(found) == comparable(wanted)
        assert found.__networkx_cache__["backends"]["hpgraph"], "it is converted already"
    with nx.config.backends.hpgraph(least_edges=1):
        assert "NetworkX makes the graph" in str(interface.should_run(name, (), {}))


def both_ways() -> Any:
    """An undirected view of arcs that weigh otherwise than their reverses."""
    return nx.DiGraph([(0, 1, {"weight": 1}), (1, 0, {"weight": 5}), (1, 2, {"weight": 2})]).to_undirected(as_view=True)


@pytest.mark.parametrize(
    "graph",
    [
        both_ways(),
        nx.Graph([(0, 1, {"weight": None}), (1, 2, {"weight": 2}), (0, 2, {"weight": 7})]),
        nx.Graph([(0, 1, {"weight": 2**53 + 1})]),
        nx.Graph([(0, 1, {"weight": 2**70 + 1})]),
        nx.Graph([(0, 1, {"weight": 2**53 + 1}), (1, 2, {"weight": 0.5})]),
        nx.path_graph(4, create_using=nx.DiGraph).to_undirected(as_view=True),
    ],
    ids=["view", "hidden edge", "int64", "beyond int64", "mixed", "view of equal arcs"],
)
def test_weights_that_another_matrix_would_hold(graph: Any) -> None:
    """By priority the answers are NetworkX's, to the last digit, whichever of the two gives them."""
    functions = [nx.single_source_dijkstra_path_length, nx.shortest_path_length, nx.dijkstra_path_length]
    for function, args in zip(functions, [(0,), (0, None, "weight"), (0, 1)], strict=True):
        wanted = outcome(function, graph, *args, backend="networkx")
        with nx.config(backend_priority=["hpgraph"]):
            assert_same(outcome(function, graph, *args), wanted, ordered=True)
    wanted = outcome(nx.diameter, graph, weight="weight", backend="networkx")
    with nx.config(backend_priority=["hpgraph"]):
        assert_same(outcome(nx.diameter, graph, weight="weight"), wanted, ordered=True)


def test_small_graphs_are_left_to_networkx() -> None:
    graph = nx.path_graph(5)
    with nx.config.backends.hpgraph(least_edges=100):
        assert "fewer than 100" in str(interface.should_run("triangles", (graph,), {}))
        nx.triangles(graph, backend="hpgraph")
        assert interface.should_run("triangles", (graph,), {}) is True, "it is converted already"
        assert interface.should_run("connected_components", (graph,), {}) is True, "it is converted already"
    fresh = nx.gnm_random_graph(200, 2000, seed=1)
    with nx.config.backends.hpgraph(least_edges=1000):
        assert "once" in str(interface.should_run("connected_components", (fresh,), {}))
        assert interface.should_run("core_number", (fresh,), {}) is True


def test_conversion_is_kept_with_the_graph() -> None:
    graph = nx.path_graph(4)
    nx.core_number(graph, backend="hpgraph")
    (kept,) = graph.__networkx_cache__["backends"]["hpgraph"].values()
    nx.triangles(graph, backend="hpgraph")
    assert list(graph.__networkx_cache__["backends"]["hpgraph"].values()) == [kept]
    graph.add_edge(0, 2)
    assert nx.triangles(graph, backend="hpgraph") == {0: 1, 1: 1, 2: 1, 3: 0}
    back = interface.convert_to_nx(interface.convert_from_nx(GRAPHS["directed"], edge_attrs={"weight": 1}))
    assert nx.utils.graphs_equal(back, GRAPHS["directed"])


def test_device() -> None:
    assert hpg.config.networkx_device == "cpu"
    graph = nx.path_graph(4)
    with hpg.config(networkx_device="no such device"), pytest.raises(ValueError, match="no such device"):
        nx.triangles(graph, backend="hpgraph")


def test_entry_points_and_environment(tmp_path: Path) -> None:
    """A process that finds the entry points, as of an installed package; importing NetworkX stays light."""
    write_entry_points(tmp_path)
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "import sys, networkx as nx\n"
        "print([m for m in ('numba', 'scipy', 'numpy', 'hpgraph.containers.graph') if m in sys.modules])\n"
        "nx.config.backends.hpgraph.least_edges = 0\n"
        "G = nx.path_graph(3); nx.core_number(G); print(list(G.__networkx_cache__['backends']))\n"
        "print('hpgraph' in nx.pagerank.__doc__, 'dtype' in nx.pagerank.__doc__)"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    said = printed(code, PYTHONPATH=path, NETWORKX_BACKEND_PRIORITY="hpgraph")
    assert said.splitlines() == ["[]", "['hpgraph']", "True True"]


@pytest.mark.parametrize("nodes", [[7, 5, -2], [1 << 70, 5, 0], [-(1 << 40), 3, 1 << 40], [True, 0, 2], ["a", 1, (2,)]])
def test_neighbours_by_number(nodes: list[Any]) -> None:
    graph = nx.Graph([(nodes[0], nodes[1]), (nodes[1], nodes[2]), (nodes[0], nodes[2])])
    graph.add_edge(1.0, 0) if True in nodes else None
    converted = interface.convert_from_nx(graph)
    for row, node in enumerate(graph):
        neighbours = converted.indices[converted.indptr[row] : converted.indptr[row + 1]]
        assert converted.named(neighbours) == list(graph[node])


def _ugly() -> dict[str, Any]:
    lonely: Any = nx.Graph()
    lonely.add_nodes_from("abc")
    parts = nx.disjoint_union(nx.complete_graph(4), nx.path_graph(3))
    return {
        "null": nx.Graph(), "null digraph": nx.DiGraph(), "no edges": lonely, "parts": parts,
        "line": nx.path_graph(4, create_using=nx.DiGraph), "edge": nx.path_graph(2), "loop": nx.Graph([(1, 1)]),
        "half a loop": nx.Graph([(1, 1, {"weight": 2.5})]), "star": nx.star_graph(3), "triangle": nx.complete_graph(3),
    }  # fmt: skip


@pytest.mark.parametrize("name", _ugly())
def test_ugly_graphs_and_arguments(name: str) -> None:
    """The same answers and errors for empty graphs, unreached nodes, and nodes that cannot exist."""
    G = _ugly()[name]
    first = next(iter(G), 0)
    calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (function, (), {**weight, **bounds})
        for function in (nx.center, nx.periphery, nx.diameter, nx.radius)
        for weight in ({}, {"weight": "weight"})
        for bounds in ({}, {"usebounds": True})
    ]
    calls += [(function, (node,), {}) for function in (nx.ancestors, nx.descendants) for node in (first, "no", [1])]
    for node in (first, "no", [1]):
        calls += [(nx.single_source_dijkstra_path_length, (node,), {}), (nx.dijkstra_path_length, (first, node), {})]
        calls += [(nx.shortest_path_length, (node,), {"weight": "weight"}), (nx.has_path, (node, first), {})]
    calls += [(nx.eccentricity, (), {"v": v}) for v in (first, [first], [first, first]) if first in G]
    calls += [(nx.all_pairs_dijkstra_path_length, (), {}), (nx.all_pairs_dijkstra_path_length, (), {"cutoff": 1})]
    calls += [(nx.degree_pearson_correlation_coefficient, (), {})] if "loop" in name else []
    calls += [(nx.square_clustering, (), {}), (nx.eccentricity, (), {"weight": "weight"})]
    calls += [(f, (), {"k": k, "seed": 1}) for f in (nx.betweenness_centrality, nx.edge_betweenness_centrality)
              for k in (-1, 1, 9)]  # fmt: skip
    calls += [(nx.pagerank, (), {"nstart": dict.fromkeys(G, 0)})]
    calls += [(nx.community.modularity, ([{node} for node in G],), {})]
    calls += [(nx.hits, (), {})] if NETWORKX >= (3, 7) and name in ("null", "null digraph", "no edges") else []
    calls += [(nx.adamic_adar_index, ([(first, first)],), {})] if not G.is_directed() and name != "loop" else []
    for function, args, options in calls:
        wanted = outcome(function, G, *args, backend="networkx", **options)
        found = outcome(function, G, *args, backend="hpgraph", **options)
        if not (isinstance(found, tuple) and found[0] is NotImplementedError):
            # NetworkX's versions sum in different orders: the last bit of a float may differ.
            alike = type(found) is type(wanted) is float and math.isclose(found, wanted)
            assert alike or repr(found) == repr(wanted), (function.__name__, args, options)


def test_numbers_that_outgrow_floats_never_converge() -> None:
    G = nx.complete_graph(30)
    for backend in ("networkx", "hpgraph"):
        with pytest.raises(nx.PowerIterationFailedConvergence, match="within 1000 iterations"):
            nx.katz_centrality(G, alpha=0.9, backend=backend)


def test_the_page_lists_the_functions_and_what_is_left() -> None:
    if NETWORKX == (3, 6):
        from tests.networkx_suite.table import PAGE, reasons, replaced

        assert set(reasons()) | set(FUNCTIONS) >= set(REGISTERED)
        assert PAGE.read_text() == replaced(PAGE.read_text()), "python -m tests.networkx_suite.table"


def test_large_negative_numbers_of_nodes_correlate_as_small_ones_do() -> None:
    G = nx.gnm_random_graph(30, 80, seed=1, directed=True)
    for shift in (0, -(2**31)):
        nx.set_node_attributes(G, {node: node % 7 + shift for node in range(30)}, f"{shift}")
        # In no arc, and far from the others.
        G.add_node("apart", **{f"{shift}": 0})
    found = [nx.numeric_assortativity_coefficient(G, f"{shift}", backend="hpgraph") for shift in (0, -(2**31))]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert found[0] == pytest.approx(nx.numeric_assortativity_coefficient(G, "0", backend="networkx"))
