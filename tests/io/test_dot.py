"""DOT files: what Graphviz 2.43 reads of them (``dot -Tdot_json``), and damaged ones."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from column_tables import plain
from graph_examples import same
from hypothesis import given, settings
from hypothesis import strategies as st

import hpgraph as hpg


def read(tmp_path: Path, text: str, **how: Any) -> Any:
    (tmp_path / "g.dot").write_bytes(text.encode())
    return hpg.read(tmp_path / "g.dot", **how)


def edges(G: Any) -> list[Any]:
    source, target, weight = G.edges(names=True)
    ends = zip(source.tolist(), target.tolist(), strict=True)
    return list(ends) if weight is None else list(zip(source.tolist(), target.tolist(), weight.tolist(), strict=True))


def test_as_graphviz(tmp_path: Path) -> None:
    """Names in the order of Graphviz, which keeps two backslashes, and edges with its weights."""
    for text, names, expected in (
        ('digraph "my graph" { a -> b -> "c d" [color=red; weight=3] "c d":p:n -> a:s }', ["a", "b", "c d"],
         [("a", "b", 3), ("b", "c d", 3), ("c d", "a", 1)]),
        ('STRICT Graph{rankdir=LR;1--2[a=b][weight=7]2--/* * / */-1.5//x\n# pre\n}', ["1", "2", "-1.5"],
         [("1", "2", 7), ("2", "-1.5", 1)]),
        ('graph { "lo" + "ng" -- "q\\"t\\\\" "li\\\nne" -- "c\\d" <<b>h</b>> }',
         ["long", 'q"t\\\\', "line", "c\\d", "<b>h</b>"],
         [("long", 'q"t\\\\'), ("line", "c\\d")]),
        ('digraph { a->b; EDGE [weight=.5] b->c; node [x=1] c -> é [weight=2] "edge" "" }',
         ["a", "b", "c", "é", "edge", ""],
         [("a", "b", 1), ("b", "c", 0.5), ("c", "é", 2)]),
        ("graph { a--b [weight=2] a -- b [weight=5] b -- b }", ["a", "b"],
         [("a", "b", 2), ("a", "b", 5), ("b", "b", 1)]),
        ("graph { 2 -- 0 -- 1 }", [2, 0, 1], [(2, 0), (0, 1)]),
        ("graph {}", None, []), ("\ufeffgraph { 0 1 0 -- 1 }", None, [(0, 1)]),
    ):  # fmt: skip
        G = read(tmp_path, text, duplicates="keep")
        assert (None if G.names is None else G.names.tolist()) == names, text
        order = {name: at for at, name in enumerate(names or range(G.n_vertices))}
        turned = [(v, u, *w) if not G.directed and order[v] < order[u] else (u, v, *w) for u, v, *w in edges(G)]
        assert Counter(turned) == Counter(expected), text
        assert G.directed == ("digraph" in text)


def test_columns(tmp_path: Path) -> None:
    G = hpg.Graph.from_edges(
        [0, 1, 2], [1, 2, 2], [1.0, 2.5, 1e22], names=['a"b', "C:\\x y", "Node"], vertex_columns={"age": [3, 1, 2]},
        columns={"w w": [1.5, np.nan, 2], "said": ["x", None, "1"], "ok": [True, False, True],
                 "since": np.array(["2020-01-02", "NaT", "2021-03-04"], "M8[D]")},
    )  # fmt: skip
    G.save(tmp_path / "g.dot")
    found = hpg.read(tmp_path / "g.dot")
    assert found.names.tolist() == G.names.tolist() and edges(found) == edges(G)  # type: ignore[union-attr]
    for title in ("w w", "said", "ok"):
        assert str(plain(found.edge_column(title))) == str(plain(G.edge_column(title)))
    assert plain(found.edge_column("since")) == ["2020-01-02", None, "2021-03-04"]
    assert found.vertex_column("age").tolist() == [3, 1, 2]
    assert hpg.read(tmp_path / "g.dot", columns="ok").edge_columns == ("ok",)
    assert hpg.read(tmp_path / "g.dot", columns=False).edge_columns == ()
    other = "graph { a [age=3] a -- b [len=2 at=x flag=true part=1.5] b -- c [flag=FALSE] }"
    assert read(tmp_path, other).edge_columns == ()
    found = read(tmp_path, other, columns=True)
    assert found.edge_columns == ("len", "at", "flag", "part") and found.vertex_columns == ("age",)
    assert found.edge_column("len").dtype == float and plain(found.edge_column("at"))[0] == "x"
    with pytest.raises(ValueError, match="have no attribute called 'colour'"):
        read(tmp_path, other, columns=["colour"])


TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9)


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(TEXTS, min_size=3, max_size=3, unique=True), directed=st.booleans())
def test_any_names_and_text(texts: list[str], directed: bool, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("dot") / "g.gv"
    G = hpg.Graph.from_edges([0, 1], [1, 2], names=texts, columns={"t": texts[:2]}, directed=directed)
    try:
        G.save(path)
    except ValueError as error:
        assert "backslash before a quotation mark" in str(error) and any("\\" in text for text in texts)
        return
    found = hpg.read(path)
    assert found.names.tolist() == texts and plain(found.edge_column("t")) == texts[:2]  # type: ignore[union-attr]


def test_weights_and_names_of_every_type(tmp_path: Path) -> None:
    path = tmp_path / "g.gv"
    for weight in ([1, -3], [True, False], [0.1, np.inf], np.array([1, 2**64 - 1], np.uint64), np.float32([0.1, 3])):
        for names in (["1", "2", "3"], [7, 1001, -3], None, ["0", "1", "2"], [0, 1, 2]):
            G = hpg.Graph.from_edges([0, 1], [1, 2], weight, names=names)
            G.save(path)
            found = hpg.read(path)
            assert (None if found.names is None else found.names.tolist()) == (None if G.names is None else names)
            assert found.weights.tolist() == G.weights.tolist()
            assert found.weights.dtype.kind == G.weights.dtype.kind
    before = path.read_bytes()
    for what, names in (
        (None, ["a\\", "b", "c"]), (None, ['\\"', "b", "c"]), (None, ["\0", "b", "c"]),
        (None, ["\ud800", "b", "c"]), (None, ["a", 5, "b"]), (None, [1.5, 2.5, 3.5]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"g\.gv: .*(\.npz|pickle) holds any"):
            hpg.Graph.from_edges([0, 1], [1, 2], what, names=names).save(path)
    assert path.read_bytes() == before


def test_a_file_of_networkx(tmp_path: Path) -> None:
    """As NetworkX's own writer, by pydot, has it."""
    g = nx.les_miserables_graph()
    lines = [f'"{u}" -- "{v}"  [weight={w}];' for u, v, w in g.edges(data="weight")]
    same(read(tmp_path, "\n".join(["strict graph  {", *(f'"{name}";' for name in g), *lines, "}"])), g)


@pytest.mark.parametrize(("text", "said"), [
    ("graph {a -> b}", "edges of this graph are written --"),
    ("\n\ndigraph {a -- b}", "line 3: edges of this graph are written ->"),
    ("graph { a\n subgraph x {a} }", "line 2: it holds subgraphs, which are not read"),
    ("graph { {a b} -- c }", "it holds subgraphs"), ("graph { a -- {b c} }", "an edge to a subgraph"),
    ("graph { a -- subgraph { b } }", "an edge to a subgraph"), ("graph {} graph {}", "more follows the graph"),
    ("graph {", "a name expected, the end of the file found"), ("graph { a [x] }", "'=' expected"),
    ("graph { a [x=] }", "a name expected"), ('graph {"a}', "what no token of DOT begins with"),
    ("graph { <a }", "a text in < > that does not end"), ("{}", "it begins with no graph or digraph"),
    ("", "it begins with no graph"), ("graph { a /* }", "no token"), ("graph { 1a }", "no token"),
    ("graph { 1.2.3 }", "no token"), ("graph { a -- b [weight=heavy] }", "a weight that is no number"),
    ("graph { a -- }", "a name expected, '}' found"), ("graph { node }", r"'\[' after node expected"),
    ("graph { digraph -- a }", "a name expected, 'digraph' found"), ('graph { "a" + b }', "a text in quotation marks"),
    ("graph { a + b }", "a name expected, '\\+' found"), ("graph { a:b:c:d }", "a name expected, ':' found"),
    ('graph { "hpgraph-ids"=number a }', "its ids are said to be numbers"),
    ('graph { "hpgraph-column-edge-x"=long a -- b [x=y] }', "a value of 'x' that is no long"),
])  # fmt: skip
def test_damaged_files(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(hpg.FileFormatError, match=said):
        read(tmp_path, text)


def test_cut_short(tmp_path: Path) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 2], [0.5, 2], names=["a b", "é", 'q"'], vertex_columns={"x": [1, 2, 3]})
    G.save(tmp_path / "whole.gv")
    whole = (tmp_path / "whole.gv").read_bytes()
    for length in range(len(whole) - 2):
        (tmp_path / "g.dot").write_bytes(whole[:length])
        with pytest.raises(hpg.FileFormatError, match=r"g\.dot"):
            hpg.read(tmp_path / "g.dot")


def test_the_budget_bounds_what_is_unpacked(tmp_path: Path) -> None:
    for text in (b" " * (64 << 20), b"graph {" + b"".join(b"n%d " % k for k in range(400_000))):
        (tmp_path / "g.dot.gz").write_bytes(gzip.compress(text, 1))
        with pytest.raises(hpg.DeviceMemoryError, match=r"g\.dot\.gz"):
            hpg.read(tmp_path / "g.dot.gz", memory="64MiB")
    assert read(tmp_path, "graph { a -- b }", memory="4MiB").n_vertices == 2
