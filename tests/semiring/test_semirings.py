"""Semirings by name, types of their products, and the products inside a kernel."""

import numpy as np
import pytest
from raising import raises

import hpgraph.semiring as semirings
from hpgraph.semiring import (
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


def test_unknown_names_suggest_near_ones():
    raises(ValueError, r"no semiring is called 'min_pluss'; similar: min_plus", get_semiring, "min_pluss")
    raises(ValueError, r"no monoid is called 'sum'; similar: plus$", get_monoid, "sum")
    raises(ValueError, r"no monoid is called 'mim'; similar: min", get_monoid, "mim")
    raises(ValueError, r"no unary operator is called 'sqr'; similar: sqrt", get_unary, "sqr")
    raises(ValueError, r"no binary operator is called 'zzzzzz'$", get_binary, "zzzzzz")
    attribute = semirings.__getattr__
    raises(AttributeError, "similar: min_plus", attribute, "min_pluss")
    raises(AttributeError, "nonsense", attribute, "nonsense")


def test_wrong_things_in_place_of_operators():
    for get in (get_binary, get_unary, get_monoid, get_semiring):
        raises(TypeError, "expected", get, 3)
    raises(TypeError, r"identity is missing: Monoid\(function, identity=...\)", get_monoid, lambda a, b: a + b)
    raises(TypeError, "takes 1 arguments; the operator has 2", get_binary, lambda a: a)
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
    raises(ValueError, "'plus' is built in", register_binary, "plus", lambda a, b: a)
    raises(ValueError, "'min_plus' is built in", register_semiring, "min_plus", "max", "plus")


@pytest.mark.parametrize(
    "name, matrix, vector, expected",
    [
        ("plus_times", "int8", "int16", "int16"), ("plus_times", "bool", "bool", "bool"),
        ("plus_times", "bool", "int32", "int32"), ("plus_times", "int32", "float32", "float64"),
        ("plus_times", "uint64", "int64", "float64"), ("plus_pair", "bool", "bool", "int64"),
        ("plus_pair", "int32", "float32", "float64"), ("any_pair", "bool", "bool", "bool"),
        ("lor_land", "int32", "float32", "bool"), ("plus_div", "int8", "int8", "float64"),
        ("plus_div", "float32", "float32", "float32"), ("min_first", "int8", "float64", "int8"),
        ("min_second", "int8", "float64", "float64"), ("any_secondi", "bool", "float64", "int64"),
        ("lor_eq", "float64", "float64", "bool"), ("plus_eq", "float64", "float64", "bool"),
        ("bor_band", "uint8", "uint16", "uint16"),
    ],
)  # fmt: skip
def test_result_dtype(name, matrix, vector, expected):
    assert get_semiring(name).result_dtype(matrix, vector) == np.dtype(expected)


def test_types_no_operator_takes_are_refused():
    raises(TypeError, "band works on the bits", get_semiring("bor_band").result_dtype, "float32", "float32")
    raises(TypeError, "matrix_dtype is float16", get_semiring("plus_times").gather, "float16", float)
    for name in ("min_plus", "plus_max", "plus_lt"):
        with pytest.raises(TypeError, match=r"is not defined on complex numbers .*complex128.*abs"):
            get_semiring(name).gather("complex64", float)


def test_vertices_start_from_none_rather_than_from_vertex_zero():
    assert get_semiring("any_secondi").add.identity_for("int32") == -1
    assert get_semiring("any_pair").add.identity_for("bool") == np.False_
    assert get_semiring("min_secondi").add.identity_for("int32") == 2**31 - 1


def test_a_semiring_from_parts():
    semiring = Semiring(Monoid(lambda a, b: max(a, b), -np.inf, name="biggest"), get_binary("times"))
    assert semiring.name == "biggest_times"
    assert semiring.result_dtype("float32", "float32") == np.float32
