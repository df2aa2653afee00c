"""Messages written as Python functions against PyTorch's own operations, and their derivatives against differences."""

import itertools
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from cuda_build import compiles

from hpgraph.semiring import get_monoid

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

import hpgraph.torch as ht  # noqa: E402
from tests.interop.torch_matrices import COLUMNS, DEVICES, ROWS, SHAPE  # noqa: E402


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def branches(source: Any, edge: Any, target: Any) -> Any:
    if source < target:
        return edge * source if edge > 0 else -source / (1 + target * target)
    return max(source, 2 * target) ** 3


def functions(source: Any, edge: Any, target: Any) -> Any:
    total = np.where(source > 0, np.sqrt(source), edge * target)
    for k in range(1, 4):
        total += np.sin(k * source) * np.cos(target) / k
    a = np.exp(-abs(source)) + np.log1p(target * target) + np.sqrt(1 + np.square(edge))
    b = np.tanh(source) * np.arctan(target) - np.expm1(edge / 4) + np.reciprocal(3 + np.sin(edge))
    c = np.log(2 + np.cos(source)) + np.maximum(source, edge) - np.minimum(target, 0.1) + 1.5 ** (source / 2)
    return total + a + b + c


MESSAGES = {
    "product": lambda source, edge, target: edge * source * target, "branches": branches, "functions": functions,
    "of one": lambda source, edge, target: source + 1,
}  # fmt: skip


def in_torch(message: str, source: Any, edge: Any, target: Any) -> Any:
    """The same, by PyTorch, of all entries at once."""
    if message == "branches":
        low = torch.where(edge > 0, edge * source, -source / (1 + target * target))
        return torch.where(source < target, low, torch.maximum(source, 2 * target) ** 3)
    if message == "functions":
        total = torch.where(source > 0, source.clamp(min=0).sqrt(), edge * target)
        total = total + sum(torch.sin(k * source) * torch.cos(target) / k for k in (1, 2, 3))
        a = torch.exp(-source.abs()) + torch.log1p(target * target) + torch.sqrt(1 + edge.square())
        b = torch.tanh(source) * torch.arctan(target) - torch.expm1(edge / 4) + 1 / (3 + torch.sin(edge))
        c = torch.log(2 + torch.cos(source)) + torch.maximum(source, edge.expand_as(source))
        return total + a + b + c - target.clamp(max=0.1) + torch.pow(1.5, source / 2)
    return MESSAGES[message](source, edge, target)


def matrix(device: str) -> Any:
    return ht.Adjacency.of(torch.tensor([ROWS, COLUMNS], device=device), shape=SHAPE)


def operands(*shape: int, edge_shape: tuple[int, ...], device: str) -> list[Any]:
    generator = torch.Generator().manual_seed(7)
    sizes = (SHAPE[1], *shape), (len(ROWS), *edge_shape), (SHAPE[0], *shape)
    made = [torch.randn(*size, generator=generator, dtype=torch.float64) for size in sizes]
    return [one.to(device).requires_grad_() for one in made]


# Each message and shape is compiled with its derivatives: reductions and shapes are tried on one of them.
CASES = [
    *((message, "sum", (3,), ()) for message in MESSAGES),
    *(("product", reduce, (3,), ()) for reduce in ("mean", "max", "min")),
    ("product", "sum", (), ()), ("product", "sum", (2, 2), (2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("message, reduce, shape, edge_shape", CASES)
def test_messages(message: str, reduce: str, shape: tuple[int, ...], edge_shape: tuple[int, ...], device: str) -> None:
    A = matrix(device)
    row, column = A.indices
    X, W, Y = operands(*shape, edge_shape=edge_shape, device=device)

    def call(X: Any, W: Any, Y: Any) -> Any:
        return ht.gather_scatter(A, MESSAGES[message], source=X, edge=W, target=Y, reduce=reduce)

    wide = W.reshape(len(W), *[1] * (X.ndim - W.ndim), *W.shape[1:])
    sent = in_torch(message, X[column], wide, Y[row])
    kind = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin"}[reduce]
    index = row.reshape(-1, *[1] * (sent.ndim - 1)).expand_as(sent)
    expected = torch.zeros(SHAPE[0], *shape, dtype=X.dtype, device=device).scatter_reduce(
        0, index, sent, kind, include_self=False
    )
    found = call(X, W, Y)
    assert torch.allclose(found, expected, atol=1e-12)
    weight = torch.randn(found.shape, generator=torch.Generator().manual_seed(3), dtype=found.dtype).to(device)
    for one, other in zip(*(torch.autograd.grad((made * weight).sum(), (X, W, Y), allow_unused=True)
                            for made in (found, expected)), strict=True):  # fmt: skip
        assert torch.allclose(one if one is not None else X * 0, other if other is not None else X * 0, atol=1e-10)
    if message == "product" and reduce in ("sum", "max") and shape == (3,):
        assert gradcheck(call, (X, W, Y))
        # Each derivative of second order compiles programs of its own: of an extreme, that by sources.
        twice = (X, W, Y) if reduce == "sum" else (X, W.detach(), Y.detach())
        assert gradgradcheck(call, twice, atol=1e-4)


def test_operands_with_names(device: str) -> None:
    """A layer of attention: scores by LeakyReLU, of several properties of a vertex."""
    A = matrix(device)
    X, W, Y = operands(2, edge_shape=(2,), device=device)
    found = ht.gather_scatter(
        A, lambda source, edge, target: edge.w * np.maximum(source.x + target, 0.2 * (source.x + target)) + source.bias,
        source={"x": X, "bias": X[:, 0]}, edge={"w": W}, target=Y,
    )  # fmt: skip
    row, column = A.indices
    sent = W * torch.nn.functional.leaky_relu(X[column] + Y[row], 0.2) + X[column][:, :1]
    assert torch.allclose(found, torch.zeros_like(Y).index_add(0, row, sent))
    values = A.with_values(W[:, 0].detach().clone().requires_grad_())
    assert torch.allclose(
        ht.gather_scatter(values, lambda source, edge, target: edge * source, source=X), ht.spmm(values, X)
    )


def test_ties_share_the_gradient(device: str) -> None:
    X = torch.tensor([3.0, 3.0, 1.0], requires_grad=True, device=device)
    A = ht.Adjacency.of(torch.tensor([[0, 0, 0], [0, 1, 2]], device=device), shape=(1, 3))
    ht.gather_scatter(A, lambda source, edge, target: source, source=X, reduce="max").sum().backward()
    assert X.grad.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("reduce", ["max", "min"])
@pytest.mark.parametrize("size", [3e38, np.inf])
def test_extremes_of_infinite_and_large_numbers(size: float, reduce: str, device: str) -> None:
    """Masked entries have infinite scores, and the sum of what attains an extreme may overflow."""
    A = torch.tensor([[0, 0, 1, 1, 2, 2], [0, 1, 2, 2, 2, 3]], device=device)
    X = torch.tensor([size, 1.0, size, -size], device=device, requires_grad=True)
    found = ht.gather_scatter(A, lambda source, edge, target: source, source=X, reduce=reduce)
    expected = [size, size, size, 0.0] if reduce == "max" else [1.0, size, -size, 0.0]
    assert found.tolist() == torch.tensor(expected).tolist()
    gradient = torch.autograd.grad(found, X, torch.tensor([1.0, 2.0, 3.0, 4.0], device=device))[0]
    assert gradient.tolist() == ([1.0, 0.0, 5.0, 0.0] if reduce == "max" else [0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_and_empty_ones(half: str, device: str) -> None:
    kind, n = getattr(torch, half), 4096
    A = ht.Adjacency.of(torch.stack([torch.zeros(n, dtype=torch.int64), torch.arange(n)]).to(device), shape=(1, n))
    X = torch.ones(n, 1, dtype=kind, requires_grad=True, device=device)
    found = ht.gather_scatter(A, lambda source, edge, target: 1 * source, source=X)
    found.sum().backward()
    assert found.dtype == X.grad.dtype == kind and found.item() == n and float(X.grad.sum()) == n
    none = ht.Adjacency.of(torch.zeros(2, 0, dtype=torch.int64, device=device), shape=(3, 2))
    made = ht.gather_scatter(none, lambda source, edge, target: source, source=X[:2], reduce="max")
    assert made.tolist() == [[0.0]] * 3
    edge = torch.ones(0, 2, 3, device=device, requires_grad=True)
    made = ht.gather_scatter(none, lambda source, edge, target: 2 * edge, edge=edge)
    assert torch.autograd.grad(made.sum(), edge)[0].shape == edge.shape and not made.any() and len(made) == 3
    edge = torch.ones(n, dtype=kind, requires_grad=True, device=device)
    made = ht.gather_scatter(A, lambda source, edge, target: edge * source, source=X[:, :0], edge=edge)
    assert made.shape == (1, 0) and not torch.autograd.grad(made.sum(), edge)[0].any()


@pytest.mark.parametrize("columns", [40, 65])
def test_long_rows(columns: int, device: str) -> None:
    """Of more entries than a task, of as many columns as a load takes and of others; sums over both."""
    rng = np.random.default_rng(4)
    index = torch.from_numpy(np.stack([np.sort(rng.integers(0, 9, 9000) ** 2 // 9), rng.integers(0, 50, 9000)])).to(
        device
    )
    A = ht.Adjacency.of(index, shape=(9, 50))
    X, W, Y = (torch.from_numpy(rng.standard_normal((n, *more))).float().to(device).requires_grad_()
               for n, *more in ((50, columns), (9000,), (9, columns)))  # fmt: skip
    found = ht.gather_scatter(A, MESSAGES["product"], source=X, edge=W, target=Y)
    row, column = A.indices
    sent = W[:, None] * X[column] * Y[row]
    expected = torch.zeros_like(Y).index_add(0, row, sent)
    assert torch.allclose(found, expected, rtol=1e-3, atol=1e-2)
    one, other = (torch.autograd.grad(made.square().sum(), (X, W, Y)) for made in (found, expected))
    assert all(float((a - b).abs().max()) < 1e-4 * float(b.abs().max()) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("message", MESSAGES)
def test_messages_and_derivatives_compile_for_the_gpu(message: str, dtype: Any) -> None:
    from hpgraph.kernels.spmv.cuda_messages import specialize_message
    from hpgraph.torch.expressions import traced, variable
    from hpgraph.torch.messages import program

    kinds = ("source", "edge", "target")
    made = program(traced(MESSAGES[message], *map(variable, range(3))), kinds, "target", False)
    wide, width = (True, False, True), 16 // np.dtype(dtype).itemsize
    # The last two are gradients to an edge's number, summed over columns, and to a source's, one a column.
    gradients = [made.by(1, True, width), made.by(0, False, width)]
    for one, kernel in ((made, "dense_rows"), *zip(gradients, ("dense_sums", "dense_rows"), strict=True)):
        if one is None:
            continue
        given = wide if one is made else (*wide, True)
        special = specialize_message(one, get_monoid("plus"), np.dtype(dtype), np.dtype(np.int32), given, width)
        source = "messages.cuh" if kernel == "dense_sums" else "spmm.cuh"
        compiles(source, special.prologue, special.ltoir, [f"hpgraph::{kernel}<Product>"], "sm_90")


def test_messages_satisfy_torch_compile(device: str) -> None:
    A = matrix(device)
    X, W, Y = operands(2, edge_shape=(), device=device)
    ht.gather_scatter(A, MESSAGES["product"], source=X, edge=W, target=Y)
    from hpgraph.torch.messages import PROGRAMS

    number = next(one.number for one in PROGRAMS if one.kinds == ("source", "edge", "target") and one.over == "target")
    torch.library.opcheck(torch.ops.hpgraph.messages, (A.pattern.number, number, [X, W, Y]))


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
        (3, {"source": X}, TypeError, "message must be a function"),
    ):
        with pytest.raises(error, match=text):
            ht.gather_scatter(A, message, **given)


def test_two_threads_trace_at_once() -> None:
    """Each follows the branches of its own function, whichever thread comes first to a branch."""
    A = ht.Adjacency.of(torch.tensor([ROWS, COLUMNS]), shape=SHAPE)
    X = torch.arange(7.0)
    first, second = threading.Event(), threading.Event()

    def interrupted(source: Any, edge: Any, target: Any) -> Any:
        first.set()
        second.wait(10)
        return source if source > 2 else -source

    def interrupting(source: Any, edge: Any, target: Any) -> Any:
        first.wait(10)
        second.set()
        time.sleep(0.05)
        return 2 * source if source > 4 else source

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda message: ht.gather_scatter(A, message, source=X), (interrupted, interrupting)))
    by_hand = torch.where(X > 2, X, -X), torch.where(X > 4, 2 * X, X)
    for one, messages in zip(found, by_hand, strict=True):
        assert torch.equal(one, torch.zeros(5).index_add(0, torch.tensor(ROWS), messages[torch.tensor(COLUMNS)]))


def test_programs_of_many_threads_have_numbers_of_their_own() -> None:
    from hpgraph.torch.expressions import apply, variable
    from hpgraph.torch.messages import PROGRAMS, program

    def some(thread: int) -> list[Any]:
        shifted = (apply("add", variable(0), 1000.0 * thread + at) for at in range(200))
        return [program(one, ("source",), "target", False) for one in shifted]

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            made = list(itertools.chain.from_iterable(pool.map(some, range(8))))
    finally:
        sys.setswitchinterval(usual)
    assert all(PROGRAMS[one.number] is one for one in made)
