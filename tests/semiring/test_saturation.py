"""Lengths of paths in integers near the end of their type, against Python's own integers, which have no end."""

import itertools
from typing import Any

import numpy as np
import pytest

import hpgraph as hpg
from hpgraph.core.device import array_module
from hpgraph.semiring import get_binary, get_semiring

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
EXACT = {"plus": lambda a, b: a + b, "minus": lambda a, b: a - b, "rminus": lambda a, b: b - a}


def numbers(dtype: str) -> np.ndarray:
    ends = np.iinfo(dtype)
    near = {ends.min, ends.min + 1, ends.min // 2, 0, 1, 3, ends.max // 2, ends.max // 2 + 1, ends.max - 1, ends.max}
    return np.array(sorted(near | ({-1, -3} if ends.min < 0 else set())), dtype)


def held(value: int, dtype: str) -> int:
    ends = np.iinfo(dtype)
    return min(max(value, ends.min), ends.max)


def full(array: Any) -> hpg.Matrix:
    """All entries of a dense array, zeros too."""
    xp = array_module(array)
    rows, columns = array.shape
    row, column = xp.repeat(xp.arange(rows), columns), xp.tile(xp.arange(columns), rows)
    return hpg.Matrix.from_coo(row, column, array.reshape(-1), shape=array.shape)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", EXACT)
def test_the_multiplication_of_a_tropical_semiring_stops_at_the_ends(name: str, dtype: str) -> None:
    multiply = get_semiring(f"min_{name}").multiply
    for a, b in itertools.product(numbers(dtype), repeat=2):
        assert multiply(a, b) == held(EXACT[name](int(a), int(b)), dtype) and multiply(a, b).dtype == dtype


# Compiling takes seconds: not every type meets every operator here; of 32 bits are products of many entries, below.
@pytest.mark.parametrize(
    ("add", "name", "dtype"), [("min", "plus", "int8"), ("min", "plus", "uint64"), ("max", "minus", "int64")]
)
def test_products_do_not_wrap_around(add: str, name: str, dtype: str, device: str) -> None:
    xp, values = array_module(device), numbers(dtype)
    # Every pair of numbers meets alone in an entry of the product.
    column, row = full(xp.asarray(values[:, None])), full(xp.asarray(values[None, :]))
    got = hpg.mxm(column, row, f"{add}_{name}")
    expected = [[held(EXACT[name](int(a), int(b)), dtype) for b in values] for a in values]
    assert got.nnz == values.size**2 and got.toarray().tolist() == expected
    # And of several paths the shortest, or the longest, is the right one.
    A = full(xp.asarray(np.tile(values, (3, 1))))
    x = xp.asarray(values[::-1].copy())
    sums = [held(EXACT[name](int(a), int(b)), dtype) for a, b in zip(values, values[::-1], strict=True)]
    assert A.mxv(x, f"{add}_{name}").tolist() == [{"min": min, "max": max}[add](sums)] * 3
    from_left = A.T.vxm(x, f"{add}_{({'minus': 'rminus'}).get(name, name)}")
    assert from_left.tolist() == [{"min": min, "max": max}[add](sums)] * 3 and from_left.dtype == dtype


def test_elsewhere_integers_wrap_around_and_bool_and_floats_are_as_they_were() -> None:
    assert get_binary("plus")(np.int8(100), np.int8(100)) == -56
    assert get_semiring("plus_plus").multiply(np.int8(100), np.int8(100)) == -56
    tropical = get_semiring("min_plus").multiply
    assert tropical(True, True) == np.True_ and get_semiring("min_minus").multiply(True, True) == np.False_
    assert tropical(1e308, 1e308) == np.inf and tropical(np.float32(0.5), np.float32(0.25)) == 0.75


def test_unreached_vertices_keep_their_distance() -> None:
    far = np.iinfo(np.int32).max
    A = hpg.Matrix.from_coo([0, 1], [1, 0], np.array([5, 7], np.int32), shape=(2, 2))
    assert A.mxv(np.array([far, 2], np.int32), "min_plus").tolist() == [7, far]


@pytest.mark.parametrize("far", [1000, np.iinfo(np.int32).max])
@pytest.mark.parametrize("name", ["min_plus", "max_minus", "min_rminus"])
def test_products_of_many_entries_are_exact_where_they_fit_and_stop_where_not(name: str, far: int, device: str) -> None:
    rng, xp, n = np.random.default_rng(0), array_module(device), 500
    row, column = np.divmod(np.sort(rng.choice(n * n, 20_000, replace=False)), n)
    values, x = rng.integers(-100, 100, row.size).astype(np.int32), rng.integers(-100, 100, n).astype(np.int32)
    x[::3] = far
    A = hpg.Matrix.from_coo(*map(xp.asarray, (row, column, values)), shape=(n, n))
    add, multiply = name.split("_")
    sums = [held(EXACT[multiply](int(a), int(x[j])), "int32") for a, j in zip(values, column, strict=True)]
    best = {"min": np.minimum, "max": np.maximum}[add]
    expected = np.full(n, {"min": np.iinfo(np.int32).max, "max": np.iinfo(np.int32).min}[add])
    best.at(expected, row, sums)
    assert A.mxv(xp.asarray(x), name).tolist() == expected.tolist()
