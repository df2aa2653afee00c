"""The CUDA templates over complex numbers, with built-in operators; no GPU is needed."""

from typing import Any

import numpy as np
import pytest
from cuda_build import compiles, translates

from hpgraph.semiring import Function, get_binary, get_monoid, get_semiring, get_unary
from hpgraph.semiring.entry import entry_function
from hpgraph.semiring.semiring import product_of

pytest.importorskip("cuda.core")

from hpgraph.kernels.entries import cuda as entries
from hpgraph.kernels.entries import cuda_kronecker as kronecker
from hpgraph.kernels.entries.cuda_merge import MERGE_KERNELS, merge_code
from hpgraph.kernels.runtime.cuda.specialization import Specialization, specialize
from hpgraph.kernels.spgemm import cuda as mxm
from hpgraph.kernels.spgemm import cuda_masked as mxm_masked
from hpgraph.kernels.spmv import cuda_column_blocks as blocked
from hpgraph.kernels.spmv import cuda_spmm as product_dense
from hpgraph.kernels.spmv import cuda_spmspv as product_push

SINGLE, DOUBLE = np.dtype("complex64"), np.dtype("complex128")
INT32, FLOAT32, BOOL = (np.dtype(name) for name in ("int32", "float32", "bool"))
PULL = ("pull_slab", "pull_tail", "pull_long", "accumulate")
each_type = pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)


def special(ring: str, dtype: Any, matrix: Any, accum: Any = None) -> Specialization:
    semiring = get_semiring(ring)
    return specialize(semiring.gather(matrix, dtype), semiring.add, accum, matrix, INT32, (dtype,), dtype, False)


def product_compiles(source: str, made: Specialization, names: tuple[str, ...]) -> None:
    compiles(source, made.prologue, made.ltoir, [f"hpgraph::{name}<Product>" for name in names])


@each_type
def test_pull(dtype: Any) -> None:
    product_compiles("spmv.cuh", special("plus_times", dtype, dtype, get_binary("plus")), PULL)


def test_pull_of_real_matrices_and_any() -> None:
    product_compiles("spmv.cuh", special("plus_times", DOUBLE, FLOAT32), PULL)
    product_compiles("spmv.cuh", special("any_second", SINGLE, SINGLE), PULL)


@each_type
def test_push_sorts_what_no_atomic_can_join(dtype: Any) -> None:
    assert not any(product_push.is_order_free(get_monoid(name), dtype) for name in ("plus", "times", "any"))
    assert product_push.is_order_free(get_monoid("any"), FLOAT32)
    made = special("plus_times", dtype, dtype)
    assert "atomic" not in made.prologue
    product_compiles("spmspv.cuh", made, ("push_expand", "push_write"))
    product_compiles("spmv.cuh", product_push.specialize_sorted(get_monoid("plus"), dtype), PULL)


@each_type
def test_dense(dtype: Any) -> None:
    semiring = get_semiring("plus_times")
    made = product_dense.specialize_dense(
        semiring.gather(FLOAT32, dtype, dtype), semiring.add, FLOAT32, INT32, dtype, dtype
    )
    product_compiles("spmm.cuh", made, product_dense.DENSE_ROWS)


def test_blocks_of_columns() -> None:
    made = special("plus_times", SINGLE, SINGLE)
    names = [f"hpgraph::{name}<Blocked>" for name in blocked.KERNELS]
    compiles("column_blocks.cuh", blocked.blocked_prologue(made, SINGLE), made.ltoir, names)


def test_products_of_matrices() -> None:
    product = product_of(get_semiring("plus_times"), FLOAT32, DOUBLE, DOUBLE)
    for within, source, names in ((False, mxm.SOURCE, mxm.KERNELS), (True, mxm_masked.SOURCE, mxm_masked.KERNELS)):
        code = mxm.multiply_code(product, get_monoid("plus"), True, True, INT32, False, within)
        compiles(source, code[0], code[1], list(names))


@each_type
@pytest.mark.parametrize("name", ["abs", "ainv", "conj", "imag", "isfinite", "isinf", "lnot", "minv", "one", "real"])
def test_functions_of_entries(name: str, dtype: Any) -> None:
    function = entry_function(get_unary(name), dtype, BOOL)
    ask = compiles if name == "minv" else translates
    ask(entries.SOURCE, entries.map_code(function, False, INT32)[0], (), (entries.MAP,))


@each_type
@pytest.mark.parametrize("name", ["any", "div", "eq", "lor", "minus", "ne", "pair", "plus", "rdiv", "times"])
def test_two_entries(name: str, dtype: Any) -> None:
    both = entry_function(get_binary(name), dtype, FLOAT32)
    ask = compiles if name == "div" else translates
    ask(entries.SOURCE, entries.zip_code(both, None, None)[0], (), (entries.ZIP,))
    code = merge_code(both, None, None, dtype, FLOAT32, INT32, both.dtype, nonzero=True)
    ask("merge.cuh", code[0], (), MERGE_KERNELS)


def test_predicates_and_kronecker() -> None:
    nonzero = entry_function(get_binary("ne"), SINGLE, SINGLE)
    compiles(entries.SOURCE, entries.map_code(nonzero, False, INT32)[0], (), (entries.MARK,))
    code = kronecker.kron_code(get_binary("times"), (SINGLE, FLOAT32), (False, False), (INT32, INT32, INT32))
    compiles(kronecker.SOURCE, code[0], (), ["hpgraph::kron_entries<Kronecker>"])


def test_python_functions_are_refused_by_name() -> None:
    gather = Function(lambda state, source, weight, target: weight * state[0][source], "mine")
    with pytest.raises(TypeError, match=r"mine is a Python function of complex numbers.*\.to\(\"cpu\"\)"):
        specialize(gather, get_monoid("plus"), None, SINGLE, INT32, (SINGLE,), SINGLE, False)
    with pytest.raises(TypeError, match="cannot be linked into a kernel on the GPU"):
        entries.map_code(entry_function(get_unary(lambda value: value + 1), DOUBLE, BOOL), False, INT32)
