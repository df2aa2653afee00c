"""Every CUDA kernel of the matrix products compiles for every generation of GPUs; no GPU is needed."""

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles, translates

from hpgraph.kernels.entries import cuda_kronecker as kronecker
from hpgraph.kernels.spgemm import cuda as mxm
from hpgraph.kernels.spgemm import cuda_masked as mxm_masked
from hpgraph.semiring import IndexBinaryOp, Semiring, get_binary, get_monoid, get_semiring
from hpgraph.semiring.semiring import product_of

pytest.importorskip("cuda.core")

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
# What is hard for the GPU: small and wide types, bool, counting, positions, terminals.
CASES = [
    ("lor_land", "bool"), ("plus_pair", "bool"), ("max_first", "int8"), ("any_secondi", "int64"),
    ("bor_second", "uint64"),
    (Semiring(get_monoid("max"), IndexBinaryOp("gap", lambda a, i, k, b, m, j, theta: a * theta + j - i)), "float32"),
]  # fmt: skip
OLDEST, NEWEST = GENERATIONS


def code_of(ring, dtype, ids=INT32, **mask):
    ring = get_semiring(ring)
    product = product_of(ring, dtype, dtype)
    return mxm.multiply_code(product, ring.add, product.reads_a, product.reads_b, ids, **mask)


def product_compiles(source, names, code, arch="sm_90"):
    compiles(source, code[0], code[1], names, arch)


@pytest.mark.parametrize(("ring", "dtype"), CASES)
def test_products(ring, dtype):
    ask = compiles if dtype == "bool" and ring == "lor_land" else translates
    code = code_of(ring, dtype)
    ask(mxm.SOURCE, *code, mxm.KERNELS)
    ask(mxm_masked.SOURCE, *code, mxm_masked.KERNELS)


@pytest.mark.parametrize("mask", ["excludes", "within"])
def test_products_with_wide_ids_and_a_mask(mask):
    translates(mxm.SOURCE, *code_of("plus_times", "float64", INT64, **{mask: True}), mxm.KERNELS)
    translates(mxm_masked.SOURCE, *code_of("plus_pair", "int16", INT64), mxm_masked.KERNELS)


def test_the_newest_generation():
    product_compiles(mxm.SOURCE, mxm.KERNELS, code_of("plus_times", "float64", excludes=True), NEWEST)
    product_compiles(mxm_masked.SOURCE, mxm_masked.KERNELS, code_of("plus_times", "float64"), NEWEST)


def test_python_operators_are_linked_in_on_the_oldest():
    pytest.importorskip("numba.cuda")
    ring = Semiring(get_monoid("max"), get_binary(lambda a, b: a % 3 + b))
    code = code_of(ring, "float32")
    assert len(code[1]) == 1
    product_compiles(mxm.SOURCE, mxm.KERNELS, code, OLDEST)
    product_compiles(mxm_masked.SOURCE, mxm_masked.KERNELS, code, OLDEST)


def test_kronecker():
    pytest.importorskip("numba.cuda")
    types = np.dtype(np.float32), np.dtype(np.int8)
    for op, arch in zip((get_binary("times"), get_binary(lambda a, b: a - b)), GENERATIONS, strict=True):
        code = kronecker.kron_code(op, types, (False, True), (INT32, INT32, INT64))
        product_compiles(kronecker.SOURCE, ["hpgraph::kron_entries<Kronecker>"], code, arch)
