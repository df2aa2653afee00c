"""`hpgraph.torch` under PyTorch's transforms: `torch.func`, autocast, `torch.compile`, tracers, modes."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import hpgraph.torch as ht  # noqa: E402
from tests.interop.torch_matrices import DEVICES, ROWS, SHAPE, edges, values_of  # noqa: E402


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_transforms_of_functions(device: str) -> None:
    """`torch.func`, and gradients in batches, against loops and `torch.autograd.grad`."""
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    values, X = values_of(A.nnz, device=device), values_of(SHAPE[1], 3, device=device)
    both = torch.stack([values, values_of(A.nnz, 1, device=device)[:, 0]])

    def attention(values: Any) -> Any:
        return ht.spmm(A.with_values(ht.edge_softmax(A, values)), X, "mean").square()

    def extremes(values: Any) -> Any:
        return ht.spmm(A.with_values(values), X, "max") + ht.segment_sum(A, values)[:, None]

    for function in (attention, extremes):
        expected = []
        for one in both:
            gradient = torch.autograd.grad(function(leaf := one.clone().requires_grad_()).sum(), leaf)[0]
            expected.append(gradient)
        total = lambda values, function=function: function(values).sum()  # noqa: E731
        assert torch.allclose(torch.func.grad(total)(values), expected[0])
        assert torch.allclose(torch.vmap(function)(both), torch.stack([*map(function, both)]))
        assert torch.allclose(torch.vmap(torch.func.grad(total))(both), torch.stack(expected))
        rows = torch.func.jacrev(function)(values)
        assert torch.allclose(rows.sum((0, 1)), expected[0])
        assert torch.allclose(torch.func.jacrev(function)(both[1]).sum((0, 1)), expected[1])
    cubes = lambda X: (ht.spmm(A.with_values(values), X) ** 3).sum()  # noqa: E731
    # An edge index that is ordered within what is transformed, and a batch of none.
    direct = lambda X: ht.spmm(edges(device), X, "max").square().sum()  # noqa: E731
    own = ht.Adjacency.of(edges(device))
    expected = torch.autograd.grad(ht.spmm(own, leaf := X[:6].clone().requires_grad_(), "max").square().sum(), leaf)
    assert torch.equal(torch.func.grad(direct)(X[:6]), expected[0])
    assert torch.equal(torch.vmap(torch.func.grad(direct))(X[None, :6]), expected[0][None])
    assert torch.func.jacrev(lambda X: ht.spmm(A, X))(X[:, :0]).shape == (*SHAPE[:1], 0, SHAPE[1], 0)
    hessian = torch.autograd.functional.hessian(cubes, X)
    assert torch.allclose(torch.func.jacrev(torch.func.jacrev(cubes))(X), hessian)
    assert torch.allclose(torch.autograd.functional.hessian(cubes, X, vectorize=True), hessian)
    with pytest.raises(NotImplementedError, match="transforms no messages"):
        torch.func.grad(lambda X: ht.gather_scatter(A, lambda source, edge, target: source, source=X).sum())(X)


def test_autocast(device: str) -> None:
    """Weights in float32 times what a layer computes in bfloat16, as products of PyTorch."""
    A = ht.Adjacency.of(edges(device), values_of(len(ROWS), device=device, dtype=torch.float32), shape=SHAPE)
    layer = torch.nn.Linear(3, 4, device=device)
    with torch.autocast(device, torch.bfloat16):
        X = layer(values_of(SHAPE[1], 3, device=device, dtype=torch.float32))
        found = ht.spmm(A, X)
        with pytest.raises(TypeError, match=r"must have one type.*take A.with_values\(A.values.to\(torch.float64\)\)"):
            ht.spmm(A, X.double())
        Y = torch.ones(SHAPE[0], 4, device=device)
        assert torch.equal(ht.sddmm(A, Y, X), ht.sddmm(A, Y.bfloat16(), X))
    assert found.dtype == torch.bfloat16 and X.dtype == torch.bfloat16
    assert torch.allclose(found.float(), ht.spmm(A, X.float()), rtol=2e-2, atol=2e-2)
    found.sum().backward()
    assert layer.weight.grad.any()


def test_operators_satisfy_torch_compile(device: str) -> None:
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    values, X = values_of(A.nnz, device=device).requires_grad_(), values_of(SHAPE[1], 4, device=device).requires_grad_()
    sizes = (SHAPE[0], 4), (A.nnz, 2), (A.nnz, 2)
    Y, scores, other = (values_of(*size, device=device).requires_grad_() for size in sizes)
    triangle = ht.Adjacency.of(torch.tensor([[0, 0, 1], [0, 1, 1]], device=device))
    three = [values_of(3, device=device).requires_grad_() for _ in range(2)]
    number, square = A.pattern.number, triangle.pattern.number
    for operator, given in (
        ("spmm", (number, False, values, X)), ("spmm", (number, True, None, Y)),
        ("extremes", (number, True, values, X)),
        ("sddmm", (number, Y[:, None].detach().requires_grad_(), X[:, None].detach().requires_grad_())),
        ("sums", (number, Y, X)), ("softmax", (number, scores)), ("softmax_derivative", (number, scores, other)),
        ("spread", (number, True, X)), ("collect", (number, False, scores)),
        ("at_entries", (square, square, False, square, True, *three)),
    ):  # fmt: skip
        torch.library.opcheck(getattr(torch.ops.hpgraph, operator), given)


def test_torch_compile_keeps_the_operators(device: str) -> None:
    """A layer of attention in one graph, forward and backward."""
    A, made = ht.Adjacency.of(edges(device), shape=SHAPE), []

    def layer(X: Any, Y: Any) -> Any:
        scores = torch.nn.functional.leaky_relu(ht.sddmm(A, Y[..., 0], X[..., 0], op="add"), 0.2)
        return ht.spmm(A.with_values(ht.edge_softmax(A, scores)), X) + ht.spmm(A, X, "mean") + ht.spmm(A, X, "max")

    def backend(graph: Any, inputs: Any) -> Any:
        made.append(graph)
        return graph

    X, Y = (values_of(n, 3, 4, device=device).requires_grad_() for n in SHAPE[::-1])
    compiled = torch.compile(layer, backend=backend, fullgraph=True)
    traced = torch.compile(layer, backend="aot_eager", fullgraph=True)
    for one in (compiled, traced):
        torch._dynamo.reset()
        found, expected = (call(X, Y) for call in (one, layer))
        assert torch.allclose(found, expected)
        for a, b in zip(*(torch.autograd.grad(out.square().sum(), (X, Y)) for out in (found, expected)), strict=True):
            assert torch.allclose(a, b)
    assert len(made) == 1


def test_torch_compile_of_several_matrices(device: str) -> None:
    """Batches have matrices of their own: once compiled again, numbers of matrices are variables of PyTorch."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda A, X: ht.spmm(A, X, "mean").square(), backend="aot_eager")
    for count in (8, 6, 5, 3):
        A = ht.Adjacency.of(edges(device)[:, :count], shape=(SHAPE[0] + count, SHAPE[1]))
        X = values_of(SHAPE[1], 4, device=device).requires_grad_()
        found, expected = compiled(A, X), ht.spmm(A, X, "mean").square()
        assert torch.equal(found, expected)
        first, second = (torch.autograd.grad(one.sum(), X)[0] for one in (found, expected))
        assert torch.allclose(first, second)


def test_what_watches_calls_sees_operators(device: str) -> None:
    """Modes, tracers, transforms of functions and subclasses of tensors; elsewhere calls skip the dispatcher."""
    A = ht.Adjacency.of(edges(device), values_of(len(ROWS), device=device), shape=SHAPE)
    X, other = (values_of(SHAPE[1], 3, device=device) for _ in range(2))
    seen = []

    class Seeing(TorchDispatchMode):
        def __torch_dispatch__(self, called: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            seen.append(str(called))
            return called(*given, **(named or {}))

    class Kind(torch.Tensor):
        pass

    expected = [ht.spmm(A, one) for one in (X, other)]
    with Seeing():
        found = ht.spmm(A, X)
    assert seen == ["hpgraph.spmm.default"] and torch.equal(found, expected[0])
    for traced in (make_fx(lambda x: ht.spmm(A, x))(X), torch.jit.trace(lambda x: ht.spmm(A, x), X)):
        assert torch.equal(traced(other), expected[1])
    assert type(ht.spmm(A, X.as_subclass(Kind))) is Kind
    with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
        torch.func.jvp(lambda x: ht.spmm(A, x), (X,), (other,))
    with torch.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="no forward-mode"):
        ht.spmm(A, torch.autograd.forward_ad.make_dual(X, other))
    with torch.inference_mode():
        assert torch.equal(ht.spmm(A, X), expected[0])
    weighed = torch.nn.Parameter(X)
    found = checkpoint(lambda x: ht.spmm(A, x), weighed, use_reentrant=False)
    first, again = (torch.autograd.grad(one.sum(), weighed)[0] for one in (found, ht.spmm(A, weighed)))
    assert torch.equal(first, again) and first.any()
