"""One clear error for everything that does not fit, and the output left as it was."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from raising import raises
from reference_parts import shown

import hpgraph as hpg
from hpgraph.core.device import cuda_available
from hpgraph.core.errors import DeviceMemoryError

DENSE = np.array([[0, 4, 1.0], [0, 0, 7], [2, 0, 0]])
MATRIX: dict[str, Callable[..., Any]] = {
    "mxm": lambda A, **how: hpg.mxm(A, A, **how),
    "ewise_add": lambda A, **how: A.ewise_add(A, **how),
    "ewise_mult": lambda A, **how: A.ewise_mult(A, **how),
    "ewise_union": lambda A, **how: A.ewise_union(0, A, 0, **how),
    "apply": lambda A, **how: A.apply("abs", **how),
    "select": lambda A, **how: A.select("tril", **how),
    "kronecker": lambda A, **how: hpg.kronecker(A, hpg.Matrix([[1.0]]).to(A.device), **how),
    "extract": lambda A, **how: A.extract([0, 1, 2], **how),
    "transpose": lambda A, **how: hpg.transpose(A, **how),
}
VECTOR: dict[str, Callable[..., Any]] = {
    "mxv": lambda A, **how: hpg.mxv(A, A[0], **how),
    "vxm": lambda A, **how: hpg.vxm(A[0], A, **how),
    "reduce": lambda A, **how: A.reduce("plus", axis=1, **how),
    "ewise_add": lambda A, **how: A[0].ewise_add(A[1], **how),
    "apply": lambda A, **how: A[0].apply("abs", **how),
    "select": lambda A, **how: A[0].select("valuegt", 1, **how),
    "extract": lambda A, **how: A[0].extract([2, 1, 0], **how),
}
# What is wrong with the writing, whether out is given with it, the error and what it says.
WRITING: list[tuple[dict[str, Any], bool, type[Exception], str]] = [
    ({"mask": "of another shape"}, True, ValueError, "mask must have"),
    ({"mask": np.ones(3)}, True, TypeError, "mask must be a"),
    ({"mask": "of the other kind"}, True, TypeError, "mask must be a"),
    ({"complement": True}, True, ValueError, "complement=True needs a mask"),
    ({"accum": "plus"}, False, ValueError, "give out, too"),
    ({"accum": "pluss"}, True, ValueError, "no binary operator is called 'pluss'; similar: plus"),
    ({"accum": "bor"}, True, TypeError, "bor works on the bits of integers"),
    ({"out": "of another shape"}, False, ValueError, "out must have"),
    ({"out": "of integers"}, False, TypeError, "cannot be written to out, which is int64"),
    ({"out": "of the other kind"}, False, TypeError, "out must be a"),
]


def made(word: Any, name: str, vector: bool, device: str) -> Any:
    if not isinstance(word, str) or name == "accum":
        return word
    length = 4 if word == "of another shape" else 3
    dtype = np.int64 if word == "of integers" else np.float64
    if vector != (word == "of the other kind"):
        return hpg.Vector(np.arange(length).astype(dtype)).to(device)
    return hpg.Matrix(np.eye(length, dtype=dtype)).to(device)


@pytest.mark.parametrize("vector", [False, True], ids=["matrix", "vector"])
@pytest.mark.parametrize(("how", "with_out", "error", "message"), WRITING)
def test_writing(
    how: dict[str, Any], with_out: bool, error: type[Exception], message: str, vector: bool, device: str
) -> None:
    A = hpg.Matrix(DENSE).to(device)
    for name, operation in (VECTOR if vector else MATRIX).items():
        keywords = {key: made(word, key, vector, device) for key, word in how.items()}
        if with_out:
            keywords["out"] = made("as it should be", "out", vector, device)
        before = None if keywords.get("out") is None else shown(keywords["out"]).copy()
        raises(error, message, operation, A, **keywords)
        if before is not None:
            np.testing.assert_array_equal(shown(keywords["out"]), before, err_msg=name)


def test_devices_do_not_mix() -> None:
    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    A = hpg.Matrix(DENSE)
    for operations, out in ((MATRIX, hpg.Matrix(DENSE).to("cuda")), (VECTOR, hpg.Vector(DENSE[1]).to("cuda"))):
        for operation in operations.values():
            raises(TypeError, "lie", operation, A, out=out)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: hpg.Matrix((2**40, 3)), r"a matrix of 1099511627776 rows needs 8192\.0 GiB on cpu and .* is free"),
        (lambda: hpg.eye(2**45), r"a matrix of 35184372088832 rows needs"),
        (lambda: hpg.Matrix((2**20, 2**20)).toarray(), r"a dense matrix needs 8192\.0 GiB"),
        (lambda: hpg.assign(hpg.Matrix((2**20, 2**20)), 1.0), r"a number at 1099511627776 places needs"),
        (lambda: hpg.random(2**20, 2**20, 0.9), r"a random matrix of 989560464998 entries needs"),
        (lambda: hpg.Vector.from_indices([1], [1.0], 2**45).values, r"a vector of 35184372088832 values needs"),
        (lambda: ones(2**20, 1) @ ones(1, 2**20), r"a product of 1099511627776 entries needs"),
        (lambda: hpg.kron(ones(900, 900), ones(900, 900)), r"a Kronecker product of 656100000000 entries needs"),
    ],
)
def test_what_will_not_fit(build: Callable[[], Any], message: str) -> None:
    raises(DeviceMemoryError, message, build)


def ones(rows: int, columns: int) -> hpg.Matrix:
    return hpg.Matrix(np.ones((rows, columns), np.int8))


@pytest.mark.parametrize(
    "build",
    [
        lambda: hpg.Matrix((2**70, 3)),
        lambda: hpg.Matrix([[1]]).resize(2**70, 3),
        lambda: hpg.hstack([hpg.Matrix((3, 2**62))] * 3),
        lambda: hpg.kron(hpg.Matrix((2**10, 2**40)), hpg.Matrix((2**10, 2**40))),
        lambda: hpg.Vector([1.0]).resize(2**70),
    ],
)
def test_sizes_beyond_64_bits(build: Callable[[], Any]) -> None:
    raises(ValueError, "64 bits", build)


def test_replace_in_an_array() -> None:
    A, y = hpg.Matrix(DENSE), np.array([5.0, 6.0, 7.0])
    A.mxv(np.ones(3), "min_plus", mask=np.array([True, False, True]), accum="plus", replace=True, out=y)
    assert y.tolist() == [7.0, np.inf, 10.0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_division_by_zero_is_scipy_s(dtype: str) -> None:
    S = scipy.sparse.csr_array(DENSE.astype(dtype))
    for zero in (0, 0.0):
        for X in (S, hpg.Matrix(S)):
            with pytest.raises(ZeroDivisionError):
                X / zero
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(shown(hpg.Matrix(S) / np.float64(0)), (S / np.float64(0)).toarray())
