"""`hpgraph.torch` against PyTorch's own dense operations, and its derivatives against finite differences."""

import pickle
from typing import Any

import numpy as np
import pytest

import hpgraph as hpg

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

import hpgraph.torch as ht  # noqa: E402
from tests.interop.torch_matrices import DEVICES, ROWS, SHAPE, edges, values_of  # noqa: E402


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def messages(A: Any, X: Any) -> list[list[Any]]:
    """What the entries of each row send, one by one."""
    found: list[list[Any]] = [[] for _ in range(A.shape[0])]
    for e, (i, j) in enumerate(A.indices.T.tolist()):
        weight = 1 if A.values is None else A.values[e]
        found[i].append((weight[:, None] if getattr(weight, "ndim", 0) else weight) * X[j])
    return found


REDUCE = {
    "sum": lambda sent: sent.sum(0), "mean": lambda sent: sent.mean(0),
    "max": lambda sent: sent.amax(0), "min": lambda sent: sent.amin(0),
}  # fmt: skip


@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("heads", [None, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_spmm(device: str, reduce: str, heads: int | None, weighted: bool) -> None:
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    shape = () if heads is None else (heads,)
    if weighted:
        A = A.with_values(values_of(A.nnz, *shape, device=device).requires_grad_())
    X = values_of(SHAPE[1], *shape, 4, device=device).requires_grad_()
    found = ht.spmm(A, X, reduce)
    expected = torch.stack([REDUCE[reduce](torch.stack(sent)) if sent else X[0] * 0 for sent in messages(A, X)])
    assert torch.allclose(found, expected, atol=1e-12)
    inputs = (X,) if A.values is None else (X, A.values)
    again = lambda X, *values: ht.spmm(A.with_values(*values) if values else A, X, reduce)  # noqa: E731
    assert gradcheck(again, inputs)
    assert gradgradcheck(again, inputs)


def test_spmm_of_a_vector_and_of_a_graph(device: str) -> None:
    G = hpg.datasets.kron(8, weighted=True, device=device)
    x = values_of(G.n_vertices, device=device, dtype=torch.float32)
    dense = torch.from_numpy(G.to("cpu").out_csr.to_scipy().toarray()).to(device, torch.float32)
    assert torch.allclose(ht.spmm(G, x), dense @ x, rtol=1e-4, atol=1e-4)
    assert torch.allclose(
        ht.spmm(ht.Adjacency.of(G).to_torch(), x[:, None]), (dense @ x)[:, None], rtol=1e-4, atol=1e-4
    )
    assert torch.equal(ht.spmm(G, torch._neg_view(x)), ht.spmm(G, -x))


@pytest.mark.parametrize("heads", [None, 2])
@pytest.mark.parametrize("columns", [1, 3, 8, 64])
def test_sddmm(device: str, heads: int | None, columns: int) -> None:
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    shape = (columns,) if heads is None else (heads, columns)
    X, Y = (values_of(rows, *shape, device=device).requires_grad_() for rows in SHAPE)
    row, column = A.indices
    assert torch.allclose(ht.sddmm(A, X, Y), (X[row] * Y[column]).sum(-1))
    if columns == 3:
        assert gradcheck(lambda X, Y: ht.sddmm(A, X, Y), (X, Y))
        assert gradgradcheck(lambda X, Y: ht.sddmm(A, X, Y), (X, Y))


@pytest.mark.parametrize("heads", [None, 3])
def test_sums_at_entries(device: str, heads: int | None) -> None:
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    shape = () if heads is None else (heads,)
    X, Y = (values_of(rows, *shape, device=device).requires_grad_() for rows in SHAPE)
    row, column = A.indices
    assert torch.equal(ht.sddmm(A, X, Y, op="add"), X[row] + Y[column])
    assert gradcheck(lambda X, Y: ht.sddmm(A, X, Y, op="add"), (X, Y))
    # That of a sum is constant: a second derivative comes of what is made of it.
    assert gradgradcheck(lambda X, Y: ht.sddmm(A, X, Y, op="add").square(), (X, Y))


@pytest.mark.parametrize("reduce", REDUCE)
def test_derivatives_of_segments(device: str, reduce: str) -> None:
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    source = values_of(A.nnz, 2, 3, device=device).requires_grad_()
    reduced = getattr(ht, f"segment_{reduce}")
    assert gradcheck(lambda source: reduced(A, source), (source,))
    assert gradgradcheck(lambda source: reduced(A, source).square(), (source,))


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_of_all_shapes(device: str, half: str) -> None:
    """Results and derivatives are those of the same numbers in float32, rounded."""
    kind, A = getattr(torch, half), ht.Adjacency.of(edges(device), shape=SHAPE)
    for heads, k in ((None, 1), (None, 8), (None, 5), (4, 8), (3, 1)):
        shape = () if heads is None else (heads,)
        X, Y = (values_of(n, *shape, k, device=device, dtype=torch.float32).to(kind) for n in SHAPE[::-1])
        values = values_of(A.nnz, *shape, device=device, dtype=torch.float32).to(kind)
        found = []
        for as_kind in (kind, torch.float32):
            x, y, w = (one.to(as_kind).requires_grad_() for one in (X, Y, values))
            made = [ht.spmm(A.with_values(w), x), ht.sddmm(A, y, x), ht.edge_softmax(A, w)]
            assert all(one.dtype == as_kind for one in made)
            found.append(made + list(torch.autograd.grad([one.sum() for one in made], [x, y, w])))
        assert all(torch.allclose(one.float(), other, atol=0.1, rtol=0.05) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("columns", [32, 64, 72])
@pytest.mark.parametrize("skipped", [0, 1])
def test_halves_of_long_rows(device: str, half: str, columns: int, skipped: int) -> None:
    """Rows that begin anywhere, one of several tasks; values that begin anywhere in memory."""
    kind, rng = getattr(torch, half), np.random.default_rng(columns)
    degree = rng.integers(0, 40, 50)
    degree[[3, 7]] = 2500, 0
    index = np.stack([np.repeat(np.arange(50), degree), rng.integers(0, 60, degree.sum())])
    A = ht.Adjacency.of(torch.from_numpy(index).to(device), shape=(50, 60))
    values = values_of(A.nnz + skipped, device=device, dtype=torch.float32).to(kind)[skipped:]
    X, gradient = (values_of(n, columns, device=device, dtype=torch.float32).to(kind) for n in (60, 50))
    wide = A.with_values(values.double())
    for given in (values, values.detach().clone().requires_grad_()):
        x = X.clone().requires_grad_()
        found, B = ht.spmm(A.with_values(given), x), x.detach().double().requires_grad_()
        expected = ht.spmm(wide, B)
        for made, of in ((found, expected), *zip(torch.autograd.grad(found, x, gradient),
                         torch.autograd.grad(expected, B, gradient.double()), strict=True)):  # fmt: skip
            assert float((made.double() - of).abs().max() / of.abs().max()) < (2e-3 if half == "float16" else 1e-2)
    assert torch.equal(ht.spmm(A, X), ht.spmm(A.with_values(torch.ones_like(values)), X))


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3), (3, 2)])
def test_without_entries(device: str, shape: tuple[int, int]) -> None:
    A = ht.Adjacency.of(torch.zeros(2, 0, dtype=torch.int64, device=device), shape=shape)
    X, Y = (torch.ones(n, 4, device=device, requires_grad=True) for n in shape)
    for reduce in REDUCE:
        assert torch.equal(ht.spmm(A, Y, reduce), torch.zeros(shape[0], 4, device=device))
        assert getattr(ht, f"segment_{reduce}")(A, torch.zeros(0, 2, device=device)).tolist() == [[0, 0]] * shape[0]
    found = ht.sddmm(A, X, Y)
    assert found.shape == (0,) and ht.edge_softmax(A, found).shape == (0,)
    assert not torch.autograd.grad(ht.spmm(A.with_values(found), Y).sum() + found.sum(), Y)[0].any()
    assert ht.sddmm(A, X[:, 0], Y[:, 0], op="add").shape == (0,)
    headless = A.with_values(torch.zeros(0, 0, device=device))
    assert all(ht.spmm(headless, Y[:, None, :0].mT, reduce).shape == (shape[0], 0, 1) for reduce in REDUCE)


def test_sddmm_of_rows_longer_than_a_task(device: str) -> None:
    G = hpg.datasets.kron(10, 32, device=device)
    A = ht.Adjacency.of(G)
    X = values_of(G.n_vertices, 16, device=device, dtype=torch.float32)
    row, column = A.indices
    assert torch.allclose(ht.sddmm(A, X, X), (X[row] * X[column]).sum(-1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("heads", [None, 4])
def test_softmax_and_segments(device: str, heads: int | None) -> None:
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    scores = values_of(A.nnz, *(() if heads is None else (heads,)), device=device).requires_grad_()
    row = A.indices[0]
    found = ht.edge_softmax(A, 1000 + scores)
    for i in range(SHAPE[0]):
        assert torch.allclose(found[row == i], torch.softmax(scores[row == i], 0))
    assert gradcheck(lambda scores: ht.edge_softmax(A, scores), (scores,))
    assert gradgradcheck(lambda scores: ht.edge_softmax(A, scores), (scores,))
    for name, reduce in REDUCE.items():
        segments = getattr(ht, f"segment_{name}")(A, scores)
        expected = torch.stack([
            reduce(scores[row == i]) if bool((row == i).any()) else scores[0] * 0 for i in range(SHAPE[0])
        ])  # fmt: skip
        assert torch.allclose(segments, expected)


def test_spspmm(device: str) -> None:
    left = torch.tensor([[0, 0, 2, 2, 3], [1, 4, 0, 2, 3]], device=device)
    right = torch.tensor([[1, 4, 4, 0, 2], [0, 0, 2, 1, 1]], device=device)
    A, B = ht.Adjacency.of(left, shape=(4, 5)), ht.Adjacency.of(right, shape=(5, 3))
    a, b = (values_of(one.nnz, device=device).requires_grad_() for one in (A, B))
    made = ht.spspmm(A.with_values(a), B.with_values(b))
    dense = [
        torch.zeros(one.shape, dtype=a.dtype, device=device).index_put(tuple(one.indices), values)
        for one, values in ((A, a), (B, b))
    ]
    product = dense[0] @ dense[1]
    assert torch.allclose(made.to_torch().to_dense(), product)
    assert torch.equal(ht.spspmm(A, B).values, ht.spspmm(A, B).values)
    again = lambda a, b: ht.spspmm(A.with_values(a), B.with_values(b)).values  # noqa: E731
    assert gradcheck(again, (a, b))
    assert gradgradcheck(lambda a, b: again(a, b).square(), (a, b))


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_halves_are_summed_in_float32(device: str, half: str) -> None:
    kind = getattr(torch, half)
    n = 4096
    A = ht.Adjacency.of(torch.stack([torch.zeros(n, dtype=torch.int64), torch.arange(n)]).to(device), shape=(1, n))
    X = torch.ones(n, 1, dtype=kind, device=device)
    found = ht.spmm(A, X)
    assert found.dtype == kind and float(found) == n
    row = torch.stack([torch.zeros(n, dtype=torch.int64), torch.arange(n)]).to(device)
    B = ht.Adjacency.of(row.flip(0), torch.ones(n, dtype=kind, device=device).requires_grad_(), shape=(n, 1))
    found = ht.spspmm(A, B).values
    assert found.dtype == kind and found.tolist() == [n]
    assert torch.equal(torch.autograd.grad(found, B.values)[0], torch.ones_like(B.values))


def test_edge_index_keeps_its_order(device: str) -> None:
    index, values = edges(device), torch.arange(len(ROWS), device=device, dtype=torch.float32)
    A = ht.Adjacency.of(index, values, shape=SHAPE)
    assert torch.equal(A.indices, index[:, A.order]) and torch.equal(A.values, values[A.order])
    coo = torch.sparse_coo_tensor(index, values, SHAPE)
    assert torch.equal(ht.Adjacency.of(coo).to_torch().to_dense(), coo.to_dense())
    empty = ht.Adjacency.of(torch.zeros(2, 0, dtype=torch.int64, device=device), shape=(3, 2))
    assert torch.equal(ht.spmm(empty, torch.ones(2, 2, device=device), "max"), torch.zeros(3, 2, device=device))
    assert ht.edge_softmax(empty, torch.zeros(0, device=device)).shape == (0,)
    # Ids of 32 bits, of a matrix with more places than these count.
    wide = torch.tensor([[70_000, 3, 70_001], [5, 99_999, 1]], dtype=torch.int32, device=device)
    A = ht.Adjacency.of(wide, torch.arange(3, device=device), shape=(100_000, 100_000))
    assert A.indices.tolist() == [[3, 70_000, 70_001], [99_999, 5, 1]] and A.order.tolist() == [1, 0, 2]
    assert A.values.tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="on the device of A"):
        ht.Adjacency.of(wide, torch.ones(3, device="meta"), shape=(100_000, 100_000))


def test_a_matrix_outlives_its_use_for_derivatives(device: str) -> None:
    X = values_of(SHAPE[1], 2, device=device).requires_grad_()
    found = ht.spmm(ht.Adjacency.of(edges(device), shape=SHAPE), X)
    found.sum().backward()
    assert torch.equal(X.grad[:, 0], torch.bincount(edges(device)[1], minlength=SHAPE[1]).double())


@pytest.mark.skipif("cuda" not in DEVICES, reason="no CUDA GPU here")
def test_work_waits_for_the_current_stream_alone() -> None:
    A = ht.Adjacency.of(edges("cuda"), shape=SHAPE)
    ones, X = torch.ones(SHAPE[1], 4, device="cuda"), torch.zeros(SHAPE[1], 4, device="cuda", requires_grad=True)
    expected = ht.spmm(A, ones)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(100_000_000)
        X.data.copy_(ones)
        found = ht.spmm(A, X)
        (gradient,) = torch.autograd.grad(found, X, found)
    torch.cuda.synchronize()
    assert torch.equal(found, expected)
    row, column = edges("cuda")
    assert torch.equal(gradient, torch.zeros_like(ones).index_add(0, column, expected[row]))


def test_bad_input(device: str) -> None:
    A = ht.Adjacency.of(edges(device), shape=SHAPE)
    X = values_of(SHAPE[1], 2, device=device)
    with pytest.raises(ValueError, match="reduce must be"):
        ht.spmm(A, X, "prod")
    with pytest.raises(ValueError, match='op must be "dot" or "add"'):
        ht.sddmm(A, X[:5], X, op="mul")
    with pytest.raises(ValueError, match="as many columns"):
        ht.sddmm(A, X[:5, 0], X, op="add")
    with pytest.raises(ValueError, match="must be on one device"):
        ht.spmm(A, torch.ones(7, 2, device="meta"))
    with pytest.raises(ValueError, match="source must have 8 rows"):
        ht.segment_sum(A, X)
    with pytest.raises(ValueError, match="X must have 7 rows"):
        ht.spmm(A, X[:3])
    with pytest.raises(TypeError, match="X must be a dense tensor of floats"):
        ht.spmm(A, torch.ones(7, 2, dtype=torch.int64, device=device))
    with pytest.raises(TypeError, match="X must be a dense tensor of floats, not NoneType"):
        ht.spmm(A, None)
    with pytest.raises(TypeError, match="must have one type"):
        ht.spmm(A.with_values(torch.ones(A.nnz, device=device)), X)
    with pytest.raises(ValueError, match="values must have shape"):
        A.with_values(X)
    with pytest.raises(ValueError, match="every column of the edge index must be from 0 to 3"):
        ht.Adjacency.of(edges(device), shape=(5, 4))
    for shape, error in (((5,), TypeError), ((5.5, 7), TypeError), ((-1, 7), ValueError)):
        with pytest.raises(error, match="shape must"):
            ht.Adjacency.of(edges(device), shape=shape)
    with pytest.raises(TypeError, match="values must be a tensor, or None, not ndarray"):
        ht.Adjacency.of(edges(device), np.ones(A.nnz))
    with pytest.raises(TypeError, match="A must be a Graph, a Matrix"):
        ht.spmm(X, X)
    with pytest.raises(TypeError, match=r"int32 or int64 of shape \(2, nnz\), not torch.bool"):
        ht.Adjacency.of(edges(device) > 0)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        ht.spspmm(A, A)
    with pytest.raises(ValueError, match="no place twice"):
        ht.spspmm(A, ht.Adjacency.of(edges(device), shape=(7, 7)))
    if device == "cuda":
        with pytest.raises(ValueError, match="must be on one device"):
            ht.spmm(A, X.cpu())


def test_without_a_gpu_there_is_still_a_repr() -> None:
    A = ht.Adjacency.of(edges("cpu"), shape=SHAPE)
    assert repr(A) == "Adjacency: 5 x 7, 8 entries, no values, cpu"
    assert np.array_equal(pickle.loads(pickle.dumps(A)).indices, A.indices)
