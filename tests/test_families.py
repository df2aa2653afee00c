"""Sparse arrays in, sparse arrays out; older matrices in, older matrices out: their ``*`` differ."""

import sys
import types
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hpgraph as hpg
from hpgraph.containers.matrix_source import is_older_matrix, of_family

DENSE = np.array([[0, 2.0, 1.0], [0, 0, 4.0], [0, 0, 0]])


@pytest.mark.parametrize("name", ["csr_matrix", "csr_array"])
def test_what_comes_in_decides(name: str, device: str) -> None:
    library: Any = sp
    given = getattr(sp, name)(DENSE)
    if device == "cuda":
        library = pytest.importorskip("cupyx.scipy.sparse")
        if not hasattr(library, name):
            pytest.skip("this CuPy has no sparse arrays")
        given = getattr(library, name)(given)
    kind = getattr(library, name)
    assert type(hpg.csgraph.minimum_spanning_tree(given)) is kind
    assert type(hpg.csgraph.breadth_first_tree(given, 0)) is kind
    A = hpg.Matrix(given)
    for made in (A, A.T, A.copy(), 2 * A, A.astype(np.float32), hpg.Matrix(A)):
        # A Matrix is an array to SciPy, as it always was.
        assert type(made.tocsr()) is (kind if device == "cuda" else sp.csr_array)


def test_a_cupy_with_arrays_and_one_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are from version 15 on, on any machine."""
    mixins = {name: type(name, (), {}) for name in ("spmatrix", "sparray")}
    classes = {
        name: type(name, (base,), {"__module__": "cupyx.scipy.sparse._csr", "__init__": lambda self, *given: None})
        for name, base in (("csr_matrix", mixins["spmatrix"]), ("csr_array", mixins["sparray"]))
    }
    new, old = types.SimpleNamespace(**mixins, **classes), types.SimpleNamespace(**mixins, **classes)
    del old.csr_array
    matrix, array = classes["csr_matrix"](), classes["csr_array"]()
    monkeypatch.setitem(sys.modules, "cupyx.scipy.sparse", new)
    assert is_older_matrix(matrix) and not is_older_matrix(array) and not is_older_matrix(DENSE)
    assert type(of_family(matrix, False)) is type(array) and of_family(matrix, True) is matrix
    monkeypatch.setitem(sys.modules, "cupyx.scipy.sparse", old)
    assert of_family(matrix, False) is matrix
