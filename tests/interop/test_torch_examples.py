"""The examples of docs/examples: their layers beside PyTorch Geometric's own, and what they learn."""

import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
nn = pytest.importorskip("torch_geometric.nn")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    torch.manual_seed(1)
    yield
    for path in EXAMPLES.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("name", ["GCNConv", "SAGEConv", "GATConv"])
def test_layers_are_those_of_pytorch_geometric(name: str) -> None:
    """Results, and gradients of parameters and features, of a graph with loops and parallel edges."""
    import layers

    edge_index = torch.randint(30, (2, 150))
    how: dict[str, Any] = {"heads": 3, "add_self_loops": False} if name == "GATConv" else {}
    theirs, ours = (getattr(room, name)(8, 5, **how).double() for room in (nn, layers))
    ours.load_state_dict(theirs.state_dict())
    given = layers.normalized(edge_index, 30) if name == "GCNConv" else layers.adjacency(edge_index, 30)
    if name == "GCNConv":
        given = given.with_values(given.values.double())
    x = torch.randn(30, 8, dtype=torch.float64, requires_grad=True)
    found, expected = ours(x, given), theirs(x, edge_index)
    assert torch.allclose(found, expected)
    weight = torch.randn_like(found)
    one, other = (
        torch.autograd.grad((out * weight).sum(), [x, *layer.parameters()])
        for out, layer in ((found, ours), (expected, theirs))
    )
    assert all(torch.allclose(*pair) for pair in zip(one, other, strict=True))


def test_whole_graphs_are_learned() -> None:
    import gcn

    assert gcn.gcn() > 0.75 and gcn.gat() > 0.75


@pytest.mark.parametrize("batches", ["neighbours", "communities", "geometric"])
def test_batches_are_learned(batches: str) -> None:
    import graphsage

    assert graphsage.graphsage(getattr(graphsage, batches)) > 0.7


def test_last_contacts_predict_the_next() -> None:
    import temporal

    last, uniform = temporal.temporal(epochs=2)
    assert last > 0.6 and last > uniform + 0.05
