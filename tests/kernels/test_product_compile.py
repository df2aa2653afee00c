"""Every CUDA kernel of the products compiles for every generation of GPUs; no GPU is needed."""

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.kernels.runtime.cuda.specialization import specialize
from hpgraph.kernels.spmv.cuda import PULL_ROWS, SLICES
from hpgraph.kernels.spmv.cuda_column_blocks import KERNELS as BLOCKS
from hpgraph.kernels.spmv.cuda_column_blocks import blocked_prologue
from hpgraph.kernels.spmv.cuda_spmm import DENSE_ROWS, specialize_dense, specialize_numbers
from hpgraph.kernels.spmv.cuda_spmspv import PUSHES, specialize_sorted
from hpgraph.kernels.spmv.cuda_stretches import KERNELS as STRETCHES
from hpgraph.semiring import Function, IndexBinaryOp, Semiring, get_binary, get_monoid, get_semiring

pytest.importorskip("cuda.core")

# A few that differ in what is hard for the GPU: small and wide types, bool, positions, atomics.
INSTANCES = [("plus_times", "float32"), ("min_plus", "float64"), ("lor_land", "bool"), ("any_secondi", "int64")]
# Each generation compiles half of them.
OF_EACH = [(*one, GENERATIONS[k % 2]) for k, one in enumerate(INSTANCES)]
MORE = [("plus_times", "int8"), ("plus_pair", "uint16"), ("max_second", "uint64"), ("bor_band", "uint32")]


def product_compiles(source, special, names, arch="sm_90"):
    # What a thread works on stays in registers.
    compiles(source, special.prologue, special.ltoir, [f"hpgraph::{name}<Product>" for name in names], arch, local=0)


def instance(semiring, dtype, *, index="int32", pattern=False, filtered=False, accum=None):
    ring, dtype = get_semiring(semiring), np.dtype(dtype)
    message = ring.result_dtype(dtype, dtype)
    weight = None if pattern else dtype
    gather = ring.gather(message if pattern else dtype, dtype, message)
    return specialize(gather, ring.add, accum, weight, np.dtype(index), (dtype,), message, filtered)


@pytest.mark.parametrize(("semiring", "dtype", "arch"), OF_EACH)
def test_pull(semiring, dtype, arch):
    product_compiles("spmv.cuh", instance(semiring, dtype), PULL_ROWS, arch)


@pytest.mark.parametrize("swapped", [False, True])
def test_places(swapped):
    op = IndexBinaryOp("gap", lambda a, i, k, b, m, j, theta: a * theta + k - i, theta=2.0, swapped=swapped)
    special = instance(Semiring(get_monoid("max"), op), "float32")
    product_compiles("spmv.cuh", special, PULL_ROWS)
    product_compiles("spmspv.cuh", special, PUSHES)


@pytest.mark.parametrize(("semiring", "dtype"), INSTANCES)
def test_pull_of_slices(semiring, dtype):
    product_compiles("sell.cuh", instance(semiring, dtype, filtered=True, pattern=dtype == "int64"), SLICES)


@pytest.mark.parametrize(("semiring", "dtype"), MORE)
def test_pull_over_other_types(semiring, dtype):
    accum = get_monoid(semiring.split("_")[0]).op
    special = instance(semiring, dtype, index="int64", pattern=True, filtered=True, accum=accum)
    product_compiles("spmv.cuh", special, (*PULL_ROWS, "accumulate"))


# Atomic functions of all kinds: of a type that the hardware adds, of one that it does not, of one byte.
@pytest.mark.parametrize(("semiring", "dtype", "arch"), [*OF_EACH, ("plus_times", "float64", GENERATIONS[0])])
def test_push(semiring, dtype, arch):
    product_compiles("spmspv.cuh", instance(semiring, dtype), PUSHES, arch)


def test_pull_of_sorted_messages():
    product_compiles("spmv.cuh", specialize_sorted(get_monoid("plus"), np.dtype(np.float64)), PULL_ROWS)


def dense(semiring, dtype, *, pattern=False, width=1):
    ring, dtype = get_semiring(semiring), np.dtype(dtype)
    message = ring.result_dtype(dtype, dtype)
    gather = ring.gather(dtype, dtype, message)
    return specialize_dense(
        gather, ring.add, None if pattern else dtype, np.dtype(np.int32), dtype, message, width, 2 if width > 1 else 1
    )


@pytest.mark.parametrize(("semiring", "dtype", "arch"), OF_EACH)
def test_dense(semiring, dtype, arch):
    width = 16 // max(np.dtype(dtype).itemsize, 2)
    product_compiles("spmm.cuh", dense(semiring, dtype, width=width), DENSE_ROWS, arch)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_of_a_pattern(dtype):
    """What labels, heat and beliefs are summed by along arcs without weights."""
    product_compiles("spmm.cuh", dense("plus_times", dtype, pattern=True), DENSE_ROWS)


@pytest.mark.parametrize(("dtype", "half", "width", "arch"), [
    ("float32", None, 4, GENERATIONS[0]), ("uint16", "half", 8, GENERATIONS[0]), ("uint16", "bfloat", 8, "sm_90"),
])  # fmt: skip
@pytest.mark.parametrize(("weighted", "headed", "order"), [
    (True, True, None), (True, True, "int32"), (True, False, "int64"), (True, False, None), (False, False, None),
])  # fmt: skip
def test_dense_numbers(dtype, half, width, arch, weighted, headed, order):
    placed = None if order is None else np.dtype(order)
    loads = 1 if headed else 2
    special = specialize_numbers(np.dtype(dtype), half, np.dtype(np.int32), weighted, headed, width, loads, placed)
    product_compiles("spmm.cuh", special, DENSE_ROWS, arch)


# Each semiring is compiled for both generations, and so are patterns and values.
@pytest.mark.parametrize("pattern", [True, False])
@pytest.mark.parametrize(
    ("semiring", "dtype", "of_patterns"),
    [("plus_times", "float32", 0), ("min_plus", "float64", 1), ("plus_times", "int32", 0)],
)
def test_blocks_of_columns(semiring, dtype, of_patterns, pattern):
    arch, special = GENERATIONS[of_patterns if pattern else 1 - of_patterns], instance(semiring, dtype, pattern=pattern)
    names = [f"hpgraph::{name}<Blocked>" for name in BLOCKS]
    compiles("column_blocks.cuh", blocked_prologue(special, np.dtype(dtype)), special.ltoir, names, arch)


@pytest.mark.parametrize(
    ("dtype", "pattern", "arch"), list(zip(("float32", "float64"), (False, True), GENERATIONS, strict=True))
)
def test_stretches(dtype, pattern, arch):
    special = instance("plus_times", dtype, pattern=pattern)
    names = [*(f"hpgraph::{name}<Product>" for name in STRETCHES), "hpgraph::mark_ends", "hpgraph::count_ends"]
    compiles("row_stretches.cuh", special.prologue, special.ltoir, names, arch)


def test_python_functions_are_linked_in():
    pytest.importorskip("numba.cuda")
    # What calls NumPy's functions is not written down in C++.
    gather = Function(lambda state, source, weight, target: state[0][source] + np.sqrt(weight) * state[1][target])
    accum = get_binary(lambda a, b: np.hypot(a, b))
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    special = specialize(gather, get_monoid("min"), accum, single, np.dtype(np.int32), (single, double), single, False)
    assert len(special.ltoir) == 2
    product_compiles("spmv.cuh", special, (*PULL_ROWS, "accumulate"), GENERATIONS[0])
