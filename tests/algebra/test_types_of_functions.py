"""The type of what a Python function makes: what it returns, in every operation, on both devices."""

from typing import Any

import numpy as np
import pytest
from raising import raises

import hpgraph as hpg
from hpgraph.semiring import Monoid, Semiring, get_binary, get_monoid

D = np.array([[1, 2], [3, 4]])


def matrix(device: str, dtype: str = "int64") -> Any:
    return hpg.Matrix(D.astype(dtype)).to(device)


def dense(A: Any) -> Any:
    return A.to("cpu").toarray()


def agree(found: Any, wanted: Any) -> None:
    """The same numbers of the same type."""
    values = dense(found) if hasattr(found, "toarray") else found.get() if hasattr(found, "get") else found
    np.testing.assert_array_equal(values, wanted)
    assert values.dtype == wanted.dtype


def test_apply(device: str) -> None:
    A = matrix(device)
    agree(A.apply(lambda x: x / 2), D / 2)
    agree(A.apply(lambda x: x > 2), D > 2)
    agree(A.apply(lambda x: x * x), D * D)
    agree(A.apply(lambda x, y: y / x, left=2), D / 2)
    agree(A.apply(lambda x, i, j: 0.5 * i + x), D + np.array([[0.0], [0.5]]))
    agree(A.apply(lambda x, i, j, k: x < k, thunk=3), D < 3)
    # Numba computes whole numbers in 64 bits, so that none is cut off.
    agree(matrix(device, "int8").apply(lambda x: x * 100), D * 100)
    agree(matrix(device, "float32").apply(lambda x: x * x), (D * D).astype("float32"))


def test_dtype_overrides(device: str) -> None:
    A = matrix(device)
    agree(A.apply(lambda x: x / 2, dtype="int64"), D // 2)
    agree(matrix(device, "float32").apply(lambda x: x * 0.5, dtype="float32"), (D / 2).astype("float32"))
    agree(A.apply("sqrt", dtype="float32"), np.sqrt(D).astype("float32"))
    agree(A.ewise_mult(A, lambda a, b: a / b, dtype="int32"), np.ones((2, 2), "int32"))
    agree(A.ewise_add(A, lambda a, b: a + b, dtype="float32"), (D + D).astype("float32"))
    agree(A.ewise_union(0, A, 0, "plus", dtype="int8"), (D + D).astype("int8"))
    raises(TypeError, "dtype is float16", A.apply, lambda x: x, dtype=np.float16)


def test_out_of_whole_numbers_takes_whole_numbers(device: str) -> None:
    A = matrix(device, "uint8")
    assert A.apply(lambda x: x + 1, out=A) is A
    agree(A, (D + 1).astype("uint8"))
    hpg.apply(A, lambda x: x, accum=lambda a, b: a + b - 1, out=A)
    agree(A, (2 * D + 1).astype("uint8"))
    v = hpg.Vector(np.array([1, 2], "uint32")).to(device)
    hpg.apply(v, lambda x: x, accum=lambda a, b: a + b - 1, out=v)
    assert v.dtype == np.uint32 and v.to("cpu").values.tolist() == [1, 3]
    raises(TypeError, "float64 cannot be written to out, which is uint8", A.apply, lambda x: x / 2, out=A)


def test_patterns(device: str) -> None:
    """Their entries are True."""
    P = hpg.Matrix(np.array([[1, 0], [1, 1]])).to(device).structure
    T = np.array([[1, 0], [1, 1]])
    agree(P.apply(lambda x: 2 * x), 2 * T)
    agree(P.apply(lambda x: x / 4), T / 4)
    agree(P.apply(lambda x: x), T.astype(bool))
    agree(P.apply(lambda x, i, j: 10 * i + j + 1), np.array([[1, 0], [11, 12]]))
    agree(P.ewise_add(P, lambda a, b: a + b), 2 * T)
    agree(P.ewise_mult(matrix(device), lambda a, b: b / 2), T * D / 2)
    assert P.select(lambda x: x == 1).nnz == 3


def test_vectors(device: str) -> None:
    v = hpg.Vector.from_indices([0, 2], [3, 4], 3).to(device)
    agree(v.apply(lambda x: x / 2), np.array([1.5, 0, 2]))
    agree(v.apply(lambda x, i, j: i * 0.5), np.array([0, 0, 1.0]))
    agree(v.ewise_mult(v, lambda a, b: a <= b), np.array([True, False, True]))
    agree(v.ewise_add(v, lambda a, b: a / b), np.array([1.0, 0, 1]))


def test_products(device: str) -> None:
    A = matrix(device)
    ring = Semiring(get_monoid("plus"), get_binary(lambda a, b: a / b))
    halves = D[:, :, None] / D[None]
    agree(hpg.mxm(A, A, ring), halves.sum(axis=1))
    x = A.to("cpu").toarray()[0]
    x = hpg.Vector(x).to(device)
    agree(hpg.mxv(A, x, ring), (D / D[0]).sum(axis=1))
    agree(hpg.vxm(x, A, ring), (D[0][:, None] / D).sum(axis=0))
    agree(hpg.kronecker(A, A, lambda a, b: a / b), np.kron(D, 1 / D))
    lightest = Semiring(get_monoid("min"), get_binary(lambda a, b: a + b))
    A = matrix(device, "float32")
    agree(hpg.mxm(A, A, lightest), (D[:, :, None] + D[None]).min(axis=1).astype("float32"))


def test_a_monoid_stays_within_its_type(device: str) -> None:
    total = Monoid(lambda a, b: a + b, identity=0, name="total")
    also = Monoid(get_binary(lambda a, b: a + b), identity=0, name="also")
    for monoid in (total, also):
        A = matrix(device, "int8")
        found = A.reduce(monoid, axis=1)
        assert found.dtype == np.int8 and found.to("cpu").values.tolist() == [3, 7]
        assert A.reduce(monoid).dtype == np.int8
    assert hpg.mxm(A, A, Semiring(total, get_binary("times"))).dtype == np.int8


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: [x], "not a list"), (lambda x: (x, x), "not a tuple of 2"), (lambda x: {1: x}, "not a dict"),
        (lambda x: "a", "not a string"), (lambda x: None, "not None"),
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused(function: Any, says: str, device: str) -> None:
    A = matrix(device)
    binary = lambda a, b: function(a)  # noqa: E731
    ring = Semiring(get_monoid("plus"), get_binary(binary))
    calls = [
        lambda: A.apply(function), lambda: A.apply(function, dtype="float64"), lambda: A.select(function),
        lambda: A.ewise_add(A, binary), lambda: A.ewise_mult(A, binary),
        lambda: A.apply(lambda x: x, accum=binary, out=A.copy()), lambda: hpg.kronecker(A, A, binary),
        lambda: hpg.mxm(A, A, ring), lambda: hpg.mxv(A, hpg.Vector(D[0]).to(device), ring),
    ]  # fmt: skip
    for call in calls:
        raises(hpg.CompileError, rf"it must return a number, {says} .*test_types_of_functions.py", call)
