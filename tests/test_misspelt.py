"""Names and arguments that are nearly right, or those of other libraries: the message has the right one."""

import inspect
import io
import re
from typing import Any

import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.core import suggestions


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("page_rank", "pagerank"), ("PageRank", "pagerank"), ("louvain_communities", "louvain"), ("dijkstra", "sssp"),
        ("conected_components", "connected_components"), ("from_pandas_edgelist", "from_edges"), ("graph", "Graph"),
        ("betweeness_centrality", "betweenness_centrality"),
    ],
)  # fmt: skip
def test_functions(name: str, meant: str) -> None:
    raises(AttributeError, rf"no attribute '{name}': did you mean .*{meant}", getattr, hpg, name)


def test_what_is_nothing_like_it() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'quaternion'$"):
        hpg.quaternion  # noqa: B018
    assert not hasattr(hpg, "__wrapped__")


def test_what_is_meant_is_there() -> None:
    for meant in suggestions._ELSEWHERE.values():
        assert hasattr(hpg, meant.partition("(")[0])


@pytest.mark.parametrize(
    ("function", "arguments", "meant"),
    [
        (hpg.pagerank, {"alpha": 0.9}, "damping"), (hpg.pagerank, {"max_iter": 5}, "max_iteration"),
        (hpg.pagerank, {"weighted": True}, "weight"), (hpg.pagerank, {"personalisation": {}}, "personalization"),
        (hpg.hits, {"max_iter": 5}, "max_iteration"), (hpg.katz_centrality, {"weights": None}, "weight"),
        (hpg.eigenvector_centrality, {"nstart": None}, "start"), (hpg.bfs, {"depth_limit": 2}, "max_depth"),
        (hpg.bfs, {"start": 0}, "source"), (hpg.sssp, {"dist_cutoff": 2}, "cutoff"),
        (hpg.louvain, {"weighted": True}, "weight"), (hpg.louvain, {"random_state": 1}, "seed"),
        (hpg.cdlp, {"max_iterations": 5}, "max_iteration"), (hpg.closeness_centrality, {"distance": "km"}, "weight"),
        (hpg.jaccard, {"ebunch": []}, "pairs"), (hpg.random_walk, {"max_depth": 5}, "length"),
        (hpg.sample_neighbors, {"with_replacement": True}, "replace"), (hpg.from_edges, {"edge_attr": "km"}, "weight"),
    ],
)  # fmt: skip
def test_arguments(function: Any, arguments: dict[str, Any], meant: str) -> None:
    name = next(iter(arguments))
    says = re.escape(f"{function.__name__}() has no argument {name!r}: did you mean {meant}?")
    raises(TypeError, says, function, ([0], [1]), **arguments)


def test_arguments_without_a_counterpart() -> None:
    with pytest.raises(TypeError, match="no argument 'weight': weights, where they count, are the graph's own"):
        hpg.sssp(([0], [1]), 0, weight="km")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no argument 'device': it runs where the graph lies"):
        hpg.bfs(([0], [1]), 0, device="cuda")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no argument 'q'; it has G, apart, deterministic, direction, "):
        hpg.bfs(([0], [1]), 0, q=1)  # type: ignore[call-arg]


def test_every_algorithm_names_the_right_argument() -> None:
    for name, module in hpg._MODULE_OF.items():
        if module.startswith("hpgraph.algorithms") and inspect.isfunction(function := getattr(hpg, name)):
            raises(TypeError, rf"{function.__name__}\(\) has no argument 'maxdepht'", function, None, maxdepht=1)


def test_errors_within_a_function_are_unchanged() -> None:
    @suggestions.naming_arguments
    def rank(G: Any, *, damping: float = 0.85) -> Any:
        return len(G, damping)  # type: ignore[call-arg]

    raises(TypeError, "len", rank, [], damping=1)
    raises(TypeError, "missing 1 required positional argument", rank, damping=1)


def test_versions() -> None:
    said = io.StringIO()
    hpg.show_versions(said)
    lines = dict(line.split(": ", 1) for line in said.getvalue().splitlines())
    assert {"hpgraph", "python", "numpy", "numba", "gpu", "config"} <= set(lines) and lines["numba"][0].isdigit()


def test_what_a_graph_does_not_have() -> None:
    G = hpg.Graph.from_edges([0], [1])
    for name, says in (("nodes", r"list\(G\)"), ("add_edge", "G.add_edges"), ("number_of_nodes", "G.n_vertices"),
                       ("degre", "did you mean degree")):  # fmt: skip
        raises(AttributeError, f"Graph has no attribute '{name}': .*{says}", getattr, G, name)
    with pytest.raises(TypeError, match=r"source=... is needed"):
        hpg.bfs(hpg.from_edges([("a", "b")]))
    raises(TypeError, "either source=", hpg.sssp, G)
    raises(ValueError, "weight='nope': a Graph has weights without a name", hpg.pagerank, G, weight="nope")
