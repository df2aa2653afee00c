"""The widget of a notebook: what it sends to the browser, and what is said without ipysigma."""

import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest

import hpgraph as hpg


def attributes(widget: Any) -> dict[Any, Any]:
    return {node["key"]: node["attributes"] for node in widget.data["nodes"]}


def test_what_is_sent() -> None:
    pytest.importorskip("ipysigma")
    g = nx.les_miserables_graph()
    G = hpg.from_networkx(g)
    label, place = hpg.leiden(G).label, hpg.layout.circular(G)
    widget = hpg.viz.interactive(G, place, color=label, height=321)
    assert set(attributes(widget)) == set(g) and widget.height == "321px"
    ends = {(edge["source"], edge["target"]): edge["attributes"]["weight"] for edge in widget.data["edges"]}
    assert {frozenset(pair): weight for pair, weight in ends.items()} == {
        frozenset((u, v)): weight for u, v, weight in g.edges(data="weight")
    }
    for at, name in enumerate(G.names.tolist()):  # type: ignore[union-attr]
        assert list(widget.layout[name].values()) == place[at].tolist()
        assert attributes(widget)[name] == {"degree": g.degree(name), "label": name, "color": str(label[at])}
    kinds = widget.visual_variables["nodeColor"]
    assert kinds["type"] == "category" and kinds["attribute"] == "color"
    scaled = hpg.viz.interactive(G, layout="spectral", color=hpg.pagerank(G).rank)
    assert scaled.visual_variables["nodeColor"]["type"] == "continuous"


def test_any_graph() -> None:
    pytest.importorskip("ipysigma")
    for names, keys in (([1.5, "a", 2.5], [0, 1, 2]), ([7, 1001, -3], [7, 1001, -3]), (None, [0, 1, 2])):
        G = hpg.Graph.from_edges([0, 0, 1], [1, 1, 1], [1.0, 2.0, np.nan], n_vertices=3, names=names, duplicates="keep",
                                 vertex_columns={"age": [3, 4, 5]})  # fmt: skip
        widget = hpg.viz.interactive(G)
        assert list(attributes(widget)) == keys and [one["age"] for one in attributes(widget).values()] == [3, 4, 5]
        assert [edge["attributes"]["weight"] for edge in widget.data["edges"]] == [1.0, 2.0, None]
        assert widget.data["options"] == {"type": "directed", "multi": True}
    assert not hpg.viz.interactive(hpg.Graph.from_edges([], [], n_vertices=0)).data["nodes"]
    G = hpg.Graph.from_edges([0], [1])
    for how, said in (
        ({"pos": np.zeros((3, 2))}, "pos must be finite"), ({"color": [1]}, "color must have one value"),
        ({"layout": "round"}, "layout must be one of"), ({"height": 0}, "height must be at least"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            hpg.viz.interactive(G, **how)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="interactive takes up to 50,000 vertices, not 60,000"):
        hpg.viz.interactive(hpg.Graph.from_edges([0], [1], n_vertices=60_000))


def test_without_ipysigma(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipysigma", None)
    with pytest.raises(hpg.MissingExtraError, match=r"needs ipysigma: pip install 'hpgraph\[notebook\]'"):
        hpg.viz.interactive(hpg.Graph.from_edges([0], [1]))
