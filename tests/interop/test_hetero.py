"""Graphs of several kinds of vertices: relations, metapaths, the graph of all, and PyTorch Geometric's HeteroData."""

import sys
import types
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import to_device

WRITES, CITES, IN = ("author", "writes", "paper"), ("paper", "cites", "paper"), ("paper", "appears in", "venue")
SIZES = {"author": 7, "paper": 9, "venue": 4}


def matrices(weighted: bool = False) -> dict[Any, scipy.sparse.csr_array]:
    random = np.random.default_rng(5)
    found = {}
    for relation in (WRITES, CITES, IN):
        shape = SIZES[relation[0]], SIZES[relation[2]]
        dense = (random.random(shape) < 0.3) * random.integers(1, 9, shape)
        found[relation] = scipy.sparse.csr_array(dense if weighted else dense > 0)
    return found


def listed(matrix: Any) -> list[Any]:
    return to_device(matrix.toarray(), "cpu").tolist()


def test_metapaths_are_products(device: str) -> None:
    given = matrices(True)
    H = hpg.HeteroGraph(given).to(device)
    W, C, V = (given[relation].toarray() for relation in (WRITES, CITES, IN))
    w, c, v = ((one > 0).astype(int) for one in (W, C, V))
    assert H.device == device and H.to(device) is H
    for path, counts, weights in (
        (("author", "writes", "paper"), w, W),
        (("author", "writes", "paper", "cites", "paper"), w @ c, W @ C),
        (("author", "writes", "paper", "writes", "author"), w @ w.T, W @ W.T),
        (("paper", "rev_cites", "paper", "cites", "paper"), c.T @ c, C.T @ C),
        (("venue", "appears in", "paper", "rev_cites", "paper", "writes", "author"), v.T @ c.T @ w.T, V.T @ C.T @ W.T),
    ):
        assert listed(H.metapath(*path)) == counts.tolist()
        assert listed(H.metapath(*path, weight=True)) == weights.tolist()
    lengths = H.metapath("author", "writes", "paper", "cites", "paper", weight=True, semiring="min_plus").to("cpu")
    entries = lengths.csr.to_scipy().tocoo()
    for i, j, value in zip(*entries.coords, entries.data, strict=True):
        assert value == min(W[i, k] + C[k, j] for k in range(9) if W[i, k] and C[k, j])
    for relation, matrix in given.items():
        assert listed(H[relation]) == listed(H[relation[1]]) == matrix.toarray().tolist()
    assert list(H) == [WRITES, CITES, IN] and len(H) == 3 and "cites" in H and WRITES in H and "likes" not in H


@pytest.mark.parametrize("weighted", [False, True])
def test_homogeneous(weighted: bool, device: str) -> None:
    given = matrices(weighted)
    also = ("paper", "extends", "paper")
    given[also] = given[CITES]  # parallel edges of another relation
    H = hpg.HeteroGraph(given).to(device)
    both = H.homogeneous()
    G, kinds = both.graph, list(SIZES)
    assert both.offsets == (0, 7, 16, 20) and G.multigraph and G.directed and G.device == device
    assert to_device(both.kind, "cpu").tolist() == [0] * 7 + [1] * 9 + [2] * 4
    g, wanted = nx.MultiDiGraph(), set()
    g.add_nodes_from(range(20))
    for number, ((of, _, to), matrix) in enumerate(given.items()):
        entries = matrix.tocoo()
        for i, j, value in zip(*entries.coords, entries.data, strict=True):
            ends = both.offsets[kinds.index(of)] + i, both.offsets[kinds.index(to)] + j
            wanted.add((*map(int, ends), number, int(value)))
            g.add_edge(*ends, weight=int(value))
    source, target, weight = (None if part is None else to_device(part, "cpu").tolist() for part in G.edges())
    relation = to_device(both.relation, "cpu").tolist()
    assert set(zip(source, target, relation, weight or [1] * G.n_edges, strict=True)) == wanted
    assert len(source) == len(wanted) and G.weighted == weighted
    rank = hpg.pagerank(G, weight=True, tol=1e-12)
    np.testing.assert_allclose(to_device(rank.rank, "cpu"), list(nx.pagerank(g, tol=1e-12).values()), rtol=1e-7)
    parts = both.split(rank.rank)
    assert {kind: len(part) for kind, part in parts.items()} == SIZES
    some = H.homogeneous([WRITES, "appears in"])
    assert not some.graph.multigraph and some.relations == (WRITES, IN)
    assert some.graph.n_edges == given[WRITES].nnz + given[IN].nnz
    raises(ValueError, "values must be of 20 vertices", both.split, np.zeros(19))


def test_ids_of_their_own() -> None:
    H = hpg.HeteroGraph({
        WRITES: pandas.DataFrame({"who": ["ann", "bob", "ann"], "what": [10, 11, 11], "share": [0.5, 0.25, 1.0]}),
        CITES: [(11, 10), (12, 11)],
        IN: (["10", "x"][:0], []),
        ("paper", "about", "topic"): {"source": [12], "target": ["ann"]},
    })  # fmt: skip
    assert H.kinds == ("author", "paper", "venue", "topic")
    assert [H.n_vertices(kind) for kind in H.kinds] == [2, 13, 0, 1]
    assert H.names("author").tolist() == ["ann", "bob"] and H.names("paper") is None
    assert H.names("topic").tolist() == ["ann"] and H.index_of("author", "bob") == 1
    assert H["writes"].toarray()[:, 10:].tolist() == [[0.5, 1.0, 0.0], [0.0, 0.25, 0.0]]
    named = hpg.HeteroGraph(
        {WRITES: [("ann", 10), ("bob", 11)], CITES: ([11, 12], [10, 11])},
        {"paper": [12, 11, 10], "author": ["eve", "bob", "ann"]},
    )
    assert named["writes"].toarray().astype(int).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert named.kinds == ("paper", "author")
    cites = named.graph("cites")
    assert cites.names.tolist() == [12, 11, 10] and hpg.bfs(cites, 12).level.tolist() == [0, 1, 2]
    counted = hpg.HeteroGraph({WRITES: [(0, 1)]}, {"author": 3, "paper": 5, "venue": 2})
    assert counted["writes"].shape == (3, 5) and repr(counted) == (
        "HeteroGraph: 3 author, 5 paper, 2 venue; author writes paper (1); cpu"
    )
    assert hpg.HeteroGraph({WRITES: [(0, 0, 2), (0, 0, 3)]}, duplicates="sum")["writes"].toarray().tolist() == [[5]]
    empty = hpg.HeteroGraph({}, {"author": 2}).homogeneous()
    assert empty.graph.n_vertices == 2 and empty.graph.n_edges == 0


def test_refused() -> None:
    H = hpg.HeteroGraph({WRITES: [("ann", 0)], CITES: [(0, 0)], ("author", "cites", "author"): [("ann", "ann")]})
    for call, error, text in (
        (lambda: hpg.HeteroGraph([1]), TypeError, "relations must be a dict"),
        (lambda: hpg.HeteroGraph({"writes": [(0, 1)]}), TypeError, "three texts, not 'writes'"),
        (lambda: hpg.HeteroGraph({WRITES: 5}), TypeError, "edges cannot be read from int"),
        (lambda: hpg.HeteroGraph({WRITES: [(0, 9)]}, {"paper": 3}), IndexError, "there are 3 of paper"),
        (lambda: hpg.HeteroGraph({WRITES: [(0, -1)]}), IndexError, "-1"),
        (lambda: hpg.HeteroGraph({WRITES: [("a", 0)]}, {"author": 3}), ValueError, "ids of author are names"),
        (lambda: hpg.HeteroGraph({WRITES: [("a", 0)]}, {"author": ["b"]}), ValueError, "there is no author 'a'"),
        (lambda: hpg.HeteroGraph({WRITES: [(0, 0)]}, duplicates="keep"), ValueError, "has each edge once"),
        (lambda: H["likes"], ValueError, "'likes' is no relation"),
        (lambda: H["cites"], ValueError, "name of several relations"),
        (lambda: H.graph("writes"), ValueError, "joins author and paper, two kinds"),
        (lambda: H.names("authors"), ValueError, "did you mean author"),
        (lambda: H.metapath("author", "writes"), ValueError, "ends with a kind"),
        (lambda: H.metapath("author", "likes", "paper"), ValueError, "no relation 'likes' joins"),
        (lambda: H.index_of("paper", 7), IndexError, "7"),
        (lambda: hpg.pagerank(H), TypeError, r"H\.homogeneous\(\)\.graph of a HeteroGraph"),
    ):
        raises(error, text, call)


class Store(types.SimpleNamespace):
    """What HeteroData has for a kind or a relation."""

    def __setitem__(self, title: str, value: Any) -> None:
        setattr(self, title, value)

    def items(self) -> Any:
        return vars(self).items()

    @property
    def num_edges(self) -> int:
        return self.edge_index.shape[1]


class HeteroData:
    """As much of PyTorch Geometric's class as is asked for."""

    def __init__(self) -> None:
        self.stores: dict[Any, Store] = {}

    def __getitem__(self, key: Any) -> Store:
        return self.stores.setdefault(key, Store())

    @property
    def node_types(self) -> list[str]:
        return [key for key in self.stores if isinstance(key, str)]

    @property
    def edge_types(self) -> list[Any]:
        return [key for key in self.stores if isinstance(key, tuple)]


def test_pytorch_geometric(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "torch_geometric", types.ModuleType("torch_geometric"))
    module = types.ModuleType("torch_geometric.data")
    module.HeteroData = HeteroData  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_geometric.data", module)
    H = hpg.HeteroGraph({**matrices(True), IN: matrices(False)[IN]})
    data = H.to_pyg()
    assert data["venue"].num_nodes == 4 and data[WRITES].edge_index.dtype == torch.int64
    assert not hasattr(data[IN], "edge_weight")
    back = hpg.HeteroGraph(data)
    assert back.kinds == H.kinds and back.relations == H.relations
    assert all(listed(back[relation]) == listed(H[relation]) for relation in H)
    named = hpg.HeteroGraph(data, {"venue": ["a", "b", "c", "d"]})
    assert named.names("venue").tolist() == ["a", "b", "c", "d"]


def test_tensors_of_pytorch_geometric_come_back() -> None:
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric.data")
    data = geometric.HeteroData()
    data["author"].x, data["paper"].y = torch.rand(3, 5), torch.tensor([4, 5])
    data["author"].n_id = torch.arange(3, dtype=torch.bfloat16)
    data[WRITES].edge_index = torch.tensor([[2, 0, 1], [0, 1, 0]])
    data[WRITES].edge_attr, data[WRITES].time = torch.rand(3, 2), torch.tensor([7, 8, 9])
    H = hpg.HeteroGraph(data)
    back = H.to_pyg()
    order = torch.tensor([1, 2, 0])
    assert torch.equal(back[WRITES].edge_index, data[WRITES].edge_index[:, order])
    assert torch.equal(back[WRITES].edge_attr, data[WRITES].edge_attr[order])
    assert back[WRITES].time.tolist() == [8, 9, 7]
    assert torch.equal(back["author"].x, data["author"].x) and back["paper"].y.tolist() == [4, 5]
    assert set(H.columns("author")) == {"x"}
    graph = H.homogeneous().graph
    assert graph.edge_column("time").tolist() == [8, 9, 7] and graph.vertex_columns == ("y",)
    data["paper"].y = "no tensor"
    assert hpg.HeteroGraph(data).n_vertices("paper") == 2


def test_columns_of_relations_and_kinds(device: str) -> None:
    writes = pandas.DataFrame({"author": ["bob", "ann", "ann"], "paper": ["p2", "p1", "p2"]})
    writes = writes.assign(year=[2021, 2020, 2022], role=["a", "b", None])
    cites = {"source": ["p2"], "target": ["p1"], "year": [1999]}
    H = hpg.HeteroGraph(
        {WRITES: writes, CITES: cites}, {"author": ["ann", "bob"]}, columns=True,
        vertex_columns={"author": {"age": [30, 40]}, "paper": {"pages": [7.0, 8.0]}},
    ).to(device)  # fmt: skip
    both = H.homogeneous().graph.to("cpu")
    names = [*H.names("author"), *H.names("paper")]
    source, target, _ = both.edges()
    roles = both.edge_column("role").text()
    found = {(names[u], names[v]): (year, role) for u, v, year, role in
             zip(source, target, both.edge_column("year").tolist(), roles, strict=True)}  # fmt: skip
    assert found == {("bob", "p2"): (2021, "a"), ("ann", "p1"): (2020, "b"), ("ann", "p2"): (2022, None),
                     ("p2", "p1"): (1999, None)}  # fmt: skip
    np.testing.assert_array_equal(both.vertex_column("age"), [30, 40, np.nan, np.nan])
    np.testing.assert_array_equal(both.vertex_column("pages"), [np.nan, np.nan, 7, 8])
    assert H.graph("cites").to("cpu").edge_column("year").tolist() == [1999]
    assert H.graph("cites").to("cpu").vertex_column("pages").tolist() == [7, 8]
    assert H.homogeneous(["cites"]).graph.to("cpu").edge_column("year").tolist() == [1999]
    assert hpg.HeteroGraph({WRITES: writes}).columns("writes") == {}
    many = hpg.HeteroGraph({WRITES: pandas.concat([writes, writes])}, columns=True, duplicates="first")
    assert sorted(many.columns("writes")["year"].tolist()) == [2020, 2021, 2022]
    with pytest.raises(ValueError, match="a value for each of the 2 vertices given"):
        hpg.HeteroGraph({WRITES: writes}, vertex_columns={"author": {"age": [1]}})
    with pytest.raises(ValueError, match="there are no vertices of kind 'autor'"):
        hpg.HeteroGraph({WRITES: writes}, vertex_columns={"autor": {"age": [1]}})


def test_without_pytorch_geometric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    raises(hpg.MissingExtraError, "to_pyg needs", hpg.HeteroGraph({WRITES: [(0, 0)]}).to_pyg)
