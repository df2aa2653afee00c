"""Graphs that the NetworkX backend returns: arrays until something reads their dicts, NetworkX's own afterwards."""

import copy
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from new_process import printed

from tests.interop.networkx_graphs import GRAPHS
from tests.networkx_suite.entry import ROOT, write_entry_points

pytestmark = pytest.mark.usefixtures("networkx_backend")


def unread(directed: bool = False) -> Any:
    using = nx.DiGraph if directed else nx.Graph
    path = np.diag(np.ones(4), 1)
    return nx.from_numpy_array(
        path if directed else path + path.T, edge_attr=None, create_using=using, backend="hpgraph"
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "use",
    [
        len, list, nx.number_of_edges, lambda G: G[2], lambda G: dict(G.adj), lambda G: list(G.edges), pickle.dumps,
        copy.copy, copy.deepcopy, lambda G: G.copy(), lambda G: G.subgraph([1, 2]), lambda G: G.reverse()
        if G.is_directed() else G.to_directed(), lambda G: G.add_edge(0, 4), lambda G: G.remove_node(2),
        lambda G: nx.set_node_attributes(G, 1, "x"), nx.freeze, str, lambda G: G.to_undirected(), lambda G: 3 in G,
        lambda G: G.degree(1), lambda G: G.clear(), lambda G: G == G and G._adj,
    ],
)  # fmt: skip
def test_used_as_any_graph(use: Callable[[Any], Any], directed: bool) -> None:
    ours, theirs = unread(directed), nx.path_graph(5, create_using=nx.DiGraph if directed else nx.Graph)
    found, wanted = use(ours), use(theirs)
    if isinstance(wanted, nx.Graph):
        assert nx.utils.graphs_equal(found, wanted) and type(found) is type(wanted)
    elif not isinstance(wanted, bytes):
        assert found == wanted
    assert type(ours) is type(theirs) and nx.utils.graphs_equal(ours, theirs)
    assert [list(row) for row in ours.adj.values()] == [list(row) for row in theirs.adj.values()]


def test_pickled() -> None:
    again = pickle.loads(pickle.dumps(unread()))
    assert type(again) is nx.Graph and nx.utils.graphs_equal(again, nx.path_graph(5))


def test_functions_take_the_arrays() -> None:
    graph = unread()
    assert type(graph) is not nx.Graph and isinstance(graph, nx.Graph)
    assert list(nx.connected_components(graph, backend="hpgraph")) == [{0, 1, 2, 3, 4}]
    assert nx.to_numpy_array(nx.k_core(graph, 1, backend="hpgraph"), backend="hpgraph").sum() == 8
    assert type(graph) is not nx.Graph, "nothing has read its dicts"
    graph.add_edge(0, 4)
    assert type(graph) is nx.Graph and nx.core_number(graph, backend="hpgraph")[0] == 2, "the conversion was dropped"


def test_attributes_are_copies() -> None:
    whole = GRAPHS["colored"].copy()
    part = nx.k_core(whole, 2, backend="hpgraph")
    whole.add_edge("v1", "v7", label="changed")
    whole.nodes["v1"]["color"] = "changed"
    whole.graph["name"] = "changed"
    assert part.edges["v1", "v7"]["label"] == "x" and part.graph["name"] == "colored"
    assert part.nodes["v1"]["color"] != "changed"
    part.add_edge("v1", "v7", weight=9)
    assert part["v7"]["v1"]["weight"] == 9 and "weight" not in whole.edges["v1", "v7"]
    assert nx.dijkstra_path_length(part, "v1", "v7", backend="hpgraph") <= 9


def test_attributes_that_change_later() -> None:
    graph = nx.from_numpy_array(nx.to_numpy_array(nx.path_graph(3)), backend="hpgraph")
    assert nx.dijkstra_path_length(graph, 0, 2, backend="hpgraph") == 2
    graph.add_edge(0, 1, weight=5)
    assert nx.dijkstra_path_length(graph, 0, 2, backend="hpgraph") == 6
    nx.set_node_attributes(graph, {0: "a", 1: "b", 2: "a"}, "kind")
    assert nx.attribute_mixing_dict(graph, "kind", backend="hpgraph") == {"a": {"b": 2}, "b": {"a": 2}}


def test_other_classes_are_left_to_networkx() -> None:
    for using in (nx.MultiGraph, nx.path_graph(3)):
        with pytest.raises(NotImplementedError, match=r"create_using must be nx\.Graph or nx\.DiGraph"):
            nx.from_numpy_array(np.eye(4), create_using=using, backend="hpgraph")


@pytest.mark.parametrize(
    "variables, wanted",
    [
        ({"NETWORKX_BACKEND_PRIORITY_GENERATORS": "hpgraph"}, "UnreadGraph False"),
        (
            {"NETWORKX_BACKEND_PRIORITY": "hpgraph", "NETWORKX_BACKEND_PRIORITY_GENERATORS": "hpgraph"},
            "UnreadGraph True",
        ),
    ],
)
def test_environment(variables: dict[str, str], wanted: str, tmp_path: Path) -> None:
    write_entry_points(tmp_path)
    code = (
        "import networkx as nx, numpy as np; nx.config.warnings_to_ignore.add('cache')\n"
        "G = nx.from_numpy_array(1 - np.eye(60)); kind = type(G).__name__\n"
        "H = nx.Graph(nx.complete_graph(60, backend='networkx')); nx.core_number(H)\n"
        "print(kind, 'hpgraph' in H.__networkx_cache__.get('backends', {}))"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    assert printed(code, PYTHONPATH=path, **variables).split() == wanted.split()
