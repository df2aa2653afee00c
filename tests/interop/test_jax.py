"""`hpgraph.jax` against JAX's own dense operations, and its derivatives against finite differences."""

from typing import Any

import numpy as np
import pytest

import hpgraph as hpg

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import hpgraph.jax as hj  # noqa: E402

# A loop, an empty row, an empty column, a row of more than one entry.
ROWS, COLUMNS, SHAPE = np.array([0, 0, 0, 2, 2, 3, 3]), np.array([0, 1, 4, 0, 2, 3, 5]), (5, 7)


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest, jax_backend: str) -> Any:
    if request.param == "cuda" and jax_backend != "gpu":
        pytest.skip("no GPU that JAX uses")
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu" if request.param == "cpu" else "gpu")[0]):
        yield str(request.param)


def matrix(device: str, values: Any = None) -> Any:
    given = np.ones(len(ROWS)) if values is None else values
    made = hpg.Matrix.from_coo(ROWS, COLUMNS, given, SHAPE)
    return made.to(device)


def drawn(*shape: int) -> Any:
    return jnp.asarray(np.random.default_rng(sum(shape)).standard_normal(shape))


@pytest.mark.parametrize("columns", [(), (3,)])
def test_spmm(device: str, columns: tuple[int, ...]) -> None:
    A, values, X = matrix(device), drawn(len(ROWS)), drawn(SHAPE[1], *columns)
    dense = jnp.zeros(SHAPE).at[ROWS, COLUMNS].set(values)
    assert jnp.allclose(hj.spmm(A, X, values), dense @ X)
    assert jnp.allclose(hj.spmm(matrix(device, np.asarray(values)), X), dense @ X)
    check_grads(lambda values, X: hj.spmm(A, X, values), (values, X), order=2, modes=["rev"])


def test_sddmm_and_softmax(device: str) -> None:
    A, X, Y, scores = matrix(device), drawn(SHAPE[0], 3), drawn(SHAPE[1], 3), drawn(len(ROWS), 2)
    assert jnp.allclose(hj.sddmm(A, X, Y), (X @ Y.T)[ROWS, COLUMNS])
    check_grads(lambda X, Y: hj.sddmm(A, X, Y), (X, Y), order=2, modes=["rev"])
    expected = jnp.concatenate([jax.nn.softmax(scores[row == ROWS], 0) for row in np.unique(ROWS)])
    assert jnp.allclose(hj.edge_softmax(A, scores), expected)
    assert jnp.allclose(hj.edge_softmax(A, scores[:, 0]), expected[:, 0])
    check_grads(lambda scores: hj.edge_softmax(A, scores), (scores,), order=2, modes=["rev"])


def test_a_layer_of_attention_under_jit(device: str) -> None:
    G, X = hpg.datasets.kron(6, device=device), drawn(64, 4)

    def loss(X: Any) -> Any:
        return (hj.spmm(G, X, hj.edge_softmax(G, hj.sddmm(G, X, X))) ** 2).sum()

    found = jax.grad(loss)(X)
    adjacency = jnp.asarray(G.to("cpu").out_csr.to_scipy().toarray() != 0)

    def dense(X: Any) -> Any:
        weights = jax.nn.softmax(jnp.where(adjacency, X @ X.T, -1e9), 1)
        return (jnp.where(adjacency.any(1)[:, None], weights @ X, 0) ** 2).sum()

    assert jnp.allclose(found, jax.grad(dense)(X))
    if device == "cuda":
        with pytest.raises(hpg.DeviceError, match=r"outside of jax\.jit"):
            jax.jit(loss)(X)
    else:
        assert jnp.allclose(jax.jit(jax.grad(loss))(X), found)


def test_ugly_input(device: str) -> None:
    A, X = matrix(device), drawn(SHAPE[1], 2)
    empty = hpg.Matrix.from_coo([], [], np.zeros(0), (3, 2)).to(device)
    assert hj.spmm(empty, jnp.ones((2, 4))).tolist() == [[0.0] * 4] * 3
    without = hpg.Matrix((3, 0)).to(device)
    assert hj.spmm(without, jnp.ones((0, 4))).tolist() == [[0.0] * 4] * 3
    assert jax.grad(lambda x: hj.spmm(without, x).sum())(jnp.ones(0)).shape == (0,)
    assert hj.edge_softmax(empty, jnp.zeros((0, 2))).shape == (0, 2)
    assert hj.sddmm(empty, jnp.ones((3, 4)), jnp.ones((2, 4))).shape == (0,)
    for call, error, text in (
        (lambda: hj.spmm(A, X[:3]), ValueError, "X must have 7 rows"),
        (lambda: hj.spmm(A, X.astype(int)), TypeError, "X must be float32 or float64"),
        (lambda: hj.spmm(A, X, jnp.ones(3)), ValueError, "values must have 7 rows"),
        (lambda: hj.spmm(A, X, jnp.ones(7, np.float32)), TypeError, "must have one type"),
        (lambda: hj.sddmm(A, jnp.ones((5, 3)), X), ValueError, "as many columns"),
        (lambda: hj.sddmm(A, jnp.ones(5), X), ValueError, "X must have 5 rows"),
        (lambda: hj.edge_softmax(A, X[:2]), ValueError, "scores must have 7 rows"),
    ):
        with pytest.raises(error, match=text):
            call()
