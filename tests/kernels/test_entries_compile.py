"""entries.cuh, merge.cuh and splice.cuh, with built-in operators, Python functions and patterns; no GPU is needed."""

from typing import Any

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.formats import CSR
from hpgraph.semiring import IndexBinaryOp, get_binary, get_index_unary, get_unary
from hpgraph.semiring.entry import EntryFunction, entry_function

pytest.importorskip("cuda.core")

from hpgraph.kernels.entries.cuda import MAP, MARK, SOURCE, ZIP, map_code, zip_code
from hpgraph.kernels.entries.cuda_merge import MERGE_KERNELS, SPLICE, is_spliced, merge_code
from hpgraph.kernels.entries.cuda_merge import SOURCE as MERGE

INT32, INT64, FLOAT32, BOOL = (np.dtype(name) for name in ("int32", "int64", "float32", "bool"))


def binary(op: Any, dtype: Any = None) -> EntryFunction:
    return entry_function(get_binary(op), FLOAT32, INT64, dtype)


@pytest.mark.parametrize(
    "function",
    [
        entry_function(get_unary("sqrt"), INT32, BOOL),
        entry_function(get_index_unary("diagindex"), FLOAT32, INT64),
        entry_function(get_index_unary("tril"), BOOL, INT64),
        entry_function(get_binary("minus"), FLOAT32, INT64, swapped=True),
        entry_function(get_index_unary(lambda value, row, column: value * row + column), FLOAT32, INT64),
        entry_function(get_index_unary(lambda value: value > 3, "bool"), FLOAT32, INT64),
    ],
    ids=lambda function: function.name,
)
def test_maps(function: EntryFunction) -> None:
    for pattern, index, arch in ((False, INT32, GENERATIONS[0]), (function.x_dtype == BOOL, INT64, GENERATIONS[1])):
        source, ltoir = map_code(function, pattern, index)
        assert not ltoir  # Python functions become C++ too
        compiles(SOURCE, source, ltoir, (MAP, MARK), arch)


def test_functions_of_values_alone_are_given_no_places() -> None:
    for op, flag in ((lambda value: value > 3, "false"), (lambda value, row, column: row > value, "true")):
        function = entry_function(get_index_unary(op, "bool"), FLOAT32, INT64)
        assert f"uses_position = {flag};" in map_code(function, False, INT32)[0]


def test_zips() -> None:
    double = np.dtype("float64")
    for op in ("plus", "firsti", lambda a, b: a - b):
        both, first, second = binary(op, double), binary("first", double), binary("second", double)
        for left, right in ((first, second), (None, None), (first, None)):
            source, ltoir = zip_code(both, left, right)
            compiles(SOURCE, source, ltoir, (ZIP,))


def test_types_have_code_of_their_own() -> None:
    for op in (get_unary("sqrt"), get_index_unary(lambda value, row, column: row > value, "bool")):
        functions = [entry_function(op, kind, INT64) for kind in (np.dtype("int8"), FLOAT32, np.dtype("float64"))]
        assert len({map_code(function, False, INT32)[0] for function in functions}) == 3


@pytest.mark.parametrize(("arch", "nonzero"), list(zip(GENERATIONS, (False, True), strict=True)))
def test_union_by_a_builtin_operator(arch: str, nonzero: bool) -> None:
    double = np.dtype("float64")
    code = merge_code(binary("plus"), binary("first"), binary("second"), FLOAT32, INT64, INT32, double, nonzero)
    compiles(MERGE, code[0], code[1], MERGE_KERNELS, arch)


GAP = IndexBinaryOp("gap", lambda a, i, j, b, k, m, theta: a * theta + m - i, theta=2)


@pytest.mark.parametrize("op", ["firsti", "floordiv", "lt", GAP])
def test_intersection(op: Any) -> None:
    function = binary(op)
    for nonzero in (False, True):
        code = merge_code(function, None, None, FLOAT32, INT64, INT64, function.dtype, nonzero)
        assert not code[1]
        compiles(MERGE, code[0], (), MERGE_KERNELS)


def test_patterns() -> None:
    keep = entry_function(get_binary("pair"), BOOL, BOOL)
    compiles(MERGE, merge_code(keep, keep, keep, None, None, INT32, None)[0], (), MERGE_KERNELS)
    code = merge_code(None, keep, None, None, FLOAT32, INT32, BOOL)
    compiles(MERGE, code[0], (), MERGE_KERNELS)


def test_a_python_function() -> None:
    function = binary(lambda a, b: a * a + b if a > 0 else b - a)
    code = merge_code(function, function, function, FLOAT32, INT64, INT32, function.dtype, True)
    assert not code[1]
    compiles(MERGE, code[0], code[1], MERGE_KERNELS)


@pytest.mark.parametrize("width", WORD_TYPES)
def test_few_entries(width: int) -> None:
    for arch, index in zip(GENERATIONS, (INT32, INT64), strict=True):
        text = SPLICE.text(Index=index, Word=WORD_TYPES[width])
        compiles("splice.cuh", text["prologue"], (), text["names"], arch)


def test_what_keeps_entries_as_they_are() -> None:
    large = CSR((9, 9), np.arange(0, 82, 9), np.tile(np.arange(9), 9), np.ones(81, np.float32))
    few = CSR((9, 9), np.arange(10) * (np.arange(10) < 2), np.zeros(0), validate=False)
    first, double = entry_function(get_binary("first"), FLOAT32, INT64, FLOAT32), np.dtype("float64")
    assert is_spliced(large, few, first, FLOAT32, False) and is_spliced(large.pattern, few, first, None, False)
    assert not is_spliced(large, few, None, FLOAT32, False) and not is_spliced(large, few, first, FLOAT32, True)
    assert not is_spliced(large, large, first, FLOAT32, False)
    assert not is_spliced(large.pattern, few, first, BOOL, False)
    for other in (binary("plus", FLOAT32), binary("first", double), binary("second", FLOAT32)):
        assert not is_spliced(large, few, other, other.dtype, False)
    turned = entry_function(get_binary("first"), FLOAT32, FLOAT32, FLOAT32, swapped=True)
    assert not is_spliced(large, few, turned, FLOAT32, False)
