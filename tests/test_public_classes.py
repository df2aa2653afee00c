"""Matrix and Vector are whole wherever they come from: operations below them give them with all their methods."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from new_process import printed

import hpgraph as hpg

ALONE = """
import sys
import numpy as np, scipy.sparse
from hpgraph.algebra.{module} import {name}
assert "hpgraph.scipy_api.matrix" not in sys.modules
S = scipy.sparse.csr_array(np.array([[0, 2.0], [3.0, 0]]))
made = {call}
import hpgraph
print(type(made) is hpgraph.{kind}, made.toarray().tolist(), hasattr(made, "ewise_add"))
"""


@pytest.mark.parametrize(
    ("module", "name", "call", "kind", "expected"),
    [
        ("select", "select", "select(S, 'valuegt', 2)", "Matrix", [[0.0, 0.0], [3.0, 0.0]]),
        ("reduce", "reduce", "reduce(S, 'plus', 1)", "Vector", [2.0, 3.0]),
    ],
)
def test_an_operation_imported_alone(
    module: str, name: str, call: str, kind: str, expected: Any, tmp_path: Path
) -> None:
    """The classes are loaded when the first one is made."""
    program = ALONE.format(module=module, name=name, call=call, kind=kind)
    root = Path(__file__).resolve().parent.parent
    assert printed(program, cwd=tmp_path, PYTHONPATH=root).strip() == f"True {expected} True"


MATRICES: dict[str, Callable[[hpg.Matrix], Any]] = {
    "mxm": lambda A: hpg.mxm(A, A), "ewise_add": lambda A: hpg.ewise_add(A, A), "apply": lambda A: hpg.apply(A, "ainv"),
    "select": lambda A: hpg.select(A, "tril"), "extract": lambda A: hpg.extract(A, [0, 1], [1]),
    "transpose": hpg.transpose, "kronecker": lambda A: hpg.kronecker(A, A),
    "assign": lambda A: hpg.assign(A.copy(), 1.0, 0, 0), "power": lambda A: hpg.matrix_power(A, 2),
    "hstack": lambda A: hpg.hstack([A, A]), "indexing": lambda A: A[:1], "arithmetic": lambda A: 2 * A - A.T,
}  # fmt: skip
VECTORS: dict[str, Callable[[hpg.Matrix], Any]] = {
    "reduce": lambda A: hpg.reduce(A, axis=0), "mean": lambda A: hpg.reduce(A, "mean", axis=1),
    "extract": lambda A: hpg.extract(A, 0), "mxv": lambda A: hpg.mxv(A, A[0]),
    "masked mxv": lambda A: hpg.mxv(A, A[1], mask=A[0]), "ewise_mult": lambda A: hpg.ewise_mult(A[0], A[1]),
    "apply": lambda A: hpg.apply(A[0], "ainv"), "indexing": lambda A: A[1], "diag": hpg.diag,
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_operations_give_matrices(name: str, device: str) -> None:
    assert type(MATRICES[name](hpg.Matrix([[0, 2.0], [3.0, 4.0]]).to(device))) is hpg.Matrix


@pytest.mark.parametrize("name", VECTORS)
def test_operations_give_vectors(name: str, device: str) -> None:
    assert type(VECTORS[name](hpg.Matrix([[0, 2.0], [3.0, 4.0]]).to(device))) is hpg.Vector


class Mine(hpg.Matrix):
    """Of a user's own."""


class Own(hpg.Vector):
    """Of a user's own, whose constructor takes something else."""

    def __init__(self, size: int) -> None:
        super().__init__(np.arange(size))


def test_classes_derived_from_them_stay_what_they_are() -> None:
    A, v = Mine(scipy.sparse.eye_array(3)), Own(3)
    for made in (A.T, A.copy(), A.astype("float32"), A[:2], -A, A.structure):
        assert type(made) is Mine
    for same in (v.copy(), v.astype("float64"), v.to("cpu"), v.T):
        assert type(same) is Own and same.size == 3
    assert isinstance(A, hpg.Matrix) and isinstance(v, hpg.Vector) and scipy.sparse.issparse(A)


def test_they_are_pickled_and_copied() -> None:
    A, v = Mine([[0, 2], [3, 0]]), hpg.Vector([1, 2, 3])
    for again in (pickle.loads(pickle.dumps(A)), copy.deepcopy(A), copy.copy(A)):
        assert type(again) is Mine and (again.toarray() == A.toarray()).all()
    for held in (pickle.loads(pickle.dumps(v)), copy.deepcopy(v), copy.copy(v)):
        assert type(held) is hpg.Vector and held.toarray().tolist() == [1, 2, 3]
