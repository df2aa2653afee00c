"""Messages written as Python functions against PyTorch's own operations, and their derivatives against differences."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

import hpgraph.torch as ht  # noqa: E402

# Parallel edges, a loop, an empty row, an empty column.
ROWS, COLUMNS, SHAPE = [0, 0, 0, 2, 2, 3, 3, 0], [1, 1, 4, 0, 2, 3, 5, 0], (5, 7)


def branches(source: Any, edge: Any, target: Any) -> Any:
    if source < target:
        return edge * source if edge > 0 else -source / (1 + target * target)
    return max(source, 2 * target) ** 3


def rounds(source: Any, edge: Any, target: Any) -> Any:
    total = edge
    for k in range(1, 4):
        total += np.sin(k * source) * np.cos(target) / k
    return total


def functions(source: Any, edge: Any, target: Any) -> Any:
    a = np.exp(-abs(source)) + np.log1p(target * target) + np.sqrt(1 + np.square(edge))
    b = np.tanh(source) * np.arctan(target) - np.expm1(edge / 4) + np.reciprocal(3 + np.sin(edge))
    return a + b + np.log(2 + np.cos(source)) + np.maximum(source, edge) - np.minimum(target, 0.1) + 1.5 ** (source / 2)


def guarded(source: Any, edge: Any, target: Any) -> Any:
    return np.where(source > 0, np.sqrt(source), edge * target)


MESSAGES = {
    "product": lambda source, edge, target: edge * source * target, "branches": branches, "rounds": rounds,
    "functions": functions, "guarded": guarded, "of one": lambda source, edge, target: source + 1,
}  # fmt: skip


def in_torch(message: str, source: Any, edge: Any, target: Any) -> Any:
    """The same, by PyTorch, of all entries at once."""
    if message == "branches":
        low = torch.where(edge > 0, edge * source, -source / (1 + target * target))
        return torch.where(source < target, low, torch.maximum(source, 2 * target) ** 3)
    if message == "rounds":
        return edge + sum(torch.sin(k * source) * torch.cos(target) / k for k in (1, 2, 3))
    if message == "functions":
        a = torch.exp(-source.abs()) + torch.log1p(target * target) + torch.sqrt(1 + edge.square())
        b = torch.tanh(source) * torch.arctan(target) - torch.expm1(edge / 4) + 1 / (3 + torch.sin(edge))
        return a + b + torch.log(2 + torch.cos(source)) + torch.maximum(source, edge.expand_as(source)) - (
            target.clamp(max=0.1) - torch.pow(1.5, source / 2)
        )  # fmt: skip
    if message == "guarded":
        return torch.where(source > 0, source.clamp(min=0).sqrt(), edge * target)
    return MESSAGES[message](source, edge, target)


def operands(*shape: int, edge_shape: tuple[int, ...], dtype: Any = None) -> list[Any]:
    generator = torch.Generator().manual_seed(7)
    sizes = (SHAPE[1], *shape), (len(ROWS), *edge_shape), (SHAPE[0], *shape)
    return [torch.randn(*size, generator=generator, dtype=dtype or torch.float64).requires_grad_() for size in sizes]


# Each message and shape is compiled with its derivatives: reductions and shapes are tried on one of them.
CASES = [
    *((message, "sum", (3,), ()) for message in MESSAGES),
    *(("product", reduce, (3,), ()) for reduce in ("mean", "max", "min")),
    ("product", "sum", (), ()), ("product", "sum", (2, 2), (2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("message, reduce, shape, edge_shape", CASES)
def test_messages(message: str, reduce: str, shape: tuple[int, ...], edge_shape: tuple[int, ...]) -> None:
    A = ht.Adjacency.of(torch.tensor([ROWS, COLUMNS]), shape=SHAPE)
    row, column = A.indices
    X, W, Y = operands(*shape, edge_shape=edge_shape)

    def call(X: Any, W: Any, Y: Any) -> Any:
        return ht.gather_scatter(A, MESSAGES[message], source=X, edge=W, target=Y, reduce=reduce)

    wide = W.reshape(len(W), *[1] * (X.ndim - W.ndim), *W.shape[1:])
    sent = in_torch(message, X[column], wide, Y[row])
    kind = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin"}[reduce]
    index = row.reshape(-1, *[1] * (sent.ndim - 1)).expand_as(sent)
    expected = torch.zeros(SHAPE[0], *shape, dtype=X.dtype).scatter_reduce(0, index, sent, kind, include_self=False)
    found = call(X, W, Y)
    assert torch.allclose(found, expected, atol=1e-12)
    weight = torch.randn(found.shape, generator=torch.Generator().manual_seed(3), dtype=found.dtype)
    for one, other in zip(*(torch.autograd.grad((made * weight).sum(), (X, W, Y), allow_unused=True)
                            for made in (found, expected)), strict=True):  # fmt: skip
        assert torch.allclose(one if one is not None else X * 0, other if other is not None else X * 0, atol=1e-10)
    if message == "product" and reduce in ("sum", "max") and shape == (3,):
        assert gradcheck(call, (X, W, Y))
        assert gradgradcheck(call, (X, W, Y), atol=1e-4)


def test_operands_with_names() -> None:
    """A layer of attention: scores by LeakyReLU, of several properties of a vertex."""
    A = ht.Adjacency.of(torch.tensor([ROWS, COLUMNS]), shape=SHAPE)
    X, W, Y = operands(2, edge_shape=(2,))
    found = ht.gather_scatter(
        A, lambda source, edge, target: edge.w * np.maximum(source.x + target, 0.2 * (source.x + target)) + source.bias,
        source={"x": X, "bias": X[:, 0]}, edge={"w": W}, target=Y,
    )  # fmt: skip
    row, column = A.indices
    sent = W * torch.nn.functional.leaky_relu(X[column] + Y[row], 0.2) + X[column][:, :1]
    assert torch.allclose(found, torch.zeros(5, 2, dtype=X.dtype).index_add(0, row, sent))
    values = A.with_values(W[:, 0].detach().clone().requires_grad_())
    assert torch.allclose(
        ht.gather_scatter(values, lambda source, edge, target: edge * source, source=X), ht.spmm(values, X)
    )


def test_ties_share_the_gradient() -> None:
    X = torch.tensor([3.0, 3.0, 1.0], requires_grad=True)
    A = ht.Adjacency.of(torch.tensor([[0, 0, 0], [0, 1, 2]]), shape=(1, 3))
    ht.gather_scatter(A, lambda source, edge, target: source, source=X, reduce="max").sum().backward()
    assert X.grad.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_and_empty_ones(half: str) -> None:
    kind, n = getattr(torch, half), 4096
    A = ht.Adjacency.of(torch.stack([torch.zeros(n, dtype=torch.int64), torch.arange(n)]), shape=(1, n))
    X = torch.ones(n, 1, dtype=kind, requires_grad=True)
    found = ht.gather_scatter(A, lambda source, edge, target: 1 * source, source=X)
    found.sum().backward()
    assert found.dtype == X.grad.dtype == kind and float(found) == n and float(X.grad.sum()) == n
    none = ht.Adjacency.of(torch.zeros(2, 0, dtype=torch.int64), shape=(3, 2))
    for reduce in ("sum", "max"):
        made = ht.gather_scatter(none, lambda source, edge, target: source, source=X[:2], reduce=reduce)
        assert made.tolist() == [[0.0]] * 3


def test_messages_satisfy_torch_compile() -> None:
    A = ht.Adjacency.of(torch.tensor([ROWS, COLUMNS]), shape=SHAPE)
    X, W, Y = operands(2, edge_shape=())
    ht.gather_scatter(A, MESSAGES["product"], source=X, edge=W, target=Y)
    from hpgraph.torch.messages import PROGRAMS

    number = next(one.number for one in PROGRAMS if one.kinds == ("source", "edge", "target") and one.over == "target")
    torch.library.opcheck(torch.ops.hpgraph.messages, (A.places.number, number, [X, W, Y]))


def test_bad_messages() -> None:
    A = ht.Adjacency.of(torch.tensor([ROWS, COLUMNS]), shape=SHAPE)
    X = torch.ones(7, 2)

    def endless(source: Any, edge: Any, target: Any) -> Any:
        while source > 0:
            source = source - 1
        return source

    attribute = lambda source, edge, target: source.x  # noqa: E731
    for message, given, error, text in (
        (lambda source, edge, target: source, {}, ValueError, "give source="),
        (lambda source, edge, target: source, {"source": X[:3]}, ValueError, "source must have 7 rows"),
        (attribute, {"source": {"x": X[:3]}}, ValueError, r"source\['x'\] must have 7 rows"),
        (lambda source, edge, target: source, {"source": X.long()}, TypeError, "dense tensor of floats"),
        (lambda source, edge, target: source, {"source": X, "target": torch.ones(5, 3)}, ValueError, "one shape"),
        (lambda source, edge, target: source, {"source": X, "target": torch.ones(5).double()}, TypeError, "one type"),
        (lambda source, edge, target: "a", {"source": X}, TypeError, "compute with numbers, not str"),
        (lambda source, edge, target: np.arcsinh(source), {"source": X}, TypeError, "numpy.arcsinh has no derivative"),
        (lambda source, edge, target: np.clip(source, 0, 1), {"source": X}, TypeError, "numpy.clip"),
        (lambda source, edge, target: float(source), {"source": X}, TypeError, "use NumPy's"),
        (endless, {"source": X}, TypeError, "more than 64 paths"),
        (lambda source, edge, target: source, {"source": X, "reduce": "prod"}, ValueError, "reduce must be"),
    ):
        with pytest.raises(error, match=text):
            ht.gather_scatter(A, message, **given)
