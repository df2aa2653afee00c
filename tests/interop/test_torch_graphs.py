"""Graphs of PyTorch Geometric and DGL in and out; by stand-ins where these are not installed."""

import sys
import types
from typing import Any

import numpy as np
import pytest

import hpgraph as hpg

torch = pytest.importorskip("torch")

import hpgraph.torch as ht  # noqa: E402


class Data:
    """As much of PyTorch Geometric's class as is asked for."""

    def __init__(self, edge_index: Any = None, num_nodes: int = 0, **others: Any) -> None:
        self.__dict__.update(others, edge_index=edge_index, num_nodes=num_nodes)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        return self.__dict__

    def is_edge_attr(self, name: str) -> bool:
        return len(getattr(self, name)) == self.edge_index.shape[1]

    def is_node_attr(self, name: str) -> bool:
        return len(getattr(self, name)) == self.num_nodes


@pytest.fixture(params=["stand-in", "installed"])
def data_class(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "installed":
        return pytest.importorskip("torch_geometric.data").Data
    module = types.ModuleType("torch_geometric.data")
    module.Data = Data  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_geometric", types.ModuleType("torch_geometric"))
    monkeypatch.setitem(sys.modules, "torch_geometric.data", module)
    return Data


def test_data_in_and_out(data_class: Any) -> None:
    index = torch.tensor([[0, 2, 0, 1], [1, 0, 1, 1]])
    data = data_class(edge_index=index, num_nodes=5)
    data.edge_weight, data.year = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([7, 8, 9, 6])
    data.age, data.x = torch.arange(5), torch.ones(5, 3)
    G = ht.from_data(data)
    assert G.n_vertices == 5 and G.multigraph and G.directed and G.weighted
    assert G.edge_columns == ("year",) and G.vertex_columns == ("age",)
    back = ht.to_data(G)
    order = [0, 2, 3, 1]
    assert torch.equal(back.edge_index, index[:, order]) and back.num_nodes == 5
    assert torch.equal(back.edge_weight, data.edge_weight[order]) and torch.equal(back.year, data.year[order])
    assert torch.equal(back.age, data.age)
    data.edge_weight, data.age = data.edge_weight.bfloat16().requires_grad_(), torch.ones(5).half()
    halves = ht.from_data(data)
    assert halves.weights.tolist() == G.weights.tolist() and halves.vertex_column("age").tolist() == [1.0] * 5
    both = hpg.Graph.from_edges([0, 1], [1, 2], n_vertices=4, directed=False)
    out = ht.to_data(both)
    assert out.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    again = ht.from_data(out, directed=False)
    assert not again.directed and again.n_edges == both.n_edges and again.n_vertices == 4
    empty = ht.from_data(ht.to_data(hpg.Graph.from_edges([], [], n_vertices=3)))
    assert empty.n_vertices == 3 and empty.n_edges == 0
    with pytest.raises(TypeError, match=r"data\.edge_index must be"):
        ht.from_data(data_class(num_nodes=3))


def test_kinds_in_and_out() -> None:
    pytest.importorskip("torch_geometric")
    H = hpg.HeteroGraph({("author", "writes", "paper"): [(0, 0), (1, 0), (1, 1)]})
    back = ht.from_data(ht.to_data(H))
    assert back.kinds == H.kinds and (back["writes"].toarray() == H["writes"].toarray()).all()


def test_edge_index() -> None:
    pytest.importorskip("torch_geometric")
    G = hpg.Graph.from_edges([0, 2, 1], [1, 0, 1], n_vertices=4)
    index = ht.to_edge_index(G)
    index.validate()
    assert index.sparse_size() == (4, 4) and index.is_sorted_by_row and index.tolist() == [[0, 1, 2], [1, 1, 0]]
    A = ht.Adjacency.of(index)
    assert A.shape == (4, 4) and torch.equal(A.indices, index.as_subclass(torch.Tensor))
    assert torch.equal(ht.spmm(index, torch.eye(4)), A.to_torch().to_dense())
    loop = ht.to_edge_index(hpg.Graph.from_edges([0], [0]))
    assert ht.spmm(loop, torch.ones(1)).tolist() == [1] and ht.Adjacency.of(loop).shape == (1, 1)


class Homogeneous:
    """As much of DGL's graph as is asked for."""

    def __init__(self, edges: Any, num_nodes: int) -> None:
        self._edges, self._n, self.edata = edges, num_nodes, dict[str, Any]()

    def edges(self) -> Any:
        return self._edges

    def num_nodes(self) -> int:
        return self._n


def test_dgl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dgl", types.SimpleNamespace(graph=Homogeneous))
    G = hpg.Graph.from_edges([0, 2, 0], [1, 0, 1], [1.0, 2.0, 3.0], n_vertices=4, duplicates="keep")
    made = ht.to_dgl(G)
    assert made.num_nodes() == 4 and made.edata["weight"].tolist() == [1.0, 3.0, 2.0]
    back = ht.from_dgl(made, weight="weight")
    assert np.array_equal(back.weights, G.weights) and back.n_edges == 3 and back.multigraph
    assert not ht.from_dgl(made).weighted
    with pytest.raises(TypeError, match="must be a graph of DGL"):
        ht.from_dgl(torch.zeros(2, 2))


@pytest.mark.parametrize("call, package", [
    ("to_data", "torch_geometric"), ("to_edge_index", "torch_geometric"), ("to_dgl", "dgl"),
])  # fmt: skip
def test_without_them(call: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.data", None)
    with pytest.raises(hpg.MissingExtraError, match=call):
        getattr(ht, call)(hpg.Graph.from_edges([0], [1]))
