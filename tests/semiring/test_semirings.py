"""Semirings by name, types of their products, and the products inside a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import hpgraph.semiring as semirings
from hpgraph.semiring import (
    Function,
    Monoid,
    Semiring,
    get_binary,
    get_monoid,
    get_semiring,
    get_unary,
    register_binary,
    register_semiring,
    register_unary,
    semiring_names,
)

NAMED = """
plus_times plus_first plus_second plus_pair min_plus max_plus min_times max_min min_max lor_land any_pair any_secondi
min_first min_second max_second bor_band any_firsti min_secondi lxor_land times_plus plus_min
"""


@pytest.mark.parametrize("name", NAMED.split())
def test_every_semiring_of_graphblas_has_its_name(name):
    semiring = getattr(semirings, name)
    assert semiring is get_semiring(name) is get_semiring(semiring)
    assert semiring.name == name
    assert f"{semiring.add.name}_{semiring.multiply.name}" == name
    assert name in semiring_names() and name in dir(semirings)


def test_every_listed_name_is_a_semiring():
    for name in semiring_names():
        assert get_semiring(name).name == name


def test_unknown_names_bring_near_ones():
    with pytest.raises(ValueError, match=r"no semiring is called 'min_pluss'; similar: min_plus"):
        get_semiring("min_pluss")
    with pytest.raises(ValueError, match=r"no monoid is called 'sum'; similar: plus$"):
        get_monoid("sum")
    with pytest.raises(ValueError, match=r"no monoid is called 'mim'; similar: min"):
        get_monoid("mim")
    with pytest.raises(ValueError, match=r"no unary operator is called 'sqr'; similar: sqrt"):
        get_unary("sqr")
    with pytest.raises(ValueError, match=r"no binary operator is called 'zzzzzz'$"):
        get_binary("zzzzzz")
    attribute = semirings.__getattr__
    with pytest.raises(AttributeError, match="similar: min_plus"):
        attribute("min_pluss")
    with pytest.raises(AttributeError, match="nonsense"):
        attribute("nonsense")


def test_wrong_things_in_place_of_operators():
    for get in (get_binary, get_unary, get_monoid, get_semiring):
        with pytest.raises(TypeError, match="expected"):
            get(3)
    with pytest.raises(TypeError, match=r"identity is missing: Monoid\(function, identity=...\)"):
        get_monoid(lambda a, b: a + b)
    with pytest.raises(TypeError, match="takes 1 arguments; the operator has 2"):
        get_binary(lambda a: a)
    with pytest.raises(TypeError, match="get_monoid"):
        Semiring("min", get_binary("plus"))
    with pytest.raises(TypeError, match="get_binary"):
        Semiring(get_monoid("min"), "plus")


def test_a_function_is_an_operator_and_the_same_one_each_time():
    def halved(a, b):
        return a * b / 2

    assert get_binary(halved) is get_binary(halved)
    assert get_binary(halved)(3.0, 5.0) == 7.5
    assert get_unary(lambda a: a + 1)(np.float32(2)) == 3


def test_registered_operators_make_semirings_and_can_be_replaced():
    register_binary("halfsum", lambda a, b: (a + b) / 2, "float")
    assert get_semiring("max_halfsum").multiply(1, 4) == 2.5
    register_binary("halfsum", lambda a, b: a + b, "float")
    assert get_semiring("max_halfsum").multiply(1, 4) == 5.0
    register_unary("triple", lambda a: 3 * a)
    assert get_unary("triple")(np.int8(50)) == -106
    register_semiring("likely", "max", lambda a, b: a * b)
    assert get_semiring("likely").add is get_monoid("max")
    with pytest.raises(ValueError, match="'plus' is built in"):
        register_binary("plus", lambda a, b: a)
    with pytest.raises(ValueError, match="'min_plus' is built in"):
        register_semiring("min_plus", "max", "plus")


@pytest.mark.parametrize(
    "name, matrix, vector, expected",
    [
        ("plus_times", "int8", "int16", "int16"),
        ("plus_times", "bool", "bool", "bool"),
        ("plus_times", "bool", "int32", "int32"),
        ("plus_times", "int32", "float32", "float64"),
        ("plus_times", "uint64", "int64", "float64"),
        ("plus_pair", "bool", "bool", "int64"),
        ("plus_pair", "int32", "float32", "float64"),
        ("any_pair", "bool", "bool", "bool"),
        ("lor_land", "int32", "float32", "bool"),
        ("plus_div", "int8", "int8", "float64"),
        ("plus_div", "float32", "float32", "float32"),
        ("min_first", "int8", "float64", "int8"),
        ("min_second", "int8", "float64", "float64"),
        ("any_secondi", "bool", "float64", "int64"),
        ("lor_eq", "float64", "float64", "bool"),
        ("plus_eq", "float64", "float64", "bool"),
        ("bor_band", "uint8", "uint16", "uint16"),
    ],
)
def test_result_dtype(name, matrix, vector, expected):
    assert get_semiring(name).result_dtype(matrix, vector) == np.dtype(expected)


def test_types_no_operator_takes_are_refused():
    with pytest.raises(TypeError, match="band works on the bits"):
        get_semiring("bor_band").result_dtype("float32", "float32")
    with pytest.raises(TypeError, match="matrix_dtype is float16"):
        get_semiring("plus_times").gather("float16", float)
    for name in ("min_plus", "plus_max", "plus_lt"):
        with pytest.raises(TypeError, match=r"is not defined on complex numbers .*complex128.*abs"):
            get_semiring(name).gather("complex64", float)


def saturated_sum(a, b, dtype: np.dtype):
    if dtype.kind == "f":
        return dtype.type(a) + dtype.type(b)
    return dtype.type(min(max(int(a) + int(b), np.iinfo(dtype).min), np.iinfo(dtype).max))


def naive(name: str, matrix: np.ndarray, x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A product, entry by entry, of a small dense matrix whose nonzeros are its entries."""
    terms = {
        "plus_times": lambda i, j: dtype.type(matrix[i, j]) * dtype.type(x[j]),
        "min_plus": lambda i, j: saturated_sum(matrix[i, j], x[j], dtype),
        "max_second": lambda i, j: x[j],
        "max_first": lambda i, j: matrix[i, j],
        "plus_pair": lambda i, j: dtype.type(1),
        "min_secondi": lambda i, j: j,
        "max_firsti": lambda i, j: i,
        "max_firstj": lambda i, j: j,
    }[name]
    fold = {"plus": np.add, "min": np.minimum, "max": np.maximum}[name.partition("_")[0]]
    rows = [[terms(i, j) for j in np.flatnonzero(matrix[i])] for i in range(matrix.shape[0])]
    return np.array([fold.reduce(np.array(row, dtype), dtype=dtype) for row in rows], dtype)


@pytest.mark.parametrize(
    "name",
    ["plus_times", "min_plus", "max_second", "max_first", "plus_pair", "min_secondi", "max_firsti", "max_firstj"],
)
@pytest.mark.parametrize("matrix_dtype, vector_dtype", [("int8", "int8"), ("int32", "float32")])
def test_gather_in_a_kernel(name, matrix_dtype, vector_dtype):
    from kernels_of_functions import reduce_rows_alone

    rng = np.random.default_rng(3)
    matrix = rng.integers(0, 3, (12, 12)).astype(matrix_dtype) * 40
    matrix[:, 0] = 1  # no empty row
    x = (rng.random(12) * 100).astype(vector_dtype)
    semiring = get_semiring(name)
    dtype = semiring.result_dtype(matrix_dtype, vector_dtype)
    rows, indices = np.nonzero(matrix)
    indptr = np.searchsorted(rows, np.arange(13))
    out = np.empty(12, dtype)
    gather = semiring.gather(matrix_dtype, vector_dtype)
    assert gather.dtype == dtype
    identity = semiring.add.identity_for(dtype)
    reduce = semiring.add.reduce_for(dtype)
    reduce_rows_alone(gather, reduce, identity, indptr, indices, matrix[rows, indices], (x,), out)
    with np.errstate(over="ignore"):
        expected = naive(name, matrix, x, dtype)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_gather_is_made_once_and_can_narrow_its_result():
    semiring = get_semiring("any_secondi")
    gather = semiring.gather("bool", "bool", "int32")
    assert gather is semiring.gather(bool, bool, np.int32)
    assert isinstance(gather, Function)
    assert gather((np.zeros(3, bool),), 2, True, 1) == np.int32(2)
    assert type(gather((np.zeros(3, bool),), 2, True, 1)) is np.int32


def test_vertices_start_from_none_rather_than_from_vertex_zero():
    assert get_semiring("any_secondi").add.identity_for("int32") == -1
    assert get_semiring("any_pair").add.identity_for("bool") == np.False_
    assert get_semiring("min_secondi").add.identity_for("int32") == 2**31 - 1


def test_a_semiring_from_parts():
    semiring = Semiring(Monoid(lambda a, b: max(a, b), -np.inf, name="biggest"), get_binary("times"))
    assert semiring.name == "biggest_times"
    assert semiring.result_dtype("float32", "float32") == np.float32
