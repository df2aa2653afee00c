"""Names and arguments that are nearly right, or those of other libraries: the message has the right one."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

import hpgraph as hpg
from hpgraph.core import misspelt


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("page_rank", "pagerank"), ("PageRank", "pagerank"), ("louvain_communities", "louvain"), ("dijkstra", "sssp"),
        ("conected_components", "connected_components"), ("from_pandas_edgelist", "from_edges"), ("graph", "Graph"),
        ("betweeness_centrality", "betweenness_centrality"),
    ],
)  # fmt: skip
def test_functions(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}': did you mean .*{meant}"):
        getattr(hpg, name)


def test_what_is_nothing_like_it() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'quaternion'$"):
        hpg.quaternion  # noqa: B018
    assert not hasattr(hpg, "__wrapped__")


def test_what_is_meant_is_there() -> None:
    for meant in misspelt._ELSEWHERE.values():
        assert hasattr(hpg, meant.partition("(")[0])


@pytest.mark.parametrize(
    ("function", "arguments", "meant"),
    [
        (hpg.pagerank, {"alpha": 0.9}, "damping"),
        (hpg.pagerank, {"max_iter": 5}, "max_iteration"),
        (hpg.pagerank, {"weight": "weight"}, "weighted"),
        (hpg.pagerank, {"personalisation": {}}, "personalization"),
        (hpg.hits, {"max_iter": 5}, "max_iteration"),
        (hpg.katz_centrality, {"weight": None}, "weighted"),
        (hpg.eigenvector_centrality, {"nstart": None}, "start"),
    ],
)
def test_arguments(function: Any, arguments: dict[str, Any], meant: str) -> None:
    name = next(iter(arguments))
    says = re.escape(f"{function.__name__}() has no argument {name!r}: did you mean {meant}?")
    with pytest.raises(TypeError, match=says):
        function(([0], [1]), **arguments)


def test_versions() -> None:
    said = io.StringIO()
    hpg.show_versions(said)
    lines = dict(line.split(": ", 1) for line in said.getvalue().splitlines())
    assert {"hpgraph", "python", "numpy", "numba", "gpu", "config"} <= set(lines) and lines["numba"][0].isdigit()
