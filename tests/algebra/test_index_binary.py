"""Index-binary operators against loops over all places, written from the definition."""

from typing import Any

import numpy as np
import pytest
from arrays import host

import hpgraph as hpg
from hpgraph.semiring import IndexBinaryOp, Semiring, get_monoid, register_index_binary


def places(a: Any, i: Any, j: Any, b: Any, k: Any, l: Any, theta: Any) -> Any:  # noqa: E741
    """Every argument matters, and none as another does."""
    return a + 10 * i + 100 * j + 3 * b + 1000 * k + 10_000 * l + theta


def matrix(rows: int, columns: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((rows, columns)) < 0.4, rng.integers(1, 9, (rows, columns)), 0)


@pytest.mark.parametrize("theta", [0, -7])
@pytest.mark.parametrize("name", ["ewise_mult", "ewise_add"])
def test_entry_by_entry(name: str, theta: int, device: str) -> None:
    a, b = matrix(7, 9, 1), matrix(7, 9, 2)
    expected = np.where(a == 0, b, a) if name == "ewise_add" else np.zeros_like(a)
    for i, j in np.argwhere((a != 0) & (b != 0)):
        expected[i, j] = places(a[i, j], i, j, b[i, j], i, j, theta)
    op = IndexBinaryOp("places", places).with_theta(theta)
    found = getattr(hpg, name)(hpg.Matrix(a).to(device), hpg.Matrix(b).to(device), op)
    np.testing.assert_array_equal(host(found.toarray()), expected)
    u, v = hpg.Vector([4, 5]).to(device), hpg.Vector([6, 8]).to(device)
    assert host(getattr(hpg, name)(u, v, op).values).tolist() == [
        places(4, 0, 0, 6, 0, 0, theta), places(5, 1, 0, 8, 1, 0, theta)
    ]  # fmt: skip


def test_with_a_number(device: str) -> None:
    a = matrix(5, 6, 3)
    op = IndexBinaryOp("places", places, theta=2)
    for side in ("left", "right"):
        found = hpg.Matrix(a).to(device).apply(op, **{side: 50})
        expected = np.zeros_like(a)
        for i, j in np.argwhere(a):
            given = (50, i, j, a[i, j]) if side == "left" else (a[i, j], i, j, 50)
            expected[i, j] = places(*given, i, j, 2)
        np.testing.assert_array_equal(host(found.toarray()), expected)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("columns", [8, 300])
def test_products_of_matrices(masked: bool, columns: int, device: str) -> None:
    # Of many columns with few entries each kernels see those alone that are used.
    a, b = matrix(6, 7, 4), np.zeros((7, columns), np.int64)
    b[:, -8:] = matrix(7, 8, 5)
    ring = Semiring(get_monoid("max"), IndexBinaryOp("places", places, theta=3))
    expected = np.zeros((6, columns), np.int64)
    for i, j in np.ndindex(expected.shape):
        met = [places(a[i, k], i, k, b[k, j], k, j, 3) for k in range(7) if a[i, k] and b[k, j]]
        expected[i, j] = max(met, default=0)
    mask = np.random.default_rng(6).random(expected.shape) < 0.5
    options = {"mask": hpg.Matrix(mask).to(device)} if masked else {}
    found = hpg.mxm(hpg.Matrix(a).to(device), hpg.Matrix(b).to(device), ring, **options)
    np.testing.assert_array_equal(host(found.toarray()), np.where(mask, expected, 0) if masked else expected)


def test_products_with_a_vector(device: str) -> None:
    a, x = matrix(6, 7, 7), np.arange(2, 9)
    A = hpg.Matrix(a).to(device)
    ring = Semiring(get_monoid("plus"), IndexBinaryOp("places", places, theta=1))
    v, w = hpg.Vector(x).to(device), hpg.Vector(x[:6]).to(device)
    right = [sum(places(a[i, k], i, k, x[k], k, 0, 1) for k in range(7) if a[i, k]) for i in range(6)]
    left = [sum(places(x[k], 0, k, a[k, j], k, j, 1) for k in range(6) if a[k, j]) for j in range(7)]
    assert host(hpg.mxv(A, v, ring).toarray()).tolist() == right
    assert host(hpg.vxm(w, A, ring).toarray()).tolist() == left
    one = hpg.Vector.from_indices([2], [4], 7).to(device)
    met = [places(a[i, 2], i, 2, 4, 2, 0, 1) if a[i, 2] else 0 for i in range(6)]
    assert host(hpg.mxv(A, one, ring).toarray()).tolist() == met


def test_types_and_names(device: str) -> None:
    A = hpg.Matrix([[1, 2], [3, 4]]).to(device)
    half = IndexBinaryOp("half", lambda a, i, j, b, k, m: (a + j) / 2)
    assert hpg.ewise_mult(A, A, half).toarray().tolist() == [[0.5, 1.5], [1.5, 2.5]]
    beyond = IndexBinaryOp("beyond", lambda a, i, j, b, k, m, theta: a > theta, "bool", theta=2.5)
    assert hpg.ewise_mult(A, A, beyond).dtype == np.bool_
    assert half(3, 0, 1, 9, 0, 1) == 2.0
    register_index_binary("columngap", lambda a, i, j, b, k, m, theta: m - j)
    assert host(hpg.mxm(A, A, "max_columngap").toarray()).tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda op: IndexBinaryOp("short", lambda a, b: a), TypeError),
        (lambda op: op.with_theta("1"), TypeError),
        (lambda op: hpg.kron(hpg.Matrix([[1]]), hpg.Matrix([[1]]), op), TypeError),
        (lambda op: op.typed(int, int), TypeError),
        (lambda op: hpg.semiring.Monoid(op, 0), ValueError),
    ],
)
def test_what_is_refused(call: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"arguments|theta|places"):
        call(IndexBinaryOp("places", places))
