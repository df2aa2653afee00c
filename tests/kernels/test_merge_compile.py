"""merge.cuh for several architectures, with built-in operators, Python functions and patterns; no GPU is needed."""

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import EntryFunction, entry_function

pytest.importorskip("cuda.core")
pytest.importorskip("cupy")

from hpgraph.kernels.entries.cuda_merge import MERGE_KERNELS, SOURCE, merge_code

NAMES = tuple(f"hpgraph::{kernel}<Merge>" for kernel in MERGE_KERNELS)
INT32, INT64, FLOAT32, BOOL = (np.dtype(name) for name in ("int32", "int64", "float32", "bool"))


def entry(op: object, x: np.dtype = FLOAT32, y: np.dtype = INT64) -> EntryFunction:
    return entry_function(get_binary(op), x, y)


@pytest.mark.parametrize(("arch", "nonzero"), zip(GENERATIONS, (False, True), strict=True))
def test_union_by_a_builtin_operator(arch: str, nonzero: bool) -> None:
    double = np.dtype("float64")
    code = merge_code(entry("plus"), entry("first"), entry("second"), FLOAT32, INT64, INT32, double, nonzero)
    compiles(SOURCE, code[0], code[1], NAMES, arch)


@pytest.mark.parametrize("op", ["firsti", "floordiv", "lt"])
def test_intersection(op: str) -> None:
    function = entry(op)
    for nonzero in (False, True):
        code = merge_code(function, None, None, FLOAT32, INT64, INT64, function.dtype, nonzero)
        assert not code[1]
        compiles(SOURCE, code[0], (), NAMES)


def test_patterns() -> None:
    keep = entry("pair", BOOL, BOOL)
    compiles(SOURCE, merge_code(keep, keep, keep, None, None, INT32, None)[0], (), NAMES)
    code = merge_code(None, keep, None, None, FLOAT32, INT32, BOOL)
    compiles(SOURCE, code[0], (), NAMES)


def test_a_python_function() -> None:
    function = entry(lambda a, b: a * a + b if a > 0 else b - a)
    code = merge_code(function, function, function, FLOAT32, INT64, INT32, function.dtype, True)
    assert code[1]
    compiles(SOURCE, code[0], code[1], NAMES)
